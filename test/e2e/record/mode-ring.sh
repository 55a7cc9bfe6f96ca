#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that 'record --mode ring' keeps the end of what each thread did, to the record: of one
# thread and of several, of one that has been idle for long, among thousands of short ones, with
# signal handlers, in forked children, when the program or the recorder is killed, and while it
# runs, as often as 'teeperf ctl flush' asks for it.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
fake=
count=20000
lives=2000
if [ "${TEEPERF_FULL:-0}" != 0 ]; then
	count=2000000
	lives=16000
fi
"$TEEPERF" cc -O2 -pthread -o app "$lib/ring_program.c"

# ring TRACE DEMAND...: the trace is sound, and holds what it must.
ring() {
	python3 "$lib/check_ring.py" "$TEEPERF" ./app "$@" >ring.out 2>ring.err || {
		cat ring.out >&2
		fail "$(cat ring.err)"
	}
}

# record ARGS...: with a ring of two chunks, unless it says otherwise.
record() {
	expect 0 "$TEEPERF" record --mode ring --ring 128K "$@"
	! grep -q 'events were lost' err || fail "events were lost: $(cat err)"
}

echo one thread
# Without a clock there are only events: main, steps and 50 a step.
record --clock none -o a.trace ./app steps $count
ring a.trace chunks=2 threads=1 last:0=$((count - 1)) written=$((50 * count + 4))
gone=$(((50 * count + 4 + 8183) / 8184 * 8184 - 2 * 8184))
expect 0 "$TEEPERF" analyze a.trace --format json
says "\"overwritten_records\":$gone,\"overwritten_threads\":0,\"began_in_overwritten\":[2-4],.*\"lost\":0,.*\"unmatched_exits\":0,.*\"problems\":0" out
"$TEEPERF" analyze a.trace >out
says '^ring       the last records of thread 0 app; [0-9,]+ records before that were overwritten$' \
	out
says '^began      [2-4] exits of calls that began in overwritten records are left out$' out
# What the profile counts is what begins in these records.
"$TEEPERF" dump a.trace >dump
"$TEEPERF" analyze a.trace --format csv >csv
sum=$(awk -F, 'NR > 1 { sum += $2 } END { print sum }' csv)
[ "$sum" = "$(grep -c ' enter ' dump)" ] ||
	fail "$sum calls, and $(grep -c ' enter ' dump) that began"
for clock in tsc soft; do
	record --clock $clock -o a.trace --compress ./app steps $count
	ring a.trace chunks=2 last:0=$((count - 1))
	"$TEEPERF" analyze a.trace >out
	# The soft clock may have stood still all the time.
	says '^ring       the last ([0-9.]+ (ms|us|ns|s)|records) of thread 0 app; [0-9,]+ records' out
done
# Nothing is overwritten: all of it is there.
record -o a.trace ./app steps 100
ring a.trace all:0=100
"$TEEPERF" analyze a.trace >out
says '^ring       nothing was overwritten$' out

echo several threads, and an idle one
record --size 2M -o a.trace ./app threads 3 $count
ring a.trace chunks=2 threads=5 all:1=50 last:2=$((count - 1)) last:3=$((count - 1)) \
	last:4=$((count - 1))
# More than the log holds: the busy ones make room.
record --size 2M --ring 512K -o a.trace ./app threads 6 $count
ring a.trace chunks=8 threads=8 all:1=50 last:2=$((count - 1)) last:7=$((count - 1))

echo a trace of a given size
# A thread has a quarter; the trace has some tables beside.
expect 0 "$TEEPERF" record --max-size 1M -o a.trace ./app threads 6 $count
ring a.trace threads=8 all:1=50 last:2=$((count - 1)) last:7=$((count - 1))
[ "$(stat -c %s a.trace)" -le $((1280 * 1024)) ] || fail "the trace has $(stat -c %s a.trace) bytes"
expect 0 "$TEEPERF" record --max-size 1M -o a.trace ./app steps $count
ring a.trace chunks=4 last:0=$((count - 1))
for option in '--max-size 1K' '--max-size 2G' '--max-size 1M --mode full' \
	'--max-size 1M --size 1M' '--max-size 1M --drain now' \
	'--max-size 1M --events io' '--max-size 1M --budget 5%'; do
	expect 129 "$TEEPERF" record $option ./app steps 100
done

echo threads that come and go
record --size 1M -o a.trace ./app lives $lives
ring a.trace all:1=50 all:$((lives + 1))=3
"$TEEPERF" analyze a.trace >out
says "^threads    $((lives + 2))$" out
says '^ring       all of [0-9,]+ threads that had ended was overwritten: [0-9,]+ chunks$' out
# Too many at once for the room in the log: this is reported, with the remedy.
expect 0 "$TEEPERF" record --mode ring --ring 128K --size 512K -o a.trace ./app idle 40
says "events were lost: there were more threads than the log has room for .* larger '--size'" err
ring a.trace

echo signals
# Records of a handler that interrupts the runtime are lost, and reported.
expect 0 "$TEEPERF" record --mode ring --ring 128K -o a.trace ./app handlers $count
ring a.trace chunks=2 last:0=$((count - 1)) handlers=5

