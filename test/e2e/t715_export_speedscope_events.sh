#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that evented profiles of speedscope have each call with its times.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
. "$lib/slices.sh"

slices_traces
slices_check speedscope-events
# (Which of the threads began first is theirs.)
says '"name":"worker 1 [1-3]"' program.speedscope-events
says '"name":"thread 0 \[5 events lost\]"' lost.speedscope-events
says '"file":".*app.cpp","line":[0-9]+' program.speedscope-events
