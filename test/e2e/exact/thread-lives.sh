#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Threads of every kind: thousands in turn and at once, detached, never ending, with the smallest of
# stacks and on alternate ones, older than the first instrumented library, C11's and C++'s, and
# those that clone makes. The calls that the program counts itself are those of the profile; where
# the log is too small, they are the recorded and the lost ones together.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >threads.c <<'EOS'
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "keep_up.h"

static atomic_ulong steps, works, handlers;
static atomic_ulong arrived;
static pthread_barrier_t all;

__attribute__((noinline)) static void step(void)
{
	steps++;
}
__attribute__((noinline)) static void *work(void *times)
{
	works++;
	for (long i = 0; i < (long)times; i++)
		step();
	return NULL;
}
static void check(int failed, const char *what)
{
	if (failed) {
		puts(what);
		exit(1);
	}
}
static void start(pthread_t *thread, pthread_attr_t *attributes, void *(*body)(void *), long times)
{
	check(pthread_create(thread, attributes, body, (void *)times), "pthread_create");
}

static void in_turn(long count)
{
	for (long i = 0; i < count; i++) {
		pthread_t thread;
		start(&thread, NULL, work, i % 5 + 1);
		pthread_join(thread, NULL);
		keep_up(16); // the recorder has to be on a processor, too
	}
}
static void *work_together(void *times)
{
	work(times);
	pthread_barrier_wait(&all);
	return work(times);
}
static void at_once(long count)
{
	pthread_t *threads = calloc(count, sizeof(*threads));
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	pthread_barrier_init(&all, NULL, count + 1);
	for (long i = 0; i < count; i++)
		start(&threads[i], &attributes, work_together, i % 5 + 1);
	pthread_barrier_wait(&all);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}
static void *work_and_tell(void *times)
{
	work(times);
	arrived++;
	return NULL;
}
static void detached(long count)
{
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (long i = 0; i < count; i++) {
		pthread_t thread;
		start(&thread, &attributes, work_and_tell, 3);
	}
	while (arrived < (unsigned long)count)
		usleep(1000);
	usleep(50000);
}
static void *work_for_ever(void *times)
{
	pthread_setname_np(pthread_self(), "for-ever");
	work(times);
	arrived++;
	for (;;)
		pause();
}
static void for_ever(long count)
{
	for (long i = 0; i < count; i++) {
		pthread_t thread;
		start(&thread, NULL, work_for_ever, 3);
	}
	while (arrived < (unsigned long)count)
		usleep(1000);
}
static void small(long count)
{
	for (long i = 0; i < count; i++) {
		pthread_attr_t attributes;
		pthread_attr_init(&attributes);
		check(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN), "stack size");
		pthread_t thread;
		start(&thread, &attributes, work, 10000);
		pthread_join(thread, NULL);
	}
}
static void handler(int number)
{
	(void)number;
	handlers++;
	work((void *)2);
}
static void *work_elsewhere(void *times)
{
	// The handler's first event is also the thread's.
	const stack_t stack = {.ss_sp = malloc(16 << 10), .ss_size = 16 << 10};
	check(sigaltstack(&stack, NULL), "sigaltstack");
	for (long i = 0; i < (long)times; i++)
		raise(SIGUSR1);
	return NULL;
}
static void alternate(long count)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR1, &action, NULL);
	for (long i = 0; i < count; i++) {
		pthread_t thread;
		start(&thread, NULL, work_elsewhere, 2000);
		pthread_join(thread, NULL);
	}
}
static int work_c11(void *times)
{
	work(times);
	thrd_exit(0);
}
static void c11(long count)
{
	for (long i = 0; i < count; i++) {
		thrd_t thread;
		check(thrd_create(&thread, work_c11, (void *)3) != thrd_success, "thrd_create");
		thrd_join(thread, NULL);
	}
}
// Threads that the C library does not know, with the caller's thread-local storage, while it waits, and
// with their own.
extern void *_dl_allocate_tls(void *);
static int work_cloned(void *times)
{
	work(times);
	arrived++;
	syscall(SYS_exit, 0);
	return 0;
}
static void cloned(long count)
{
	enum { STACK = 64 << 10 };
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	for (long i = 0; i < count; i++) {
		char *stack = malloc(STACK);
		void **tcb = NULL;
		if (i % 2) {
			char *memory = aligned_alloc(4096, 64 << 10);
			memset(memory, 0, 64 << 10);
			tcb = (void **)(void *)(memory + (32 << 10));
			tcb[0] = tcb[2] = tcb;
			// Not static: what the loader allocates in it.
			_dl_allocate_tls(tcb);
		}
		const int r = clone(work_cloned, stack + STACK - 64, flags | (i % 2 ? CLONE_SETTLS : 0),
		    (void *)3, NULL, tcb, NULL);
		check(r < 0, "clone");
		while (arrived < (unsigned long)i + 1)
			usleep(1000);
	}
	usleep(50000);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long);
	} kinds[] = {{"in_turn", in_turn}, {"at_once", at_once}, {"detached", detached},
	    {"for_ever", for_ever}, {"small", small}, {"alternate", alternate}, {"c11", c11},
	    {"cloned", cloned}};
	(void)argc;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kinds[i].run(atol(argv[2]));
	printf("handler %lu\nstep %lu\nwork %lu\n", handlers, steps, works);
	return 0;
}
EOS
cat >threads.allow <<'EOS'
default:skip
fun:step
fun:work
fun:handler
EOS
"$TEEPERF" cc --allowlist threads.allow -O1 -g -I "$lib" -I "$root/include" threads.c -o threads \
	-lpthread

