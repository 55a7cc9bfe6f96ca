#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a range of times that cannot be, or that nothing lies in, is told with what is wrong about it.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"

"$TEEPERF" dump --assemble "$root/test/golden/compensated.txt" -o ended.trace
"$TEEPERF" dump --assemble "$root/test/golden/border.txt" -o endless.trace
for range in 18446744073s.. ..18446744073s 1s..18446744073s 99999999999999999999999.. ; do
	for command in analyze report 'export --format folded'; do
		expect 129 "$TEEPERF" $command --time-range $range ended.trace
		says "'$range' has a time that is too large" err
	done
done
for range in 1s 2s..1s 1x.. ..; do
	expect 129 "$TEEPERF" analyze --time-range $range ended.trace
	says "'$range' is no range of times" err
done
expect 0 "$TEEPERF" analyze --time-range 1000s.. ended.trace
says 'empty .*no call begins or ends in this range of times: the recording lasted 2\.0+ us' out
expect 0 "$TEEPERF" analyze --time-range 1000s.. endless.trace
says 'empty .*in this range of times: the recording lasted at least [0-9]' out
expect 0 "$TEEPERF" analyze --time-range 0.. ended.trace
! grep -q '^empty' out || fail "all of it is said to be empty"
