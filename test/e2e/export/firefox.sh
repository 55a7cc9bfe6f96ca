#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the tables of a Firefox profile fit together, and that its samples make the times of
# the analyzer. How often a function was called it cannot tell, where calls follow one another
# without a gap.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/slices.sh"

slices_how() {
	[ "$1" = clock ] && echo within-parts || echo parts
}
slices_traces
slices_check firefox
says '"name":"worker 1"' program.firefox
says '"name":"thread \[5 events lost\]"' lost.firefox
says '"pausedRanges":\[\{"startTime":0.003000,"endTime":0.004000' switches.firefox
