#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that names with escape sequences, marks of direction and bytes that are not UTF-8 do not
# steer the terminal that 'teeperf tui' draws on, and that letters stay.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/tui.sh"

expect 0 "$TEEPERF" cc -O1 -g "$lib/odd_symbols.c" -o odd
expect 0 "$TEEPERF" record -q -o odd.trace -- ./odd
tui_walk names odd.trace
