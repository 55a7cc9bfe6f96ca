#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that a look of analyze --watch reads only the new part of the trace, that its last output
# is, to the last number, that of analyze for the finished trace: plain, compressed, attached,
# switched off and on, with forked children; and that the last interval has the calls of that
# interval.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
cat >grows.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t ended;
static void on_term(int number) { (void)number; ended = 1; }
static _Thread_local jmp_buf home;
__attribute__((noinline)) static void leaf(void) { __asm__ volatile(""); }
__attribute__((noinline)) static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		longjmp(home, 1);
	leaf();
}
__attribute__((noinline)) static void work(void)
{
	for (int i = 0; i < 300; i++)
		leaf();
	if (!setjmp(home))
		deep(20);
}
static void *run(void *argument)
{
	while (!ended) {
		work();
		usleep(700);
	}
	return argument;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	signal(SIGTERM, on_term);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	pid_t child = argc > 1 && !strcmp(argv[1], "forks") ? fork() : 1;
	pthread_create(&thread, NULL, run, NULL);
	run(NULL);
	pthread_join(thread, NULL);
	if (child > 1)
		kill(child, SIGTERM);
	while (wait(NULL) > 0)
		;
	return 0;
}
END
"$TEEPERF" cc -O1 -pthread -o grows grows.c
cat >check.py <<'END'
import re, subprocess, sys
teeperf, kind, trace, shown, told = sys.argv[1:]
last = open(shown).read().rstrip("\n").split("\n\n")[-1].splitlines()
finished = subprocess.run([teeperf, "analyze", "--format", "csv", "--limit", "0", trace],
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
if last != finished:
    sys.exit(f"{kind}: the last look differs: " + "\n".join(sorted(set(last) ^ set(finished))))
sizes = []
read = []
text = open(told).read()
for line in text.splitlines():
    if found := re.match(r"watching +([0-9.]+) MB, written", line):
        sizes.append(float(found[1]) * 1e6)
    if line.startswith("showing"):
        found = re.search(r"; ([0-9.]+) kB of the trace read$", line)
        read.append(float(found[1]) * 1e3 if found else None)
import os
size = os.stat(trace).st_size
# The last look, if the clock's pace was not known as well before.
if "rate is known" in text and read and read[-1] is None:
    read[-1] = size
    size *= 1.5
if None in read or len(read) < 8:
    sys.exit(f"{kind}: {len(read)} looks: {text[-2000:]}")
# All of it twice, as the last interval is replayed apart, and a little besides.
if sum(read) > size * 2.25 + 50000:
    sys.exit(f"{kind}: {len(read)} looks read {sum(read):.0f} bytes of a trace of {size}: {read}")
END

# run KIND OPTIONS...: watch it twice while it is recorded, then let it end.
run() {
	kind=$1
	shift
	rm -f "$kind".trace* "$kind".out "$kind".csv.out "$kind".table.out
	if [ "$kind" = attached ]; then
		begin "$kind.program" ./grows
		await "$kind.program.out" ready
		program=$(sed -n 's/^ready //p' "$kind.program.out")
		begin "$kind" "$TEEPERF" record -o "$kind.trace" "$@" --pid "$program"
		recorder=$begun
		await_true '"$TEEPERF" ctl flush "$program" 2>/dev/null' \
			"a recorder that has attached"
	else
		begin "$kind" "$TEEPERF" record -o "$kind.trace" "$@"
		recorder=$begun
		await "$kind.out" ready
		program=$(sed -n 's/^ready //p' "$kind.out")
	fi
	trap 'kill $recorder $program 2>/dev/null || :' EXIT
	begin "$kind.csv" "$TEEPERF" analyze --watch --interval 50ms --format csv \
		--limit 0 "$program"
	csv=$begun
	begin "$kind.table" "$TEEPERF" analyze --watch --interval 50ms --since last "$program"
	table=$begun
	await_true '[ "$(grep -c "^showing" "$kind.table.out")" -ge 4 ]' "four looks ($kind)"
	if [ "$kind" = switched ]; then
		expect 0 "$TEEPERF" ctl off "$program"
		seen=$(grep -c "^showing" "$kind.table.out")
		await_true '[ "$(grep -c "^showing" "$kind.table.out")" -ge $((seen + 3)) ]' \
			"looks while off"
		expect 0 "$TEEPERF" ctl on "$program"
	fi
	seen=$(grep -c "^showing" "$kind.table.out")
	await_true '[ "$(grep -c "^showing" "$kind.table.out")" -ge $((seen + 6)) ]' \
		"more looks ($kind)"
	kill "$program"
	wait "$recorder" || fail "$kind: the recorder: $(cat "$kind.err")"
	trap - EXIT
	wait "$csv" || fail "$kind: $(cat "$kind.csv.err")"
	wait "$table" || fail "$kind: $(cat "$kind.table.err")"
	python3 check.py "$TEEPERF" "$kind" "$kind.trace" "$kind.csv.out" "$kind.table.out" ||
		fail "see above"
	says '^showing +the last [0-9]' "$kind.table.out"
	says '^showing +all since the start; ' "$kind.table.out"
}
# Where the kernel tells when threads ran, all is read again at the end: these check what was kept.
run plain --sched off ./grows
run packed --sched off --compress ./grows
run early --sched off --drain now ./grows
run switched --sched off --control ./grows
run forks --sched off --follow-fork ./grows forks
run attached --sched off
run kernel ./grows

# What a look reads in whole, it says.
begin calls "$TEEPERF" record -o calls.trace ./grows
recorder=$begun
await calls.out ready
program=$(sed -n 's/^ready //p' calls.out)
begin view "$TEEPERF" analyze --watch --interval 50ms --view contention "$program"
watch=$begun
await view.out "the whole trace is read: of the view's single calls"
kill "$program"
wait "$recorder" || :
ended 0 view

# whole WHY 'WATCH OPTIONS' RECORD OPTIONS...: each look reads all records, says so, and in the end
# has shown what analyze shows.
whole() {
	why=$1
	options=$2
	shift 2
	rm -f whole.trace*
	begin whole "$TEEPERF" record -o whole.trace "$@" ./grows
	recorder=$begun
	await whole.out ready
	program=$(sed -n 's/^ready //p' whole.out)
	trap 'kill $recorder $program 2>/dev/null || :' EXIT
	case $why in
	*'switched on and off'*) expect 0 "$TEEPERF" ctl drop deep "$program" ;;
	esac
	for form in table csv; do
		# shellcheck disable=SC2086 # several words
		begin whole.$form "$TEEPERF" analyze --watch --interval 50ms --limit 0 \
			--format $form $options "$program"
	done
	await whole.table.out "the whole trace is read: $why"
	await_true '[ "$(grep -c "^function," whole.csv.out)" -ge 3 ]' "three looks ($why)"
	kill "$program"
	wait "$recorder" || fail "$why: the recorder: $(cat whole.err)"
	trap - EXIT
	ended 0 whole.table
	ended 0 whole.csv
	# shellcheck disable=SC2086 # several words
	"$TEEPERF" analyze --format csv --limit 0 $options whole.trace >wanted 2>/dev/null
	[ "$(wc -l <wanted)" -ge 3 ] || fail "$why: analyze shows nothing: $(cat wanted)"
	awk -v RS= '{ last = $0 } END { print last }' whole.csv.out | diff - wanted ||
		fail "$why: the last look differs"
}
whole 'of --time-range' '--time-range 1ms..'
whole 'functions were switched on and off' ''

expect 129 "$TEEPERF" analyze --since last calls.trace
says "option '--since' needs '--watch'" err
