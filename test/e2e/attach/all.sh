#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --all and --daemon: which processes fit, by name, glob, path and control group; each has a
# trace of its own with all of its calls; the messages about the others; which traces a daemon
# keeps.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
[ "$(uname -m)" = x86_64 ] || skip "'--all' is for x86-64"
fake=

# Each line of its input is a number of calls.
cat >calls.c <<'EOC'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int work(int n)
{
	__asm__ volatile("");
	return n + 1;
}
int main(void)
{
	char line[32];
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = atoi(line); i; i--)
			work(i);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
EOC
"$TEEPERF" cc -O1 -o calls calls.c
# Names that no other process of the machine has, and three processes.
one=tp$$one
two=tp$$two
cp calls "$one"
cp calls "$two"
mkfifo in.a in.b in.c
begin a sh -c "exec ./$one <in.a"
first=$begun
exec 4>in.a
begin b sh -c "exec ./$one <in.b"
second=$begun
exec 5>in.b
begin c sh -c "exec ./$two <in.c"
third=$begun
exec 6>in.c
for name in a b c; do
	await $name.out ready
done
lines=0
# calls A B C: the numbers of calls that the three make.
calls() {
	echo "$1" >&4
	echo "$2" >&5
	echo "$3" >&6
	lines=$((lines + 1))
	for name in a b c; do
		await_true '[ "$(grep -c ^done '$name.out')" = $lines ]' "the calls of $name"
	done
}
# recorded PROCESS CALLS: its trace, all.trace.PROCESS, has them.
recorded() {
	facts "all.trace.$1" lost=0 end_sections=1
	expect 0 "$TEEPERF" analyze --format csv "all.trace.$1"
	says "^work,$2," out
}
# record_all COUNT OPTIONS...: until COUNT processes are recorded.
record_all() {
	count=$1
	shift
	begin rec "$TEEPERF" record -o all.trace "$@" 4>&- 5>&- 6>&-
	recorder=$begun
	await_true '[ "$(grep -c "recording process" rec.err)" = $count ]' "$count recordings"
}
# stop COUNT: they end, with COUNT traces.
stop() {
	kill -TERM "$recorder"
	ended 0 rec
	[ "$(ls all.trace.* | wc -l)" = "$1" ] || fail "these traces: $(ls all.trace.*)"
	[ "$(grep -c ' records of ' rec.err)" = "$1" ] || fail "these summaries: $(cat rec.err)"
}

record_all 2 --all "$one"
calls 500 700 900
stop 2
recorded "$first" 500
recorded "$second" 700
rm all.trace.*

# One is recorded already, and one of them is stopped by itself.
begin other "$TEEPERF" record --pid "$third" --size 16M -o third.trace 4>&- 5>&- 6>&-
other=$begun
await other.err 'recording process'
record_all 2 --all "tp$$*"
await rec.err "process $third is recorded already"
expect 0 "$TEEPERF" ctl stop "$first"
await rec.err "all.trace.$first"
calls 50 60 70
expect 0 "$TEEPERF" ctl stop "$other"
ended 0 other
kill -TERM "$recorder"
ended 1 rec
recorded "$second" 60
rm all.trace.*

# By the path of the file, also if that is gone, and for a time.
mv "$two" was
record_all 1 --all "$PWD/wa?"
calls 1 2 3
stop 1
recorded "$third" 3
rm all.trace.* was
record_all 1 --all "$PWD/was" --duration 100ms
ended 0 rec
rm all.trace.*

# A control group, and one in it.
group=
for root in /sys/fs/cgroup /sys/fs/cgroup/*; do
	mkdir -p "$root/tp$$/in" 2>/dev/null || continue
	[ ! -e "$root/tp$$/in/cgroup.procs" ] ||
		! echo "$second" 2>/dev/null >"$root/tp$$/in/cgroup.procs" || group=$root/tp$$
	[ -z "$group" ] || break
	rmdir "$root/tp$$/in" "$root/tp$$" 2>/dev/null || true
done
if [ "$group" ]; then
	record_all 1 --all "cgroup:$(sed -n "s|.*:\(/.*tp$$\)/in\$|\1|p" "/proc/$second/cgroup")"
	calls 1 4 3
	stop 1
	recorded "$second" 4
	rm all.trace.*
	echo "$second" >"${group%/*}/cgroup.procs"
	rmdir "$group/in" "$group"
fi

# The recorders end with theirs.
record_all 2 --all "$one"
kill -KILL "$recorder"
ended 137 rec
await_true '[ "$(grep -c " records of " rec.err)" = 2 ]' "the recorders' ends"
rm all.trace.*

# Nobody fits, nobody that could be recorded, everybody.
expect 1 "$TEEPERF" record --all "tp$$-none"
says "no process matches 'tp$$-none'" err
cp "$(command -v sleep)" "tp$$sleep"
"./tp$$sleep" 1000 4>&- 5>&- 6>&- &
other=$!
await_true '[ "$(cat /proc/$other/comm)" = "tp$$sleep" ]' 'a program'
expect 1 "$TEEPERF" record --all "tp$$sleep"
says "of 1 process that matches 'tp$$sleep', none has code built with 'teeperf cc'" err
for pattern in '*' '?*' '[a-z]*' / '' cgroup: cgroup:/ 'cgroup:/*' cgroup:/sys/fs/cgroup; do
	expect 129 "$TEEPERF" record --all "$pattern"
	says "option '--all' of '.*' matches every process" err
done
expect 129 "$TEEPERF" record --all cgroup:server
says 'takes the path of a control group' err
for option in "--pid $$" '--attach ./log' '--stream -' '--follow-fork' '--port optee' '--every 5m' \
	'--keep 2' '--max-size 1K' '--output-dir .' '--daemon --every 2' '--daemon --every x' \
	'--daemon --keep 0' '--daemon -o x' '--daemon --output-dir calls'; do
	expect 129 "$TEEPERF" record --all "$one" $option
done
expect 129 "$TEEPERF" record --all "$one" ./calls
expect 129 "$TEEPERF" record --daemon
says "option '--daemon' needs '--all'" err

# A daemon, whose parent wants to know of no child's end. Files that are not its traces stay; two
# processes have three traces after two rounds.
mkdir state
: >state/other.trace
: >"state/tp$$one.12.20200101T000000Z.trace"
begin rec sh -c 'trap "" CHLD && exec "$@"' sh "$TEEPERF" record --daemon --all "tp$$*" \
	--output-dir state --every 1s --duration 200ms --keep 3 4>&- 5>&- 6>&-
recorder=$begun
await_true '[ "$(grep -c " records of " rec.err)" -ge 4 ]' 'two rounds'
await rec.err 'removed [0-9]* older trace'
kill -TERM "$recorder"
ended 0 rec
says "recording 200.0 ms of all processes that match 'tp$$\\*' every 1.000 s, into 'state', keeping 3 traces" rec.err
[ -e state/other.trace ] || fail 'a file that is no trace of it was removed'
[ ! -e "state/tp$$one.12.20200101T000000Z.trace" ] || fail 'the oldest trace is there'
[ "$(ls state | wc -l)" -le 7 ] || fail "these traces stay: $(ls state)"
for trace in "state/tp$$"*; do
	expect 0 "$TEEPERF" analyze "$trace"
	says '^budget     5%' out
done
exec 4>&- 5>&- 6>&-
for name in a b c; do
	ended 0 $name
done
kill "$other"
