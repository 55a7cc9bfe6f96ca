#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleet_check.py TEEPERF FLEET TRACE...: the folder FLEET has the runs TRACE and no others, and its
sums are those of TEEPERF: of each function by 'analyze --format csv' and SQL, of each path by SQL,
percentiles within the stated error. Keys are made here anew from names, as docs/fleet.md says.
Prints what it has compared."""

import collections
import csv
import glob
import io
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import many  # noqa: E402
import parquet_read  # noqa: E402

TEEPERF, FLEET = sys.argv[1:3]


def wanted(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, what)))


def fnv1a(data, value=14695981039346656037):
    for byte in data:
        value = (value ^ byte) * 1099511628211 % 2**64
    return value


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def fn_key(name, module):
    name = re.sub(rb"\.(llvm|__uniq)\.[0-9]+", b"", name)
    name = re.sub(rb"17h[0-9a-f]{16}E$", b"E", name)
    return signed(fnv1a(name + b"\0" + module + b"\0"))


def path_key(fn_keys):
    return signed(fnv1a(b"".join(key.to_bytes(8, "little", signed=True) for key in fn_keys)))


def table(name):
    """Its rows, of all files: a list of dictionaries with the folders' names."""
    rows = []
    for path in sorted(glob.glob(f"{FLEET}/{name}/day=*/program=*/run=*/*.parquet")):
        wanted(os.path.basename(path) == name + ".parquet", path)
        columns, _ = parquet_read.read(path, full_groups=name != "calls")
        facts = parquet_read.facts(path)
        wanted(facts["teeperf.table"] == name and facts["teeperf.schema"] in ("1", "2"), path,
               facts)
        units = json.loads(facts["teeperf.units"])
        wanted(set(units) <= set(columns), path, units)
        folders = dict(part.split("=", 1) for part in path.split("/")[-4:-1])
        order = facts["teeperf.sorted"].split(",")
        keys = list(zip(*(columns[column] for column in order)))
        wanted(all(a[0] <= b[0] for a, b in zip(keys, keys[1:])), path, "is not sorted by", order)
        if folders["run"].startswith("compact-"):
            wanted(keys == sorted(keys), path, "is not sorted by", order)
        for values in zip(*columns.values()):
            row = {key: value.decode() if isinstance(value, bytes) else value
                   for key, value in zip(columns, values)}
            wanted(folders["run"].startswith("compact-") or folders["run"] == row["run_id"], path,
                   row)
            row["day"], row["program"] = folders["day"], folders["program"]
            rows.append(row)
    return rows


