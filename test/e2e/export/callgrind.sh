#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that callgrind_annotate finds in the export "callgrind" the calls, the self and the
# inclusive time of each function that we show, also of recursive ones, which the format has no
# means for.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/export_traces.sh"
command -v callgrind_annotate >/dev/null || skip "no reader (package valgrind)"

golden_traces
real_trace plain
for trace in *.trace; do
	set -- "$@" "$trace"
done
python3 "$lib/export_callgrind.py" "$@"
