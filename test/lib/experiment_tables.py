#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""experiment_tables.py FOLDER: hold the tables of e2e/experiment/grid against each other, and
against what its programs do."""
import csv
import os
import sqlite3
import statistics
import sys

import parquet_read

folder = sys.argv[1]
failures = 0


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def value(text):
    try:
        return float(text)
    except ValueError:
        return text


def read_csv(name):
    with open(os.path.join(folder, name + ".csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


database = sqlite3.connect(os.path.join(folder, "results.sqlite"))
database.row_factory = sqlite3.Row
tables = {}
for name in ("runs", "measurements", "summary"):
    rows = read_csv(name)
    tables[name] = rows
    in_sqlite = database.execute("SELECT * FROM %s" % name).fetchall()
    columns, _ = parquet_read.read(os.path.join(folder, name + ".parquet"))
    check("columns of " + name, (list(in_sqlite[0].keys()), list(columns)), (list(rows[0]),) * 2)
    check("rows of " + name, (len(in_sqlite), len(next(iter(columns.values())))), (len(rows),) * 2)
    for i, row in enumerate(rows):
        for column, text in row.items():
            # CSV does not distinguish an empty text from none, and there are no empty texts.
            other = in_sqlite[i][column]
            third = columns[column][i]
            third = third.decode() if isinstance(third, bytes) else third
            wanted = None if text == "" else text if isinstance(other, str) else float(text)
            check("%s %d %s" % (name, i, column), (other, third), (wanted, wanted))

runs = tables["runs"]
check("runs", len(runs), 8 * 3 + 2 * 2 + 1)
check("order", [int(row["position"]) for row in runs], list(range(1, len(runs) + 1)))
# A round has each experiment with at least that number of runs.
for first, count in ((0, 11), (11, 10), (21, 8)):
    part = runs[first:first + count]
    check("a round", (len({row["experiment"] for row in part}), {row["iteration"] for row in part}),
          (count, {runs[first]["iteration"]}))
check("statuses", sorted((row["experiment"], row["status"], row["ended_with"]) for row in runs
                         if row["status"] != "done"),
      [("fails-native-3", "failed", "exit status 3")] * 2 +
      [("hangs-native", "timed out", "killed after 3 s")])
for row in runs:
    what = row["experiment"] + "/" + row["iteration"]
    if row["task"] == "writes":
        check(what + " size", row["experiment"].split("-")[2], row["size"])
        # The file, and a line.
        least = int(row["size"]) * 1000
        check(what + " writes", least < float(row["write_call_bytes"]) < least + 1000, True)
        check(what + " disk energy", float(row["disk_energy_J"]),
              (2 * float(row["disk_read_bytes"]) + 3 * float(row["disk_written_bytes"])) / 1e9)
    if row["status"] == "done":
        check(what + " time", 0 < float(row["wall_time_s"]) < 10000, True)
        check(what + " memory", float(row["max_rss_bytes"]) > 100000, True)
check("factors that it has not", {row["mode"] for row in runs if row["task"] != "writes"}, {""})

# Medians by another way, from finished runs.
done = {}
for row in tables["measurements"]:
    if row["status"] == "done":
        done.setdefault((row["experiment"], row["metric"]), []).append(float(row["value"]))
summary = {(row["experiment"], row["metric"]): row for row in tables["summary"]}
check("what is summed up", set(summary), set(done))
for key, values in done.items():
    row = summary.get(key)
    if not row:
        continue
    check("%s %s" % key, (int(row["runs"]), value(row["min"]), value(row["max"])),
          (len(values), min(values), max(values)))
    check("median of %s %s" % key, abs(value(row["median"]) - statistics.median(values)) <=
          1e-12 * abs(statistics.median(values)), True)
    check("interval of %s %s" % key, bool(row["median_low"]), len(values) >= 3)
    if row["median_low"]:
        check("ends of %s %s" % key, min(values) <= value(row["median_low"]) <=
              value(row["median"]) <= value(row["median_high"]) <= max(values), True)
print("%d failures" % failures)
sys.exit(failures != 0)
