#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that 'fleet allowlist' chooses over all runs that its filters leave: calls and times are
# the sums of 'analyze' over the traces, of builds whose functions have other addresses; a function
# that is hot in one run alone is reckoned against the time of all; the list of a fleet of one real
# recording is that of 'allowlist generate', and programs that are built with a list of several
# record its functions; and that what gives no list says why.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# ---- sums, of traces whose ticks are nanoseconds

python3 "$lib/fleet_choose.py" make
for text in *.txt; do
	"$TEEPERF" dump --assemble "$text" -o "${text%.txt}.trace"
done
expect 0 "$TEEPERF" fleet add -q --to fleet server-*.trace worker-*.trace
choose() {
	expect 0 "$TEEPERF" fleet allowlist --event-cost 10ns --budget 1% --no-sample "$@"
}
choose --format json -o all.allow fleet
cp out all.json
expect 0 python3 "$lib/fleet_choose.py" check "$TEEPERF" all.json server-*.trace worker-*.trace
choose --format json --program server -o server.allow fleet
cp out server.json
expect 0 python3 "$lib/fleet_choose.py" check "$TEEPERF" server.json server-*.trace
choose --format json --program server --day 2023-11-14 -o day.allow fleet
cp out day.json
says 'include the unknown cost of recording' err
says 'had processors is unknown: the recording time is used' err
expect 0 python3 "$lib/fleet_choose.py" check "$TEEPERF" day.json server-0.trace

# 2,000 calls of 'burst' in one run of 1 ms: 2 % of that run, and 0.2 % of all ten.
says '^fun:burst$' all.allow
! grep -q burst day.allow || fail "burst is in the list of its run alone"
choose -o again.allow fleet
says '^fleet +fleet, 10 runs of 2 programs$' out
says '^program +[0-9.]+ ms without events \(the runs, less the cost of recording; recorded: ' out
says '^predicted +0\.[0-9]+% of the time \(.*\), .* of log in all runs$' out
says "^# Written by 'teeperf fleet allowlist', TeePerf " again.allow
says '^# fleet +10 runs of 2 programs$' again.allow
cmp all.allow again.allow || fail "the same list twice: $(diff all.allow again.allow)"
choose --program server --day 2023-11-14 -o day.allow fleet
says ' 2\.[0-9]+% .* over the budget +burst$' out
# 'shared' is in both programs and builds: one line with the calls of all.
says '^# shared: 100 calls, ' all.allow
[ "$(grep -c '^fun:shared' all.allow)" = 1 ] || fail "$(grep -n shared all.allow)"
# Compacted it is the same; on standard output, too.
expect 0 "$TEEPERF" fleet compact -q fleet
choose fleet
cmp out all.allow || fail "compacted: $(diff out all.allow)"
says '^predicted ' err
choose --never 'fun:burst' --keep 'other=count' --curve -o wanted.allow fleet
! grep -q burst wanted.allow || fail "--never"
says '^fun:other=count$' wanted.allow
says '^other budgets$' out

# ---- real recordings

cat >app.c <<'END'
#define KEEP __attribute__((noinline))
static volatile unsigned sink;
KEEP void spin(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink + i; }
KEEP void middle(void) { for (unsigned i = 0; i < 400; i++) sink = sink + i; }
KEEP void hot(unsigned i) { sink = sink ^ i; }
int main(int argc, char **argv)
{
	(void)argv;
	for (unsigned round = 0; round < 100; round++) {
		spin(100000);
		for (unsigned i = 0; i < 10000; i++) hot(i);
		for (unsigned i = 0; i < (argc > 1 ? 10 : 100); i++) middle();
	}
	return 0;
}
END
cat >tool.c <<'END'
static volatile unsigned sink;
__attribute__((noinline)) void spin(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink + i; }
__attribute__((noinline)) void only_here(void) { spin(200000); }
int main(void) { for (unsigned i = 0; i < 50; i++) only_here(); return 0; }
END
for name in app tool; do
	expect 0 "$TEEPERF" cc -O1 -g -o $name $name.c
done
expect 0 "$TEEPERF" record -q --clock tsc -m full --size 64M -o one.trace -- ./app
expect 0 "$TEEPERF" record -q --clock tsc -m full --size 64M -o two.trace -- ./app few
expect 0 "$TEEPERF" record -q --clock tsc -m full --size 64M -o tool.trace -- ./tool
lines() {
	grep '^fun:' "$1" | sort
}
expect 0 "$TEEPERF" fleet add -q --to single one.trace
expect 0 "$TEEPERF" allowlist generate --profile one.trace --event-cost 10ns --budget 1% \
	--no-sample -o trace.allow
expect 0 "$TEEPERF" fleet allowlist --event-cost 10ns --budget 1% --no-sample -o single.allow single
lines trace.allow >wanted
lines single.allow | diff wanted - || fail "the list of a run, and of its trace"
printf 'fun:main\nfun:middle\nfun:spin\n' | cmp - wanted || fail "$(cat wanted)"
says '^event +10\.0 ns a call, given' out
# The same calls, so that 'allowlist check' knows where it comes from.
says "$(grep '^# calls' trace.allow)" single.allow

expect 0 "$TEEPERF" fleet add -q --to several one.trace two.trace tool.trace
expect 0 "$TEEPERF" fleet allowlist --event-cost 10ns --budget 2% --no-sample --inventory app \
	--inventory tool -o several.allow several
lines several.allow >lines
printf 'fun:main\nfun:middle\nfun:only_here\nfun:spin\n' | cmp - lines ||
	fail "$(cat several.allow)"
says '^# middle: 11,000 calls, ' several.allow
says '^# 2 different functions have this name$' several.allow
expect 0 "$TEEPERF" cc -O1 -g --allowlist=several.allow -o chosen app.c
expect 0 "$TEEPERF" record -q --clock tsc -o chosen.trace -- ./chosen
"$TEEPERF" analyze --view top --format csv chosen.trace 2>/dev/null >chosen.csv
python3 - <<'END' || fail "what is recorded with the list"
import csv
rows = {row["linkage"]: int(row["calls"]) for row in csv.DictReader(open("chosen.csv"))}
assert rows == {"main": 1, "spin": 100, "middle": 10000}, rows
END

# ---- what gives no list

expect 129 "$TEEPERF" fleet allowlist
says "name the fleet's folder" err
expect 129 "$TEEPERF" fleet allowlist --budget much fleet
says "budget: 'much' is not a share such as 5%" err
expect 129 "$TEEPERF" fleet allowlist --event-cost 0 fleet
expect 129 "$TEEPERF" fleet allowlist --day yesterday fleet
expect 1 "$TEEPERF" fleet allowlist .
says 'is not a folder of a fleet' err
mkdir -p empty/manifest
expect 1 "$TEEPERF" fleet allowlist empty
says "'empty': has no such run: add one with 'teeperf fleet add TRACE --to DIR'" err
expect 1 "$TEEPERF" fleet allowlist --program nobody fleet
says "has no such run.*--program" err
sed 's/^clock .*/clock kind=none/' server-0.txt >timeless.txt
"$TEEPERF" dump --assemble timeless.txt -o timeless.trace
expect 0 "$TEEPERF" fleet add -q --to timeless timeless.trace
expect 1 "$TEEPERF" fleet allowlist timeless
says 'none of its 1 runs has times in nanoseconds' err
expect 0 "$TEEPERF" fleet add -q --to timeless server-1.trace
expect 0 "$TEEPERF" fleet allowlist -o some.allow timeless
says '1 run without times in nanoseconds left out' err
! grep -q burst some.allow || fail "a run without times is in the sums"
