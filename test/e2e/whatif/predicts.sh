#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# teeperf what-if on real recordings: what all threads wait for gains nearly its part of the run,
# what they do in parallel or nobody waits for gains little, and with nothing changed the model
# takes as long as the run did (the command warns where it does not). benchmarks/what_if/run holds
# the predictions against runs in which the function really is faster; here a neighbour may take any
# part of the processors, and then only the order counts.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"

expect 0 "$TEEPERF" cc -O2 -pthread -o threads "$lib/../../benchmarks/what_if/threads.c"
expect 0 "$TEEPERF" record -q -o none.trace --sched off -- ./threads join none 0
expect 1 "$TEEPERF" what-if none.trace
says "has no running and waiting times: it was recorded without them, as with 'record --sched off'" err

if ! may_bpf; then
	echo "no BPF here: a recording without wakes"
	expect 0 "$TEEPERF" record -q -o none.trace -- ./threads join none 0
	expect 1 "$TEEPERF" what-if none.trace
	exit 0
fi

# check PROGRAM [COMMAND...]: its predictions, started by COMMAND, against bounds, FUNCTION LEAST
# MOST in percent from standard input. Where the machine stands still for a moment, the work of that
# moment is as much longer, and no clock of the program knows: then once more, up to three times.
check() {
	cat >bounds
	for _ in 1 2 3; do
		! holds "$@" || return 0
	done
	fail "$1: see above"
}
holds() {
	program=$1
	shift
	expect 0 "$TEEPERF" record -q -o "$program.trace" \
		--events sched -- "$@" ./threads "$program" none 0
	"$TEEPERF" what-if --format json "$program.trace" >found.json 2>notes ||
		fail "$program: $(cat notes)"
	python3 - "$program" <<'EOS'
import json
import sys

found = json.load(open("found.json"))
run = found["run"]
off = 100 * (run["replayed_ns"] / run["measured_ns"] - 1)
changes = {row["function"]: 100 * row["change"] for row in found["predictions"]}
starved = any(note["id"] == "starved" for note in found["notes"])
wrong = abs(off) > (40 if starved else 5)
print("%s: the model is off by %.1f%%; %s" % (sys.argv[1], off, changes))
bounds = [line.split() for line in open("bounds")]
for name, least, most in bounds:
    # Where a neighbour takes much, what it takes is most of what each wait lasts. Who matters still matters most.
    least = -100 if starved else float(least)
    most = max(changes[bounds[-1][0]], 0) + 0.1 if starved and name == bounds[0][0] else 0.1 if starved else float(most)
    wrong |= not least <= changes[name] <= most
sys.exit(wrong)
EOS
}

# 450 ms of inside, one after another, and 150 of outside beside them; on one processor 600 in all.
check lock <<'EOS'
inside -23 -10
outside -8 0.1
EOS
# pack takes three times as long as the others.
check pipe <<'EOS'
pack -23 -9
parse -6.5 0.1
store -6.5 0.1
EOS
# The times of functions are those of analyze.
"$TEEPERF" analyze --time cpu --format json --limit 0 pipe.trace >analyzed.json 2>notes
"$TEEPERF" what-if --format json --limit 0 pipe.trace >found.json 2>notes
"$TEEPERF" what-if --format json --limit 0 --with-callees pipe.trace >callees.json 2>notes
python3 - <<'EOS' || fail "what-if and analyze: see above"
import json

rows = {row["function"]: row for row in json.load(open("analyzed.json"))["functions"]}
for name, key in (("found", "self_ns"), ("callees", "inclusive_ns")):
    predictions = json.load(open(name + ".json"))["predictions"]
    assert len(predictions) > 3
    for row in predictions:
        assert row["running_ns"] == rows[row["function"]][key], (name, row, rows[row["function"]])
EOS
# Four threads on one processor, though the machine has more: others have those, as far as the trace
# tells.
check apart taskset -c "$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')" <<'EOS'
piece -23 -16
EOS
# left: 100 ms and 200 ms before those of right, which are 50 ms and 175 ms; whoever comes later
# counts.
check rounds <<'EOS'
left -16 -4
right -14 -2
EOS
