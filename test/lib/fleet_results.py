#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleet_results.py TEEPERF RESULTS FLEET: the table experiments of FLEET has what the CSV files of
RESULTS have, by 'teeperf fleet query' and by a reader of our own."""

import collections
import csv
import glob
import json
import math
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import parquet_read  # noqa: E402

TEEPERF, RESULTS, FLEET = sys.argv[1:4]
NUMBERS = {"runs": "runs", "median": "median", "median_low": "median_low",
           "median_high": "median_high", "min_value": "min", "max_value": "max"}


def wanted(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, what)))


def table(name, behind):
    """Rows of a CSV file: its named columns by place, and the factors between them."""
    with open(f"{RESULTS}/{name}.csv", newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    for line in lines:
        last = len(head) - behind
        row = dict(zip(("experiment", "task", "variant"), line))
        # The last columns have their names, whatever factors are called.
        row.update(zip(BEHIND[name], line[last:]))
        row["factors"] = {key: value for key, value in zip(head[3:last], line[3:last])
                          if value != ""}
        yield row


BEHIND = {"summary": ("metric", "unit", "runs", "median", "median_low", "median_high", "min",
                      "max"), "measurements": ("iteration", "status", "metric", "unit", "value")}


def main():
    values = collections.defaultdict(list)
    for row in table("measurements", 5):
        if row["status"] == "done":
            values[row["experiment"], row["metric"]].append(float(row["value"]))
    rows = json.loads(subprocess.run([TEEPERF, "fleet", "query", "--format", "json",
                                      "--sql", "SELECT * FROM experiments", FLEET],
                                     check=True, stdout=subprocess.PIPE).stdout)
    found = {(row["task"], row["experiment"], row["metric"]): row for row in rows}
    wanted(len(found) == len(rows), "a figure is there twice")
    count = 0
    for row in table("summary", 8):
        key = row["task"], row["experiment"], row["metric"]
        wanted(key in found, key, "is missing")
        there = found.pop(key)
        count += 1
        wanted(json.loads(there["factors"]) == row["factors"], there, row)
        wanted(there["variant"] == row["variant"] and there["unit"] == row["unit"], there, row)
        for column, of in NUMBERS.items():
            wanted(there[column] is None if row[of] == "" else math.isclose(
                there[column], float(row[of]), rel_tol=1e-9), column, there, row)
        those = values[key[1:]]
        wanted(len(those) == there["runs"] and
               math.isclose(sum(those), there["sum_value"], rel_tol=1e-9, abs_tol=1e-12) and
               math.isclose(sum(value * value for value in those), there["sum_squares"],
                            rel_tol=1e-9, abs_tol=1e-12), there, those)
        wanted(there["host"] == socket.gethostname() and
               there["git_revision"] == "abcd" and json.loads(there["labels"]) ==
               {"environment": "test"} and there["program"] == there["task"], there)
        wanted(there["run_id"][:8] == there["day"].replace("-", ""), there)
    wanted(not found and count > 10, sorted(found), count)
    wanted(len({(row["task"], row["run_id"]) for row in rows}) ==
           len({row["task"] for row in rows}) == len({row["run_id"] for row in rows}), "sets")
    for path in glob.glob(f"{FLEET}/experiments/day=*/program=*/run=*/*.parquet"):
        columns, _ = parquet_read.read(path)
        facts = parquet_read.facts(path)
        wanted(facts["teeperf.table"] == "experiments" and
               facts["teeperf.sorted"] == "run_id,experiment,metric", facts)
        order = list(zip(*(columns[column] for column in facts["teeperf.sorted"].split(","))))
        wanted(order == sorted(order), path, "is not sorted")
    print(f"{count} figures of {len({row['task'] for row in rows})} tasks")


main()