def output(*arguments):
    out = many.run_quick([TEEPERF, *arguments], check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    # 1: the trace is damaged, and the output is the rest.
    wanted(out.returncode in (0, 1), "exit status", out.returncode, *arguments)
    return out.stdout


def sql(trace, query):
    return json.loads(output("query", "--format", "json", trace, query))


def number(text):
    return int(text) if text not in ("", None) else None


def check_functions(run, trace, rows, timed):
    """Sums by key, of the same trace by analyze; times only if they are TIMED."""
    text = output("analyze", "--format", "csv", trace).decode()
    sums = collections.defaultdict(list)
    for row in csv.DictReader(io.StringIO(text)):
        name = (row["linkage"] or row["function"]).lstrip("'")
        sums[fn_key(name.encode(), row["module"].encode())].append(row)
    wanted(set(sums) == {row["fn_key"] for row in rows}, run, "functions")
    for row in rows:
        those = sums[row["fn_key"]]
        wanted(row["same_key"] == len(those), run, row)
        for column in ("calls", "timed_calls", "counted_calls", "sampled_calls"):
            wanted(row[column] == sum(int(each[column]) for each in those), run, column, row)
        times = ("self_ns", "inclusive_ns", "total_ns", "self_cpu_ns", "self_wait_ns",
                 "self_preempted_ns", "min_ns", "max_ns")
        if not timed:
            wanted(all(row[column] is None for column in times), run, row)
            continue
        for column in times[:6]:
            # Those that were only counted have none. If the time of only some is known, the sum is
            # unknown.
            values = [number(each[column]) for each in those if each["self_ns"] != ""]
            unknown = (None in values or
                       (not values and column[:8] in ("self_cpu", "self_wai", "self_pre")))
            wanted((row[column] is None) == unknown, run, column, row, values)
            # Rounded once, or each by itself.
            wanted(unknown or abs(row[column] - sum(values)) <= len(values) - 1 or values == [],
                   run, column, row, values)
        if len(those) == 1 and row["timed_calls"]:
            wanted(row["min_ns"] == int(those[0]["min_ns"]) and
                   row["max_ns"] == int(those[0]["max_ns"]), run, row)
    return len(rows)


def check_paths(run, trace, paths, profile, timed):
    chains = {0: ()}
    sums = collections.defaultdict(lambda: [0, 0, 0])
    functions = {row["fn"]: row
                 for row in sql(trace, "SELECT fn, linkage, function, module FROM functions")}
    keys = {fn: fn_key((row["linkage"] or row["function"]).encode(), (row["module"] or "").encode())
            for fn, row in functions.items()}
    for row in sql(trace, "SELECT path, parent, fn, calls, self_ns, inclusive_ns FROM paths "
                   "WHERE path > 0 ORDER BY path"):
        chains[row["path"]] = chains[row["parent"] or 0] + (keys[row["fn"]],)
        for i, column in enumerate(("calls", "self_ns", "inclusive_ns")):
            sums[chains[row["path"]]][i] += row[column] or 0
    by_key = {path_key(chain): chain for chain in sums}
    wanted(len(by_key) == len(sums), "two paths have one key")
    wanted({row["path_key"] for row in paths} == set(by_key) and len(paths) == len(by_key), run,
           "paths")
    for row in paths:
        chain = by_key[row["path_key"]]
        wanted(row["depth"] == len(chain) and row["fn_key"] == chain[-1], run, row)
        wanted(row["parent_key"] == (path_key(chain[:-1]) if len(chain) > 1 else 0), run, row)
        wanted(row["recursion"] == chain[:-1].count(chain[-1]), run, row)
    found = collections.defaultdict(lambda: [0, 0, 0, 0])
    seen = set()
    for row in profile:
        wanted((row["path_key"], row["thread_group"]) not in seen, run, "twice:", row)
        seen.add((row["path_key"], row["thread_group"]))
        wanted(not re.search("[0-9]", row["thread_group"]), row)
        for i, column in enumerate(("calls", "self_ns", "inclusive_ns")):
            found[by_key[row["path_key"]]][i] += row[column] or 0
        found[by_key[row["path_key"]]][3] += 1
    wanted(set(found) == set(sums), run, "paths of profile")
    for chain, values in found.items():
        for i in range(3 if timed else 1):
            wanted(abs(values[i] - sums[chain][i]) <= (values[3] + 1 if i else 0), run, chain,
                   values, sums[chain])
    return len(paths)


def quantile(counts, part):
    rank = math.ceil(part * sum(counts.values()))
    below = 0
    for value in sorted(counts):
        below += counts[value]
        if below >= rank:
            return value
    return None


def check_durations(run, trace, rows):
    """Percentiles of histograms, and the exact ones of SQL."""
    histograms = collections.defaultdict(collections.Counter)
    for row in rows:
        bucket, value = row["bucket"], row["value_ns"]
        low = bucket if bucket < 64 else (bucket - 32 * (bucket // 32 - 1)) << (bucket // 32 - 1)
        wanted(value == (bucket if bucket < 64 else low + (1 << (bucket // 32 - 2))), run, row)
        wanted(row["calls"] > 0, row)
        histograms[row["fn_key"]][value] += row["calls"]
    compared = 0
    for row in sql(trace, "SELECT f.fn_key, f.same, l.* FROM latencies l "
                   "JOIN (SELECT fn, fn_key, count(*) OVER (PARTITION BY fn_key) AS same "
                   "FROM functions) f USING (fn) WHERE l.timed_calls > 0 AND l.min_ns IS NOT NULL"):
        if row["same"] > 1:
            continue
        counts = histograms[int(row["fn_key"])]
        wanted(sum(counts.values()) == row["timed_calls"], run, "calls of", row, dict(counts))
        for part, column in ((0.5, "p50_ns"), (0.9, "p90_ns"), (0.99, "p99_ns"),
                             (0.999, "p999_ns")):
            near = quantile(counts, part)
            wanted(abs(near - row[column]) <= row[column] / 64, run, column, near, row)
            compared += 1
    return compared


def main():
    runs = {row["run_id"]: row for row in table("runs")}
    wanted(len(runs) == len(table("runs")), "a run is there twice")
    by_trace = {row["trace"]: row for row in runs.values()}
    wanted(set(by_trace) == {os.path.basename(trace) for trace in sys.argv[3:]}, "runs:",
           sorted(by_trace))
    tables = {name: collections.defaultdict(list)
              for name in ("functions", "paths", "profile", "histograms", "path_histograms")}
    for name, by_run in tables.items():
        for row in table(name):
            by_run[row["run_id"]].append(row)
        wanted(set(by_run) <= set(runs), name, "has rows of runs that are not there")
    functions = paths = percentiles = 0
    for trace in sys.argv[3:]:
        row = by_trace[os.path.basename(trace)]
        run = row["run_id"]
        wanted(row["functions"] == len(tables["functions"][run]) and
               row["paths"] == len(tables["paths"][run]), row)
        wanted(run.startswith(row["day"].replace("-", "")), row)
        timed = row["unit"] == "ns"
        functions += check_functions(run, trace, tables["functions"][run], timed)
        paths += check_paths(run, trace, tables["paths"][run], tables["profile"][run], timed)
        if timed:
            percentiles += check_durations(run, trace, tables["histograms"][run])
        else:
            wanted(not tables["histograms"][run], row)
    print(f"{len(runs)} runs, {functions} functions, {paths} paths, {percentiles} percentiles")


if __name__ == "__main__":
    main()