# run THREADS RECORD-OPTIONS... -- ARGUMENTS...: exact, with that many threads in the trace.
run() {
	threads=$1
	shift
	expect 0 "$TEEPERF" record -q "$@"
	awk '$2 { print $1 "," $2 }' out >wanted
	"$TEEPERF" analyze run.trace --format csv 2>notes | sed 1d | cut -d, -f1,2 | sort >got
	facts run.trace
	[ "$(fact lost)" = 0 ] || fail "$(fact lost) events are lost: $*"
	cmp wanted got || fail "the counts differ: $* ($(cat wanted got | tr '\n' ' '))"
	"$TEEPERF" analyze run.trace --view threads --format csv >threads.csv
	[ "$(sed 1d threads.csv | wc -l)" = "$threads" ] ||
		fail "$(sed 1d threads.csv | wc -l) threads, not $threads: $*"
	! grep -Eq 'unmatched|unknown' notes || fail "stacks are wrong: $* ($(cat notes))"
}

# Each thread takes a chunk of the log, however little it calls; those of threads that have ended
# come back.
run 10000 -o run.trace -- ./threads in_turn 10000
run 2000 --size 512M --ready 256M -o run.trace -- ./threads at_once 2000
run 200 -o run.trace -- ./threads detached 200
run 20 -o run.trace -- ./threads for_ever 20
[ "$(grep -c ',for-ever,' threads.csv)" = 20 ] || fail "$(cat threads.csv)"
run 20 -o run.trace -- ./threads small 20
run 10 -o run.trace -- ./threads alternate 10
run 50 -o run.trace -- ./threads c11 50
run 11 -o run.trace -- ./threads cloned 20

# Too small a log: recorded and lost events together are all events.
expect 0 "$TEEPERF" record -q --mode full --size 16M -o run.trace -- ./threads at_once 600
wanted=$(awk '{ sum += 2 * $2 } END { print sum }' out)
facts run.trace
"$TEEPERF" analyze run.trace --view threads --format csv >threads.csv 2>notes
got=$(awk -F, 'NR > 1 { sum += $4 + $5 } END { print sum }' threads.csv)
[ "$(fact lost)" -gt 0 ] || fail "256 chunks were enough for 600 threads"
[ "$got" = "$wanted" ] || fail "$got events recorded and lost, of $wanted"
says 'events were lost|lost ' err
