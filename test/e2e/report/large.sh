#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a report of 100,000 paths is shown piece by piece: the number of elements has a limit,
# whatever is clicked. The time that opening it and each interaction take on the main thread is
# printed.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
[ -x /usr/bin/chromium ] && command -v chromedriver >/dev/null ||
	skip "no browser (packages chromium and chromium-driver)"

paths=20000
[ "${TEEPERF_FULL:-0}" = 1 ] && paths=100000
python3 "$lib/many_paths.py" $paths >many.txt
expect 0 "$TEEPERF" dump --assemble many.txt -o many.trace
expect 0 "$TEEPERF" report -o many.html many.trace
export HOME="$PWD"
expect 0 python3 "$lib/browser_large.py" many.html $paths
cat out
says '^0 failures' out
