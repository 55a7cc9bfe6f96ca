#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the Python package gives the numbers of 'teeperf query', as DataFrames where pandas is
# there and as lists where it is not, that filters and parameters reach the command, and that what
# fails says why.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
python=/usr/bin/python3
[ -x $python ] || python=python3
expect 0 "$TEEPERF" cc -O2 -g -pthread -o app "$lib/query_program.c"
expect 0 "$TEEPERF" record -q --clock tsc -o app.trace -- ./app 2 9000
"$TEEPERF" query --format csv app.trace \
	'SELECT function, calls, self_ns FROM functions ORDER BY self_ns DESC' 2>/dev/null >wanted
"$TEEPERF" query --format csv --thread 1 app.trace \
	'SELECT function, calls, self_ns FROM functions ORDER BY self_ns DESC' 2>/dev/null >wanted.1

expect 0 "$TEEPERF" fleet add -q --to fleet app.trace

PYTHONPATH=$root/python
PYTHONDONTWRITEBYTECODE=1
export TEEPERF PYTHONPATH PYTHONDONTWRITEBYTECODE
cat >lists.py <<'EOS'
import csv, os, sys
sys.modules["pandas"] = None                      # as if it were not installed
import teeperf

def write(path, rows):
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["function", "calls", "self_ns"])
        out.writerows([row["function"], row["calls"], row["self_ns"]] for row in rows)

trace = teeperf.open("app.trace")
write("lists", trace.functions())
write("lists.1", teeperf.open("app.trace", thread=1).functions())
mix = trace.calls("mix")
assert "recorded" in trace.notes, trace.notes
assert len(mix) == next(row["calls"] for row in trace.functions() if row["function"] == "mix")
assert trace.meta()["clock"] == "tsc"
assert trace.query("SELECT :x AS x", x="it's") == [{"x": "it's"}]
assert trace.query("SELECT :x AS x", x=None) == [{"x": None}]
assert len(trace.example("latency-by-caller", function="mix"))
fleet = teeperf.fleet("fleet")
assert [row["program"] for row in fleet.table("runs", program="app")] == ["app"]
assert fleet.table("runs", program="other") == []
# Folders of other days and programs are not opened: in these files is nothing to read.
for folder in ("day=2000-01-01/program=app", "day=%s/program=other" % fleet.runs()[0]["day"]):
    os.makedirs("partly/runs/%s/run=1" % folder)
    open("partly/runs/%s/run=1/runs.parquet" % folder, "w").close()
partly, day = teeperf.fleet("partly"), fleet.runs()[0]["day"]
assert partly.table("runs", day=day, program="app") == fleet.table("runs")
assert partly.query("SELECT count(*) AS n FROM runs", day=day, program=["app"]) == [{"n": 1}]
# Names of folders are those that 'fleet add' makes.
os.makedirs("odd/runs/day=2026-01-02/program=g%2B%2B%20%C3%A9/run=1")
open("odd/runs/day=2026-01-02/program=g%2B%2B%20%C3%A9/run=1/runs.parquet", "w").close()
assert len(teeperf.fleet("odd").files("runs", program="g++ é")) == 1
write("lists.fleet", sorted(fleet.question("top", param="most=1000"), key=lambda row: (-row["self_ns"], row["function"])))
assert len(fleet.question("p99", param=["function=mix", "quantile=0.5"])) == 1
assert fleet.query("SELECT sum(calls) AS calls FROM functions")[0]["calls"] == fleet.runs()[0]["calls"]
for wrong, says in ((lambda: trace.query("SELECT nothing"), "nothing"), (lambda: teeperf.open("no-such.trace"), "no-such.trace"),
                    (lambda: trace.table("a b"), "a b"), (lambda: teeperf.open("app.trace", no_such=1).functions(), "no-such"),
                    (lambda: teeperf.fleet("no-such-folder"), "no-such-folder"), (lambda: fleet.question("no-such"), "no-such"),
                    (lambda: fleet.query("SELECT nothing FROM runs"), "nothing")):
    try:
        wrong()
    except teeperf.Error as error:
        assert says in str(error), error
    else:
        raise SystemExit("no error about " + says)
EOS
cp -R fleet partly
expect 0 $python lists.py
cmp lists wanted || fail "the rows are others than those of teeperf query"
{ head -n 1 wanted; tail -n +2 wanted | sort; } >wanted.sorted
{ head -n 1 lists.fleet; tail -n +2 lists.fleet | sort; } >lists.sorted
cmp lists.sorted wanted.sorted ||
	fail "the fleet's rows are others than those of teeperf query: $(diff lists.sorted \
		wanted.sorted)"
cmp lists.1 wanted.1 || fail "the rows of one thread are others than those of teeperf query"

cat >frames.py <<'EOS'
import teeperf
trace = teeperf.open("app.trace")
functions = trace.functions()
functions[["function", "calls", "self_ns"]].to_csv("frames", index=False)
calls = trace.calls("mix")
row = functions[functions.function == "mix"].iloc[0]
assert len(calls) == row.calls
top = teeperf.fleet("fleet").question("top", param="most=1000")
assert top.self_ns.sum() == functions.self_ns.sum() and top.calls.sum() == functions.calls.sum()
assert len(teeperf.fleet("fleet").runs()) == 1
assert functions.calls.dtype.name == "Int64" and calls.duration_ns.dtype.name == "Int64"
EOS
if $python -c 'import pandas' 2>/dev/null; then
	expect 0 $python frames.py
	cmp frames wanted || fail "the DataFrame is another than that of teeperf query"
else
	echo "no pandas: DataFrames were not looked at"
fi
