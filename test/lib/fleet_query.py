#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleet_query.py TEEPERF RUNS TRACE...: in the Parquet files RUNS, to which each TRACE was
exported, fn_key names the same function in all runs, and sums by it are those by name; self times
of calls and of functions have names of their own."""

import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import parquet_read  # noqa: E402

TEEPERF, RUNS = sys.argv[1:3]


def wanted(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, what)))


def stable_key(name, module):
    """FNV-1a of both, each with a NUL behind it, as a signed number, without what builds add to
    names: it may never change."""
    name = re.sub(rb"\.(llvm|__uniq)\.[0-9]+", b"", name)
    name = re.sub(rb"17h[0-9a-f]{16}E$", b"E", name)
    value = 14695981039346656037
    for byte in name + b"\0" + module + b"\0":
        value = (value ^ byte) * 1099511628211 % 2**64
    return value - 2**64 if value >= 2**63 else value


def rows(path):
    columns, _ = parquet_read.read(path)
    return [dict(zip(columns, values)) for values in zip(*columns.values())], list(columns)


def main():
    by_key, by_name, by_number = (collections.defaultdict(lambda: [0, 0]) for _ in range(3))
    names, numbers = {}, collections.defaultdict(set)
    for trace in sys.argv[3:]:
        run = "run=" + os.path.basename(trace)[:-len(".trace")]
        functions, columns = rows(f"{RUNS}/functions/{run}/functions.parquet")
        wanted("self_ns" in columns and "self_raw_ns" not in columns, "columns of functions:",
               columns)
        of = {}
        for row in functions:
            name = (row["linkage"] or row["function"], row["module"])
            wanted(row["fn_key"] == stable_key(*name), name, "has the key", row["fn_key"], "not",
                   stable_key(*name))
            wanted(names.setdefault(row["fn_key"], name) == name, name, "has the key of",
                   names[row["fn_key"]])
            of[row["fn"]] = name
            numbers[name].add(row["fn"])
        asked = json.loads(subprocess.run([TEEPERF, "query", "--format", "json", trace,
                                           "SELECT fn, fn_key FROM functions; "], check=True,
            stdout=subprocess.PIPE).stdout)
        wanted({row["fn"]: row["fn_key"] for row in asked} ==
               {row["fn"]: row["fn_key"] for row in functions}, "SQL has other keys")
        paths, _ = rows(f"{RUNS}/paths/{run}/paths.parquet")
        for row in paths:
            wanted(row["fn_key"] == (stable_key(*of[row["fn"]]) if row["path"] else 0), "path", row)
        for thread in os.listdir(f"{RUNS}/calls/{run}"):
            calls, columns = rows(f"{RUNS}/calls/{run}/{thread}/calls.parquet")
            wanted("self_raw_ns" in columns and "self_ns" in columns, "columns of calls:",
                   columns)
            for row in calls:
                for sums, key in ((by_key, row["fn_key"]), (by_name, of[row["fn"]]),
                                  (by_number, row["fn"])):
                    sums[key][0] += 1
                    sums[key][1] += row["self_raw_ns"]
    wanted({names[key]: sums for key, sums in by_key.items()} == by_name,
           "sums by key are others than those by name")
    # Else nothing would have been shown.
    wanted(any(len(of) > 1 for of in numbers.values()), "each function has the same fn in all runs")
    wanted(sorted(by_number.values()) != sorted(by_name.values()), "sums by fn are those by name")
    print(f"{len(names)} functions, {sum(count for count, _ in by_key.values())} calls of "
          f"{len(sys.argv) - 3} runs")


main()
