#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves for each format of export and each option that it is refused, or that the output is another
# one.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

"$TEEPERF" dump --assemble "$root/test/golden/compensated/trace.txt" -o a.trace
"$TEEPERF" dump --assemble "$root/test/golden/contexts/trace.txt" -o other.trace

# All that an export has written, file or directory.
written() {
	find "$1" -type f | LC_ALL=C sort | while read -r file; do cat "$file"; done | cksum
}

taken=0
formats=0
"$TEEPERF" export --list | cut -d ' ' -f 1 >list
echo 'speedscope --calls' >>list
while read -r format calls <&3; do
	formats=$((formats + 1))
	case $format$calls in
	chrome|firefox|perfetto|speedscope--calls|uftrace) kind=calls ;;
	csv|parquet|sqlite) kind=tables ;;
	flamegraph) kind=flame ;;
	dot) kind=graph ;;
	*) kind=sums ;;
	esac
	rm -rf without
	expect 0 "$TEEPERF" export --format $format $calls -o without a.trace
	while read -r option value kinds; do
		[ "$value" != - ] || value=
		# Single calls are as they were recorded anyway, which a note says.
		[ $option$kind != rawcalls ] || continue
		[ "--$option" != "$calls" ] || continue
		rm -rf with with.*
		status=0
		"$TEEPERF" export --format $format $calls --$option $value \
			-o with a.trace >out 2>err || status=$?
		case " $kinds " in
		*" $kind "*|*" $format$calls "*)
			[ $status = 0 ] || fail "'$format' refuses --$option: $(cat err)"
			[ $option != split ] || {
				[ -e with.0001 ] && continue || fail "--split of $format"
			}
			[ "$(written without)" != "$(written with)" ] ||
				fail "'$format' does not look at --$option"
			taken=$((taken + 1)) ;;
		*)
			[ $status = 129 ] ||
				fail "'$format' takes --$option, and should not: $status"
			[ ! -e with ] || fail "'$format' was written with --$option" ;;
		esac
	done <<-EOS
	weight calls sums flame
	icicle - flame
	inverted - flame
	baseline other.trace flame
	min-width 500 flame
	split 20ns calls
	min-share 90 graph
	raw - sums flame tables graph
	calls - speedscope
	EOS
done 3<list
echo "$formats forms of formats; $taken options make a difference"
[ $formats = 15 ] && [ $taken = 22 ] || fail "of 15 forms and 22 options"
