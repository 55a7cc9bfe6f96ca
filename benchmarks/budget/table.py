#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of benchmarks/budget.

usage: table.py BUDGET DIR NAME...   BUDGET in per cent; DIR has NAME.native, .plain and .budget (a
                                     line "wall cpu" in ns for each round), the same with .begin
                                     behind it of the first seconds alone, NAME.reckoned,
                                     NAME.profile.csv and NAME.budget.ROUND.csv
"""

import csv
import glob
import os
import statistics
import sys

ROW = "%-13s %8s  %-21s %-21s %-21s %-21s %9s %8s %10s"
# The part of a native run behind the begin that is needed for a ratio.
LEAST_REST = 0.1


def read_times(path):
    with open(path, encoding="utf-8") as file:
        return [float(line.split()[1]) for line in file]


def read_functions(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def spread(ratios):
    """Median and quartiles."""
    if len(ratios) < 3:
        return "%.3f" % statistics.median(ratios)
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return "%.3f (%.3f-%.3f)" % (middle, low, high)


def rest(stem, which, rounds):
    """Ratios over native of what lies behind the first seconds; empty if that is too little."""
    if not os.path.exists("%s.%s.begin" % (stem, which)):
        return []
    whole, natives = read_times("%s.%s" % (stem, which)), read_times(stem + ".native")
    begin, native_begins = (read_times("%s.%s.begin" % (stem, name)) for name in (which, "native"))
    ratios = []
    for i in range(rounds):
        native = natives[i] - native_begins[i]
        if native < LEAST_REST * natives[i]:
            return []
        ratios.append((whole[i] - begin[i]) / native)
    return ratios


def key(function):
    return function["linkage"] or function["function"], function["module"]


def named(profile, functions):
    """Shares of the profile's own time: of functions times the part of their calls that was
    recorded; the rest of these."""
    whole = sum(float(function["self_ns"]) for function in profile)
    seen = {key(function): function for function in functions}
    events = estimates = 0.0
    for function in profile:
        share = float(function["self_ns"]) / whole if whole else 0.0
        found = seen.get(key(function))
        if not found:
            continue
        estimated = float(found.get("calls_estimated") or 0)
        part = min(1.0, float(found["calls"]) / estimated) if estimated else 1.0
        events += share * part
        estimates += share * (1 - part)
    return events, estimates


def row(budget, data, name):
    stem = os.path.join(data, name)
    if os.path.exists(stem + ".skipped"):
        with open(stem + ".skipped", encoding="utf-8") as file:
            print("%-13s not run: %s" % (name, file.read().strip()))
        return
    if not os.path.exists(stem + ".budget"):
        return
    native, plain, held = (read_times("%s.%s" % (stem, which))
                           for which in ("native", "plain", "budget"))
    reckoned = read_numbers(stem + ".reckoned")
    profile = read_functions(stem + ".profile.csv")
    names = [named(profile, read_functions(path))
             for path in sorted(glob.glob(stem + ".budget.*.csv"))]
    over_native = [b / n for b, n in zip(held, native)]
    over_rest = rest(stem, "budget", len(held))
    middle = statistics.median(over_rest or over_native)
    print(ROW % (
        name, "%.2f" % (statistics.median(native) / 1e9),
        spread([p / n for p, n in zip(plain, native)]),
        spread(over_native),
        spread(over_rest) if over_rest else "-",
        spread([b / p for b, p in zip(held, plain)]),
        "%.1f %%" % statistics.median(reckoned) if reckoned else "-",
        "%.1f %%" % (100 * statistics.median(events for events, _ in names)),
        "%.1f %%" % (100 * statistics.median(estimates for _, estimates in names))),
        "met" if middle <= 1 + budget / 100 else "MISSED")


def read_numbers(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [float(line) for line in file if line.strip()]


def main(arguments):
    if len(arguments) < 3:
        sys.stderr.write(__doc__)
        return 129
    budget = float(arguments[0])
    print(ROW % ("budget %g %%" % budget, "native s", "no recorder / native", "budget / native",
                 "behind its begin", "budget / no recorder", "reckoned", "named by", "estimated"))
    print(ROW % ("", "", "", "", "", "", "", "events", ""))
    for name in arguments[2:]:
        row(budget, arguments[1], name)
    return 0


sys.exit(main(sys.argv[1:]))
