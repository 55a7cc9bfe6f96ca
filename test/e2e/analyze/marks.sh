#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# Proves that what a program marks is in the trace, exactly: how often, in which thread, and between
# which calls; with each clock and way that logs are kept; in signal handlers and children; with
# nothing lost that is not said; that a program without a recorder, or without the runtime, runs as
# it is; and that a range between marks is what the same range in numbers is.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true

cat >marks.c <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <teeperf/teeperf.h>
#include <unistd.h>

enum { THREADS = 16 };
static int rounds;
static __attribute__((noinline)) void before(void)
{
	__asm__ volatile("");
}
static __attribute__((noinline)) void behind(void)
{
	__asm__ volatile("");
}
static __attribute__((noinline)) void work(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}
static void *run(void *number)
{
	char name[32];
	snprintf(name, sizeof(name), "of thread %d", (int)(long)number);
	for (int i = 0; i < rounds; i++) {
		before();
		teeperf_mark(name);
		behind();
		teeperf_phase_begin("round");
		work();
		teeperf_phase_end("round");
	}
	return NULL;
}
static void on_signal(int number)
{
	(void)number;
	teeperf_mark("signal");
}
int main(int argc, char **argv)
{
	rounds = atoi(argv[1]);
	const char *how = argc > 2 ? argv[2] : "";
	pthread_t threads[THREADS];
	teeperf_mark("start");
	if (!strcmp(how, "fork")) {
		const pid_t child = fork();
		teeperf_mark(child ? "parent" : "child");
		before();
		if (!child)
			return 0;
		wait(NULL);
	}
	if (!strcmp(how, "signal")) {
		signal(SIGUSR1, on_signal);
		for (int i = 0; i < rounds; i++) {
			before();
			raise(SIGUSR1);
		}
	}
	if (!strcmp(how, "wait")) {
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		for (;;) {
			before();
			putchar('.');
			fflush(stdout);
			usleep(1000);
		}
	}
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	teeperf_mark("middle");
	work();
	teeperf_mark("end");
	return 0;
}
EOF
"$TEEPERF" cc -O1 -I "$root/include" -o marks marks.c -lpthread
# The functions are weak: a program links without the runtime, and runs with it where nobody
# records.
${CC:-cc} -O1 -I "$root/include" -o plain marks.c -lpthread
expect 0 ./plain 10
expect 0 ./marks 10

# ask TRACE SQL: the one value that it gives.
ask() {
	"$TEEPERF" query --format csv "$1" "$2" 2>ask.err | sed -n 2p
}
# demand WANTED TRACE SQL
demand() {
	value=$(ask "$2" "$3")
	[ "$value" = "$1" ] || {
		cat ask.err >&2
		fail "$2: '$value', not '$1': $3"
	}
}

for how in "--clock tsc" "--clock soft" "--clock tsc --mode ring" "--clock tsc --compress" \
	"--clock tsc --mode full"; do
	[ "$(uname -m)" = x86_64 ] || how=$(echo "$how" | sed 's/tsc/auto/')
	expect 0 "$TEEPERF" record --ready 32M --size 32M $how -o run.trace ./marks 100
	demand 3203 run.trace "SELECT count(*) FROM marks"
	demand 1600 run.trace \
		"SELECT count(*) FROM marks WHERE kind = 'mark' AND name LIKE 'of thread %'"
	demand 1600 run.trace "SELECT count(*) FROM marks
		WHERE kind = 'phase' AND name = 'round' AND end_ns >= start_ns"
	demand 16 run.trace "SELECT count(*)
		FROM (SELECT name FROM marks WHERE name LIKE 'of thread %' GROUP BY name
		HAVING count(*) = 100 AND count(DISTINCT thread) = 1)"
	# Each mark is between the calls around it: of the calls of a thread that come before it,
	# and behind it, the numbers are equal to its own.
	case $how in
	*soft*) ;; # where the clock may stand still
	*)
		demand 0 run.trace "WITH
			m AS (SELECT thread, start_ns, row_number() OVER (PARTITION BY thread ORDER BY start_ns) AS n FROM marks WHERE name LIKE 'of thread %'),
			c AS (SELECT c.thread, f.function, c.start_ns, c.end_ns, row_number() OVER (PARTITION BY c.thread, f.function ORDER BY c.start_ns) AS n
				FROM calls c JOIN functions f ON f.fn = c.fn)
			SELECT count(*) FROM m
			JOIN c a ON a.thread = m.thread AND a.function = 'before' AND a.n = m.n
				JOIN c b ON b.thread = m.thread AND b.function = 'behind'
				AND b.n = m.n
			WHERE a.end_ns > m.start_ns OR b.start_ns < m.start_ns"
		;;
	esac
