#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that each stack of a thread has its own calls and times: generators by swapcontext, resumed
# by others than those who started them, finished and abandoned; coroutines by longjmp between
# stacks; a switch in assembly, by name and by teeperf.h; functions that are not recorded; and
# contexts that move between threads. Each path is counted exactly, and the self times add up to
# what ran.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >generators.c <<'EOS'
#include <stdlib.h>
#include <ucontext.h>

#define KEEP __attribute__((noinline))
enum { GENERATORS = 3 };
static ucontext_t caller, generators[GENERATORS];
static int value;

KEEP int work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}
KEEP void yield(int me, int x)
{
	value = x;
	swapcontext(&generators[me], &caller);
}
KEEP void inner(int me, int depth)
{
	if (depth) {
		inner(me, depth - 1);
		work(5);
		return;
	}
	yield(me, me);
	work(10);
}
KEEP void body(int me)
{
	for (int i = 0; i < 5; i++) {
		inner(me, me);
		yield(me, 100 + i);
	}
}
KEEP int next(int me)
{
	swapcontext(&caller, &generators[me]);
	return value;
}
KEEP int other_next(int me)
{
	work(3);
	return next(me);
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < GENERATORS; i++) {
		getcontext(&generators[i]);
		generators[i].uc_stack.ss_sp = malloc(65536);
		generators[i].uc_stack.ss_size = 65536;
		generators[i].uc_link = &caller;
		makecontext(&generators[i], (void (*)(void))body, 1, i);
	}
	for (int round = 0; round < 10; round++)
		for (int i = 0; i < GENERATORS; i++)
			sum += round % 2 ? next(i) : other_next(i);
	// The first two end; the third is abandoned within its last yield.
	next(0);
	next(1);
	return sum != 1545;
}
EOS
cat >generators.want <<'EOS'
body 3
body;inner 15
body;inner;inner 10
body;inner;inner;inner 5
body;inner;inner;inner;work 5
body;inner;inner;inner;yield 5
body;inner;inner;work 10
body;inner;inner;yield 5
body;inner;work 15
body;inner;yield 5
body;yield 15
main 1
main;next 17
main;other_next 15
main;other_next;next 15
main;other_next;work 15
EOS
# Without body, next and yield, which switch.
cat >generators-less.want <<'EOS'
inner 15
inner;inner 10
inner;inner;inner 5
inner;inner;inner;work 5
inner;inner;work 10
inner;work 15
main 1
main;other_next 15
main;other_next;work 15
EOS
printf 'fun:*\nfun:body=skip\nfun:next=skip\nfun:yield=skip\n' >less.allow

# As coroutines are made to switch fast: swapcontext once, then longjmp from stack to stack.
cat >jumps.c <<'EOS'
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

#define KEEP __attribute__((noinline))
static ucontext_t first, context;
static jmp_buf back, place[2];

KEEP int work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}
KEEP void yield(int me)
{
	if (!_setjmp(place[me]))
		_longjmp(back, 1);
}
KEEP void deep(int me, int depth)
{
	if (depth)
		deep(me, depth - 1);
	else
		yield(me);
	work(0);
}
KEEP void coroutine(int me)
{
	if (!_setjmp(place[me]))
		_longjmp(back, 1);
	for (;;)
		deep(me, me);
}
KEEP void start(int me)
{
	getcontext(&context);
	context.uc_stack.ss_sp = malloc(65536);
	context.uc_stack.ss_size = 65536;
	context.uc_link = NULL;
	makecontext(&context, (void (*)(void))coroutine, 1, me);
	if (!_setjmp(back))
		swapcontext(&first, &context);
	work(1);
}
KEEP void resume(int me)
{
	if (!_setjmp(back))
		_longjmp(place[me], 1);
	work(2);
}
int main(void)
{
	start(0);
	start(1);
	for (int i = 0; i < 100; i++)
		resume(i % 2);
	return 0;
}
EOS
cat >jumps.want <<'EOS'
coroutine 2
coroutine;deep 100
coroutine;deep;deep 50
coroutine;deep;deep;work 49
coroutine;deep;deep;yield 50
coroutine;deep;work 98
coroutine;deep;yield 50
main 1
main;resume 100
main;resume;work 100
main;start 2
main;start;work 2
EOS

