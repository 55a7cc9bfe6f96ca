#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Threads under a storm of signals, with handlers that interrupt one another: each thread's own
# calls are counted exactly, and missing calls of the handlers are reported.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
gaps=30000
[ "${TEEPERF_FULL:-0}" != 1 ] || gaps='20000 23000 29000 31000 37000 41000 43000 47000 53000 59000'

cat >storm.c <<'EOF'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, used))
// The log has room for all of it, from the start, so what is lost is lost to handlers alone.
enum { THREADS = 6, ROUNDS = 100000 };
static atomic_long handled[2], rounds;
static long gap_ns;

KEEP void inner(void)
{
	__asm__ volatile("");
}
KEEP void first(int signal)
{
	(void)signal;
	inner();
	handled[0]++;
}
KEEP void second(int signal)
{
	(void)signal;
	inner();
	inner();
	handled[1]++;
}
KEEP long fib(int n)
{
	long r = n < 2 ? n : fib(n - 1) + fib(n - 2);
	__asm__ volatile("" : "+r"(r)); // or the second call becomes a loop
	return r;
}
KEEP void work(void)
{
	fib(8);
	rounds++;
}
// Each thread has two timers of its own.
static timer_t start_timer(int signal, long ns)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal};
	event._sigev_un._tid = gettid();
	const struct itimerspec time = {{0, ns}, {0, ns}};
	timer_t timer;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &time, NULL);
	return timer;
}
static void *body(void *argument)
{
	const timer_t timers[] = {start_timer(SIGUSR1, gap_ns), start_timer(SIGUSR2, gap_ns * 4 / 3)};
	while (rounds < ROUNDS)
		work();
	timer_delete(timers[0]);
	timer_delete(timers[1]);
	return argument;
}
int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	gap_ns = argc > 1 ? atol(argv[1]) : 30000;
	struct sigaction action = {.sa_handler = first, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = second;
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, body, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld %ld\n", rounds, handled[0], handled[1]);
	return 0;
}
EOF
cat >list <<'EOF'
src:*storm.c
fun:main=skip
fun:body=skip
fun:start_timer=skip
EOF
cat >check.py <<'EOF'
import csv, sys

rounds, first, second = map(int, open("out").read().split())
calls, stack = {}, []
for row in csv.DictReader(open("tree.csv", newline="")):
    del stack[int(row["depth"]) - 1 :]
    stack.append(row["function"])
    # From the last handler on: handlers interrupt one another.
    last = max([i for i, name in enumerate(stack) if name in ("first", "second")], default=0)
    path = ";".join(stack[last:])
    calls[path] = calls.get(path, 0) + int(row["calls"])
lost = sum(int(row["lost"]) for row in csv.DictReader(open("threads.csv", newline="")))

per_round = {"work": 1}


def fib(n, path):
    path += ";fib"
    per_round[path] = per_round.get(path, 0) + 1
    if n > 1:
        fib(n - 1, path)
        fib(n - 2, path)


fib(8, "work")
want = {path: count * rounds for path, count in per_round.items()}
got = calls.get("first", 0), calls.get("second", 0)
want["first"] = want["first;inner"] = got[0]
want["second"], want["second;inner"] = got[1], 2 * got[1]
for path in sorted(set(want) | set(calls)):
    if want.get(path, 0) != calls.get(path, 0):
        sys.exit(f"{path}: {calls.get(path, 0)} calls, not {want.get(path, 0)}")
missing = 4 * (first - got[0]) + 6 * (second - got[1])
print(f"{sys.argv[1]}: {rounds} rounds, {first + second} signals, {lost} events of handlers lost")
if lost != missing:
    sys.exit(f"{missing} events are missing, {lost} are told")
EOF
"$TEEPERF" cc --allowlist list --check off -O1 -pthread storm.c -o storm
for gap in $gaps; do
	for clock in tsc soft; do
		expect 0 "$TEEPERF" record --clock $clock --mode full --size 256M --ready 256M -q \
			-o storm.trace -- ./storm "$gap"
		"$TEEPERF" analyze storm.trace --view tree --format csv >tree.csv 2>tree.err
		"$TEEPERF" analyze storm.trace --view threads \
			--format csv >threads.csv 2>threads.err
		python3 check.py $clock || fail "$clock: not exact"
		! grep -E 'unmatched .*(without|unknown)' tree.err || fail "$clock: odd records"
	done
done
