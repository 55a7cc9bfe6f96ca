#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a trace which could not be written to its end says so in every view, with the number
# of events that it lacks: each write fails in turn, alone or with all that follow. Shown and
# missing events together are all of the program's. TEEPERF_FULL=1: all views of each trace, and
# more ways to record.
# tier: long
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
private_shm || true

step=7
[ "${TEEPERF_FULL:-0}" = 1 ] && step=1
${CC:-cc} -O1 -shared -fPIC -Wall -Werror -o fail.so "$lib/fail_nth.c" ||
	skip "no C compiler (CC=${CC:-cc})"
echo 'fun:leaf' >leaf.allow
echo 'fun:leaf=count' >count.allow
expect 0 "$TEEPERF" cc --allowlist=leaf.allow -O1 -g -pthread -o crash "$lib/crash_program.c"
expect 0 "$TEEPERF" cc --allowlist=count.allow -O1 -g -pthread -o counted "$lib/crash_program.c"
head -c 1024 /dev/zero >accounts

# play PROGRAM EVENTS CALLS OPTIONS...
play() {
	program=$1 events=$2 calls=$3
	shift 3
	counted=
	[ "$program" = crash ] || counted=--counted
	expect 0 "$TEEPERF" record -q -o whole.trace \
		--size 16M "$@" "./$program" accounts 2 $((calls / 2)) 0
	python3 "$lib/fail_writes.py" ./fail.so "$TEEPERF" $events $calls whole.trace \
		$step $counted ${once:-} -- "$TEEPERF" record -q -o r.trace \
		--size 16M "$@" "./$program" accounts 2 $((calls / 2)) 0
}
play crash 40000 20000 --drain end
once=--once play counted 0 20000
if [ "${TEEPERF_FULL:-0}" = 1 ]; then
	play crash 100000 50000 --drain now
	play counted 0 50000
	play crash 100000 50000 --drain end --compress
	play crash 100000 50000 --mode full --drain late
fi
