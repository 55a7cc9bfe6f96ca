#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a report separates running, waiting and being preempted as analyze does: columns of
# the table, widths of the flame graph, of all threads and of one; that --time decides which of them
# is shown first; and that unknown times are absent.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# The thread of which nothing is known is left out.
sed '/tid=13 name/d; /^chunk thread=2/,/thread-end/d; s/threads=3$/threads=2/' \
	"$root/test/golden/running/trace.txt" >known.txt
expect 0 "$TEEPERF" dump --assemble known.txt -o known.trace
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/running/trace.txt" -o mixed.trace
sed '/^sched/d; /^\tswitch/d' known.txt >plain.txt
expect 0 "$TEEPERF" dump --assemble plain.txt -o plain.trace
for name in known mixed plain; do
	expect 0 "$TEEPERF" report --raw -o $name.html $name.trace
	expect 0 "$TEEPERF" analyze --raw --format json $name.trace
	mv out $name.json
done
expect 0 "$TEEPERF" report --raw --thread 0 -o one.html mixed.trace
expect 0 "$TEEPERF" analyze --raw --thread 0 --format json mixed.trace
mv out one.json
expect 0 python3 "$lib/report_data.py" known.html known.json whole mixed.html mixed.json whole \
	plain.html plain.json whole one.html one.json whole
for name in known one; do
	says "^$name.html: .* times of 4 kinds, 0 contradictions" out
done
for name in mixed plain; do
	says "^$name.html: .* times of 1 kind, 0 contradictions" out
done

expect 0 "$TEEPERF" report --raw --time wait -o wait.html known.trace
expect 1 "$TEEPERF" report --time cpu -o refused.html mixed.trace
says "has no running and waiting times for thread 2" err
expect 1 "$TEEPERF" report --time preempted -o refused.html plain.trace
says "has wall time only" err
expect 129 "$TEEPERF" report --time cpu --baseline known.trace -o refused.html known.trace
says "teeperf diff --time cpu" err
[ ! -e refused.html ] || fail "a refused report was written"

if ! [ -x /usr/bin/chromium ] || ! command -v chromedriver >/dev/null; then
	echo "not looked at: no browser (packages chromium and chromium-driver)"
	exit 0
fi
export HOME="$PWD"
expect 0 python3 "$lib/browser_times.py" known wait mixed plain
says '^0 failures' out
