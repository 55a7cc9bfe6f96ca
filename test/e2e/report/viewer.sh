#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the viewer's functions which touch no page do what they say, by themselves: numbers and texts, trees of random paths against
# plain sums, colours, how threads share their height, and what hostile addresses become. What they do in a page is in report/browser.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v node >/dev/null || skip "no node (package nodejs)"

expect 0 node "$lib/viewer_units.cjs" "$root/analyzer/output/report/viewer"
says '^[1-9][0-9]* groups, 0 failures$' out