echo fork
record --follow-fork -o a.trace ./app fork $count
ring a.trace last:0=$((count - 1))
child=$(ls a.trace.[0-9]*)
ring "$child" last:0=$((2 * count - 1))

echo a fault
expect 139 "$TEEPERF" record --mode ring --ring 128K -o a.trace ./app fault $count
ring a.trace last:0=$((count - 1))
"$TEEPERF" analyze a.trace >out
says 'killed by signal 11' out

# done_by THREAD: steps that a thread of the endless program has done.
done_by() {
	od -An -t u8 -j $((8 * $1)) -N 8 progress | tr -d ' '
}

trap '[ -z "${program:-}" ] || kill -9 "$program" 2>/dev/null || true' EXIT

# forever: the endless program is being recorded, by $recorder; its own id is $program.
forever() {
	rm -f progress
	begin run "$TEEPERF" record --mode ring --ring 256K --size 8M \
		--control "$@" ./app forever progress
	recorder=$begun
	await_true \
		'[ -s progress ] && [ "$(done_by 0)" -gt 20000 ] && [ "$(done_by 1)" -gt 20000 ]' \
		'steps of both threads'
	program=$("$TEEPERF" ctl status $recorder | sed -n 's/^program *process //p')
}

echo killed
forever -o k.trace
kill -9 "$program"
wait $recorder && fail 'the recorder does not say that the program was killed' || [ $? = 137 ]
ring k.trace chunks=4 last:0\>=$(($(done_by 0) - 1)) last:1\>=$(($(done_by 1) - 1))

echo snapshots
forever -o s.trace
for i in 1 2 3; do
	before=$(done_by 0)
	expect 0 "$TEEPERF" ctl flush $recorder
	says "^snapshot 's.trace.snapshot-$i'$" out
	ring s.trace.snapshot-$i chunks=4 threads=2 last:0\>=$((before - 1))
	await_true '[ "$(done_by 0)" -gt $((before + 20000)) ]' 'more steps'
done
# One that cannot be written leaves nothing, and the next ones are.
mkdir s.trace.snapshot-4
expect 1 "$TEEPERF" ctl flush $recorder
says "the snapshot 's.trace.snapshot-4' could not be written" err
# While it is off nothing is overwritten.
"$TEEPERF" ctl off $recorder || true # on a busy machine it is obeyed later
await_true '"$TEEPERF" ctl status $recorder | grep -q "^recording  off"' 'a recording that is off'
before=$(done_by 0)
await_true '[ "$(done_by 0)" -gt $((before + 20000)) ]' 'more steps'
expect 0 "$TEEPERF" ctl flush $recorder
kill -9 "$program"
wait $recorder || true
for trace in s.trace s.trace.snapshot-5; do
	"$TEEPERF" dump $trace | grep '^chunk' >$trace.chunks
	expect 0 "$TEEPERF" analyze $trace
	says 'switched off 1 time' out
done
cmp s.trace.chunks s.trace.snapshot-5.chunks || fail 'the rings changed while recording was off'
# Each is whole: with its process, its threads, its modules and an end.
expect 0 "$TEEPERF" analyze s.trace.snapshot-2
says '^program    ./app forever progress$' out
says '^(step|zero|one)' csv
! grep -q 'warning: .*snapshot' err || fail "$(cat err)"

echo recovered
forever -o r.trace
kill -9 $recorder
wait $recorder || true
kill -9 "$program"
gone "$program"
expect 0 "$TEEPERF" recover r.trace
ring r.trace chunks=4 last:0\>=$(($(done_by 0) - 1)) last:1\>=$(($(done_by 1) - 1))
"$TEEPERF" analyze r.trace >out
says '^ring       the last ' out

echo attached
begin attach "$TEEPERF" record --mode ring --ring 128K -o a.trace --attach "$PWD/log"
await attach.err 'TEEPERF_LOG'
TEEPERF_LOG=$PWD/log ./app steps $count
ended 0 attach
ring a.trace chunks=2 last:0=$((count - 1))

echo what does not go together
expect 129 "$TEEPERF" record --ring 1M ./app steps 1
says "option '--ring' needs '--mode ring'" err
expect 129 "$TEEPERF" record --mode ring --drain late ./app steps 1
says "nothing is drained while the program runs" err
expect 129 "$TEEPERF" record --mode ring --ring 64K ./app steps 1
says "option '--ring' takes at least 128K" err
expect 129 "$TEEPERF" record --mode ring --ring 0 ./app steps 1
says "option '--ring' takes at least 128K" err
expect 129 "$TEEPERF" record --mode ring --ring 1G ./app steps 1
says "option '--ring' takes at most 256M" err
expect 129 "$TEEPERF" record --mode ring --stream -
says "'--mode ring' needs shared memory" err
expect 1 "$TEEPERF" record --mode ring --ring 1M --size 1M ./app steps 1
says "'--ring' exceeds a quarter of the log's 1024 KiB" err
expect 1 "$TEEPERF" record --mode ring --size 2G ./app steps 1
says "'--size' is at most 1024M with '--mode ring'" err
