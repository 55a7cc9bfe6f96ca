#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the lanes of a report's timeline have the events of the SQL tables: system calls,
# waits with who ended them, requests to devices, page faults; that of too many events the longest
# are drawn one by one, and the others are counted; and that the page says so.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# Events of threads with calls, from the first call on.
sql="
WITH woken AS (SELECT tid, start_ns, woken_ns, waker, waker_thread FROM waits)
SELECT thread, CASE WHEN w.tid IS NULL THEN 'calls' ELSE 'waits' END AS lane, s.start_ns, duration_ns, call, function, bytes,
	woken_ns, waker, waker_thread
FROM syscalls s LEFT JOIN woken w ON w.tid = s.tid AND w.start_ns = s.start_ns
WHERE thread IS NOT NULL AND s.start_ns >= 0 AND call != 'execve'
UNION ALL SELECT thread, 'requests', start_ns, duration_ns, CASE WHEN sequential THEN '' ELSE 'random ' END || call, function, bytes, NULL, NULL, NULL
FROM io WHERE device IS NOT NULL AND thread IS NOT NULL
UNION ALL SELECT thread, 'faults', start_ns, duration_ns, CASE WHEN major THEN 'major ' ELSE '' END || memory || ' fault', function, NULL, NULL, NULL, NULL
FROM faults WHERE thread IS NOT NULL"

# agrees NAME: the report NAME.html with the tables of NAME.trace.
agrees() {
	expect 0 "$TEEPERF" query --format json "$1.trace" "$sql"
	mv out "$1.json"
	expect 0 python3 "$lib/report_lanes.py" "$1.html" "$1.json"
}

expect 0 "$TEEPERF" dump --assemble "$root/test/golden/system/trace.txt" -o small.trace
expect 0 "$TEEPERF" report -o small.html small.trace
agrees small
says '^10 drawn, 0 not$' out
# execve was before the first call, and a thread has no calls.
says '2 system events are in no lane' small.html
! grep -q 'system events are drawn one by one' small.html || fail "nothing is left out"

# ---- too many
{
	cat <<'EOS'
trace machine=62
clock kind=tsc hz=1000000000
	point 0 5000
	point 100000000 100005000
command
	string "/"
	string "many"
symbols
	symbol 0x401000 main
	symbol 0x401010 other
threads
	thread tid=100 chunks=1 name="many"
	thread tid=101 chunks=1 name="other"
chunk
	1000 enter main
	60000000 exit main
chunk thread=1 tid=101
	1000 enter other
	60000000 exit other
system groups=15
	event 1 start=5500 duration=2000 tid=101 pid=100 number=1 result=7 argument=0x3 detail=0
EOS
	awk 'BEGIN {
		for (i = 0; i < 55000; i++) {
			printf "\tevent 1 start=%d duration=%d tid=100 pid=100 number=0 result=%d argument=0x3 detail=0\n", 7000 + i * 1000, 100 + i % 11, i
			if (i % 11 == 0)
				printf "\tevent 2 start=%d duration=7 tid=101 pid=100 number=0 result=0 argument=0x3 detail=%d\n", 7000 + i * 1000, i % 5
		}
	}'
	echo "sched from=5000 lost=0"
	awk 'BEGIN {
		print "\tswitch 6000 tid=101 kind=0"
		for (i = 0; i < 51000; i++)
			printf "\tswitch %d tid=101 kind=1\n\tswitch %d tid=101 kind=0\n", 7000 + i * 1000, 7000 + i * 1000 + (i % 51 ? 500 : 200)
	}'
	echo "end chunks=2 chunk-draws=2 threads=2 start=5000 end=100005000"
} >many.txt
expect 0 "$TEEPERF" dump --assemble many.txt -o many.trace
expect 0 "$TEEPERF" report -o many.html many.trace
agrees many
# Durations are 100 to 110, 5,000 times each, and one that begins before the first call; those of
# one length are all drawn or not.
says '^45001 drawn, 15000 not$' out
says 'only the 45,001 longest system events are drawn one by one, those of 102 ns and more' \
	many.html
# Stretches of waiting are as many.
says 'the 1,000 shortest stretches without a processor are not drawn' many.html
bytes=$(wc -c <many.html)
[ "$bytes" -lt 1000000 ] || fail "the report has $bytes bytes"

# ---- counters and energy: rates between two readings, by hand
meters() {
	python3 -c 'import json, sys
sys.path.insert(0, sys.argv[1])
import report_data
blocks = report_data.read_page(open(sys.argv[2], encoding="utf-8").read())
for name, unit, note, times, values in report_data.read_meters(blocks["meters"]):
	print(name, unit, len(times), times[:3], values[:3], values[-1], note)
sys.exit(bool(report_data.failures))' "$lib" "$1"
}
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/meters/trace.txt" -o meters.trace
expect 0 "$TEEPERF" report -o meters.html meters.trace
expect 0 meters meters.html
cat >wanted <<'EOS'
task-clock ns/s 3 [0, 400, 1100] [800000000, 857142857, 0] 0 
page-faults 1/s 3 [0, 400, 1100] [14000000, 1428571, 0] 0 user space only
cycles 1/s 2 [0, 1100] [8000000000, 0] 0 
cgroup-memory bytes 3 [0, 400, 1100] [4096, 16384, 12288] 12288 all of group '/app'
package-0 uW 3 [0, 400, 1100] [60000000, 42857143, 0] 0 
package-0/core uW 2 [0, 400] [20000000, 0] 0 it vanished during the recording
EOS
cmp out wanted || fail "meters are not as they were read"
# Too many: each point is the mean of two.
{
	cat <<'EOS'
clock hz=1000000000
	point 1000 5000
	point 300001000 300005000
symbols
	symbol 0x401000 main
chunk time=1000
	1000 enter main
	200000000 exit main
counters interval=1000
	meter flags=1 name="branches"
EOS
	awk 'BEGIN {
		for (i = 0; i < 120000; i++)
			printf "\treading %d meter=0 cause=1 value=%d\n", 5000 + i * 1000, int(i / 2) * 40 + i % 2 * 10
	}'
	echo "end start=5000 end=200005000 threads=1"
} >often.txt
expect 0 "$TEEPERF" dump --assemble often.txt -o often.trace
expect 0 "$TEEPERF" report -o often.html often.trace
expect 0 meters often.html
says '^branches 1/s 60001 \[0, 2000, 4000\] \[20000000, 20000000, 20000000\] 0 $' out
says 'counters and energy have too many readings: means of 2 of them are drawn' often.html

# ---- without events, or without a timeline, there are no lanes
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/running/trace.txt" -o none.trace
expect 0 "$TEEPERF" report -o none.html none.trace
! grep -Eq 'id="data-(lanes|meters)"' none.html || fail "lanes of nothing"

# Asked for, but there were none.
sed '/^\tevent/d' "$root/test/golden/system/trace.txt" >quiet.txt
expect 0 "$TEEPERF" dump --assemble quiet.txt -o quiet.trace
expect 0 "$TEEPERF" report -o quiet.html quiet.trace

# ---- in a browser
if ! [ -x /usr/bin/chromium ] || ! command -v chromedriver >/dev/null; then
	echo "not looked at: no browser (packages chromium and chromium-driver)"
	exit 0
fi
export HOME="$PWD"
expect 0 python3 "$lib/browser_lanes.py" small.html many.html none.html meters.html quiet.html
says '^0 failures' out
