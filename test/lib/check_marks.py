#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_marks.py TEEPERF TRACE ROUNDS THREADS WORKS: the trace has what test/tee/marks_work.c
marks, and no more.

THREADS threads called work(ROUNDS) WORKS times each. Names, kinds and their order are exact in each
thread; times do not decrease, lie within the thread's calls, and phases within their phases; a mark
"N steps" is behind the N-th call of step and before the next one. A trace without times has names,
kinds and their order.
"""

import csv
import io
import subprocess
import sys

teeperf, trace = sys.argv[1:3]
rounds, threads, works = (int(word) for word in sys.argv[3:6])
hundreds = rounds // 100


def query(sql):
    out = subprocess.run([teeperf, "query", "--format", "csv", trace, sql], stdout=subprocess.PIPE,
                         check=True)
    return list(csv.DictReader(io.StringIO(out.stdout.decode())))


def fail(what):
    sys.exit(f"{trace}: {what}")


def expected():
    yield "mark", "work begins", False
    for i in range(hundreds):
        yield "mark", f"{2 * i} steps", False
        yield "phase", "hundred", True
        yield "phase", "inner", True
    yield "phase", "unnamed", True
    yield "mark", "0123456789" * 6 + "0123", False
    yield "mark", "0123456789" * 6 + "0123", False
    yield "mark", "grüße", False
    yield "phase", "never ends", False
    yield "mark", f"{2 * hundreds} steps", False


meta = {row["key"]: row["value"] for row in query("SELECT * FROM meta")}
if meta["lost_events"] != "0" or meta["complete"] != "1":
    fail(f"{meta['lost_events']} events lost, completeness: {meta['completeness']}")
timed = meta["clock"] != "none"
by_thread = {}
for row in query("SELECT thread, kind, name, start_ns, end_ns FROM marks"):
    by_thread.setdefault(row["thread"], []).append(row)
if len(by_thread) != threads:
    fail(f"{len(by_thread)} threads have marks, not {threads}")
steps = {}
bounds = {}
for row in query("SELECT c.thread, f.function, c.start_ns, c.end_ns FROM calls c "
    "JOIN functions f ON f.fn = c.fn ORDER BY c.start_ns") if timed else ():
    start, end = int(row["start_ns"]), int(row["end_ns"])
    low, high = bounds.get(row["thread"], (start, end))
    bounds[row["thread"]] = min(low, start), max(high, end)
    if row["function"].split("(")[0] == "step":
        steps.setdefault(row["thread"], []).append((start, end))
wanted = list(expected()) * works
for thread, marks in by_thread.items():
    got = [(row["kind"], row["name"], bool(row["end_ns"])) for row in marks]
    if not timed:
        wanted = [(kind, name, False) for kind, name, ends in wanted]
    if got != wanted:
        at = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b),
                  min(len(got), len(wanted)))
        fail(f"thread {thread}, mark {at} of {len(got)} (wanted {len(wanted)}): {got[at:at + 1]}, "
             f"not {wanted[at:at + 1]}")
    if not timed:
        continue
    calls = steps.get(thread, [])
    if len(calls) != 2 * hundreds * works:
        fail(f"thread {thread} has {len(calls)} calls of step")
    low, high = bounds[thread]
    base = -2 * hundreds
    last = low
    phase = (low, high)
    for row in marks:
        start = int(row["start_ns"])
        end = int(row["end_ns"] or start)
        if not last <= start <= end <= high:
            fail(f"thread {thread}: {row} is not between {last} and {high}")
        last = start
        if row["name"] == "hundred":
            phase = (start, end)
        if row["name"] == "inner" and not phase[0] <= start <= end <= phase[1]:
            fail(f"thread {thread}: {row} is not within {phase}")
        if row["name"] == "work begins":
            base += 2 * hundreds
        if row["name"].endswith(" steps"):
            before = base + int(row["name"].split()[0])
            if before and calls[before - 1][1] > start:
                fail(f"thread {thread}: {row} is before the end of {calls[before - 1]}")
            if before < len(calls) and calls[before][0] < start:
                fail(f"thread {thread}: {row} is behind the begin of {calls[before]}")
print(f"{trace}: {sum(map(len, by_thread.values()))} marks of {threads} threads, "
      f"{'' if timed else 'no '}times")
