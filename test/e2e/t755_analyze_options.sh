#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that analyze refuses options that the view would not look at, and that the others are taken.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"

printf 'clock kind=tsc hz=1000000000\nsymbols\n\tsymbol 4096 main\nchunk\n\t0 enter 4096\n\t9 exit 4096\nend\n' >a.txt
"$TEEPERF" dump --assemble a.txt -o a.trace

refused() {
	text=$1
	shift
	expect 129 "$TEEPERF" analyze "$@" a.trace
	says "$text" err
}
refused '--by-caller is for the view histogram' --by-caller
refused '--by-caller is for the view histogram' --view function --function main --by-caller
for view in tree threads inverted timeline contention transitions; do
	refused "'$view' has an order of its own" --view $view --sort calls
	refused "'$view' has an order of its own" --view $view --sort self
done
refused '--columns is for tables' --columns calls --format csv
refused '--columns is for tables' --view tree --columns calls --format json
refused '--interval is for --watch' --interval 2s

expect 0 "$TEEPERF" analyze --sort self --columns calls,function a.trace
expect 0 "$TEEPERF" analyze --view tree --columns calls,function a.trace
says '^calls  function$' out
expect 0 "$TEEPERF" analyze --view histogram --function main --by-caller --sort name a.trace
expect 0 "$TEEPERF" analyze --view function --function main --sort name a.trace
expect 1 "$TEEPERF" analyze --view function --function 'MAI?' a.trace
says "there is 'main'" err
