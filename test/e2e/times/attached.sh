#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Running and waiting of a program that somebody else starts (record --attach): of a thread that was
# there before its runtime looked for the log, of threads made while the recorder came, and of one
# made later. The program says itself what its clocks showed. A log of a process that is not here
# has a note that says so, and a port whose numbers are its own, too.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/waits.sh"
private_shm || true

cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include "own_clocks.h"
static sem_t go;
/* Each in functions of its own. */
#define THREAD(who)                                                                      \
	__attribute__((noinline)) static void who##_computes(void) { spin(150000000); } \
	__attribute__((noinline)) static void who##_sleeps(void) { rest(200000000); }   \
	static void *who(void *unused)                                                   \
	{                                                                                \
		while (sem_wait(&go))                                                    \
			;                                                                \
		TELL(#who "_computes", who##_computes());                                \
		TELL(#who "_sleeps", who##_sleeps());                                    \
		return unused;                                                           \
	}
THREAD(early)
THREAD(first)
THREAD(second)
THREAD(late)
THREAD(own)
static pthread_t threads[4];
/* Long before the runtime looks for its log. */
__attribute__((constructor(101))) static void before(void)
{
	sem_init(&go, 0, 0);
	pthread_create(&threads[0], NULL, early, NULL);
}
int main(void)
{
	pthread_create(&threads[1], NULL, first, NULL);
	pthread_create(&threads[2], NULL, second, NULL);
	if (getchar() != 'g')
		return 1;
	pthread_create(&threads[3], NULL, late, NULL);
	for (int i = 0; i < 5; i++)
		sem_post(&go);
	own(NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -pthread -I"$lib" -o app app.c
mkfifo go
log=/dev/shm/attached.$$.log

# attached TRACE [OPTION...]: the program, once the recorder watches it or will not; its output is
# in `told`. $meanwhile runs then.
meanwhile=:
attached() {
	trace=$1
	shift
	waits -o "$trace" --attach "$log" "$@"
	TEEPERF_LOG=$log ./app <go >told &
	app=$!
	exec 3>go
	if [ -n "$watched" ]; then
		await_true 'ls -l /proc/$recorder/fd | grep -q perf_event || ! kill -0 $app' \
			'a recorder that watches the threads'
	fi
	$meanwhile
	printf g >&3
	exec 3>&-
	wait $app || fail "the program has failed"
	ends 0 'records of 5 threads'
}

# What the kernel tells this user of his programs.
watched=1
expect 0 "$TEEPERF" record -q -o probe.trace -- true || true
"$TEEPERF" dump probe.trace 2>/dev/null | grep -q 'line "sched=perf"' || watched=
attached run.trace
"$TEEPERF" dump run.trace >dumped
if [ -n "$watched" ]; then
	says 'line "sched=perf"' dumped
	"$TEEPERF" analyze --format csv run.trace >functions.csv 2>notes
	! grep 'times are not known' notes || fail "nothing is known of some threads"
	python3 - told functions.csv <<'EOS' || fail "not what the program's own clocks showed"
import csv
import sys

told, functions = sys.argv[1:]
rows = {row["function"]: row for row in csv.DictReader(open(functions))}
failed = 0


def same(what, got, least, most):
    """From LEAST to MOST within 3 %, or a tick of 10 ms, and STOLEN of the line at hand."""
    global failed
    off = max(0.03 * most, 10e6) + stolen
    if not least - off <= got <= most + off:
        print(f"{what}: {got / 1e6:.3f} ms, not {least / 1e6:.3f} to {most / 1e6:.3f}")
        failed = 1


lines = open(told).read().splitlines()
for line in lines:
    name, *figures = line.split()
    wall, cpu, stolen, wall_inside, cpu_inside = map(int, figures)
    idle, idle_inside = wall - cpu, wall_inside - cpu_inside
    part = {key: int(rows[name]["inclusive_%s_ns" % key]) for key in ("cpu", "wait", "preempted")}
    same(name + " in all", int(rows[name]["inclusive_ns"]), wall_inside, wall)
    same(name + " running", part["cpu"], cpu_inside, cpu)
    same(name + " not running", part["wait"] + part["preempted"], idle_inside, idle)
    if name.endswith("computes"):
        same(name + " waiting", part["wait"], 0, 0)
    if name.endswith("sleeps") and part["wait"] < 0.9 * 200e6:
        print(f"{name} waited for {part['wait'] / 1e6:.3f} ms only")
        failed = 1
sys.exit(failed or len(lines) != 10)
EOS
else
	expect 0 "$TEEPERF" analyze run.trace
	says '^waits ' out
fi

# Its number is this machine's: 'ctl' finds the program's functions by it. The recorder is done with
# the threads before.
drops() {
	await_true '"$TEEPERF" ctl drop "*_sleeps" $recorder 2>ctl.err' 'functions of the process'
}
if [ -n "$watched" ]; then
	meanwhile=drops
	attached dropped.trace
fi

# What has numbers of its own is not asked about, nor by 'ctl'.
refused() {
	expect 1 "$TEEPERF" ctl drop '*_sleeps' $recorder
}
meanwhile=refused
watched=
attached port.trace --port gramine
"$TEEPERF" dump port.trace >dumped
says "line \"sched=the numbers of its threads are not the host's\"" dumped
expect 0 "$TEEPERF" analyze port.trace
says "^waits .*the numbers of its threads are not the host's" out
