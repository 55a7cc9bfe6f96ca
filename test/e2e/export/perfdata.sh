#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that perf report, script and diff open the export "perfdata", find the names of functions
# in the program's own file, and add up the times that we show.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/export_traces.sh"
perf version >/dev/null 2>&1 || skip "no reader (package linux-perf)"

# Perf keeps what it finds of symbols in a folder of the user.
export HOME="$PWD"
golden_traces
real_trace plain
# Addresses and places in the file differ here.
real_trace lld -fuse-ld=lld -no-pie
for trace in *.trace; do
	set -- "$@" "$trace"
done
python3 "$lib/export_perfdata.py" "$@"
