#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# record --counters: page faults to the page, processor time as the program's own counter has it,
# context switches as its getrusage does, phases between marks, absent counters, and all formats
# that show them.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
private_shm || true

cat >main.c <<'EOC'
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double cpu_ms(const struct rusage *now)
{
	return (double)now->ru_utime.tv_sec * 1e3 + (double)now->ru_utime.tv_usec / 1e3 +
	       (double)now->ru_stime.tv_sec * 1e3 + (double)now->ru_stime.tv_usec / 1e3;
}
__attribute__((noinline)) static void touch(volatile char *memory, long pages)
{
	for (long i = 0; i < pages; i++)
		memory[i * 4096] = 1;
}
__attribute__((noinline)) static void sleep_often(long times)
{
	const struct timespec nap = {.tv_nsec = 200000};
	for (long i = 0; i < times; i++)
		nanosleep(&nap, NULL);
}
__attribute__((noinline)) static void burn(double ms)
{
	struct rusage now;
	do
		getrusage(RUSAGE_SELF, &now);
	while (cpu_ms(&now) < ms);
}
// PAGES SLEEPS BURN_MS, or 'wait'
int main(int argc, char **argv)
{
	struct rusage begin, end;
	getrusage(RUSAGE_SELF, &begin);
	if (argc < 4) {
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		for (;;)
			sleep_often(10);
	}
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_SW_TASK_CLOCK,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	};
	uint64_t clock_ns = 0;
	const int clock = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	const long pages = atol(argv[1]);
	char *memory = mmap(NULL, (size_t)(pages + 1) * 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, (size_t)(pages + 1) * 4096, MADV_NOHUGEPAGE);
	touch(memory, pages);
	sleep_often(atol(argv[2]));
	burn(cpu_ms(&begin) + atof(argv[3]));
	getrusage(RUSAGE_SELF, &end);
	if (read(clock, &clock_ns, sizeof(clock_ns)) != sizeof(clock_ns))
		return 1;
	printf("clock_ns %llu\nswitches %ld\n", (unsigned long long)clock_ns,
	    end.ru_nvcsw + end.ru_nivcsw - begin.ru_nvcsw - begin.ru_nivcsw);
	return 0;
}
EOC
"$TEEPERF" cc -O1 -g -o main main.c

# column TRACE COUNTER COLUMN [PHASE]: a cell of the table, empty if there is no value.
column() {
	"$TEEPERF" query --format csv "$1" \
		"SELECT $3 FROM counters WHERE counter = '$2' AND phase = ${4:-0}" |
		sed -n '2{s/"//g;p}'
}

# Names.
expect 0 "$TEEPERF" record --counters list
says 'page-faults' out
says 'LLC-load-misses' out
expect 129 "$TEEPERF" record --counters page-fautls ./main 0 0 0
says "unknown counter 'page-fautls'; did you mean 'page-faults'\?" err
expect 129 "$TEEPERF" record --counters-interval 5 ./main 0 0 0
expect 129 "$TEEPERF" record --counters cycles --attach log
says "needs a PROGRAM to start, or '--pid'" err
expect 129 "$TEEPERF" record --energy=often ./main 0 0 0

# What this kernel does not let us count has a note; then there is nothing to compare.
expect 0 "$TEEPERF" record -q -o none.trace \
	--counters page-faults,task-clock,context-switches ./main 0 0 0
faults=$(column none.trace page-faults amount)
around=$(column none.trace task-clock amount)
[ -n "$faults" ] || {
	[ -n "$(column none.trace page-faults note)" ] ||
		fail "page-faults have neither a value nor a note"
	skip "page faults are not counted here: $(column none.trace page-faults note)"
}

# Where the machine stands still while the program is loaded or ends, that is counted, and where the
# recorder gets no processor, it reads seldom: then once more, up to three times.
for _ in 1 2 3; do
	expect 0 "$TEEPERF" record -q -o some.trace \
		--counters page-faults,task-clock,context-switches \
		--counters-interval 10 ./main 5000 300 200
	own=$(sed -n 's/^clock_ns //p' out)
	switches=$(sed -n 's/^switches //p' out)
	clock=$(column some.trace task-clock amount)
	most=$((own + own / 20 + 5 * around))
	"$TEEPERF" query --format csv some.trace "SELECT count(*), max(amount)
		FROM counter_readings WHERE counter = 'task-clock'" >readings
	[ "$clock" -gt "$most" ] || [ "$(sed -n '2s/,.*//p' readings)" -lt 4 ] || break
done

# Pages, to a few that the kernel takes for tables.
more=$(($(column some.trace page-faults amount) - faults))
[ "$more" -ge 4990 ] && [ "$more" -le 5050 ] || fail "5000 pages were touched, and $more counted"

