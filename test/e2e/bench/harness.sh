#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that the benchmarks' harness works: run in miniature, each variant has its row with
# numbers, one that does not work here has a row that says why, one whose program prints something
# else is not counted, and the summary computes medians and verdicts right. The times are not looked
# at.
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
page=results/mini.md
# row TABLE LABEL: the cells behind the label of a variant's row in a table of the page.
row() {
	awk -v table="### $1" -v label="| $2 |" '
		/^#/ { inside = $0 == table }
		inside && index($0, label) == 1 { print substr($0, length(label)) }' $page
}
number='-?[0-9,]+(\.[0-9]+)?'
for table in startup phoenix-string_match-2; do
	for label in 'not instrumented (clang)' 'TeePerf, no recorder' 'TeePerf, tsc' \
		'not instrumented (gcc)'; do
		row $table "$label" | grep -Eq \
			"^\| $number \| [^|]*\| $number \| [^|]*\| .*\| 1 \| [0-9.]+; [0-9.]+ \|" ||
			[ $table != startup ] ||
			fail "$table has no numbers for '$label': $(cat $page err)"
	done
	row $table 'TeePerf, tsc' | grep -Eq "^\| $number \| " ||
		fail "$table has no numbers for tsc: $(cat $page err)"
	row $table 'not instrumented (clang)' | grep -Eq "^\| $number \| " ||
		fail "$table has no numbers for native: $(cat $page err)"
done
for label in 'TeePerf, tsc, ten functions by list' 'TeePerf, tsc, ten by --only'; do
	row startup "$label" | grep -Eq "^\| $number \| " ||
		fail "startup has no numbers for '$label': $(cat $page err)"
done
row startup 'TeePerf, no clock' | grep -q 'not run: .*broken by the test' ||
	fail "startup does not say why it has no row for the clock: $(cat $page err)"
row phoenix-string_match-2 'TeePerf, soft clock' | grep -q 'not run: its output differs' ||
	fail "a wrong output was counted: $(cat $page)"
row startup 'TeePerf, soft clock' | grep -Eq "^\| $number \| " ||
	fail "one broken row broke another"
for label in 'not instrumented (clang)' 'by hand: two clock reads, two stores' \
	'TeePerf, no recorder' 'TeePerf, tsc' 'TeePerf, soft clock'; do
	row leaf "$label" | grep -Eq "^\| $number \| " ||
		fail "leaf has no numbers for '$label': $(cat $page err)"
done
# All calls are counted: 2 events each, of 1000 calls, 126 to warm up, and those around them.
events=$(awk -F'\t' \
	'$1 == "micro-leaf" && $2 == "tsc" && $3 == "events" { print $4 }' work/medians.tsv)
[ "${events:-0}" -ge 2252 ] && [ "$events" -le 2400 ] ||
	fail "$events events were found in micro-leaf"
says '^\| leaf, soft clock, over native \| ≤ 2 ns \| .* \| 1 \| .* \| (met|\*\*missed\*\*) \|$' \
	$page
says '^\| SQLite, everything on, tsc, over native, processor time \| ≤ 1.85 x \| - \| 0 \| - \| not measured yet \|$' $page

# Again: nothing is built twice, which would make its time worthless.
touch -d '2020-01-01' work/bin/startup/native
expect 0 "$bench/run" --mini --teeperf ./teeperf --work work --results results --only startup \
	--variants tsc
[ work/bin/startup/native -ot teeperf ] || fail "an unchanged program was built again"

expect 129 "$bench/run" --no-such-option
expect 129 "$bench/run" --rounds
expect 129 "$bench/run" --rounds none
expect 129 "$bench/run" --teeperf ./teeperf --work work --results results --variants no-such-variant
says "no-such-variant" err
expect 1 "$bench/run" --teeperf ./no-such-teeperf
says "no-such-teeperf" err

