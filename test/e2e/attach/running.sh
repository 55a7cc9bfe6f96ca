#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# record --pid: a program that was started without a recorder is recorded, again and again, while
# its threads wait in all kinds of system calls, one spins and one holds malloc's lock; with its
# records in line and in second bodies. All calls that are made meanwhile are counted, and the
# program does not notice: no system call of its fails, its status is its own.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"

rounds=2
[ "${TEEPERF_FULL:-}" != 1 ] || rounds=100
for shape in inline dual; do
	"$TEEPERF" cc --shape=$shape -O1 -o late "$lib/late_program.c" -lpthread
	# All of them. Calls between two recordings are in none.
	start read recv poll ppoll select epoll epoll-signal signal futex sleep spin accept child \
		semaphore heap spin
	go 100
	for round in $(seq $rounds); do
		attach all
		go 500
		expect 0 "$TEEPERF" ctl off "$recorder"
		go 100
		expect 0 "$TEEPERF" ctl on "$recorder"
		go 500
		expect 0 "$TEEPERF" ctl stop "$program"
		ended 0 record
		counted all 16000
		# How long a thread was stopped, and of that waited for a processor.
		"$TEEPERF" dump all.trace >dump.txt
		pause=$(sed -n 's/.*"attach_pause_us=\([1-9][0-9]*\)".*/\1/p' dump.txt | tail -n 1)
		waited=$(sed -n 's/.*"attach_waited_us=\([0-9][0-9]*\)".*/\1/p' dump.txt |
			tail -n 1)
		[ "${waited:-1}" -le "${pause:-0}" ] ||
			fail "a stop of '$pause' us, of which it waited '$waited'"
		go 100
	done
	over
done
