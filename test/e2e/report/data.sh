#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a report has what analyze has: its data, read by an independent reader, agree with
# each other and with the sums of analyze, for all traces of the golden tests, folded or not; and
# that its page may run nothing but its own script, whatever names there are.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# checked HOW REPORT ANALYSIS: to be compared, all at once.
checked() {
	pairs="$pairs $2 $3 $1"
}
pairs=
count=0
for text in "$root"/test/golden/*/trace.txt; do
	name=$(basename "$(dirname "$text")")
	expect 0 "$TEEPERF" dump --assemble "$text" -o case.trace
	status=0
	"$TEEPERF" analyze --raw --format json case.trace >$name.raw.json 2>err || status=$?
	expect $status "$TEEPERF" report --raw -o $name.raw.html case.trace
	checked whole $name.raw.html $name.raw.json
	expect $status "$TEEPERF" report --raw --paths 2 --calls 9 -o $name.few.html case.trace
	checked folded $name.few.html $name.raw.json
	for limit in --depth=2 "--min-time=40ns --depth=9"; do
		part=$name.${limit%%=*}
		filtered=0
		"$TEEPERF" analyze --raw $limit --format json case.trace >$part.json 2>err ||
			filtered=$?
		if [ $filtered != $status ]; then
			says 'recorded without a clock' err
			continue
		fi
		expect $status "$TEEPERF" report --raw $limit -o $part.html case.trace
		checked whole $part.html $part.json
	done
	"$TEEPERF" analyze --format json case.trace >$name.json 2>err || true
	expect $status "$TEEPERF" report -o $name.html case.trace
	checked plain $name.html $name.json
	count=$((count + 1))
done
# shellcheck disable=SC2086 # words are meant
expect 0 python3 "$lib/report_data.py" $pairs
[ "$(grep -c ' 0 contradictions$' out)" -gt $((4 * count)) ] ||
	fail "only $(wc -l <out) reports were compared"
# The recorded times decide which calls are short.
expect $status "$TEEPERF" report --min-time 1us -o case.html case.trace
says 'with --min-time, times are as recorded' err
[ $count -gt 20 ] || fail "only $count traces"

# ---- a call that is too short, on a path where others are long enough, begins another: all of it
# is its caller's
cat >short.txt <<'EOS'
clock kind=tsc hz=1000000000
command
	string "/"
	string "short"
symbols
	symbol 0x401000 "main" file="a.c" line=1
	symbol 0x401010 "f" file="a.c" line=2
	symbol 0x401020 "g" file="a.c" line=3
chunk thread=0 tid=100 sequence=0 time=0
	0 enter 0x401000
	1000 enter 0x401010
	1400 enter 0x401020
	2900 exit 0x401020
	3000 exit 0x401010
	4000 enter 0x401010
	4800 enter 0x401020
	4850 exit 0x401020
	4900 exit 0x401010
	6000 exit 0x401000
end
EOS
expect 0 "$TEEPERF" dump --assemble short.txt -o short.trace
expect 0 "$TEEPERF" analyze --raw --min-time 1us --format json short.trace
mv out short.json
expect 0 "$TEEPERF" report --raw --min-time 1us -o short.html short.trace
expect 0 python3 "$lib/report_data.py" short.html short.json whole