# What the page makes of known figures.
tab=$(printf '\t')
line() {
	echo "$*" | sed "s/ /$tab/g"
}
# once BENCH VARIANT ROUND KEY VALUE...
once() {
	bench_variant_round=$1' '$2' '$3
	shift 3
	while [ $# -gt 1 ]; do
		line figure $bench_variant_round $1 $2
		shift 2
	done
	line done $bench_variant_round 1.5 0.25 0.01
}
{
	round=0
	for ns in 100 900 300; do
		round=$((round + 1))
		once sqlite native $round program_wall $ns program_cpu $ns
		once sqlite dual-tsc $round program_wall $ns program_cpu $((ns * 3)) events 1000
		once sqlite dual-soft $round program_wall $((ns * 2)) program_cpu $((ns * 5 / 4))
		once sqlite tsc $round program_cpu $((ns * 3 - (round - 2) * ns / 10)) events 1000 \
			bytes 8064
		once sqlite compressed $round events 1000 bytes 3001
		once sqlite dual-plain $round program_cpu $((ns + (round - 2) * ns / 100))
		once lua native $round program_cpu $ns
		once lua dual-plain $round program_cpu $((ns + round * ns / 100))
		once attach own $round refused 0 pause_longest_ms $((round * 11))
		once analyzer-lua own $round one_core_m $((100 + round)) compressed_x 0.8
		for kernel in histogram kmeans linear_regression matrix_multiply pca reverse_index \
			string_match; do
			once phoenix-$kernel-2 perf $round kernel_wall 1000
			once phoenix-$kernel-2 dual-soft $round kernel_wall 1000
		done
		once phoenix-word_count-2 perf $round kernel_wall 1000
		once phoenix-word_count-2 dual-soft $round kernel_wall 256000
	done
	# Of nine rounds the interval is from the second to the eighth; zlib has no long run.
	for ns in 1 2 3 4 5 6 7 8 9; do
		once zlib-idle native $ns program_cpu 1000
		once zlib-idle dual-plain $ns program_cpu $((1010 + ns))
		once zlib-idle xray-off $ns program_cpu 2000
	done
	for ns in 1 2 3 4; do
		once micro-leaf native $ns micro/leaf/wall $ns
		once micro-leaf limit $ns micro/leaf/wall $((ns + 20))
		once micro-leaf tsc $ns micro/leaf/wall $((ns + 21))
		once micro-leaf closed $ns micro/leaf/wall $((ns * 2 - 2))
	done
	line skip sqlite dual-none cannot
	line figure sqlite native 4 program_cpu 1
} >known.tsv
echo '## SQLite, everything on, tsc, over native*' >why.md
python3 "$bench/lib/page.py" --why why.md --medians medians.tsv known.tsv >out
grep -Fxq "sqlite${tab}dual-tsc${tab}program_cpu${tab}900${tab}3" medians.tsv ||
	fail "a median: $(cat medians.tsv)"
grep -Fxq "micro-leaf${tab}native${tab}micro/leaf/wall${tab}2.5${tab}4" medians.tsv ||
	fail "an even median"
grep -Fxq "sqlite${tab}native${tab}program_cpu${tab}300${tab}3" medians.tsv ||
	fail "figures of a run that was cut off count"
bar() { # WHAT REST
	grep -F -- "| $1 | " out | grep -Eq -- "\\| $2 \\|\$" ||
		fail "'$1' does not end in '$2': $(cat out)"
}
lies='0\.[23]; 0\.01'
bar 'SQLite, everything on, tsc, over native, processor time' \
	"≤ 1\.85 x \| 3\.000 \| 3 \| $lies \| \*\*missed\*\*, \[why\]\(why\.md#sqlite-everything-on-tsc-over-native\)"
bar 'SQLite, everything on, soft clock, over native, processor time' \
	"≤ 1\.3 x \| 1\.250 \| 3 \| $lies \| met"
bar 'SQLite, everything on, no clock, over native, processor time' '- \| 0 \| - \| not run: cannot'
bar 'SQLite, everything on, tsc, two bodies over in line' \
	"≤ 1 x \| not told apart \(±3\.4 %\) \| 3 \| $lies \| met"
bar 'SQLite, no recorder, processor time' \
	"≤ 1\.01 x \| not told apart \(±1\.0 %\) \| 3 \| $lies \| met"
bar 'Lua, no recorder, processor time' \
	"≤ 1\.01 x \| 1\.020 \(1\.010–1\.030\) \| 3 \| $lies \| open: .*beyond.*"
bar 'zlib, no recorder, processor time' \
	"≤ 1\.01 x \| 1\.015 \(1\.012–1\.018\) \| 9 \| $lies \| \*\*missed\*\*"
bar "zlib, no recorder, over XRay's dormant sleds" \
	"≤ 1 x \| 0\.507 \(0\.506–0\.509\) \| 9 \| $lies \| met"
bar 'leaf, gate closed by --only, over native' \
	"≤ 0\.3 ns \| not told apart \(±2\.00 ns\) \| 4 \| $lies \| open: .*"
bar 'leaf, tsc, over the limit written by hand' \
	"≤ 1\.03 x \| 1\.050 \| 4 \| $lies \| \*\*missed\*\*"
bar 'Redis, 500 connections: times that attaching did not work' "≤ 0 \| 0\.00 \| 3 \| $lies \| met"
bar 'Redis, the same: longest pause' \
	"≤ 20 ms \| 22\.0 ms \(11\.0–33\.0\) \| 3 \| $lies \| open: .*beyond.*"
bar 'Lua, million events a second, one core' "≥ 100 \| 102 \(101–103\) \| 3 \| $lies \| met"
bar 'Lua, speed of a compressed trace over that of a raw one' \
	"≥ 0\.9 x \| 0\.800 \| 3 \| $lies \| \*\*missed\*\*"
bar 'SQLite, bytes an event, raw' "≤ 8\.08 \| 8\.064 \| 3 \| $lies \| met"
bar 'SQLite, bytes an event, compressed' "≤ 3 \| 3\.001 \| 3 \| $lies \| \*\*missed\*\*"
bar 'Phoenix, soft clock, 2 threads, over perf record, geometric mean' \
	"≤ 1\.15 x \| 2\.000 \| 3 \| $lies \| \*\*missed\*\*"
bar 'Phoenix, soft clock, 1 thread, over perf record, geometric mean' \
	'- \| 0 \| - \| not measured yet'

# A list of variants may have several lines.
mkdir tree
cp -r "$bench" tree/benchmarks
sed -i "1,/^bench_names/s/^bench_names/bench_variants='native tsc\n\tnone'\n&/" \
	tree/benchmarks/startup/startup.bench
expect 0 tree/benchmarks/run --mini --teeperf "$TEEPERF" --work lines --only startup \
	--variants 'tsc soft none'
for variant in tsc none; do
	grep -q "^done	startup	$variant	1" lines/state-mini/rows.tsv ||
		fail "the list's '$variant' was not measured: $(cat err)"
done
! grep -q "	soft	" lines/state-mini/rows.tsv || fail "what is not in the list was measured"
