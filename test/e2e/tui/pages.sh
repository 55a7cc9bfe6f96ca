#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# Proves that what 'teeperf tui' shows is what 'teeperf analyze --format csv' has: functions in
# each order, callers and callees, the tree of a thread, slowest calls, what one call did; that one
# comes back from each page, by search, filter, keys; on any size of screen; and that errors come
# without a screen.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/tui.sh"

expect 1 "$TEEPERF" tui nothing.trace
says "are not a terminal: 'teeperf analyze' prints tables$" err
"$TEEPERF" cc -O1 -g -pthread "$lib/query_program.c" -o program
expect 0 "$TEEPERF" record -q --mode full --size 64M --ready 64M -o program.trace ./program 3 200
tui_walk walk program.trace one_round
# Long to read.
expect 0 "$TEEPERF" record -q --clock none -o long.trace ./program 3 300000
tui_walk refused
rm long.trace
