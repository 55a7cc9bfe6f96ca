#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A recording says what recording a call has cost, for each clock that has times; reports take it
# off and say so, or do not and say that. Calls stay the same, the parts make up the whole.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >main.c <<'EOC'
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
__attribute__((noinline)) static void twig(void)
{
	for (int i = 0; i < 10; i++)
		leaf();
	__asm__ volatile("");
}
int main(void)
{
	for (int i = 0; i < 5000; i++)
		twig();
	return 0;
}
EOC
"$TEEPERF" cc -O1 -o main main.c
"$TEEPERF" cc -O1 --exits=untimed -o untimed main.c

# self_ns of all functions, from top; and the inclusive time of main.
sums() {
	"$TEEPERF" analyze --format csv $2 "$1" 2>/dev/null |
		awk -F, 'NR > 1 { self += $3; calls += $2 } $1 == "main" { main = $4 } END { print self, main, calls }'
}

check() { # TRACE
	set -- "$1" $(sums "$1" --raw)
	raw_self=$2 raw_main=$3 raw_calls=$4
	"$TEEPERF" analyze --raw "$1" 2>/dev/null |
		grep -q '^times      as recorded: recording a call costs about ' ||
		fail "the table of $1 --raw does not say that times are as recorded"
	set -- "$1" $(sums "$1" '')
	[ "$4" = 55001 ] || fail "$1 has $4 calls"
	[ "$4" = "$raw_calls" ] || fail "$1 has $4 calls, and $raw_calls with --raw"
	# A soft clock that has no processor may not move at all.
	case $1 in
	*.soft.*) least=le ;;
	*) least=lt ;;
	esac
	test "$2" "-$least" "$raw_self" || fail "$1: nothing was taken off $raw_self"
	test "$3" "-$least" "$raw_main" || fail "$1: nothing was taken off main's $raw_main"
	# Sums of rounded numbers: a nanosecond for each function.
	[ $(($2 - $3)) -le 3 ] && [ $(($3 - $2)) -le 3 ] ||
		fail "$1: self times are $2 in all, and main is $3"
	"$TEEPERF" analyze "$1" 2>/dev/null |
		grep -q '^times      without the cost of recording, about .* a call, .* in all' ||
		fail "the table of $1 does not say what was taken off"
	# A counter thread without a processor stores nothing that one could wait for.
	if "$TEEPERF" dump "$1" | grep -q 'line "cost_wait_ps=[1-9]'; then
		"$TEEPERF" analyze "$1" 2>/dev/null |
			grep -q '^times .* for each wait for the clock: ' ||
			fail "the table of $1 does not say what comes off for waits"
	fi
	# Nobody can tell if the clock's thread had no processor, as on a busy machine.
	"$TEEPERF" analyze "$1" 2>/dev/null >table
	grep -q '^uncertain  by an unknown amount: the clock stood still ' table || {
		grep -q '^uncertain  self times' table ||
			fail "the table of $1 does not say how far off times may be"
		"$TEEPERF" analyze --limit 1 "$1" 2>/dev/null | grep -Eq '^ *calls +self +\+/- ' ||
			fail "$1 has no column +/-"
	}
	"$TEEPERF" analyze --raw "$1" 2>/dev/null | grep -Eq '^uncertain|\+/-' &&
		fail "$1 --raw is uncertain of what it did not take off"
	"$TEEPERF" analyze --format json "$1" 2>/dev/null | grep -q '"times":"compensated"' ||
		fail "$1 as JSON does not say that times are compensated"
	"$TEEPERF" analyze --format json --raw "$1" 2>/dev/null | grep -q '"times":"recorded"' ||
		fail "$1 as JSON does not say that times are as recorded"
	"$TEEPERF" export --format folded "$1" 2>/dev/null >folded
	"$TEEPERF" export --format folded --raw "$1" 2>/dev/null >raw.folded
	less=$(awk '{ sum += $NF } END { print sum + 0 }' folded)
	more=$(awk '{ sum += $NF } END { print sum + 0 }' raw.folded)
	test "$less" -$least "$more" ||
		fail "folded stacks of $1: $less with and $more without --raw"
}

for program in main untimed; do
	for clock in auto soft; do
		expect 0 "$TEEPERF" record -o $program.$clock.trace --clock $clock ./$program
		for key in cost_in_ps cost_out_ps cost_untimed_ps cost_in_off_ps cost_out_off_ps; do
			"$TEEPERF" dump $program.$clock.trace | grep -q "line \"$key=[0-9]*\"" ||
				fail "there is no $key in $program.$clock.trace"
		done
		check $program.$clock.trace
	done
done

# Without a clock there is nothing to take anything off.
expect 0 "$TEEPERF" record -o none.trace --clock none ./main
"$TEEPERF" dump none.trace | grep -q 'cost_in_ps' && fail "a trace without times has costs of them"
"$TEEPERF" analyze none.trace 2>/dev/null | grep -q '^times      none' ||
	fail "none.trace has times"

# A trace whose costs were damaged on purpose, with checksums that fit, is shown as recorded.
"$TEEPERF" dump main.auto.trace | sed 's/cost_in_ps=[0-9]*/cost_in_ps=nan/' >bad.txt
"$TEEPERF" dump --assemble bad.txt -o bad.trace
"$TEEPERF" analyze --format json bad.trace 2>notes | grep -q '"times":"recorded"' ||
	fail "costs that are no numbers are believed"
grep -q "cost_in_ps is 'nan'" notes || fail "nothing tells of the wrong cost: $(cat notes)"
