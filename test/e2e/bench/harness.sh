#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the benchmarks' harness works: run in miniature, each variant has its row with numbers, one
# that does not work here has a row that says why, one whose program prints something else is not
# counted, and the summary computes medians and verdicts right. The times are not looked at.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
plain_folder
command -v clang-19 >/dev/null || skip "clang 19, which benchmarks compare with, is not there"
bench=$root/benchmarks

# A teeperf that cannot do without a clock, and with the soft one makes the program print more.
cat >teeperf <<EOF
#!/bin/sh
case "\$*" in
record*none*)
	echo "teeperf record: no such clock: broken by the test" >&2
	exit 1
	;;
record*soft*micro-leaf*) ;;
record*soft*string_match*) echo "broken by the test" ;;
esac
exec "$TEEPERF" "\$@"
EOF
chmod +x teeperf

expect 0 "$bench/run" --mini --teeperf ./teeperf --work work --results results \
	--only startup --only micro-leaf --only 'phoenix-string_match-*' \
	--variants 'plain tsc soft none ten-listed ten-only limit gcc'
# row TABLE LABEL: the row of a variant in the table whose head begins with TABLE.
row() {
	awk -v table="$1" -v label="$2" '
		index($0, table " ") == 1 { inside = 1 }
		/^$/ { inside = 0 }
		inside && index($0, label) == 1 { print substr($0, length(label) + 1) }' out
}
number='-?[0-9]+(\.[0-9]+)?'
for table in startup phoenix-string_match-2; do
	for label in 'not instrumented (clang)' 'TeePerf, no recorder' 'TeePerf, tsc' 'TeePerf, tsc, ten functions by list' \
		'TeePerf, tsc, ten by --only' 'not instrumented (gcc)'; do
		row $table "$label" | grep -Eq "^ +$number +$number +$number +$number +" ||
			fail "$table has no numbers for '$label': $(cat out err)"
	done
	row $table 'TeePerf, no clock' | grep -q 'not run: .*broken by the test' ||
		fail "$table does not say why it has no row for the clock: $(cat out err)"
done
row phoenix-string_match-2 'TeePerf, soft clock' | grep -q 'not run: its output differs' ||
	fail "a wrong output was counted: $(cat out)"
row startup 'TeePerf, soft clock' | grep -Eq "^ +$number +$number " || fail "one broken row broke another"
for label in 'not instrumented (clang)' 'by hand: two clock reads' 'TeePerf, no recorder' 'TeePerf, tsc' \
	'TeePerf, soft clock'; do
	row leaf "$label" | grep -Eq " $number +[-+0-9.]+ +$number " || fail "leaf has no numbers for '$label'"
done
# Calls are counted right all the way: 2 events each, of 1000 calls, 126 to warm up, and what is around.
events=$(awk -F'\t' '$1 == "micro-leaf" && $2 == "tsc" && $3 == "events" { print $4 }' work/medians.tsv)
[ "${events:-0}" -ge 2252 ] && [ "$events" -le 2400 ] || fail "$events events were found in micro-leaf"
says '^leaf pair, soft clock, .* (met|MISSED)$' out
says '^SQLite, all calls, tsc .* not measured' out
[ "$(ls results/*-mini.txt | wc -l)" = 1 ] || fail "the table was not kept"
cmp -s results/*-mini.txt out || tail -n 2 out | grep -q '^Results: ' || fail "what is kept is not what is printed"

# Again: nothing is built twice, which would make its time worthless.
touch -d '2020-01-01' work/bin/startup/native
expect 0 "$bench/run" --mini --teeperf ./teeperf --work work --results results --only startup --variants tsc
[ work/bin/startup/native -ot teeperf ] || fail "an unchanged program was built again"

expect 129 "$bench/run" --no-such-option
expect 129 "$bench/run" --rounds
expect 129 "$bench/run" --rounds none
expect 129 "$bench/run" --teeperf ./teeperf --work work --results results --variants no-such-variant
says "no-such-variant" err
expect 1 "$bench/run" --teeperf ./no-such-teeperf
says "no-such-teeperf" err

# What the summary makes of known figures.
tab=$(printf '\t')
line() {
	echo "$*" | sed "s/ /$tab/g"
}
{
	for wall in 100 900 300; do
		line run sqlite native program $wall 10 20 1000 5 1
		line run sqlite tsc program $((wall * 3)) 10 20 1000 5 1
		line run sqlite soft program $((wall * 2)) 10 20 1000 5 1
	done
	line fact sqlite tsc events 1000
	line fact sqlite tsc bytes 8064
	line fact sqlite compressed events 1000
	line fact sqlite compressed bytes 3001
	for ns in 1 2 3 4; do
		line micro micro-leaf native leaf $ns $ns
		line micro micro-leaf limit leaf $((ns + 20)) $ns
		line micro micro-leaf tsc leaf $((ns + 21)) $ns
	done
	for kernel in histogram kmeans linear_regression matrix_multiply pca reverse_index string_match; do
		line run phoenix-$kernel-2 perf kernel 1000 1 0
		line run phoenix-$kernel-2 soft kernel 1000 1 0
	done
	line run phoenix-word_count-2 perf kernel 1000 1 0
	line run phoenix-word_count-2 soft kernel 256000 1 0
} >known.tsv
awk -f "$bench/lib/medians.awk" known.tsv >medians.tsv
grep -Fxq "sqlite${tab}tsc${tab}program_wall${tab}900${tab}3" medians.tsv || fail "a median: $(cat medians.tsv)"
grep -Fxq "micro-leaf${tab}native${tab}micro/leaf/wall${tab}2.5${tab}4" medians.tsv || fail "an even median"
grep -Fxq "sqlite${tab}native${tab}program_faults${tab}6${tab}3" medians.tsv || fail "faults"
line sqlite none 'cannot' >skipped.tsv
awk -F'\t' -v size=full -v skipped=skipped.tsv -f "$bench/lib/bars.awk" medians.tsv >out
verdict() { # START-OF-LINE END-OF-LINE
	grep -F -- "$1" out | grep -Eq -- "$2\$" || fail "'$1' does not end in '$2': $(cat out)"
}
verdict 'SQLite, all calls, tsc' '3\.2x +3\.00x +0\.94  met'
verdict 'SQLite, all calls, soft' '1\.6x +2\.00x +1\.25  MISSED'
verdict 'SQLite, all calls, no clock' 'not measured: cannot'
verdict 'leaf pair, tsc' '1\.03x +1\.05x +1\.02  MISSED'
verdict 'sqlite, bytes per event, raw' '8\.06 +1\.00  met'
verdict 'sqlite, bytes per event, compressed' '3\.00 +1\.00  MISSED'
verdict 'Phoenix, 2 threads, soft' '2\.00x +1\.74  MISSED'
verdict 'Phoenix, 1 thread, soft' 'not measured: no figures for histogram, .*, word_count'
