#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves for each export with single calls that parts of a trace are what they should be: by time,
# by least time, by depth and functions, and split into several files.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/slices.sh"

formats="chrome speedscope firefox"
command -v protoc >/dev/null && formats="$formats perfetto" ||
	echo "not with protoc, which is not here"
command -v uftrace >/dev/null && formats="$formats uftrace" ||
	echo "not with uftrace, which is not here"

events=500
seeds=1
[ "${TEEPERF_FULL:-0}" = 0 ] || { events=12000 seeds="$(seq 20)"; }

# same FORMAT OPTION...: with the options the export has what the analyzer has.
same() {
	format=$1
	shift
	rm -rf part
	expect 0 "$TEEPERF" export $(slices_format $format) -o part "$@" random.trace
	"$TEEPERF" analyze --raw --format csv "$@" random.trace >part.csv 2>notes
	how=same
	case "$*" in *--focus*|*--ignore*) how=calls ;; esac
	[ $format != firefox ] || how=parts
	expect 0 python3 "$lib/slices.py" $format part part.csv $how
	echo "$format $*: $(cat out)"
}

# split FORMAT TIME FROM: so split it is the same.
split() {
	rm -rf whole piece.*
	from=
	[ "$3" = 0 ] || from="--time-range $3.."
	expect 0 "$TEEPERF" export $(slices_format $1) -o whole $from random.trace
	expect 0 "$TEEPERF" export $(slices_format $1) -o piece --split $2 $from random.trace
	expect 0 python3 "$lib/slices.py" split $1 whole $2 "$3" piece.*
	echo "$1 --split $2 $from: $(cat out)"
}

for seed in $seeds; do
	python3 "$lib/random_calls.py" $seed $events >random.txt
	expect 0 "$TEEPERF" dump --assemble random.txt -o random.trace
	for format in $formats; do
		same $format
		same $format --min-time 20ns
		same $format --min-time 400ns --time-range 5us..40us
		same $format --time-range 7..30001
		same $format --depth 2 --min-time 9
		[ $format = firefox ] || same $format --focus f1 --ignore f2
		same $format --thread 1
		split $format 5000 0
		split $format 18000 7000
	done
done

# Stacks that are left and resumed: for each part, slices are nested and in order.
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/contexts/trace.txt" -o contexts.trace
for format in $formats; do
	for part in "--min-time 3" "--min-time 11 --time-range 20..180" "--depth 1" \
		"--time-range 47..115"; do
		rm -rf part
		expect 0 "$TEEPERF" export $(slices_format $format) -o part $part contexts.trace
		expect 0 python3 "$lib/slices.py" list $format part
		[ -s out ] || fail "$format $part: nothing"
	done
	rm -rf piece.*
	expect 0 "$TEEPERF" export $(slices_format $format) -o piece --split 40 contexts.trace
	expect 0 python3 "$lib/slices.py" list $format piece.*
done

# Where calls end and begin as a file does, there is nothing of no length, and nothing twice.
cat >bounds.txt <<'EOS'
clock kind=tsc hz=1000000000
symbols
	symbol 0x401000 main
	symbol 0x401010 a
	symbol 0x401020 b
chunk
	0 enter main
	50 enter a
	100 exit a
	100 enter b
	100 enter a
	100 exit a
	100 exit b
	199 enter b
	200 exit b
	450 enter a
	450 exit main
end
EOS
expect 0 "$TEEPERF" dump --assemble bounds.txt -o bounds.trace
expect 0 "$TEEPERF" export --format chrome --split 100 -o bounds bounds.trace
for piece in bounds.*; do
	[ $piece != bounds.txt ] && [ $piece != bounds.trace ] || continue
	python3 "$lib/slices.py" list chrome $piece | sed "s/^/$piece: /"
done >list
cat >want <<'EOS'
bounds.0001: 1 0 100 0 main
bounds.0001: 1 50 100 1 a
bounds.0002: 1 100 100 1 b
bounds.0002: 1 100 100 2 a
bounds.0002: 1 100 200 0 main
bounds.0002: 1 199 200 1 b
bounds.0003: 1 200 300 0 main
bounds.0004: 1 300 400 0 main
bounds.0005: 1 400 450 0 main
bounds.0005: 1 450 450 1 a
EOS
diff -u want list || fail "other pieces"

expect 1 "$TEEPERF" export --format chrome --split 1ns -o piece random.trace
says 'would become [0-9]+ files' err
expect 129 "$TEEPERF" export --format chrome --split 0 -o piece random.trace
expect 129 "$TEEPERF" export --format chrome --split soon -o piece random.trace
says "'soon' is not a time" err
expect 129 "$TEEPERF" export --format chrome --weight calls random.trace
says 'have no weight' err
expect 129 "$TEEPERF" export --format folded --split 1ms random.trace
says 'no single calls' err
expect 1 "$TEEPERF" export --format chrome --split 1ms -o - random.trace
expect 1 "$TEEPERF" export --format chrome --split 1ms -o no/where random.trace
says "'no/where.0001': cannot write" err
expect 1 "$TEEPERF" export --format uftrace --split 1ms -o no/where random.trace
says 'cannot create the directory' err
if [ -c /dev/full ]; then
	expect 1 "$TEEPERF" export --format chrome -o /dev/full random.trace
	says 'cannot write: No space' err
fi
