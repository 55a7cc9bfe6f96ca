#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --pid: the memory that a program keeps of finished logs does not grow with their number,
# and giving memory back does not lose a record.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"
ulimit -n 4096 2>/dev/null || skip 'too few descriptors'

threads=100
rounds=6
[ "${TEEPERF_FULL:-}" != 1 ] || threads=500 rounds=20
kept() {
	sed -n 's/^RssShmem:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$program/status"
}
start $(for i in $(seq $threads); do echo futex; done)
before=0
for round in $(seq $rounds); do
	# In turn two chunks of each thread, and a page.
	amount=$((round % 2 ? 3000 : 100))
	attach all --size 128M
	go $amount
	expect 0 "$TEEPERF" ctl stop "$recorder"
	ended 0 record
	counted all $((amount * threads))
	after=$(kept)
	echo "recording $round: $after KiB"
	# The newest log keeps up to a chunk of each thread; all others together next to nothing.
	[ "$((round % 2))" = 0 ] || continue
	[ "$before" = 0 ] || [ "$after" -lt $((before + 1024)) ] ||
		fail "$after KiB are kept after recording $round, $before after an earlier one" \
		"that was the same"
	[ "$before" != 0 ] || [ "$round" = 1 ] || before=$after
done
over