done

# Without a clock they are there, and have no time; nothing can be chosen by them.
expect 0 "$TEEPERF" record --clock none -o none.trace ./marks 5
demand 163 none.trace "SELECT count(*) FROM marks WHERE start_ns IS NULL"
expect 1 "$TEEPERF" analyze --time-range mark:start.. none.trace
says 'recorded without a clock' err

# A range between marks is that range in numbers.
expect 0 "$TEEPERF" record --ready 32M --size 32M -o run.trace ./marks 20
from=$(ask run.trace "SELECT start_ns FROM marks WHERE name = 'middle'")
to=$(ask run.trace "SELECT start_ns FROM marks WHERE name = 'end'")
"$TEEPERF" analyze --raw --time-range mark:middle..end --format csv run.trace 2>/dev/null |
	cut -d, -f1,2 >marks.csv
"$TEEPERF" analyze --raw --time-range "${from}ns..${to}ns" --format csv run.trace 2>/dev/null |
	cut -d, -f1,2 >numbers.csv
cmp marks.csv numbers.csv || fail "the range between marks is not the range in numbers"
says '^work,1$' marks.csv
"$TEEPERF" analyze --raw --time-range mark:round#3 --format csv run.trace >phase.csv 2>/dev/null
says '^work,' phase.csv
expect 1 "$TEEPERF" analyze --time-range mark:nowhere..end run.trace
says "no mark 'nowhere'; the trace has .*'start'" err
expect 1 "$TEEPERF" analyze --time-range mark:end..start run.trace
says "no mark after the first one named 'start'" err
expect 129 "$TEEPERF" analyze --time-range mark: run.trace
says "names no mark" err
expect 0 "$TEEPERF" analyze --view timeline --time-range mark:middle.. run.trace
says 'mark .*-- middle|-- middle' out
expect 0 "$TEEPERF" report -o report.html run.trace
grep -q 'id="data-marks"' report.html || fail "the report has no marks"
expect 0 "$TEEPERF" export --format uftrace -o run.uftrace run.trace
needs uftrace
uftrace dump -d run.uftrace >events 2>/dev/null
[ "$(grep -c '\[event\] mark:' events)" = 323 ] ||
	fail "uftrace: $(grep -c 'mark:' events) marks"
[ "$(grep -c '\[event\] phase_end:round' events)" = 320 ] || fail "uftrace: phases"
expect 0 "$TEEPERF" export --format perfetto -o run.pftrace run.trace
expect 0 "$TEEPERF" export --format chrome -o run.json run.trace
python3 - <<'EOF'
import json
events = json.load(open("run.json"))["traceEvents"]
marks = [e for e in events if e["ph"] == "i" and e.get("cat") == "mark"]
begins = {e["id"] for e in events if e["ph"] == "b"}
ends = {e["id"] for e in events if e["ph"] == "e"}
assert len(marks) == 323, len(marks)
assert len(begins) == 320 and begins == ends, (len(begins), len(ends))
EOF

# In signal handlers; and in a child, which has a trace of its own.
expect 0 "$TEEPERF" record --ready 32M --size 32M -o signal.trace ./marks 200 signal
demand 200 signal.trace "SELECT count(*) FROM marks WHERE name = 'signal'"
expect 0 "$TEEPERF" record --follow-fork -o fork.trace ./marks 1 fork
demand 1 fork.trace "SELECT count(*) FROM marks WHERE name = 'parent'"
child=$(ls fork.trace.* | grep -v old | head -1)
demand 1 "$child" "SELECT count(*) FROM marks WHERE name = 'child'"
demand 0 "$child" "SELECT count(*) FROM marks WHERE name = 'parent'"

