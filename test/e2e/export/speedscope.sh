#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the export "speedscope" has the form that speedscope's schema asks for, and the self
# and inclusive times of each function that we show.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/export_traces.sh"

golden_traces
real_trace plain
for trace in *.trace; do
	set -- "$@" "$trace"
done
python3 "$lib/export_speedscope.py" "$@"
