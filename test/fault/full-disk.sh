#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a trace which a full disk has cut says in every view how many events it lacks, to the
# event, whichever way it was recorded: shown and missing events together are all of the program's.
# So do the traces of forked children, and one whose recorder was killed behind that.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
private_shm || skip "a small disk can be mounted only by root or in a user namespace"

echo 'fun:leaf' >leaf.allow
expect 0 "$TEEPERF" cc --allowlist=leaf.allow -O1 -g -pthread -o crash "$lib/crash_program.c"
head -c 1024 /dev/zero >accounts
mkdir -p small
expect 0 "$TEEPERF" record -q -o whole.trace ./crash accounts 1 10 0

# check EVENTS [OPTIONS]: small/x.trace lacks events, and its views say so; prints how exactly.
check() {
	expect 0 python3 "$lib/views_of_rest.py" "$TEEPERF" small/x.trace "$1" \
		$(($1 / 2)) whole.trace --all
	echo "$2: $(cat out)"
	[ "$(cat out)" = exact ] || fail "$2: $(cat out), not exact"
}
# cut SIZE CALLS OPTIONS...: of two threads' CALLS each, on a disk of SIZE.
cut() {
	size=$1 calls=$2
	shift 2
	mount -t tmpfs -o size=$size tmpfs small
	expect 1 "$TEEPERF" record -q -o small/x.trace "$@" ./crash accounts 2 $calls 0
	says "warning: 'small/x.trace' lacks the last [0-9]+ chunks, with [0-9]+ events; the rest" \
		err
	check $((4 * calls)) "$* in $size"
	umount small
}
cut 700k 100000
cut 1m 100000 --mode full --size 64M
cut 1m 100000 --drain end --size 64M
cut 1m 100000 --mode ring --ring 16M --size 128M
cut 700k 100000 --clock soft
# Packed, a trace takes a tenth and less.
cut 100k 1000000 --compress --size 64M --ready 64M

# No room is left for END either: the last chunks make some.
mount -t tmpfs -o size=1m tmpfs small
head -c 100k /dev/zero >small/rest
expect 1 "$TEEPERF" record -q -o small/x.trace --size 64M ./crash accounts 2 200000 0
expect 1 "$TEEPERF" analyze --view threads --format json small/x.trace
python3 - out <<'EOF' || fail "the threads do not account for all: $(cat out)"
import json, sys
head = json.load(open(sys.argv[1]))
threads = head["threads"]
assert sum(row["missing"] for row in threads) == head["missing_events"] > 0
# The first thread calls nothing that is recorded.
assert sorted(row["events"] + row["missing"] for row in threads)[-2:] == [400000, 400000]
EOF
umount small

# A recorder that is killed when the disk is full has not written the number of missing events: the
# loss is in chunks.
mount -t tmpfs -o size=512k tmpfs small
"$TEEPERF" record -q -o small/x.trace --size 4M --drain now ./crash accounts 1 0 1000 2>err &
recorder=$!
trap 'kill -KILL $recorder $program 2>/dev/null || true' EXIT
program=
tries=0
# Each second has up to a million calls, and the log has room for a quarter: it has wrapped after a
# million. A recorder that has no processor for so long loses some.
until [ "$(od -An -tu8 -j16 -N8 accounts | tr -d ' ')" -gt 1000000 ]; do
	tries=$((tries + 1))
	[ $tries -lt 1200 ] || fail "the program does not call: $(cat err)"
	sleep 0.05
done
program=$(cat "/proc/$recorder/task/$recorder/children")
program=${program% }
kill -KILL "$recorder" "$program"
wait || true
gone "$program"
expect 1 "$TEEPERF" analyze small/x.trace
says '^events +[0-9,]+, incomplete: an unknown number of events is missing$' out
done=$(od -An -tu8 -j16 -N8 accounts | tr -d ' ')
mount -o remount,size=64m small
expect 1 "$TEEPERF" recover small/x.trace
says '^teeperf recover: [0-9]+ chunks, with up to [0-9]+ events, are gone: they are neither in the trace nor in a log$' err
expect 1 "$TEEPERF" analyze --format json small/x.trace
python3 - out "$done" <<'EOF' || fail "more is missing than it says: $(cat out)"
import json, sys
head = json.load(open(sys.argv[1]))
done = int(sys.argv[2])
assert not head["complete"] and head["missing_chunks"] > 0
known = head["events"] + head["lost"]
assert known + head["missing_events"] < 2 * done <= known + head["missing_events_at_most"]
EOF
umount small
