#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the page of 'fleet serve' works in a real browser with mouse and keyboard: runs over
# time, two sets by choice and by hand, their comparison, a function's history, and the report's
# viewer over a set and the difference of two; that names are text, nothing else is loaded, contrast
# is enough, and 390 pixels are.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
needs chromium chromedriver

python3 "$lib/browser_fleet.py" make
for text in ?-?.txt; do
	"$TEEPERF" dump --assemble "$text" -o "${text%.txt}.trace"
done
expect 0 "$TEEPERF" fleet add -q --to fleet --host '<b>one</b>' --git-revision first \
	--label 'where=<script>window.hacked=3</script>' 0-*.trace
expect 0 "$TEEPERF" fleet add -q --to fleet --host two --git-revision second 1-*.trace
: >url
"$TEEPERF" fleet serve fleet >url 2>served &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
while [ ! -s url ]; do
	kill -0 $server 2>/dev/null || {
		grep -q 'without libmicrohttpd' served && skip "built without libmicrohttpd-dev"
		fail "the server has ended: $(cat served)"
	}
	sleep 0.05
done
HOME="$PWD"
export HOME
expect 0 python3 "$lib/browser_fleet.py" use "$(cat url)"
says '^0 failures' out
