#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a quota that is used up becomes one clear error or warning that says what to do, and
# that what was recorded before is kept and can be read. The quota is a preloaded library's, for few
# kernels have one that a test could set up.
# tier: quick
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
private_shm || true
build_fake
${CC:-cc} -O1 -shared -fPIC -Wall -Werror -o quota.so "$lib/quota.c"

# limited SETTING COMMAND...
limited() {
	setting=$1
	shift
	env LD_PRELOAD=./quota.so "$setting" "$@"
}
# one FILE: exactly one line of error, besides warnings.
one() {
	[ "$(grep '^teeperf [a-z]*: ' "$1" | grep -vc 'warning: ')" = 1 ] || {
		cat "$1" >&2
		fail "not one line of error"
	}
}
clean() {
	[ -z "${private:-}" ] || [ -z "$(find /dev/shm -name 'teeperf-*')" ] ||
		fail "left in /dev/shm: $(ls /dev/shm)"
}

# While it is written; 700001 is in the middle of a chunk.
for options in '' '--mode full' '--drain end'; do
	rm -f x.trace
	expect 1 limited QUOTA_BYTES=700001 "$TEEPERF" record -o x.trace \
		--size 16M $options ./fake 200000 0 wait
	one err
	says "'x.trace': cannot write the trace: Disk quota exceeded \\(remove files there, raise the quota, or" err
	says "warning: 'x.trace' lacks the last [0-9]+ chunks, with [0-9]+ events; the rest can be analyzed" err
	facts x.trace threads=1
	[ "$(fact records)" -gt 80000 ] || fail "$options: only $(fact records) records were kept"
	[ "$(wc -c <x.trace)" -le 700001 ] || fail "$options: it was written on"
	expect 1 "$TEEPERF" export --format folded --weight calls x.trace
	says "warning: missing    [0-9,]+ events in [0-9]+ chunks? could not be written" err
	[ -s out ] || fail "$options: nothing can be read"
done
rm -f x.trace
expect 1 limited QUOTA_BYTES=20000 "$TEEPERF" record -o x.trace --compress ./fake 1000000 0 wait
one err
says "'x.trace': cannot write the trace: Disk quota exceeded" err
facts x.trace
clean

# Before the start: the program does not run, and no file is left.
rm -f x.trace
expect 1 limited QUOTA_BYTES=10 "$TEEPERF" record -o x.trace sh -c 'touch started'
one err
says "'x.trace': cannot write the trace: Disk quota exceeded" err
expect 1 limited QUOTA_FILES=0 "$TEEPERF" record -o x.trace sh -c 'touch started'
one err
says "'x.trace': cannot create the trace: Disk quota exceeded" err
expect 1 limited QUOTA_LOG=100000 "$TEEPERF" record -o x.trace sh -c 'touch started'
one err
says "not enough memory for the log in /dev/shm \\(make room there or give a smaller '--size'\\): Disk quota exceeded" err
[ ! -e started ] && [ ! -e x.trace ] || fail "something is left of a recording that never was"
clean

# The log's memory runs out while the program runs: it stays small, and each event is recorded or
# counted as lost. (The program may be over before a recorder without a processor has asked for
# more: another time.)
for _ in 1 2 3 4 5; do
	expect 0 limited QUOTA_LOG=40000000 "$TEEPERF" record -o x.trace --size 128M --ready 16M \
		--mode full ./fake 12000000 0
	! grep -q 'ran full' err || break
done
says 'warning: /dev/shm ran full, so the log was smaller than allowed: make room there' err
fake= # records that were lost are missing between the others
facts x.trace end_sections=1
[ "$(fact lost)" -gt 0 ] && [ $(($(fact records) + $(fact lost))) = 12000000 ] ||
	fail "$(cat facts)"
clean