# Processor time: the counter has what the program's own has, and the loader's and the end's, for
# which the run that did nothing else is the measure. (What getrusage has besides is what the kernel
# needs for a switch of threads before it goes on counting: 4 to 25 us, as busy as the machine is.)
[ "$own" -ge 100000000 ] || fail "the program's own counter is $own"
[ "$clock" -ge "$own" ] && [ "$clock" -le "$most" ] ||
	fail "task-clock is $clock ns, the program's own $own, and $around when it does nothing"
[ "$(column some.trace task-clock unit)" = ns ] || fail "task-clock is not in ns"

counted=$(column some.trace context-switches amount)
if [ -z "$counted" ]; then
	why='run as root'
	users_of_machine || why='forbidden by this container'
	column some.trace context-switches note | grep -q "$why" ||
		fail "context switches lack a note"
else
	[ "$counted" -ge $((switches - 3)) ] &&
		[ "$counted" -le $((switches + switches / 20 + 20)) ] ||
		fail "$counted context switches, and getrusage has $switches"
fi

# Readings: one at least in an interval, the last one is the sum.
awk -F, -v clock="$clock" 'NR == 2 && $1 >= 4 && $2 == clock { ok = 1 } END { exit !ok }' \
	readings || fail "the readings of task-clock are $(cat readings)"

# A counter that the machine lacks, and the group's, which are there or have a note.
expect 0 "$TEEPERF" record -o odd.trace --counters cycles,r1a,cgroup ./main 0 0 1
for counter in cycles r1a cgroup-cpu cgroup-memory cgroup-memory-peak; do
	value=$(column odd.trace $counter amount)
	note=$(column odd.trace $counter note)
	[ -n "$value$note" ] || fail "$counter has neither a value nor a note"
	[ "$value" != 0 ] || [ $counter = cgroup-cpu ] || fail "$counter is 0, which nobody counted"
	[ -n "$value" ] || says "not measured: .*$counter" err
done

# Phases, by marks.
begin run "$TEEPERF" record -q -o phases.trace --counters task-clock,page-faults --energy=0 ./main
await run.out ready
program=$(sed -n "s/^ready //p" run.out)
expect 0 "$TEEPERF" ctl mark "$begun"
expect 0 "$TEEPERF" ctl mark "$begun"
expect 0 "$TEEPERF" ctl stop "$begun"
ended 0 run
[ "$("$TEEPERF" query --format csv phases.trace "SELECT max(phase) FROM counters" |
	sed 1d)" = 3 ] || fail "two marks make three phases"
"$TEEPERF" query --format csv phases.trace \
	"SELECT sum(amount * (phase > 0)) = sum(amount * (phase = 0)) AND sum(amount) > 0
	FROM counters WHERE counter = 'task-clock'" | grep -qx 1 ||
	fail "the phases are not the whole"
kill "$program"

begin run "$TEEPERF" record -q -o plain.trace ./main
await run.out ready
program=$(sed -n "s/^ready //p" run.out)
expect 0 "$TEEPERF" ctl mark "$begun"
expect 0 "$TEEPERF" ctl stop "$begun"
ended 0 run
kill "$program"

# Every form of it.
expect 0 "$TEEPERF" analyze --view counters some.trace
says '^ *task-clock +' out
expect 0 "$TEEPERF" analyze --view counters --format json some.trace
python3 -c 'import json; assert any(c["counter"] == "page-faults" for c in json.load(open("out"))["counters"])' ||
	fail "JSON lacks page-faults"
expect 0 "$TEEPERF" analyze --view counters plain.trace
says 'record with .--counters LIST' out
"$TEEPERF" dump some.trace >text
says '^counters interval=' text
says '^	meter .*name="page-faults"' text
"$TEEPERF" dump --assemble text -o again.trace
cmp some.trace again.trace || fail "text and trace are not the same"
expect 0 "$TEEPERF" export --format parquet -o parquet some.trace
[ -n "$(find parquet -name counters.parquet)" ] || fail "there is no counters.parquet"
[ -z "$(find parquet -name 'energy*.parquet')" ] ||
	fail "there is a table of energy, which was not measured"
needs protoc
expect 0 "$TEEPERF" export --format perfetto -o some.perfetto some.trace
protoc --proto_path="$lib" --decode=Trace perfetto.proto <some.perfetto >some.text
says 'unit_name: "ns/s"' some.text
# One point for each reading.
[ "$(grep -c 'type: TYPE_COUNTER' some.text)" = "$("$TEEPERF" query \
	--format csv some.trace "SELECT count(*) FROM counter_readings" | sed 1d)" ] ||
	fail "Perfetto has other points than there are readings"
expect 0 "$TEEPERF" export --format sqlite -o tables.db some.trace
python3 -c 'import sqlite3, sys
rows = dict(sqlite3.connect("tables.db").execute("SELECT counter, amount FROM counters"))
sys.exit(rows["task-clock"] != int(sys.argv[1]))' "$clock" || fail "SQLite has another task-clock"
