#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a report's latency over time has all calls of a function, by when they began and how
# long they took, as the table calls of SQL has them; that the slowest calls of functions are drawn
# with all calls inside of them, up to the limits; that the page reports what it leaves out; and
# that all of it works in a browser.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

sql="SELECT c.id, c.parent, c.thread, f.function, c.depth, c.start_ns, c.duration_ns FROM calls c
	JOIN functions f USING (fn)"

# agrees NAME [MAPS SLOWEST ROOM]: the report NAME.html, made with these limits, with the calls of
# NAME.trace.
agrees() {
	expect 0 "$TEEPERF" query --format json "$1.trace" "$sql"
	mv out "$1.json"
	name=$1
	shift
	expect 0 python3 "$lib/report_calls.py" "$name.html" "$name.json" "$@"
}

for name in nested recursion two-threads locks; do
	expect 0 "$TEEPERF" dump --assemble "$root/test/golden/$name/trace.txt" -o $name.trace
	"$TEEPERF" report --raw -o $name.html $name.trace || [ -e $name.html ] ||
		fail "no report of $name"
	agrees $name
	cat out
done

# With losses, exits that are missing, unwinding, and windows that do not all fit.
for seed in 1 2 3; do
	python3 "$lib/random_calls.py" $seed 1500 >random.txt
	expect 0 "$TEEPERF" dump --assemble random.txt -o random.trace
	"$TEEPERF" report --raw --slowest-calls 300 -o random.html random.trace ||
		[ -e random.html ] || fail "no report of $seed"
	"$TEEPERF" query --format json random.trace "$sql" >random.json || [ -s random.json ] ||
		fail "no calls of $seed"
	expect 0 python3 "$lib/report_calls.py" random.html random.json 100 5 300
	cat out
done

# ---- many calls of two threads, whose times drift and have outliers; the second thread begins
# later
awk 'BEGIN {
	print "clock kind=tsc hz=1000000000"
	print "command\n\tstring \"/\"\n\tstring \"server\""
	split("main serve request parse look_up answer", names)
	print "symbols"
	for (i = 1; i <= 6; i++)
		printf "\tsymbol 0x%x %s file=\"server.c\" line=%d\n", 4198400 + i * 16, names[i], i * 10
	print "threads\n\tthread tid=100 name=\"server\"\n\tthread tid=101 name=\"worker\""
	seed = 1
	for (thread = 0; thread < 2; thread++) {
		at = 1000 + thread * 500000
		for (i = 0; i < 3000; i++) {
			if (i % 300 == 0)
				printf "chunk thread=%d tid=%d sequence=%d time=%d\n", thread, 100 + thread, i / 300, at
			if (i == 0)
				printf "\t%d enter main\n\t%d enter serve\n", at, at
			printf "\t%d enter request\n\t%d enter parse\n", at, at
			at += 20 + int(i / 300)
			printf "\t%d exit parse\n", at
			looks = 1 + i % 3
			if (i % 500 == 7)
				looks = 40
			for (j = 0; j < looks; j++) {
				seed = (seed * 69069 + 1) % 4294967296
				printf "\t%d enter look_up\n", at
				at += 30 + int(seed / 65536) % 60
				printf "\t%d exit look_up\n", at
			}
			printf "\t%d enter answer\n", at
			at += i % 997 == 3 ? 20000 : 5
			printf "\t%d exit answer\n\t%d exit request\n", at, at
			at += 100
		}
		printf "\t%d exit serve\n\t%d exit main\n", at, at
	}
	print "end threads=2"
}' >server.txt
expect 0 "$TEEPERF" dump --assemble server.txt -o server.trace
expect 0 "$TEEPERF" report --raw -o server.html server.trace
agrees server
cat out
says ' 6 maps, 24 slowest in full ' out
! grep -Eq 'latency over time of [0-9]|[0-9] of the slowest calls of functions are' server.html ||
	fail "nothing is left out"

# main and serve have too many calls inside; the other calls in the drawing are the longest.
expect 0 "$TEEPERF" report --raw --calls 10 --heat-maps 4 --slowest 3 --slowest-calls 400 \
	-o server.html server.trace
agrees server 4 3 400
cat out
says ' 4 maps, 12 slowest in full ' out
says ', 4 in part, ' out
says 'latency over time of 2 functions: only the 4 with the most inclusive time have it' server.html
says '4 of the slowest calls of functions are not drawn with all calls inside them: together these are more than 400' server.html
mv server.html limited.html

# None of them, and not without a clock.
expect 0 "$TEEPERF" report --raw --heat-maps 0 --slowest 0 -o server.html server.trace
agrees server 0 0 0
says ' 0 maps, 0 slowest in full with 0 calls, 0 in part' out
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/no-clock/trace.txt" -o none.trace
expect 0 "$TEEPERF" report -o none.html none.trace
! grep -Eq 'id="data-(heat|slowest|begun)"' none.html || fail "latency of nothing"
expect 129 "$TEEPERF" report --slowest few -o refused.html server.trace

# ---- in a browser
if ! [ -x /usr/bin/chromium ] || ! command -v chromedriver >/dev/null; then
	echo "not looked at: no browser (packages chromium and chromium-driver)"
	exit 0
fi
expect 0 "$TEEPERF" report --raw -o server.html server.trace
export HOME="$PWD"
expect 0 python3 "$lib/browser_latency.py" server.html limited.html none.html
cat out
says '^0 failures' out
