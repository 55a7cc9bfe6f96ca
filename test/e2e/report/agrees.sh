#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that what a report's script computes and shows in a real browser is what the command line
# says: functions, their callers and callees in the sandwich, the call tree and its inversion, of
# all threads and of each.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/views_traces.sh"
[ -x /usr/bin/chromium ] && command -v chromedriver >/dev/null ||
	skip "no browser (packages chromium and chromium-driver)"

make_views_traces
set --
for name in $views_traces; do
	set -- "$@" "$name.trace"
done
export HOME="$PWD"
expect 0 python3 "$lib/views_agree.py" --browser "$@"
cat out
