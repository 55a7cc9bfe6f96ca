#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a program that fills the shared log with rubbish, states and counts included, can
# neither crash the recorder nor damage the structure of the trace.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
build_fake
fake=
for mode in stream full; do
	# On a busy machine the program may end before the recorder has looked: then once more.
	for _ in $(seq 30); do
		expect 0 "$TEEPERF" record -o rubbish.trace --mode "$mode" --size 512K --drain now \
			./fake 100 scribble
		facts rubbish.trace end_sections=1 exit=1/0
		[ "$(fact records)" -le 8000 ] || break
	done
	# Counts that cannot be are no facts.
	says 'the log has impossible counts' err
	if grep -E '[0-9]{16,}' err; then fail "a forged number is shown"; fi
	"$TEEPERF" query rubbish.trace --format csv \
		'SELECT lost FROM threads WHERE lost >= 1 << 48' >out 2>log || [ -s out ]
	[ "$(wc -l <out)" = 1 ] || fail "a forged number of lost events is shown: $(cat out)"
	# Its 100 records fill no chunk: more records than that are rubbish.
	[ "$(fact records)" -gt 8000 ] || fail "nothing hostile was drained"
done
