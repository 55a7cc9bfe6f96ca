#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# Running, waiting and being preempted, in the right function and column: a program that computes,
# sleeps once and often, waits for a lock that another thread holds, and is preempted by a neighbour
# on its core. It says itself what its clocks showed; by an ordinary user, too. Where the kernel
# tells nothing, the trace says so. TEEPERF_FULL=1 takes a second for each.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
ns=400000000
[ "${TEEPERF_FULL:-0}" = 0 ] || ns=1000000000

cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "own_clocks.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t locked;
static int asks;
__attribute__((noinline)) void compute(long long ns) { spin(ns); }
__attribute__((noinline)) void preempted(long long ns) { spin(ns); }
__attribute__((noinline)) void nap(long long ns) { rest(ns); }
__attribute__((noinline)) void naps(long long ns)
{
	for (; ns > 0; ns -= 4000000)
		rest(4000000);
}
__attribute__((noinline)) void wait_for_lock(void)
{
	__atomic_store_n(&asks, 1, __ATOMIC_RELEASE);
	INSIDE(pthread_mutex_lock(&lock));
	pthread_mutex_unlock(&lock);
}
/* Until the first thread sleeps: in wait_for_lock, once that asks, however late it gets there. */
static void await_sleeper(void)
{
	char state = 0;
	while (!__atomic_load_n(&asks, __ATOMIC_ACQUIRE) || state != 'S') {
		rest(1000000);
		FILE *stat = fopen("/proc/self/stat", "r");
		if (!stat || fscanf(stat, "%*d %*s %c", &state) != 1 || fclose(stat))
			abort();
	}
}
__attribute__((noinline)) void *hold(void *ns)
{
	pthread_mutex_lock(&lock);
	sem_post(&locked);
	await_sleeper();
	rest(*(long long *)ns);
	pthread_mutex_unlock(&lock);
	return NULL;
}
int main(int argc, char **argv)
{
	long long ns = argc == 2 ? atoll(argv[1]) : 1000000;
	pthread_t thread;
	TELL("compute", compute(ns));
	TELL("nap", nap(ns));
	TELL("naps", naps(ns));
	sem_init(&locked, 0, 0);
	pthread_create(&thread, NULL, hold, &ns);
	while (sem_wait(&locked))
		;
	TELL("wait_for_lock", wait_for_lock());
	pthread_join(thread, NULL);
	/* A neighbour on the same core. */
	cpu_set_t one, all;
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
	const pid_t neighbour = fork();
	if (!neighbour) {
		alarm(60);
		for (;;)
			;
	}
	TELL("preempted", preempted(ns));
	kill(neighbour, SIGKILL);
	waitpid(neighbour, NULL, 0);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -pthread -I"$lib" -o app app.c

# check TRACE: its columns are what the program printed of each function, within 3 % or a tick of 10
# ms, and stolen time.
check() {
	"$TEEPERF" analyze --format csv "$1" >functions.csv 2>notes || fail "$1: $(cat notes)"
	python3 - "$1" told functions.csv $ns <<'EOS'
import csv
import sys

trace, told, functions, ns = sys.argv[1:]
rows = {row["function"]: row for row in csv.DictReader(open(functions))}
failed = 0


def same(what, got, least, most):
    """From LEAST to MOST; uses STOLEN, of the line at hand."""
    global failed
    off = max(0.03 * most, 10e6) + stolen
    if not least - off <= got <= most + off:
        print(f"{trace}: {what}: {got / 1e6:.3f} ms, not {least / 1e6:.3f} to {most / 1e6:.3f}")
        failed = 1


for line in open(told):
    name, *figures = line.split()
    wall, cpu, stolen, wall_inside, cpu_inside = map(int, figures)
    idle, idle_inside = wall - cpu, wall_inside - cpu_inside
    row = rows[name]
    part = {key: int(row["inclusive_%s_ns" % key]) for key in ("cpu", "wait", "preempted")}
    same(name + " in all", int(row["inclusive_ns"]), wall_inside, wall)
    same(name + " running", part["cpu"], cpu_inside, cpu)
    same(name + " not running", part["wait"] + part["preempted"], idle_inside, idle)
    # What computes never waits; what sleeps may be preempted on its way there.
    if name in ("compute", "preempted"):
        same(name + " waiting", part["wait"], 0, 0)
    elif part["wait"] < 0.9 * int(ns):
        print(f"{trace}: {name} waited for {part['wait'] / 1e6:.3f} ms only")
        failed = 1
    if name == "preempted" and part["preempted"] < 0.2 * cpu:
        print(f"{trace}: {name} was preempted for {part['preempted'] / 1e6:.3f} ms only")
        failed = 1
    own = sum(int(row["self_%s_ns" % key]) for key in ("cpu", "wait", "preempted"))
    same(name + " itself, parts", own, int(row["self_ns"]), int(row["self_ns"]))
sys.exit(failed)
EOS
}

# agree TRACE: each output has the same times as the table, whichever of them is asked for.
agree() {
	for time in cpu wait preempted; do
		"$TEEPERF" analyze --time $time --format csv "$1" >by-$time.csv 2>notes ||
			fail "$1: $(cat notes)"
		"$TEEPERF" export --time $time --format folded "$1" >by-$time.folded 2>notes ||
			fail "$1: $(cat notes)"
		python3 - $time functions.csv by-$time.csv by-$time.folded \
			<<'EOS' || fail "$1: --time $time differs"
import csv
import sys

time, wall, chosen, folded = sys.argv[1:]
wall = {row["function"]: row for row in csv.DictReader(open(wall))}
sums = {}
for line in open(folded):
    path, ns = line.rsplit(" ", 1)
    name = path.rsplit(";", 1)[-1]
    sums[name] = sums.get(name, 0) + int(ns)
for row in csv.DictReader(open(chosen)):
    name = row["function"]
    expected = int(wall[name]["self_%s_ns" % time])
    for what, got in (("table", int(row["self_ns"])), ("folded", sums.get(name, 0))):
        if abs(got - expected) > 10:
            sys.exit(f"{name}: {got} in {what}, {expected} in the column")
    if int(row["max_ns"]) > int(row["inclusive_ns"]) + 100 and row["calls"] == "1":
        sys.exit(f"{name}: its only call is longer than all of it")
EOS
	done
	# Single calls add up to what functions have, less what recording has cost.
	expect 0 "$TEEPERF" query --raw --format csv "$1" "SELECT count(*) FROM functions f WHERE
		abs(self_wait_ns - (SELECT sum(c.self_wait_ns) FROM calls c WHERE c.fn = f.fn)) > 10 OR
		abs(self_preempted_ns - (SELECT sum(c.self_preempted_ns) FROM calls c WHERE c.fn = f.fn)) > 10 OR
		abs(self_cpu_ns - (SELECT sum(c.self_cpu_ns) FROM calls c WHERE c.fn = f.fn)) > 10"
	says '^0$' out
}

# `told` TRACE: the kernel reported its switches.
told() {
	"$TEEPERF" dump "$1" | grep -q '^sched '
}

expect 0 "$TEEPERF" record -q -o run.trace -- ./app $ns
cp out told
if told run.trace; then
	check run.trace || fail "not what the program's own clocks showed"
	agree run.trace
	# A soft clock, whose ticks come at the pace of a thread: parts are the whole all the same.
	expect 0 "$TEEPERF" record -q --clock soft -o soft.trace -- ./app $ns
	expect 0 "$TEEPERF" query --raw --format csv soft.trace \
		"SELECT count(*) FROM functions WHERE
		abs(self_cpu_ns + self_wait_ns + self_preempted_ns - self_ns) > 5"
	says '^0$' out
	expect 0 "$TEEPERF" allowlist generate --profile run.trace --budget 5 -o app.allow
else
	expect 0 "$TEEPERF" analyze run.trace
	says '^waits ' out
fi

# Without, there is wall time only, and asking for another one says why.
expect 0 "$TEEPERF" record -q --sched off -o without.trace -- ./app
told without.trace && fail "--sched off asks all the same"
expect 1 "$TEEPERF" analyze --time cpu without.trace
says "has wall time only, not running and waiting times.*record --sched off" err
expect 129 "$TEEPERF" analyze --view timeline --time cpu run.trace
expect 129 "$TEEPERF" export --format chrome --time cpu run.trace

# An ordinary user.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	user=$(mktemp -d)
	trap 'rm -rf "$user"' EXIT
	cp app "$user"
	chmod 777 "$user"
	cp "$TEEPERF" "$user/teeperf"
	(cd "$user" && setpriv --reuid=65534 --regid=65534 --clear-groups ./teeperf record -q \
		-o run.trace -- ./app $ns >told) || fail "an ordinary user cannot record"
	cp "$user/told" told
	if told "$user/run.trace"; then
		check "$user/run.trace" ||
			fail "not what the program's own clocks showed an ordinary user"
	else
		expect 0 "$TEEPERF" analyze "$user/run.trace"
		says "^waits .*does not report thread switches.*perf_event_paranoid" out
	fi
fi
