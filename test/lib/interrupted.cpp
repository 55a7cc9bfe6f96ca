// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A signal at each instruction of a stretch of calls, one after another. In the stretch each sort
// of recorded function occurs, and the signal handlers are recorded, too.
//
//   interrupted HANDLER STRIDE SWEEPS [FIRST [START-SIZE...]]
//
// HANDLER is plain, nested, big or jump; with "+marks" behind it, stretch and handler make a mark
// each. On x86-64, in round n of a sweep the processor's trap flag steps through the stretch, and
// the handler is called at instruction n * STRIDE; the sweep ends when the stretch ends first. On
// other processors a breakpoint is put at instruction n * STRIDE of the functions at START, of SIZE
// bytes each, all in hexadecimal, and the handler is called where the stretch first reaches it, if
// it does. In sweep 0 the chunk has room; in sweep n the stretch goes over the end of a chunk
// behind its word n. Sweeps begin with number FIRST. At the end it prints the number of calls of
// each function. Linux.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <teeperf/teeperf.h>

#include "keep_up.h"

#define KEEP extern "C" __attribute__((noinline, used))
#ifdef __x86_64__
// Before all else comes the red zone, which may be in use.
#define TRAP_FLAG(operation)                                                                    \
	asm volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\t" operation ", (%%rsp)\n\tpopfq\n\t" \
		     "leaq 128(%%rsp), %%rsp" ::                                                \
			 : "memory", "cc")
#endif

extern thread_local uint64_t cursor_of_thread[] asm("__teeperf_thread");

static volatile long steps; // until the signal comes
static volatile bool stepping, came;
static int big, jumps, nested, marks;
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
	if (marks)
		teeperf_mark("of a handler");
	for (int i = big ? 4000 : 2; i; i--)
		inner();
	if (nested)
		raise(SIGURG);
	if (jumps)
		siglongjmp(place, 1);
}
#ifndef __x86_64__
#ifdef __riscv
typedef uint16_t parcel; // what instructions are made of: two of them unless compressed
static const parcel breakpoint = 0x9002;
#else
typedef uint32_t parcel;
static const parcel breakpoint = 0xd4200000;
#endif
static parcel *places[1 << 14], *place_now, instruction;
static long place_count;
static void put(parcel value)
{
	__atomic_store_n(place_now, value, __ATOMIC_SEQ_CST);
	__builtin___clear_cache((char *)place_now, (char *)(place_now + 1));
}
static void take_away()
{
	put(instruction);
}
static void add_places(const char *range)
{
	char *end;
	const uintptr_t start = std::strtoul(range, &end, 16),
			size = std::strtoul(end + 1, &end, 16);
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t from = start & -page;
	if (!size ||
	    mprotect((void *)from, start + size - from, PROT_READ | PROT_WRITE | PROT_EXEC))
		std::exit(2);
	for (parcel *at = (parcel *)start; at < (parcel *)(start + size);) {
		if (place_count == sizeof(places) / sizeof(places[0]))
			std::exit(2);
		places[place_count++] = at;
#ifdef __riscv
		at += (*at & 3) == 3 ? 2 : 1;
#else
		at++;
#endif
	}
}
#endif
// After each instruction, or at the breakpoint. Not recorded; what it calls has interrupted the
// program there.
static void trapped(int, siginfo_t *, void *context)
{
#ifdef __x86_64__
	ucontext_t *at = static_cast<ucontext_t *>(context);
	if (stepping && steps-- > 0)
		return;
	at->uc_mcontext.gregs[REG_EFL] &= ~0x100;
	if (!stepping)
		return;
#else
	(void)context;
	take_away();
#endif
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
	if (marks)
		teeperf_mark("of work");
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
// A chunk then has room for exactly RECORDS records.
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
#ifdef __x86_64__
		TRAP_FLAG("orq $0x100");
		work();
		TRAP_FLAG("andq $~0x100");
#else
		put(breakpoint);
		work();
		take_away();
#endif
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
	big = argc > 1 && !strncmp(argv[1], "big", 3);
	jumps = argc > 1 && !strncmp(argv[1], "jump", 4);
	nested = argc > 1 && !strncmp(argv[1], "nested", 6);
	marks = argc > 1 && strstr(argv[1], "+marks");
#ifndef __x86_64__
	for (int i = 5; i < argc; i++)
		add_places(argv[i]);
#endif
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
#ifndef __x86_64__
			if (at >= place_count)
				break;
			place_now = places[at];
			instruction = *place_now;
#endif
			at += stride;
			// one_round and its jump are before it
			if (sweep || (-cursor_of_thread[0] & 0xffff) / 8 < 500)
				leave_room(sweep ? sweep + 2 : 500);
			one_round();
#ifndef __x86_64__
			came = true; // the end is that of the places
#endif
		} while (came);
	}
	std::printf(
	    "rounds %ld handlers %ld fillers %ld odds %ld\n", rounds, handlers, fillers, odds);
	return 0;
}
