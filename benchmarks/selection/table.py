#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of benchmarks/selection: what autotune found, beside the rules of other tools.

usage: table.py NAME STEM          the table of a program and a budget, from STEM.json and so on
       table.py --bars DIR         the bars, over all DIR/NAME/BUDGET.json
       table.py --rules FILE.csv   only what each rule selects, as lines RULE FUNCTIONS CALLS NAMED
"""

import csv
import glob
import json
import os
import statistics
import sys

# Rules of other tools, with their documented defaults. Calls and own times are those of the
# profile.
SCOREP_BUFFER_SHARE = 0.01  # of all calls, above which ...
SCOREP_NS_PER_VISIT = 1000  # ... a region is filtered if its visits are shorter
TAU_REDUCE_CALLS = 1000000
TAU_REDUCE_NS_PER_CALL = 2000
TAU_PLUGIN_INSTRS = 50  # before optimisation
TAU_PLUGIN_EXCLUDED = ("_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZN4llvm",
                       "_ZNK4llvm")
XRAY_INSTRS = 200


def everything(_function, _all_calls):
    return True


def score_p(function, all_calls):
    return not (function["calls"] > SCOREP_BUFFER_SHARE * all_calls
                and function["self_ns"] < SCOREP_NS_PER_VISIT * function["calls"])


def tau_reduce(function, _all_calls):
    return not (function["calls"] > TAU_REDUCE_CALLS
                and function["self_ns"] < TAU_REDUCE_NS_PER_CALL * function["calls"])


def tau_plugin(function, _all_calls):
    return (function["instrs_start"] >= TAU_PLUGIN_INSTRS
            and not function["function"].startswith(TAU_PLUGIN_EXCLUDED))


def xray(function, _all_calls):
    return function["instrs"] >= XRAY_INSTRS or function["loops"] > 0


RULES = [
    ("all functions", everything),
    ("Score-P, scorep-score -g", score_p),
    ("TAU, tau_reduce", tau_reduce),
    ("TAU, LLVM plugin", tau_plugin),
    ("XRay, 200 instructions or loop", xray),
]


def read_profile(path):
    with open(path, encoding="utf-8", newline="") as file:
        functions = list(csv.DictReader(file))
    for function in functions:
        for key in ("calls", "self_ns", "instrs_start", "instrs", "loops", "sample"):
            function[key] = float(function[key])
    return functions


def share(part, whole):
    return part / whole if whole else 0.0


def apply_rule(functions, rule):
    """How many functions a rule selects, their calls, and the share of the time that has a name."""
    calls = sum(function["calls"] for function in functions)
    time = sum(function["self_ns"] for function in functions)
    chosen = [function for function in functions if rule(function, calls)]
    return (len(chosen), sum(function["calls"] for function in chosen),
            share(sum(function["self_ns"] for function in chosen), time))


def kept_round(found):
    return found["rounds"][found["best"]]


def named(kept):
    return kept["named_by_events"] + kept["named_by_samples"]


def of_bound(kept):
    """What events and what samples name, each as a part of its own bound."""
    return [kept[share] / kept[bound] if kept.get(bound) else 1.0
            for share, bound in (("named_by_events", "bound"),
                                 ("named_by_samples", "sample_bound"))]


def percent(value, digits=1):
    return "%.*f %%" % (digits, 100 * value)


def million(value):
    return "%.2f M" % (value / 1e6) if value >= 1e4 else "%.0f" % value


def read_perf(path):
    """Medians of native, perf and list, in ns."""
    with open(path, encoding="utf-8") as file:
        rows = [[float(word) for word in line.split()] for line in file]
    return [statistics.median(column) for column in zip(*rows)] + [
        statistics.median(row[2] / row[1] for row in rows)]


ROW = "%-32s %9s %9s %11s %10s %17s %8s"


def print_table(name, stem):
    with open(stem + ".json", encoding="utf-8") as file:
        found = json.load(file)
    functions = read_profile(os.path.join(stem + ".work", "profile.csv"))
    kept = kept_round(found)
    print()
    print("%s, budget %s: %d functions called, %s calls, native %.3f s" % (
        name, percent(found["budget"], 0), len(functions), million(found["calls"]),
        found["native_ns"] / 1e9))
    print("a call with events costs %.1f ns here (%.1f ns when all have events); "
          "a recorder alone %+.1f %%, counting all calls %+.1f %%" % (kept["event_cost_ns"],
              found["event_cost_ns"], 100 * found["fixed_ns"] / found["native_ns"],
              100 * (found["count_ns"] / found["native_ns"] - 1)))
    print(ROW % ("", "functions", "events", "predicted", "measured", "of single rounds", "named"))
    print(ROW % (
        "TeePerf, autotune",
        kept["events"] + kept["samples"], million(kept["records"] / 2), percent(kept["predicted"]),
        percent(kept["measured"]),
        "%+.1f..%+.1f" % (100 * kept["measured_low"], 100 * kept["measured_high"]),
        percent(named(kept))))
    for title, rule in RULES:
        count, calls, rule_named = apply_rule(functions, rule)
        print(ROW % (title, count, million(calls),
                     percent(share(calls * kept["event_cost_ns"], found["native_ns"])), "", "",
                     percent(rule_named)))
    print("named: %s by events (%d functions), %.2f of their bound %s; %s by samples (%d), "
          "%.2f of their bound %s" % (percent(kept["named_by_events"]), kept["events"],
              of_bound(kept)[0], percent(kept["bound"]), percent(kept["named_by_samples"]),
              kept["samples"], of_bound(kept)[1], percent(kept.get("sample_bound", 0))))
    print("lists tried: %s" % "; ".join("predicted %s, measured %s (error %s)" %
        (percent(tried["predicted"]), percent(tried["measured"]), percent(tried["measured_error"]))
        for tried in found["rounds"]))
    if kept["lost"]:
        print("lost: %d events of the last run" % kept["lost"])
    if os.path.exists(stem + ".perf"):
        native, perf, listed, ratio = read_perf(stem + ".perf")
        print("beside perf record: native %.3f s, perf %.3f s, TeePerf with the list %.3f s: "
              "%.3fx of perf" % (native / 1e9, perf / 1e9, listed / 1e9, ratio))


def verdict(met):
    return "met" if met else "MISSED"


def print_bars(directory):
    print("Bars")
    for path in sorted(glob.glob(os.path.join(directory, "*", "*.json")), key=lambda path: (
            os.path.dirname(path), float(os.path.splitext(os.path.basename(path))[0]))):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        kept = kept_round(found)
        name = "%s, %s" % (os.path.basename(os.path.dirname(path)), percent(found["budget"], 0))
        if not found.get("told", True):
            print("%-28s measured overhead <= budget %8s MISSED: cannot be told" % (name, ""))
            continue
        print("%-28s measured overhead <= budget %8s %s" % (
            name, percent(kept["measured"]), verdict(kept["measured"] <= found["budget"])))
        for what, part in zip(("events", "samples"), of_bound(kept)):
            print("%-28s %-7s >= 0.9 of their bound %7.2f %s" % (
                name, what, part, verdict(part >= 0.9)))
        perf = os.path.splitext(path)[0] + ".perf"
        if found["budget"] < 0.05 and os.path.exists(perf):
            ratio = read_perf(perf)[3]
            print("%-28s time <= 1.00 of perf record %8.3f %s" % (name, ratio, verdict(ratio <= 1)))


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--bars":
        print_bars(arguments[1])
    elif len(arguments) == 2 and arguments[0] == "--rules":
        functions = read_profile(arguments[1])
        for title, rule in RULES:
            print("%s\t%d\t%.0f\t%.4f" % ((title,) + apply_rule(functions, rule)))
    elif len(arguments) == 2:
        print_table(*arguments)
    else:
        sys.stderr.write(__doc__)
        return 129
    return 0


sys.exit(main(sys.argv[1:]))
