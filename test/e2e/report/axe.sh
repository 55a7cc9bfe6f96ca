#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that axe-core finds nothing serious or critical in any tab of a report, in light, in dark
# and in 390 pixels' width, and that the keys of a keyboard alone reach all that a mouse does.
# axe-core is no package of Debian's: it is looked for among npm's global packages, or in the
# node_modules of TEEPERF_AXE. Without it the keyboard is tried all the same.
# tier: full
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
[ -x /usr/bin/chromium ] && command -v chromedriver >/dev/null ||
	skip "no browser (packages chromium and chromium-driver)"
modules=${TEEPERF_AXE:-$(npm root -g 2>/dev/null || true)}
axe=$modules/axe-core/axe.min.js
[ -e "$axe" ] || axe=

cp "$root/test/golden/system/trace.txt" events.txt
cp "$root/test/golden/running-in-tee/trace.txt" tee.txt
cp "$root/test/golden/locks/trace.txt" locks.txt
for name in events tee locks; do
	expect 0 "$TEEPERF" dump --assemble $name.txt -o $name.trace
	"$TEEPERF" report -o $name.html $name.trace || [ -e $name.html ] ||
		fail "no report of $name"
done
expect 0 "$TEEPERF" report --baseline locks.trace -o diff.html locks.trace
export HOME="$PWD"
expect 0 python3 "$lib/browser_axe.py" "$axe" events.html tee.html locks.html diff.html
cat out
says '^0 failures' out
[ -n "$axe" ] || skip "axe-core is not there (npm install -g axe-core, or TEEPERF_AXE); the" \
	"keyboard was tried"
