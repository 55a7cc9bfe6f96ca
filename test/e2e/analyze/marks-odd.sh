#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves the contents of traces with phases that are left in odd ways (longjmp, exceptions, the end
# of a thread, fork, each other's order, 3,000 in each other), with marks while recording is off,
# with a ring that has lost the begin of a phase, with 100,000 marks, and with more than are shown,
# which is reported.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true

cat >odd.cpp <<'EOS'
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <teeperf/teeperf.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))
static jmp_buf there;
KEEP static void step()
{
	asm volatile("");
}
KEEP static void jumps()
{
	teeperf_phase_begin("jumped out of");
	longjmp(there, 1);
}
KEEP static void lands()
{
	if (!setjmp(there))
		jumps();
}
KEEP static void throws()
{
	teeperf_phase_begin("thrown out of");
	throw 1;
}
KEEP static void catches()
{
	try {
		throws();
	} catch (int) {
	}
}
KEEP static void deep(int n)
{
	teeperf_phase_scope phase("deep");
	if (n > 1)
		deep(n - 1);
}
static void *ends_inside(void *how)
{
	teeperf_phase_begin("thread");
	step();
	if (how)
		pthread_exit(how);
	return nullptr;
}
static void thread(void *how)
{
	pthread_t id;
	pthread_create(&id, nullptr, ends_inside, how);
	pthread_join(id, nullptr);
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const int count = argc > 2 ? atoi(argv[2]) : 0;
	char name[32];
	if (!strcmp(how, "left")) {
		for (int i = 0; i < 400; i++) {
			lands();
			catches();
		}
		teeperf_phase_begin("outer");
		teeperf_phase_begin("inner");
		teeperf_phase_end("outer");
		teeperf_phase_end("inner");
		deep(3000);
		thread(nullptr);
		thread(&there);
		teeperf_off();
		teeperf_mark("while it is off");
		teeperf_on();
		teeperf_mark("last");
	} else if (!strcmp(how, "fork")) {
		teeperf_phase_begin("of both");
		step();
		const pid_t child = fork();
		step();
		teeperf_phase_end("of both");
		if (child)
			waitpid(child, nullptr, 0);
	} else if (!strcmp(how, "ring")) {
		teeperf_phase_begin("whole");
		for (int i = 0; i < count; i++)
			step();
		teeperf_mark("near the end");
		teeperf_phase_end("whole");
	} else if (!strcmp(how, "endless")) {
		teeperf_mark("all of a name"); // or a first copy may come before all marks
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		for (;;) {
			teeperf_mark("all of a name");
			step();
		}
	} else {
		for (int i = 0; i < count; i++) {
			snprintf(name, sizeof(name), "mark %d", i);
			teeperf_mark(name);
		}
		step();
	}
	return 0;
}
EOS
expect 0 "$TEEPERF" c++ -O1 -pthread -I "$root/include" -o odd odd.cpp
expect 0 ./odd left

# demand WANTED TRACE SQL: the one value that it gives.
demand() {
	value=$("$TEEPERF" query --format csv "$2" "$3" 2>ask.err | sed -n 2p)
	[ "$value" = "$1" ] || {
		cat ask.err >&2
		fail "$2: '$value', not '$1': $3"
	}
}
# phases NAME: of run.trace, how many ended, did not end, and ended without a begin.
phases() {
	demand "$2|$3|$4" run.trace \
		"SELECT ended || '|' || (rows - ended - ends) || '|' || ends AS ok
			FROM (SELECT count(*) AS rows,
		count(end_ns) AS ended, sum(kind = 'end') AS ends FROM marks
		WHERE name = '$1' AND kind <> 'mark')"
}

