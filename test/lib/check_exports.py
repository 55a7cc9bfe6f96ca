#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_exports.py TEEPERF FOLDER TRACE... [--parquet TRACE...]: Parquet, CSV and SQLite exports of
the traces, made in FOLDER, hold what 'teeperf query' says, value by value; of those behind
--parquet only these."""

import csv
import json
import os
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import many  # noqa: E402
import parquet_read  # noqa: E402

TEEPERF, FOLDER = sys.argv[1:3]


def run(*command):
    done = many.run_quick(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit("%s: exit %d: %s" % (" ".join(command), done.returncode, done.stderr.decode()))
    return done.stdout.decode("utf-8", "replace")


def query(trace, sql):
    return json.loads(run(TEEPERF, "query", "--format", "json", trace, sql))


def same(what, got, wanted):
    if got == wanted:
        return
    for i, (one, other) in enumerate(zip(got, wanted)):
        if one != other:
            sys.exit("%s: row %d is %r, not %r" % (what, i, one, other))
    sys.exit("%s: %d rows, not %d" % (what, len(got), len(wanted)))


def without_null(row):
    """What Parquet has instead of NULL."""
    no = {"parent": 0 if "id" in row else -1, "fn": -1, "self_uncertainty_ns": -1, "cpu_ns": -1,
          "delay_ns": -1, "unloaded_ns": -1}
    no.update({key: -1 for key in row if key.endswith(("wait_ns", "preempted_ns", "_cpu_ns")) or
               "_estimated" in key})
    texts = ("name", "function", "linkage", "file", "module", "how", "module_path", "build_id")
    return {key: no.get(key, "" if key in texts else 0) if value is None else value
            for key, value in row.items()}


def check_parquet(trace, tables, timed):
    out = os.path.join(FOLDER, os.path.basename(trace) + ".parquet")
    run(TEEPERF, "export", "--format", "parquet", "-o", out, trace)
    run_name = "run=" + os.path.basename(trace)[:-len(".trace")]
    for table in ("threads", "modules", "functions", "paths", "thread_paths", "calls"):
        if os.listdir(os.path.join(out, table)) != [run_name]:
            sys.exit("%s: %s has %s" % (trace, table, os.listdir(os.path.join(out, table))))
    groups = []
    for table in ("threads", "modules", "functions", "paths", "thread_paths"):
        columns, _ = parquet_read.read(os.path.join(out, table, run_name, table + ".parquet"))
        compare(trace + " " + table, columns, tables[table])
    calls = {}
    # SQL has the key with the functions; single calls of several recordings are added up by it.
    keys = {row["fn"]: row["fn_key"] for row in tables["functions"]}
    for row in tables["calls"]:
        calls.setdefault(row["thread"], []).append({**row, "fn_key": keys.get(row["fn"])})
    for row in tables["threads"]:
        columns, of_thread = parquet_read.read(
            os.path.join(out, "calls", run_name, "thread=%d" % row["thread"], "calls.parquet"))
        compare("%s calls of thread %d" % (trace, row["thread"]), columns,
                calls.pop(row["thread"], []))
        groups += of_thread
        if timed and columns["start_ns"] != sorted(columns["start_ns"]):
            sys.exit("%s: calls of thread %d are not sorted" % (trace, row["thread"]))
    if calls:
        sys.exit("%s: no file for threads %s" % (trace, list(calls)))
    return max(groups, default=0), len(groups)


def compare(what, columns, rows):
    names = list(columns)
    got = [{name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            for name, value in zip(names, values)} for values in zip(*columns.values())]
    same(what, got, [{name: row[name] for name in names} for row in map(without_null, rows)])


def check_csv(trace, tables):
    text = run(TEEPERF, "export", "--format", "csv", "-o", "-", trace)
    functions = {row["fn"]: row["function"] for row in tables["functions"]}
    threads = {row["thread"]: row for row in tables["threads"]}
    wanted = [{key: "" if value is None else str(value) for key, value in row.items()}
              for row in tables["calls"]]
    for row, text_row in zip(tables["calls"], wanted):
        text_row["tid"] = str(threads[row["thread"]]["tid"])
        text_row["name"] = threads[row["thread"]]["name"] or ""
        text_row["function"] = functions[row["fn"]]
    got = list(csv.DictReader(text.splitlines()))
    same(trace + " csv", [dict(row) for row in got],
         [{key: row[key] for key in got[0]} for row in wanted] if got else [])


def check_sqlite(trace, tables):
    out = os.path.join(FOLDER, os.path.basename(trace) + ".sqlite")
    run(TEEPERF, "export", "--format", "sqlite", "-o", out, trace)
    db = sqlite3.connect(out)
    db.row_factory = sqlite3.Row
    for table, rows in tables.items():
        got = [dict(row) for row in db.execute("SELECT * FROM %s ORDER BY rowid" % table)]
        same("%s sqlite %s" % (trace, table), got, rows)
    same(trace + " integrity", [tuple(row) for row in db.execute("PRAGMA integrity_check")],
         [("ok",)])
    for view in ("slice", "thread_track", "perf_calls", "perf_call_paths"):
        same("%s sqlite %s" % (trace, view),
             sorted((dict(row) for row in db.execute("SELECT * FROM " + view)), key=str),
             sorted(query(trace, "SELECT * FROM " + view), key=str))
    db.close()


def main():
    rows = 0
    groups = 0
    traces = sys.argv[3:]
    alone = traces.index("--parquet") if "--parquet" in traces else len(traces)
    for i, trace in enumerate(traces):
        if i == alone:
            continue
        tables = {table: query(trace, "SELECT * FROM " + table)
                  for table in ("threads", "modules", "functions", "paths", "thread_paths", "calls",
                                "latencies", "meta")}
        timed = (not tables["meta"] or
                 dict((row["key"], row["value"]) for row in tables["meta"])["unit"] != "none")
        groups = max(groups, check_parquet(trace, tables, timed)[1])
        if i < alone:
            check_csv(trace, tables)
            check_sqlite(trace, tables)
        rows += len(tables["calls"])
    print("%d calls in %d traces are the same in all forms; %d row groups at most" %
          (rows, len(traces), groups))
    if not rows:
        sys.exit("there was no call")


main()