# A full log: missing marks are reported as lost.
expect 0 "$TEEPERF" record --mode full --size 1M -o full.trace ./marks 20000
kept=$(ask full.trace "SELECT count(*) FROM marks")
lost=$(ask full.trace "SELECT value FROM meta WHERE key = 'lost_events'")
[ "$kept" -lt 640003 ] && [ "$lost" -ge $((640003 - kept)) ] ||
	fail "$kept marks are there, and $lost events lost"

# From outside: into a running program, by name or without one; and attached.
begin run "$TEEPERF" record -q -o out.trace ./marks 1 wait
await run.out ready
program=$(sed -n 's/^ready //p' run.out)
expect 0 "$TEEPERF" ctl mark 'from outside' "$begun"
# Two dots more: the second one's call is behind the mark, however busy the machine is.
size=$(wc -c <run.out)
await_true '[ "$(wc -c <run.out)" -ge $((size + 2)) ]' "a call behind the mark"
expect 0 "$TEEPERF" ctl mark "$begun"
expect 0 "$TEEPERF" ctl mark later "$program"
expect 129 "$TEEPERF" ctl mark '' "$begun"
expect 129 "$TEEPERF" ctl mark "$(printf %064d 0)" "$begun"
says 'the name of a mark must have 1 to 63 bytes' err
expect 0 "$TEEPERF" ctl stop "$begun"
ended 0 run
demand 'from outside|unnamed|later' out.trace \
	"SELECT group_concat(name, '|')
		FROM (SELECT name FROM marks WHERE thread IS NULL ORDER BY start_ns)"
demand 1 out.trace "SELECT (SELECT start_ns FROM marks WHERE name = 'from outside') > (SELECT min(start_ns) FROM calls) AS ok"
expect 0 "$TEEPERF" analyze --time-range 'mark:from outside..later' out.trace
expect 0 "$TEEPERF" analyze --view timeline --limit 0 out.trace
says ' ctl .*-- from outside' out
kill "$program"

# Into a program that a recorder has attached to.
if [ "$(uname -m)" = x86_64 ]; then
	begin late ./marks 1 wait
	await late.out ready
	program=$begun
	begin run "$TEEPERF" record -q --pid "$program" --size 16M -o late.trace
	await_true '"$TEEPERF" ctl status "$begun" 2>/dev/null | grep -q "^recording  on"' \
		"the recorder"
	expect 0 "$TEEPERF" ctl mark attached "$begun"
	expect 0 "$TEEPERF" ctl stop "$begun"
	ended 0 run
	demand 1 late.trace \
		"SELECT count(*) FROM marks WHERE name = 'attached' AND start_ns IS NOT NULL"
	kill "$program"
fi

# A recorder that is killed: earlier marks are in its unfinished trace, and in the recovered one.
begin run "$TEEPERF" record -q -o killed.trace ./marks 1 wait
await run.out ready
program=$(sed -n 's/^ready //p' run.out)
expect 0 "$TEEPERF" ctl mark before "$begun"
await_true '[ "$(ask killed.trace "SELECT count(*) FROM marks WHERE name = '"'before'"'")" = 1 ]' \
	"the mark in the trace"
kill -KILL "$begun"
gone "$begun"
kill "$program"
gone "$program"
expect 0 "$TEEPERF" recover killed.trace
demand 'start|before' killed.trace \
	"SELECT group_concat(name, '|') FROM (SELECT name FROM marks ORDER BY start_ns)"

# C++: a phase as long as its block, also where an exception leaves it.
cat >scope.cpp <<'EOF'
#include <teeperf/teeperf.h>

static __attribute__((noinline)) void leave(int how)
{
	teeperf_phase_scope phase("block");
	if (how)
		throw how;
}
int main()
{
	leave(0);
	try {
		leave(1);
	} catch (int) {
	}
	return 0;
}
EOF
"$TEEPERF" c++ -O1 -I "$root/include" -o scope scope.cpp
expect 0 "$TEEPERF" record -o scope.trace ./scope
demand 2 scope.trace \
	"SELECT count(*) FROM marks WHERE kind = 'phase' AND name = 'block' AND end_ns >= start_ns"
demand 0 scope.trace "SELECT count(*) FROM functions WHERE function LIKE '%teeperf_phase%'"
