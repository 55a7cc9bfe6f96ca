#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Lost and recorded events together are all events: in a log that is full, and beside a recorder
# that stands still, with threads that end and that do not, and with signal handlers.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >list <<'END'
fun:work
fun:handled
END

# lose CLOCK CALLS OPTIONS-OF-RECORD... [-- stop]
lose() {
	clock=$1 calls=$2
	shift 2
	stop=
	[ "$1" != stop ] || { stop=stop; shift; }
	expect 0 "$TEEPERF" record -q --clock "$clock" "$@" -o lost.trace -- ./lose "$calls" $stop
	made=$(sed -n 's/^calls //p' out)
	"$TEEPERF" analyze lost.trace --view threads --format csv >threads.csv 2>notes
	# The columns are found by their names.
	sum=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ events += $column["events"]; lost += $column["lost"] } END { print events + 0, lost + 0 }' threads.csv)
	events=${sum% *} lost=${sum#* }
	printf '%s %s: %s events, %s recorded, %s lost\n' "$clock" "$*" "$((2 * made))" "$events" \
		"$lost"
	[ "$((events + lost))" = "$((2 * made))" ] ||
		fail "$clock $*: $made calls, but $events events and $lost lost"
	[ "$lost" -gt 0 ] || fail "$clock $*: nothing was lost"
	[ "$events" -gt 0 ] || fail "$clock $*: nothing was recorded"
}

# What comes before there is a log is not lost, and no larger log would have it.
cat >early.c <<'EOS'
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
static void early(void)
{
	leaf();
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = early;
int main(void)
{
	leaf();
	return 0;
}
EOS
"$TEEPERF" cc -O1 early.c -o early
expect 0 "$TEEPERF" record -o early.trace -- ./early
says '4 events came before the program had its log' err
says ', 0 lost' err
expect 0 "$TEEPERF" analyze --strict --fail-if note:wrong early.trace
says 'before +4 events came before the program had its log' out

for shape in inline call dual; do
	"$TEEPERF" cc --shape "$shape" --allowlist list -O1 "$lib/lose.c" -o lose -lpthread
	for clock in tsc soft none; do
		lose "$clock" 200000 --mode full --size 2M
	done
	lose tsc 200000 stop --size 2M
done
"$TEEPERF" cc --clock tsc --allowlist list -O1 "$lib/lose.c" -o lose -lpthread
lose tsc 200000 --mode full --size 2M
