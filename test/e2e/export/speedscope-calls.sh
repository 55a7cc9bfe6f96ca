#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that evented profiles of speedscope, which --calls chooses, have each call with its times;
# that the old name of this form gives the same file with a warning; and that formats without two
# forms refuse --calls.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/slices.sh"

slices_traces
slices_check speedscope
# (Which of the threads began first is theirs.)
says '"name":"worker 1 [1-3]"' program.speedscope
says '"name":"thread 0 \[5 events lost\]"' lost.speedscope
says '"file":".*app.cpp","line":[0-9]+' program.speedscope

expect 0 "$TEEPERF" export --format speedscope-events -o old traces/program.trace
says "'speedscope-events' is an old name .*: use --format speedscope --calls$" err
cmp old program.speedscope || fail "the old name writes something else"
expect 0 "$TEEPERF" export --format speedscope-events --split 1ms -o old traces/program.trace
expect 0 "$TEEPERF" export --list
! grep speedscope-events out || fail "the old name is listed"
[ "$(grep -c speedscope out)" = 1 ] || fail "not one format for speedscope"
expect 129 "$TEEPERF" export --format folded --calls -o none traces/program.trace
says "--calls: 'folded' cannot have single calls; speedscope can" err
expect 129 "$TEEPERF" export --format chrome --calls -o none traces/program.trace
says "--calls: 'chrome' has single calls anyway" err
expect 129 "$TEEPERF" export --format speedscope --split 1ms -o none traces/program.trace
says "'speedscope' has single calls only with --calls" err
[ ! -e none ] || fail "a refused export was written"
