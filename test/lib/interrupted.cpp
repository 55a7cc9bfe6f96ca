// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A signal at each instruction of a stretch of calls, one after another. In the stretch each sort of
// recorded function occurs, and the signal handlers are recorded, too.
//
//   interrupted HANDLER STRIDE SWEEPS [FIRST]
//
// HANDLER is plain, nested, big or jump. In round n of a sweep the processor's trap flag steps through the
// stretch, and the handler is called at instruction n * STRIDE; the sweep ends when the stretch ends first. In
// sweep 0 the chunk has room; in sweep n the stretch goes over the end of a chunk behind its word n. Sweeps
// begin with number FIRST. Prints at the end how often it called what. x86-64 Linux.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "keep_up.h"

#define KEEP extern "C" __attribute__((noinline, used))
// Before all else comes the red zone, which may be in use.
#define TRAP_FLAG(operation)                                                                    \
	asm volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\t" operation ", (%%rsp)\n\tpopfq\n\t" \
		     "leaq 128(%%rsp), %%rsp" ::                                                \
			 : "memory", "cc")

extern thread_local uint64_t cursor_of_thread[] asm("__teeperf_thread");

static volatile long steps; // until the signal comes
static volatile bool stepping, came;
static int big, jumps, nested;
static sigjmp_buf place;
static long rounds, handlers, fillers, odds;

KEEP void inner()
{
	asm volatile("");
}
KEEP void handler2(int)
{
	inner();
}
KEEP void handler(int)
{
	handlers++;
	for (int i = big ? 4000 : 2; i; i--)
		inner();
	if (nested)
		raise(SIGURG);
	if (jumps)
		siglongjmp(place, 1);
}
// After each instruction. Not recorded; what it calls has interrupted the program there.
static void trapped(int, siginfo_t *, void *context)
{
	ucontext_t *at = static_cast<ucontext_t *>(context);
	if (stepping && steps-- > 0)
		return;
	at->uc_mcontext.gregs[REG_EFL] &= ~0x100;
	if (!stepping)
		return;
	stepping = false;
	came = true;
	handler(SIGUSR1);
}
KEEP void leaf()
{
	asm volatile("");
}
KEEP void counted()
{
	asm volatile("");
}
KEEP void sampled()
{
	asm volatile("");
}
KEEP void throws()
{
	throw 1;
}
KEEP void untried()
{
	leaf();
	asm volatile("");
}
// Has a position, whether it throws or not.
KEEP void catches(int n)
{
	try {
		if (n)
			throws();
		leaf();
	} catch (int) {
		leaf();
	}
}
KEEP void work()
{
	leaf();
	catches(0);
	counted();
	sampled();
	untried();
}
KEEP void behind()
{
	leaf();
}
KEEP void filler()
{
	asm volatile("");
}
static sigjmp_buf here;
KEEP void leaps()
{
	siglongjmp(here, 1);
}
// Seven words, where all else is an even number.
KEEP void odd()
{
	if (!sigsetjmp(here, 0))
		leaps();
}
// A chunk then has room for just so many records.
static void leave_room(unsigned records)
{
	keep_up(8);
	for (uint64_t left; (left = (-cursor_of_thread[0] & 0xffff) / 8) != records;) {
		if ((left - records) % 2 && left > records + 7) {
			odd();
			odds++;
		} else {
			filler();
			fillers++;
		}
	}
}
KEEP void one_round()
{
	rounds++;
	if (sigsetjmp(place, 1) == 0) {
		stepping = true;
		TRAP_FLAG("orq $0x100");
		work();
		TRAP_FLAG("andq $~0x100");
	}
	stepping = false;
	catches(1);
	behind();
}
int main(int argc, char **argv)
{
	const long stride = argc > 2 ? atol(argv[2]) : 1;
	const int sweeps = argc > 3 ? atoi(argv[3]) : 1;
	const int first = argc > 4 ? atoi(argv[4]) : 0;
	big = argc > 1 && !strcmp(argv[1], "big");
	jumps = argc > 1 && !strcmp(argv[1], "jump");
	nested = argc > 1 && !strcmp(argv[1], "nested");
	static char stack[1 << 16];
	stack_t other = {};
	other.ss_sp = stack;
	other.ss_size = sizeof(stack);
	sigaltstack(&other, nullptr);
	struct sigaction action = {};
	action.sa_sigaction = trapped;
	action.sa_flags = SA_SIGINFO | (nested ? SA_ONSTACK : 0);
	sigaction(SIGTRAP, &action, nullptr);
	action.sa_handler = handler2;
	action.sa_flags = 0;
	sigaction(SIGURG, &action, nullptr);
	for (int sweep = first; sweep < first + sweeps; sweep++) {
		long at = sweep % stride;
		do {
			came = false;
			steps = at;
			at += stride;
			leave_room(sweep ? sweep + 2 : 500); // one_round and its jump are before it
			one_round();
		} while (came);
	}
	std::printf(
	    "rounds %ld handlers %ld fillers %ld odds %ld\n", rounds, handlers, fillers, odds);
	return 0;
}
