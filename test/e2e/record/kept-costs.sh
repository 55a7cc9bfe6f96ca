#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The first recording measures the cost of recording and keeps it: the next one begins with that and
# says so. A damaged file, or one that others may have written, is ignored.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
XDG_CACHE_HOME=$PWD/cache
mkdir cache

cat >app.c <<'EOS'
__attribute__((noinline)) static int step(int x)
{
	__asm__ volatile("");
	return x + 1;
}
int main(void)
{
	return step(-1);
}
EOS
"$TEEPERF" cc -O1 app.c -o app
kept=cache/teeperf/cost-tsc

# record_once NAME: a recording, and what it says of costs in NAME.
record_once() {
	expect 0 "$TEEPERF" record -q --clock tsc -o app.trace -- ./app
	"$TEEPERF" dump app.trace | sed -n 's/.*line "\(cost_[a-z_]*=[0-9]*\)"/\1/p' | sort -u >"$1"
	grep -q '^cost_in_ps=' "$1" || fail "$1: the trace has no costs"
}

# uses_kept NAME: so does one of some recordings. One that the machine has made long measures again.
uses_kept() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		record_once "$1"
		! grep -q '^cost_age_s=' "$1" || return 0
	done
	fail "$1: no recording uses what was kept: $(ls -l cache/teeperf)"
}

# measures NAME: it does not.
measures() {
	record_once "$1"
	! grep '^cost_age_s=' "$1" || fail "$1: it uses what must not be used"
}

# Costs that no call can have, of a machine that was busy while they were measured, are not kept.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	measures first
	[ ! -e $kept ] || break
done
[ "$(stat -c %a $kept cache/teeperf | tr '\n' ' ')" = '600 700 ' ] ||
	fail "others may read or write: $(ls -l cache/teeperf)"
uses_kept second
"$TEEPERF" analyze app.trace >table
grep -q '^times .*as measured \(by an earlier recording\|.* before\)' table ||
	fail "$(grep ^times table)"
"$TEEPERF" analyze app.trace --format json | grep -q '"cost_age_s": *[0-9]' ||
	fail 'JSON does not say how old costs are'
"$TEEPERF" query app.trace "SELECT value FROM meta WHERE key = 'cost_age_s'" | grep -q '[0-9]' ||
	fail 'SQL does not say how old costs are'

echo more >>$kept
measures damaged
uses_kept repaired

chmod 660 $kept
measures writable
uses_kept written-again

chmod 770 cache/teeperf
measures folder
chmod 700 cache/teeperf
XDG_CACHE_HOME=/dev/null
measures without
