#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that analyze refuses options that the view would not look at, and that the others are
# taken: for each view and each option.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

printf 'clock kind=tsc hz=1000000000\nsymbols\n\tsymbol 4096 main\nchunk\n\t0 enter 4096\n\t9 exit 4096\nend\n' >a.txt
"$TEEPERF" dump --assemble a.txt -o a.trace

refused() {
	text=$1
	shift
	expect 129 "$TEEPERF" analyze "$@" a.trace
	says "$text" err
}
refused "option '--by-caller' needs '--view histogram'" --by-caller
refused "option '--by-caller' needs '--view histogram'" --view function --function main --by-caller
sorted="option '--sort' needs '--view top', '--view function' or '--view histogram'"
for view in tree threads inverted timeline contention transitions; do
	refused "$sorted" --view $view --sort calls
	refused "$sorted" --view $view --sort self
done
refused "option '--columns' needs '--format table'" --columns calls --format csv
refused "option '--columns' needs '--format table'" --view tree --columns calls --format json
refused "option '--interval' needs '--watch'" --interval 2s

expect 0 "$TEEPERF" analyze --sort self --columns calls,function a.trace
expect 0 "$TEEPERF" analyze --view tree --columns calls,function a.trace
says '^calls  function$' out
expect 0 "$TEEPERF" analyze --view histogram --function main --by-caller --sort name a.trace
expect 0 "$TEEPERF" analyze --view function --function main --sort name a.trace
expect 1 "$TEEPERF" analyze --view function --function 'MAI?' a.trace
says "similar names: 'main'" err
expect 129 "$TEEPERF" analyze --view timeline --function main --around-slowest 0 a.trace
says 'not a number of calls from 1 to 1000' err

# ---- each view, with each option: it is refused, or the output changes
{
	printf 'clock kind=tsc hz=1000000000\nsymbols\n'
	printf '\tsymbol 4096 main\n\tsymbol 8192 ocall_a\n\tsymbol 12288 b\n\tsymbol 16384 c\n\tsymbol 20480 ocall_b\n'
	for thread in 0 1; do
		printf 'chunk thread=%s tid=10%s\n' $thread $thread
		printf '\t0 enter 4096\n\t1 enter 20480\n\t5 exit 20480\n\t10 enter 8192\n\t20 enter 12288\n'
		printf '\t25 enter 16384\n\t4%s exit 16384\n\t60 exit 12288\n\t800 exit 8192\n' \
			$thread
		printf '\t810 enter 12288\n\t815 enter 8192\n\t816 exit 8192\n\t820 exit 12288\n\t900 exit 4096\nend\n'
	done
} >b.txt
"$TEEPERF" dump --assemble b.txt -o b.trace

# those VIEW OPTION...: what it is in lines of the table below; PATTERN is for views that need one.
taken=0
refused=0
for view in top tree inverted threads function histogram timeline contention transitions; do
	base="--view $view"
	case $view in function|histogram) base="$base --function *" ;; esac
	while read -r option views; do
		case $option in
		columns) set -- --format table --columns function; [ $view != histogram ] ||
			set -- --format table --columns calls
			[ $view != threads ] || set -- --format table --columns tid ;;
		function) set -- --format csv --function '[bc]' ;;
		around-slowest) set -- --format csv --function '*' --around-slowest 1 ;;
		by-caller|module-border) set -- --format csv --$option ;;
		*) set -- --format csv "--${option%%=*}" "${option#*=}" ;;
		esac
		set -f
		"$TEEPERF" analyze $base --format $2 b.trace >without 2>&1 || fail "$view"
		status=0
		"$TEEPERF" analyze $base "$@" b.trace >with 2>err || status=$?
		set +f
		case " $views " in
		*" $view "*|' all ')
			[ $status = 0 ] || fail "'$view' refuses $*: $(cat err)"
			! cmp -s without with || fail "'$view' does not look at $*"
			taken=$((taken + 1)) ;;
		*)
			[ $status = 129 ] || fail "'$view' takes $*, and should not: $status"
			refused=$((refused + 1)) ;;
		esac
	done <<-EOS
	limit=1 all
	thread=1 all
	time-range=100ns..500ns all
	focus=ocall_a all
	ignore=ocall_b all
	depth=2 all
	min-time=30ns all
	columns all
	min-share=50 tree inverted
	sort=name top function histogram
	function function histogram timeline contention transitions
	by-caller histogram
	around-slowest timeline
	border=ocall_a transitions
	module-border transitions
	EOS
done
echo "$taken taken, $refused refused"
[ $((taken + refused)) = 135 ] || fail "of 135 pairs"

# ---- fewer paths than there are: all calls and all time are there, and it is said where
expect 0 "$TEEPERF" analyze --max-paths 7 --format csv b.trace
cp out all
expect 0 "$TEEPERF" analyze --format csv b.trace
cmp -s all out || fail "seven paths are not seven"
expect 0 "$TEEPERF" analyze --max-paths 3 --format csv b.trace
says '^.more paths.,8,' out
sums() {
	awk -F, 'NR > 1 { calls += $2; self += $3 } END { print calls, self }' "$1"
}
[ "$(sums out)" = "$(sums all)" ] || fail "$(sums out): not all of $(sums all)"
expect 0 "$TEEPERF" analyze --max-paths 3 --columns function,calls b.trace
says '>2$' out
says '8 calls came when their thread had all its call paths' out
expect 0 "$TEEPERF" analyze --view tree --max-paths 3 b.trace
says 'more paths' out
expect 1 "$TEEPERF" analyze --max-paths 3 --fail-if note:more-paths b.trace
