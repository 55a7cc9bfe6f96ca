#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that all views, tables and exports of a trace say the same of each function, of each pair
# of caller and callee, and of each path: on recursion of one function and of several, threads,
# counted and sampled functions, several stacks, exceptions, losses, a recorder that attached,
# functions that were left out for a while or in all but windows, with and without compensation, and
# on a recorded program.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/views_traces.sh"

make_views_traces
set --
for name in $views_traces; do
	set -- "$@" "$name.trace"
done
expect 0 python3 "$lib/views_agree.py" "$@"
cat out
