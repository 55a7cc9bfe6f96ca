#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that an impossible or empty range of times is reported with the reason.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

"$TEEPERF" dump --assemble "$root/test/golden/compensated/trace.txt" -o ended.trace
"$TEEPERF" dump --assemble "$root/test/golden/border/trace.txt" -o endless.trace
for range in 18446744073s.. ..18446744073s 1s..18446744073s 99999999999999999999999.. ; do
	for command in analyze report 'export --format folded'; do
		expect 129 "$TEEPERF" $command --time-range $range ended.trace
		says "'$range' has a time that is too large" err
	done
done
for range in 1s 1x.. .. -1s..1s .ns..1ms 1e3..2e3; do
	expect 129 "$TEEPERF" analyze --time-range $range ended.trace
	says "'$range' is not a range of times" err
done
for range in 2s..1s 5s..1s 1us..0; do
	expect 129 "$TEEPERF" analyze --time-range $range ended.trace
	says "'$range' is a range that ends before it begins" err
done
for range in 1ms..1ms 1ms..1000us 0..0s ..0ns; do
	expect 129 "$TEEPERF" analyze --time-range $range ended.trace
	says "'$range' is an empty range" err
done
# 0 is a time with any unit, and without one.
expect 0 "$TEEPERF" analyze --time-range 0..1ms ended.trace
mv out from_zero
for zero in 0s 0ns 0us 0.0ms '0 ms' 00; do
	expect 0 "$TEEPERF" analyze --time-range "$zero..1ms" ended.trace
	cmp -s from_zero out || fail "from '$zero' on is not from 0 on"
done
expect 0 "$TEEPERF" analyze --min-time 0us ended.trace
expect 1 "$TEEPERF" analyze --time-range 1000s.. ended.trace
says 'empty .*no call begins or ends in this time range: the recording lasted 2\.0+ us' out
expect 1 "$TEEPERF" analyze --time-range 1000s.. endless.trace
says 'empty .*in this time range: the recording lasted at least [0-9]' out
expect 1 "$TEEPERF" analyze --time-range 1000s.. --format csv endless.trace
says 'warning: empty .*in this time range: the recording lasted at least [0-9]' err
expect 0 "$TEEPERF" analyze --time-range 0.. ended.trace
! grep -q '^empty' out || fail "all of it is said to be empty"

# A thread that is silent from before the range on, whose function is left out before it begins, and
# recording is switched off in it.
cat >closed.txt <<'EOF'
clock kind=tsc hz=1000000000
selections
	selection 0 time=0 only=0
	selection 1 time=50 only=2
	selection 1 time=50 only=2 hash=0x335f24192ff5d0d4
switches
	off 200
symbols
	symbol 0x401000 main
	symbol 0x401020 hot
chunk thread=0
	0 enter 0x401000
	10 enter 0x401020
chunk thread=1
	0 enter 0x401000
	190 exit 0x401000
end threads=2
EOF
"$TEEPERF" dump --assemble closed.txt -o closed.trace
for case in "100ns.. 190 0" "30ns.. 309 21" "20ns..150ns 229 31"; do
	set -- $case
	expect 0 "$TEEPERF" analyze --format csv --time-range "$1" closed.trace
	says "^main,2,$2," out
	[ "$3" = 0 ] || says "^hot,1,$3,$3," out
	[ "$3" != 0 ] || ! grep '^hot,' out || fail 'a call is in a range that it ended before'
done
