#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""query_agrees.py TEEPERF TRACE...: what SQL says of calls is what 'analyze --raw' and the records
say.

Of every function calls, self and inclusive time, min and max, each summed up from single calls; of
every thread the calls, their nesting, and their parents; percentiles against a sort; indexes
against full scans."""

import collections
import csv
import io
import json
import subprocess
import sys

import many


def run(*command):
    done = many.run_quick(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit("%s: exit %d: %s" % (" ".join(command), done.returncode, done.stderr.decode()))
    return done.stdout.decode("utf-8", "replace")


class Trace:
    def __init__(self, teeperf, path, *options):
        self.command = (teeperf, "query", "--format", "json") + options + (path,)

    def rows(self, sql):
        return self.all_rows([sql])[0]

    def all_rows(self, statements):
        """The rows of each of several statements: a process for all of them."""
        text = run(*self.command, *statements)
        decoder = json.JSONDecoder()
        results = []
        at = 0
        while text[at:].strip():
            result, at = decoder.raw_decode(text, at)
            results.append(result)
            at += 1
        wanted(len(results) == len(statements), len(results), "results of", statements)
        return results


def wanted(condition, *what):
    if not condition:
        sys.exit("differs: %s" % " ".join(str(word) for word in what))


def percentile(values, part):
    """Nearest rank; parts are in thousandths so that nothing is rounded."""
    values = sorted(values)
    return values[max((part * len(values) + 999) // 1000, 1) - 1]


def check_functions(trace, analyzed):
    """Times are summed up in ticks and converted once, as analyze does it."""
    rows = trace.rows("SELECT f.function, f.module, f.address, f.linkage, count(*) calls, "
        "ns(sum(c.self_raw_ticks)) self, ns(sum(CASE WHEN c.rec = 0 THEN c.duration_ticks "
        "ELSE 0 END)) inclusive, min(c.duration_ns) min, max(c.duration_ns) max FROM calls c "
        "JOIN functions f ON f.fn = c.fn GROUP BY c.fn")
    calls = {(row["module"] or "", row["address"], row["linkage"] or ""): row for row in rows}
    for row in analyzed:
        key = (row["module"], int(row["address"], 16), row["linkage"])
        timed = int(row["timed_calls"])
        if not timed:
            wanted(key not in calls, row["function"], "has calls")
            continue
        found = calls.pop(key)
        wanted(found["calls"] == timed, row["function"], found["calls"], timed)
        for field in ("self", "inclusive", "min", "max"):
            text = row[field + "_ns"]
            wanted((str(found[field]) if found[field] is not None else "") == text,
                   row["function"], field, found[field], text)
    wanted(not calls, "functions that analyze does not have", calls)


def check_nesting(trace):
    """Each call lies in its parent, and begins behind it; ids follow each other."""
    rows = trace.rows("SELECT id, parent, thread, fn, path, depth, rec, start_ns, end_ns, "
                      "duration_ns, self_raw_ns, how FROM calls")
    paths = {row["path"]: row for row in trace.rows("SELECT * FROM paths")}
    by_id = {row["id"]: row for row in rows}
    wanted([row["id"] for row in rows] == list(range(1, len(rows) + 1)), "ids are not 1, 2, ...")
    children = collections.Counter()
    for row in rows:
        path = paths[row["path"]]
        wanted((path["fn"], path["depth"], path["rec"]) == (row["fn"], row["depth"], row["rec"]),
               "path of", row)
        if row["parent"] is None:
            continue
        parent = by_id[row["parent"]]
        children[parent["id"]] += 1
        wanted(parent["id"] < row["id"] and parent["thread"] == row["thread"], "parent of", row)
        wanted(path["parent"] == parent["path"], "path of the parent of", row)
        if row["start_ns"] is not None:
            wanted(parent["start_ns"] <= row["start_ns"] and row["end_ns"] <= parent["end_ns"], row,
                   "is outside of", parent)
    sums = collections.Counter(row["path"] for row in rows)
    for path in paths.values():
        wanted(sums[path["path"]] == path["calls"], "calls of path", path)
    return rows


def check_conditions(trace, rows):
    """Conditions that are looked at early, against the same ones hidden behind a +."""
    if not rows:
        return
    middle = rows[len(rows) // 2]
    tids = {row["thread"]: row["tid"] for row in trace.rows("SELECT thread, tid FROM threads")}
    unique = len(set(tids.values())) == len(tids)
    where = ["thread = {thread}", "fn = {fn}", "path = {path}", "id = {id}", "id > {id}",
             "id <= {id} AND thread = {thread}", "fn = {fn} AND thread = {thread}",
             "fn = {fn} AND id < {id}", "fn >= {fn} AND thread = {thread}",
             "depth < {depth}", "rec = {rec} AND fn = {fn}", "path BETWEEN {path} AND {path} + 3",
             "parent = {id}", "parent = 1", "parent < {id}", "fn IN (0, {fn}, 99)",
             "fn = {fn} + 0.5", "fn > 1e300", "id < -1"]
    if middle["start_ns"] is not None:
        where += ["start_ns >= {start_ns}", "start_ns < {start_ns} AND thread = {thread}",
                  "end_ns <= {end_ns}", "end_ns > {start_ns} AND start_ns < {end_ns}",
                  "end_ns > {start_ns} AND start_ns < {end_ns} AND fn = {fn} AND thread = {thread}",
                  "duration_ns > {duration_ns}", "duration_ns = {duration_ns} AND fn = {fn}",
                  "start_ns BETWEEN {start_ns} AND {end_ns}", "start_ns < {start_ns} + 0.5"]
    # Conditions by old names and by the system's numbers of threads give the same.
    old = {"start_ns": "t0", "end_ns": "t1", "duration_ns": "dur"}
    orders = ("", " ORDER BY id", " ORDER BY fn, id", " ORDER BY start_ns, id")
    statements = []
    for condition in where:
        condition = condition.format(**middle)
        hidden = condition
        for name in ("thread", "fn", "path", "id", "depth", "rec", "parent", "start_ns", "end_ns",
                     "duration_ns"):
            hidden = " ".join("+" + word if word == name else word for word in hidden.split(" "))
        by_old = condition.replace("thread = %d" % middle["thread"],
                                   "tid = %d" % tids[middle["thread"]])
        for name, was in old.items():
            by_old = by_old.replace(name, was)
        if unique:
            statements += ["SELECT id FROM calls WHERE %s" % by_old,
                           "SELECT id FROM calls WHERE %s" % hidden]
        for order in orders:
            statements += ["SELECT id FROM calls WHERE %s%s" % (condition, order),
                           "SELECT id FROM calls WHERE %s%s" % (hidden, order)]
    results = trace.all_rows(statements)
    for i in range(0, len(statements), 2):
        one, other = results[i], results[i + 1]
        if "ORDER" not in statements[i]:
            one.sort(key=lambda row: row["id"])
            other.sort(key=lambda row: row["id"])
        wanted(one == other, statements[i], len(one), len(other))


def check_latencies(trace, rows):
    durations = collections.defaultdict(list)
    for row in rows:
        if row["duration_ns"] is not None:
            durations[row["fn"]].append(row["duration_ns"])
    parts = {"p50": 500, "p90": 900, "p99": 990, "p999": 999}
    for row in trace.rows("SELECT * FROM latencies"):
        values = durations.get(row["fn"])
        wanted((row["p50_ns"] is not None) == bool(values), "percentiles of", row)
        if not values:
            continue
        wanted(row["exact"] == 1 and row["timed_calls"] == len(values), row)
        for name, part in parts.items():
            wanted(row[name + "_ns"] == percentile(values, part), name, row,
                   percentile(values, part))
        wanted((row["min_ns"], row["max_ns"]) == (min(values), max(values)), row)
    for row in trace.rows("SELECT fn, pctl(duration_ns, 0.5) p50, pctl(duration_ns, 0.9) p90, "
                          "pctl(duration_ns, 0.99) p99, pctl(duration_ns, 0.999) p999 "
                          "FROM calls GROUP BY fn"):
        for name, part in parts.items():
            if durations.get(row["fn"]):
                wanted(row[name] == percentile(durations[row["fn"]], part), "pctl", name, row)
    # Near ones: within a sixteenth, and a tick.
    for row in trace.rows("SELECT f.fn, f.p50_ns p50, f.p90_ns p90, f.p99_ns p99, "
                          "l.p50_ns e50, l.p90_ns e90, l.p99_ns e99 FROM functions f "
                          "JOIN latencies l ON l.fn = f.fn WHERE l.p50_ns IS NOT NULL"):
        for part in ("50", "90", "99"):
            exact = row["e" + part]
            wanted(abs(row["p" + part] - exact) <= exact / 16 + 1, "near percentile", row)


def check_compensated(trace):
    """Without --raw, percentiles are those of the compensated calls, and min and max are those of
    functions."""
    for row in trace.rows("SELECT l.fn, l.min_ns min, l.max_ns max, f.min_ns fmin, f.max_ns fmax "
                          "FROM latencies l JOIN functions f ON f.fn = l.fn"):
        wanted((row["min"], row["max"]) == (row["fmin"], row["fmax"]), row)


def check_events(trace):
    counts = {row["thread"]: row["n"] for row in trace.rows("SELECT thread, count(*) n FROM events "
        "WHERE kind IN ('enter', 'exit', 'untimed') GROUP BY thread")}
    for row in trace.rows("SELECT thread, events, damaged FROM threads"):
        if not row["damaged"]:
            wanted(counts.get(row["thread"], 0) == row["events"], "events of thread", row, counts)


def main():
    teeperf = sys.argv[1]
    count = 0
    for path in sys.argv[2:]:
        analyzed = list(
            csv.DictReader(io.StringIO(run(teeperf, "analyze", "--raw", "--format", "csv", path))))
        raw = Trace(teeperf, path, "--raw")
        check_functions(raw, analyzed)
        rows = check_nesting(raw)
        check_conditions(raw, rows)
        check_latencies(raw, rows)
        check_compensated(Trace(teeperf, path))
        check_events(raw)
        count += len(rows)
    print("%d calls in %d traces agree" % (count, len(sys.argv) - 2))
    wanted(count, "there was no call")


main()
