#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --calibrate leaves each function out in turns, says so of each, and counts the rest;
# 'analyze --costs' takes its costs off another trace, whose calls stay as they are, and is never
# less sure of a time than without.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake= # the functions are where the trace says

cat >main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))
KEEP static void leaf(int steps)
{
	for (int i = 0; i < steps; i++)
		__asm__ volatile("");
}
KEEP static void other(int steps)
{
	leaf(steps);
}
KEEP static void caller(void)
{
	leaf(2000);
	leaf(2000);
	other(1000);
}
// Until FILE is there, or so often.
int main(int argc, char **argv)
{
	const long most = atol(argv[2]);
	long calls = 0;
	for (; calls < most && (calls % 100 || access(argv[1], F_OK)); calls++)
		caller();
	printf("%ld\n", calls);
	return argc != 3;
}
EOF
"$TEEPERF" cc -O2 -o main main.c

expect 129 "$TEEPERF" record --calibrate --follow-fork ./main over 1
says "'--calibrate' cannot be combined with '--follow-fork'" err
expect 129 "$TEEPERF" record --calibrate --clock none ./main over 1

"$TEEPERF" record -q --calibrate --clock tsc \
	-o windows.trace ./main over 1000000000 >calls 2>record.err &
recorder=$!
trap 'touch over' EXIT
# Each block of 8 windows leaves each function out once.
tries=0
until "$TEEPERF" ctl status $recorder >status 2>err &&
	[ "$(sed -n 's/^choices *\([0-9]*\).*/\1/p' status)" -ge 33 ]; do
	tries=$((tries + 1))
	[ $tries -lt 2400 ] || fail "no 33 windows within two minutes: $(cat status err record.err)"
	sleep 0.05
done
expect 1 "$TEEPERF" ctl drop leaf $recorder
says "the selection cannot be changed with 'record --calibrate', which changes it itself" err
touch over
wait $recorder || fail "record: $(cat record.err)"
[ ! -s record.err ] || cat record.err
facts windows.trace lost=0 host.calibrate=on
expect 0 "$TEEPERF" analyze --format json windows.trace
says '"id": ?"calibrated"' out
expect 0 "$TEEPERF" analyze --limit 0 windows.trace
python3 - out "$(cat calls)" <<'EOF'
import sys
calls = int(sys.argv[2])
exact = {"leaf": 3 * calls, "other": calls, "caller": calls}
rows = [line.split() for line in open(sys.argv[1], encoding="utf-8")]
found = {row[-1]: row for row in rows if len(row) > 5 and row[-1] in exact}
for name, most in exact.items():
    got, share = int(found[name][0].lstrip(">").replace(",", "")), found[name][1]
    if not share.endswith("%") or not 0 < float(share[:-1]) < 100:
        sys.exit(f"{name} was recorded for {share} of the time")
    if not 0 < got < most:
        sys.exit(f"{name}: {got} calls of {most}")
EOF

rm over
expect 0 "$TEEPERF" record -q --clock tsc -o all.trace ./main over 30000
expect 0 "$TEEPERF" analyze all.trace --format csv
mv out without.csv
expect 0 "$TEEPERF" analyze --costs windows.trace all.trace --format csv
mv out with.csv
expect 0 "$TEEPERF" analyze --costs windows.trace all.trace --format json
says '"id": ?"measured"' out
python3 - without.csv with.csv out <<'EOF'
import csv, json, sys
without, found = ({row["function"]: row for row in csv.DictReader(open(path, encoding="utf-8"))} for path in sys.argv[1:3])
assert without.keys() == found.keys(), (without.keys(), found.keys())
assert found["leaf"]["calls"] == "90000", found["leaf"]
for name, row in found.items():
    assert row["calls"] == without[name]["calls"], name
    assert int(row["self_uncertainty_ns"]) <= int(without[name]["self_uncertainty_ns"]), name
shown = {row["function"]: row for row in json.load(open(sys.argv[3], encoding="utf-8"))["functions"]}
for name, row in shown.items():
    assert str(row["self_ns"]) == found[name]["self_ns"], name
EOF
expect 1 "$TEEPERF" analyze --costs all.trace windows.trace
says "'all.trace'.*record it with '--calibrate'" err
