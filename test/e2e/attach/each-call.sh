#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --pid: the program has one thread, so that it is that one which is stopped, in each kind of
# system call. The call goes on as if nothing had been.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"

for kind in read recv poll ppoll select epoll epoll-signal suspend signal futex sleep spin accept \
	child semaphore heap; do
	start $kind
	go 10
	attach one
	go 1000
	expect 0 "$TEEPERF" ctl stop "$recorder"
	ended 0 record
	counted one 1000
	go 10
	over
done
