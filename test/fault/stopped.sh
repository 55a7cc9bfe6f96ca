#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves the effects of a recorder that stands still for a while, or has no core of its own: losses
# are counted to the last event, the clock's gap is reported, and all else is right. TEEPERF_FULL=1:
# it stands still for five seconds.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"

pause=1
[ "${TEEPERF_FULL:-0}" = 1 ] && pause=5
echo 'fun:leaf' >leaf.allow
expect 0 "$TEEPERF" cc --allowlist=leaf.allow -O1 -g -pthread -o crash "$lib/crash_program.c"

# exact FILE ACCOUNTS: events and losses of each thread are what the program counted itself.
exact() {
	"$TEEPERF" analyze --view threads --format csv "$1" >threads.csv 2>said ||
		fail "'$1' is damaged: $(cat said)"
	python3 - "$2" <<'EOS'
import csv
import struct
import sys

rows = {int(row["tid"]): row for row in csv.DictReader(open("threads.csv"))}
lost = 0
for tid, begun, done in struct.iter_unpack("<QQQ40x", open(sys.argv[1], "rb").read()):
    if not tid:
        continue
    row = rows[tid]
    if begun != done or int(row["events"]) + int(row["lost"]) != 2 * done:
        sys.exit("thread %d made %d calls: %s" % (tid, done, row))
    lost += int(row["lost"])
print("lost=%d" % lost)
EOS
}

# await_calls NAME NUMBER: until its first thread has made that many.
await_calls() {
	accounts=$1.accounts
	calls_wanted=$2
	await_true '[ "$(od -An -tu8 -j16 -N8 "$accounts" | tr -d " ")" -ge "$calls_wanted" ]' \
		"$2 calls in $1"
}

# start NAME CALLS PACE OPTIONS...: record in the background and wait until calls are made.
start() {
	name=$1
	calls=$2
	pace=$3
	shift 3
	head -c 1024 /dev/zero >"$name.accounts"
	begin "$name" "$TEEPERF" record -q \
		-o "$name.trace" "$@" ./crash "$name.accounts" 2 "$calls" "$pace"
	recorder=$begun
	await_calls "$name" 1
}

# The program is faster than a recorder that does nothing: what does not fit is counted.
start stream 400000 200 --mode stream --size 512K --drain now
kill -STOP "$recorder"
made=$(od -An -tu8 -j16 -N8 stream.accounts | tr -d ' ')
[ "$made" -lt 300000 ] || fail "the recorder was stopped too late: $made calls had been made"
sleep "$pause"
# However slow the machine is: two events of 8 bytes a call of this thread alone are more than the
# log by then.
await_calls stream $((made + 40000))
kill -CONT "$recorder"
wait "$recorder" || fail "$(cat stream.err)"
exact stream.trace stream.accounts >lost || fail "the counts are wrong"
says '^lost=[1-9]' lost
says 'warning: [0-9]+ events were lost: the program was faster than the recorder, which in [0-9.]+ s had no processor for ([1-9][0-9]*\.|0\.[1-9])' stream.err
"$TEEPERF" analyze stream.trace >out 2>err
says '^lost  .* events: times and counts are too low' out

# A soft clock that stood still: the longest gap is reported, and no time runs backwards.
start soft 4000 2 --clock soft --size 8M
kill -STOP "$recorder"
sleep "$pause"
kill -CONT "$recorder"
wait "$recorder" || fail "$(cat soft.err)"
exact soft.trace soft.accounts >lost || fail "the counts are wrong"
says '^lost=0' lost
says "the soft clock stood still for [0-9.]+ % of the time, in [0-9]+ places? \([0-9]{3,}\.[0-9] ms" soft.err
"$TEEPERF" analyze soft.trace >out 2>err
says '^coarse     times are coarse for [0-9]+% of the run' out
grep -qE 'times? that runs? backwards' out && fail "a clock that stood still ran backwards"

# One core for two programs, their recorders and their clocks.
core=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
if taskset -c "$core" true 2>err; then
	for name in one two; do
		head -c 1024 /dev/zero >"$name.accounts"
		begin "$name" taskset -c "$core" "$TEEPERF" record -o "$name.trace" --clock soft \
			--size 8M ./crash "$name.accounts" 3 30000 0
	done
	ended 0 one
	ended 0 two
	for name in one two; do
		exact "$name.trace" "$name.accounts" >lost || fail "the counts are wrong"
		says '^lost=0' lost
		says 'the soft clock stood still for .* leave a core to it' "$name.err"
		"$TEEPERF" analyze "$name.trace" >out 2>err
		grep -qE 'times? that runs? backwards' out && fail "time ran backwards on one core"
	done
fi

# A host whose clock jumps back and forth between cores: no call takes less than nothing, no sum
# exceeds the time that passed, and this is reported.
{
	echo 'clock kind=soft-tsc hz=1000000000'
	echo '	point 1000 1000'
	echo '	point 2001000 2001000'
	echo 'symbols'
	echo '	symbol 0x401000 work size=16'
	echo 'chunk thread=0 tid=7 time=95000'
	awk 'BEGIN { for (i = 1; i <= 100; i++) {
		print "\t" 101000 + i * 1000 - (i % 3 ? 0 : 5000) " enter work"
		print "\t" 101500 + i * 1000 - (i % 4 ? 0 : 7000) " exit work" } }'
	echo 'end'
} >jumps.txt
expect 0 "$TEEPERF" dump --assemble jumps.txt -o jumps.trace
expect 0 "$TEEPERF" analyze --format csv jumps.trace
python3 - <<'EOS'
import csv
(row,) = csv.DictReader(open("out"))
times = [int(row[key]) for key in ("self_ns", "inclusive_ns", "min_ns", "max_ns")]
assert int(row["calls"]) == 100 and all(0 <= time <= 101000 for time in times), row
EOS
says '[1-9][0-9]* times? that runs? backwards' err
