#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a recorder that is killed leaves a trace with what was complete by then, and that the
# next recorder adds what was in its shared log and removes that, but not while the program lives,
# and not the log of a living recorder.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
build_fake

begin killed "$TEEPERF" record -o killed.trace ./fake 20000 pause
recorder=$begun
await killed.out ready
# The tables are written soon after the start.
await_true 'facts killed.trace
	[ "$(fact chunks_sections)" = 2 ] && [ "$(fact modules)" = 1 ] && [ "$(fact threads)" = 1 ]' \
	'the tables of killed.trace'
path=$(find /dev/shm -name "teeperf-$recorder-*" ! -name '*.trace')
[ -n "$path" ] || fail "there is no log of process $recorder"
expect 0 "$TEEPERF" record -q ./fake 10 0
[ -e "$path" ] || fail "the log of a living recorder was removed"

program=$(sed -n 's/^ready //p' killed.out)
kill -KILL "$recorder"
wait "$recorder" || true
facts killed.trace records=16368 threads=1 names=fake modules=1 end_sections=0
expect 0 "$TEEPERF" record ./fake 10 0
[ -e "$path" ] || fail "the log of a living program was removed"
facts killed.trace end_sections=0
kill -0 "$program" || fail "the program died with its recorder"
kill -KILL "$program"
gone "$program"
expect 0 "$TEEPERF" record ./fake 10 0
says "killed.trace', whose recorder had been killed, was completed: 1 chunks with 3632 records" err
[ ! -e "$path" ] || fail "the log of a dead recorder was left"
facts killed.trace records=20000 threads=1 names=fake modules=1 end_sections=1 host.recovered=1
