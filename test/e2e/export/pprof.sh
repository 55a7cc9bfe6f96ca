#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that pprof's own readers find in the export "pprof" the calls and the times of each
# function that we show: with recursion, threads, stacks that are switched, names of all kinds,
# functions that are only counted, without a clock, compensated and as recorded.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/export_traces.sh"
command -v protoc >/dev/null || skip "no reader (package protobuf-compiler)"

golden_traces
real_trace plain
for trace in *.trace; do
	set -- "$@" "$trace"
done
python3 "$lib/export_pprof.py" "$@"