# A switch in assembly, as fiber libraries have it. Fibers that start others, on two threads.
cat >fibers.c <<'EOS'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef BY_HAND
#include <teeperf/teeperf.h>
#endif
#define KEEP __attribute__((noinline))
void my_switch(void **save, void *to);
#ifdef __x86_64__
__asm__(".text\n.globl my_switch\n.type my_switch, @function\nmy_switch:\n"
	"push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n.size my_switch, .-my_switch\n");
enum { SAVED = 6 };
#elif defined(__aarch64__)
__asm__(".text\n.globl my_switch\n.type my_switch, %function\nmy_switch:\n"
	"stp x29, x30, [sp, -160]!\nstp x19, x20, [sp, 16]\nstp x21, x22, [sp, 32]\n"
	"stp x23, x24, [sp, 48]\nstp x25, x26, [sp, 64]\nstp x27, x28, [sp, 80]\n"
	"stp d8, d9, [sp, 96]\nstp d10, d11, [sp, 112]\nstp d12, d13, [sp, 128]\n"
	"stp d14, d15, [sp, 144]\nmov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
	"ldp x19, x20, [sp, 16]\nldp x21, x22, [sp, 32]\nldp x23, x24, [sp, 48]\n"
	"ldp x25, x26, [sp, 64]\nldp x27, x28, [sp, 80]\nldp d8, d9, [sp, 96]\n"
	"ldp d10, d11, [sp, 112]\nldp d12, d13, [sp, 128]\nldp d14, d15, [sp, 144]\n"
	"ldp x29, x30, [sp], 160\nret\n.size my_switch, .-my_switch\n");
#else
#error "no switch for this processor"
#endif

enum { FIBERS = 50, ROUNDS = 40 };
struct scheduler {
	void *saved[FIBERS];
	void *home;
	int count, alive;
};
static __thread struct scheduler *mine;

KEEP int work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}
static inline __attribute__((always_inline)) void change(void **save, void *to)
{
#ifdef BY_HAND
	struct teeperf_context here;
	teeperf_leave(&here);
	my_switch(save, to);
	teeperf_arrive(&here);
#else
	my_switch(save, to);
#endif
}
KEEP void leave(int me)
{
	change(&mine->saved[me], mine->home);
}
KEEP void start(void);
KEEP void fiber(int me)
{
	for (int i = 0; i < ROUNDS; i++) {
		work(i);
		leave(me);
	}
	mine->alive--;
	leave(me);
	abort();
}
__attribute__((noinline, used)) void begin(void)
{
	// The fiber that started this one goes on at once.
	const int me = mine->count - 1;
	fiber(me);
}
KEEP void start(void)
{
	const int me = mine->count++;
	uintptr_t *stack = (uintptr_t *)((char *)aligned_alloc(64, 65536) + 65536 - 256);
#ifdef __x86_64__
	stack[SAVED] = (uintptr_t)begin;
	mine->saved[me] = stack;
	stack[SAVED + 1] = 0;
#else
	stack[1] = (uintptr_t)begin;
	mine->saved[me] = stack;
#endif
	mine->alive++;
	change(&mine->home, mine->saved[me]);
}
KEEP void schedule(void)
{
	for (int i = 0; i < FIBERS; i++)
		start();
	for (int round = 0; mine->alive; round++)
		for (int i = 0; i < FIBERS; i++) {
			work(i);
			change(&mine->home, mine->saved[i]);
		}
}
KEEP void *run(void *arg)
{
	mine = arg;
	schedule();
	return NULL;
}
int main(void)
{
	static struct scheduler schedulers[2];
	pthread_t thread;
	if (pthread_create(&thread, NULL, run, &schedulers[1]))
		return 2;
	run(&schedulers[0]);
	pthread_join(thread, NULL);
	return 0;
}
EOS
cat >fibers.want <<'EOS'
begin 100
begin;fiber 100
begin;fiber;leave 4100
begin;fiber;work 4000
main 1
main;run 1
main;run;schedule 1
main;run;schedule;start 50
main;run;schedule;work 2000
run 1
run;schedule 1
run;schedule;start 50
run;schedule;work 2000
EOS

# A context that another thread goes on with: its calls go on there, and the moves are counted.
cat >moves.c <<'EOS'
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#define KEEP __attribute__((noinline))
static ucontext_t homes[2], context;
static int at;

