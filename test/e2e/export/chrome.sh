#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the Trace Event Format has each call with its times, and losses and gaps beside them.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/slices.sh"

slices_traces
slices_check chrome
says '"ph":"i".*"s":"t","name":"\[3 events lost\]"' lost.chrome
says '"name":"switched off","ts":3.000,"dur":1.000' switches.chrome
says '"name":"thread_name","args":\{"name":"worker 1"\}' program.chrome
# To standard output, and refused without a clock.
expect 0 "$TEEPERF" export --format chrome -o - traces/lost.trace
cmp out lost.chrome || fail "standard output differs from a file"
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/no-clock/trace.txt" -o no-clock.trace
expect 1 "$TEEPERF" export --format chrome no-clock.trace
says 'without a clock' err
