#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# --fail-if note:ID: a note makes the exit status 1, the results are there all the same, and the
# reason is said; in each command that reads traces. JSON and the gate know the same notes.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# trace NAME: assembled from the text on standard input.
trace() {
	cat >"$1.txt"
	expect 0 "$TEEPERF" dump --assemble -o "$1.trace" "$1.txt"
}
trace lost <<'EOT'
clock hz=1000000000
threads
	thread lost=12
chunk
	10 enter 0x1000
	30 exit 0x1000
end
EOT
trace whole <<'EOT'
clock hz=1000000000
chunk
	10 enter 0x1000
	30 exit 0x1000
end
EOT

expect 0 "$TEEPERF" analyze --format csv whole.trace
mv out whole.csv
expect 0 "$TEEPERF" analyze --fail-if note:wrong --fail-if note:limit --format csv whole.trace
cmp out whole.csv
expect 1 "$TEEPERF" analyze --fail-if note:lost --format csv lost.trace
cmp out whole.csv || fail "the results of a trace that fails are not there"
says "^teeperf analyze: failed by --fail-if note:lost: 12 events: times and counts are too low; record fewer functions" err
expect 0 "$TEEPERF" analyze --fail-if note:starved --format csv lost.trace
expect 1 "$TEEPERF" analyze --strict --format csv lost.trace
expect 0 "$TEEPERF" analyze --strict --format csv whole.trace
expect 1 "$TEEPERF" export --fail-if note:wrong --format folded -o folded lost.trace
[ -s folded ] || fail "export has written nothing"
expect 1 "$TEEPERF" query --fail-if note:wrong lost.trace 'SELECT count(*) AS n FROM calls'
says '1' out
expect 1 "$TEEPERF" report --fail-if note:lost -o page.html lost.trace
[ -s page.html ] || fail "report has written nothing"
expect 0 "$TEEPERF" diff --fail-if note:wrong whole.trace whole.trace
expect 1 "$TEEPERF" diff --fail-if note:lost whole.trace lost.trace
says 'lost.trace.* incomplete|failed by --fail-if note:lost' err

# Each note of the JSON is one that the gate knows.
expect 0 "$TEEPERF" analyze --format json lost.trace
python3 - out <<'EOP' >ids
import json, sys
notes = json.load(open(sys.argv[1]))["notes"]
assert all(set(note) == {"id", "severity", "count", "text", "remedy"} for note in notes), notes
print("\n".join(note["id"] for note in notes))
EOP
[ "$(cat ids)" = lost ] || fail "the notes are $(cat ids)"

expect 129 "$TEEPERF" analyze --fail-if note:los whole.trace
says "'note:los' is not a note" err
expect 129 "$TEEPERF" analyze --fail-if 'self>+5%' whole.trace

# What the page of notes tells the reader to do can be done: the options and functions that it names
# are there.
for command in record analyze; do
	"$TEEPERF" $command --help
done >help
sed '1,/<!-- notes -->/d' "$root/docs/troubleshooting.md" |
	grep -oE -- '--[a-z-]+|teeperf_[a-z_]+|teeperf [a-z]+' | grep -v '^--*$' | sort -u >named
[ "$(wc -l <named)" -ge 5 ] || fail "the page of notes names next to nothing: $(cat named)"
while read -r name word; do
	case $name in
	--*)
		grep -qE -- "^ +(-., )?$name( |\$)" help ||
			fail "neither 'teeperf record' nor 'analyze' has $name"
		;;
	teeperf_*)
		grep -q "\\b$name(" "$root/include/teeperf/teeperf.h" || fail "there is no $name()"
		;;
	*) expect 0 "$TEEPERF" "$word" --help ;;
	esac
done <named
