#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Where a self time is smaller than its uncertainty, the table, the JSON object and the page suggest
# a remedy; where it is not, they do not mention it.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

advice="the self time of 1 function is smaller than its uncertainty: compare calls, or record fewer functions"
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/compensated/trace.txt" -o tiny.trace
expect 0 "$TEEPERF" analyze tiny.trace
grep -F -- "+/- >100%  $advice ('teeperf allowlist generate'), or with 'record --clock tsc-ordered'" out >found ||
	fail "$(head -20 out)"
expect 0 "$TEEPERF" analyze --format json tiny.trace
says "{\"id\":\"unsure\",\"severity\":\"scope\",\"count\":1,\"text\":\"$advice" out
expect 1 "$TEEPERF" analyze --fail-if note:unsure tiny.trace
expect 0 "$TEEPERF" report -o tiny.html tiny.trace
says "<dd>$advice" tiny.html
# As they were recorded, nothing is known of it.
expect 0 "$TEEPERF" analyze --raw --fail-if note:unsure tiny.trace
! grep -F '>100%' out >found || fail "$(cat found)"
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/nested/trace.txt" -o large.trace
expect 0 "$TEEPERF" analyze --format json large.trace
! grep unsure out >found || fail "$(cat found)"
exit 0
