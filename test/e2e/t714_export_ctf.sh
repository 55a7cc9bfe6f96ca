#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that babeltrace2 reads what is exported in the Common Trace Format: each call with its times, thread
# and name, whatever the name is; losses, which it warns of; and gaps.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
. "$lib/slices.sh"
command -v babeltrace2 >/dev/null || skip "no babeltrace2 (package babeltrace2)"

slices_traces
slices_check ctf
expect 0 babeltrace2 lost.ctf
says 'teeperf:lost: .*count = 3' out
says 'discarded' err
expect 0 babeltrace2 switches.ctf
says '03000\].*teeperf:switched_off' out
says '04000\].*teeperf:switched_on' out
expect 0 babeltrace2 program.ctf
says 'procname = "worker 1"' out
[ ! -s err ] || fail "babeltrace2 complains: $(cat err)"
# Nothing recorded is a trace, too.
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/empty.txt" -o empty.trace
expect 0 "$TEEPERF" export --format ctf -o empty.ctf empty.trace
expect 0 babeltrace2 empty.ctf