KEEP int work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}
KEEP void step(void)
{
	work(1);
	swapcontext(&context, &homes[at]);
	work(2);
}
KEEP void body(void)
{
	for (int i = 0; i < 10; i++)
		step();
	swapcontext(&context, &homes[at]);
	abort();
}
KEEP void resume(void)
{
	swapcontext(&homes[at], &context);
}
KEEP void *other(void *arg)
{
	at = 1;
	for (int i = 0; i < 3; i++)
		resume();
	return arg;
}
int main(void)
{
	pthread_t thread;
	getcontext(&context);
	context.uc_stack.ss_sp = malloc(65536);
	context.uc_stack.ss_size = 65536;
	makecontext(&context, body, 0);
	resume();
	resume();
	if (pthread_create(&thread, NULL, other, NULL))
		return 2;
	pthread_join(thread, NULL);
	at = 0;
	resume();
	return 0;
}
EOS
# Two steps begin in main's thread, three in the other, one in main's again. Two end where they did
# not begin; the last does not end.
cat >moves.want <<'EOS'
body 1
body;step 6
body;step;work 11
main 1
main;resume 3
other 1
other;resume 3
EOS

# paths WHAT: run.trace has the paths in want.
paths() {
	"$TEEPERF" analyze run.trace --view tree --format csv >tree.csv 2>tree.err
	python3 "$lib/tree_paths.py" tree.csv >got
	diff want got || {
		show_trace run.trace "$1"
		fail "$1: the stacks are not exact"
	}
	! grep -Ei 'unmatched|lost ' tree.err || {
		cat tree.err >&2
		show_trace run.trace "$1"
		fail "$1: records did not match"
	}
}
# sums: what the threads were busy with is what their calls took themselves.
sums() {
	"$TEEPERF" analyze run.trace --view threads --format csv >threads.csv 2>threads.err
	python3 - "$1" <<'EOS'
import collections, csv, sys
own = collections.Counter()
for row in csv.DictReader(open("tree.csv", newline="")):
    own[row["thread"]] += int(row["self_ns"])
    assert int(row["self_ns"]) <= int(row["inclusive_ns"]), row
for row in csv.DictReader(open("threads.csv", newline="")):
    # Rounded to nanoseconds each.
    if abs(int(row["busy_ns"]) - own[row["thread"]]) > 100:
        sys.exit("FAILED: %s: thread %s: busy %s, in calls %s" % (sys.argv[1], row["thread"], row["busy_ns"], own[row["thread"]]))
EOS
}
# check WHAT SOURCE WANT ARGUMENT...: build, record, compare.
check() {
	what=$1
	source=$2
	cp "$3" want
	shift 3
	case "$*" in *-flto*) lto "$TEEPERF" cc "$@" -g "$source" -o prog -lpthread ||
		return 0 ;; esac
	# shellcheck disable=SC2086 # words are meant
	expect 0 "$TEEPERF" cc $llvm "$@" -g "$source" -o prog -lpthread
	expect 0 "$TEEPERF" record -q -o run.trace -- ./prog
	paths "$what"
	sums "$what"
}

# all LEVEL: every program.
all() {
	check "generators $llvm $1" generators.c generators.want "$1"
	says 'contexts +3 stacks' tree.err
	says 'left +1 stack ' tree.err
	says 'open +2 calls' tree.err
	check "generators $llvm $1, less" generators.c generators-less.want \
		--allowlist less.allow "$1"
	check "jumps $llvm $1" jumps.c jumps.want "$1"
	check "fibers $llvm $1" fibers.c fibers.want --switches none,my_switch "$1"
	says 'contexts +100 stacks' tree.err
	says 'left +100 stacks' tree.err
	check "fibers $llvm $1, by hand" fibers.c fibers.want "$1" -DBY_HAND -I"$root/include"
	check "moves $llvm $1" moves.c moves.want "$1"
	says 'moved +2 times' tree.err
}

llvm=
all -O0
all -O2
check 'called' fibers.c fibers.want --switches=my_switch --shape=call -O2
check 'untimed' generators.c generators.want -O2 --exits=untimed
if [ "${TEEPERF_FULL:-0}" = 1 ]; then
	all -O1
	all -O3
	check 'LTO' generators.c generators.want -O2 -flto
	for plugin in "$TEEPERF_BUILD"/lib/teeperf/llvm-*; do
		llvm="--llvm=${plugin##*-}"
		all -O0
		all -O2
	done
fi
# What nothing marks goes wrong, but not in silence.
expect 0 "$TEEPERF" cc -g -O1 fibers.c -o prog -lpthread
expect 0 "$TEEPERF" record -q -o run.trace -- ./prog
"$TEEPERF" analyze run.trace --format csv >/dev/null 2>err
says 'unmatched' err