for shape in inline dual; do
	expect 0 "$TEEPERF" c++ --shape=$shape -O1 -pthread -I "$root/include" -o odd odd.cpp
	expect 0 "$TEEPERF" record -q --ready 32M --size 32M -o run.trace ./odd left
	phases 'jumped out of' 0 400 0
	phases 'thrown out of' 0 400 0
	phases outer 1 0 0
	phases inner 0 1 1
	phases deep 3000 0 0
	# Each in the one before.
	demand 0 run.trace "SELECT count(*)
		FROM (SELECT end_ns, lag(end_ns) OVER (ORDER BY rowid) AS before FROM marks
		WHERE name = 'deep') WHERE end_ns > before"
	phases thread 0 2 0
	demand 2 run.trace "SELECT count(DISTINCT thread) FROM marks WHERE name = 'thread'"
	demand 0 run.trace "SELECT count(*) FROM marks WHERE name = 'while it is off'"
	demand 1 run.trace "SELECT count(*) FROM marks WHERE name = 'last'"
	demand 0 run.trace "SELECT value FROM meta WHERE key = 'lost_events'"
done

# Never switched on: no mark, and none is lost.
expect 0 "$TEEPERF" record -q --on-start off -o off.trace ./odd many 1000
demand 0 off.trace "SELECT count(*) FROM marks"
demand 0 off.trace "SELECT value FROM meta WHERE key = 'lost_events'"

# The parent's phase has both ends; the child's trace has what the child did.
expect 0 "$TEEPERF" record -q --follow-fork -o run.trace ./odd fork
phases 'of both' 1 0 0
mv "$(ls run.trace.* | grep -v old | head -1)" child.trace
mv child.trace run.trace
phases 'of both' 0 0 1

# A ring that has forgotten the begin has an end, and a range that begins or ends there.
expect 0 "$TEEPERF" record -q --mode ring --ring 128K -o run.trace ./odd ring 200000
phases whole 0 0 1
demand 1 run.trace "SELECT count(*) FROM marks WHERE name = 'near the end'"
expect 0 "$TEEPERF" analyze --time-range 'mark:near the end..' run.trace
expect 1 "$TEEPERF" analyze --time-range 'mark:whole' run.trace
says "no finished phase named 'whole'" err

# A ring that is copied while its thread marks: the last name is whole, or not there.
begin run "$TEEPERF" record -q --mode ring --ring 128K -o ring.trace ./odd endless
await run.out ready
for i in 1 2 3 4 5; do
	expect 0 "$TEEPERF" ctl flush "$begun"
	expect 0 "$TEEPERF" dump ring.trace.snapshot-$i
	grep -o ' mark.*' out | sort -u >names
	[ "$(cat names)" = ' mark "all of a name"' ] || fail "snapshot $i: $(cat names)"
	expect 0 "$TEEPERF" analyze --fail-if note:holes ring.trace.snapshot-$i
	rm ring.trace.snapshot-$i
done
expect 0 "$TEEPERF" ctl stop "$begun"
ended 0 run
kill "$(sed -n 's/^ready //p' run.out)"

# Many.
expect 0 "$TEEPERF" record -q --ready 32M --size 32M -o run.trace ./odd many 100000
demand 100000 run.trace "SELECT count(DISTINCT name) FROM marks WHERE kind = 'mark'"
demand 0 run.trace \
	"SELECT count(*) FROM (SELECT name, row_number() OVER (ORDER BY rowid) - 1 AS n FROM marks)
	WHERE name <> 'mark ' || n"
expect 0 "$TEEPERF" analyze --fail-if note:marks-left-out run.trace
expect 0 "$TEEPERF" export --format chrome -o run.json run.trace
[ "$(grep -c '"cat":"mark"' run.json)" = 100000 ] || fail "chrome has not all marks"
expect 0 "$TEEPERF" report -o run.html run.trace

# More than are shown.
expect 0 "$TEEPERF" record -q --ready 32M --size 32M -o run.trace ./odd many 270000
demand 262144 run.trace "SELECT count(*) FROM marks"
expect 1 "$TEEPERF" analyze --fail-if note:marks-left-out run.trace
says '^marks      7,856 marks and phases of the last threads are not shown' out
