#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of results, whole, from a state (state.sh): bars by topic, then all figures.

usage: page.py [--size SIZE] [--about FILE] [--variants FILE] [--why FILE] [--medians FILE] ROWS
"""

import argparse
import fnmatch
import math
import os
import re
import statistics

import bars
import state

FULL = "full"


def interval(values):
    """The median between the ends of its 95 % interval: that of the sign test (order statistics).
    Below six values the least and the largest."""
    ordered = sorted(values)
    count = len(ordered)
    outside = 0
    below = 0.0
    while 2 * (below + math.comb(count, outside) / 2**count) <= 0.05:
        below += math.comb(count, outside) / 2**count
        outside += 1
    end = max(outside - 1, 0)
    return ordered[end], statistics.median(ordered), ordered[count - 1 - end]


def number(value):
    """With as many digits as tell something."""
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def ratio(value):
    return f"{value:.3f}" if value < 10 else number(value)


def measured(kind, values, unit):
    """The median with its interval. What the spread swallows is not printed as a ratio or
    difference."""
    low, middle, high = interval(values)
    if kind == "ratio":
        if low <= 1 <= high and low < high:
            return f"not told apart (±{100 * max(high - 1, 1 - low):.1f} %)"
        shown = ratio
    else:
        shown = number
        if kind == "difference" and low <= 0 <= high and low < high:
            return f"not told apart (±{number(max(high, -low))}{unit})"
    spread = f" ({shown(low)}–{shown(high)})" if low < high else ""
    return f"{shown(middle)}{'' if kind == 'ratio' else unit}{spread}"


def verdict(bar, source, values):
    """Met or missed, if the interval is on one side of the bar."""
    if bar.limit is None:
        return ""
    low, middle, high = interval(values)
    if bar.least:
        low, middle, high, limit = -high, -middle, -low, -bar.limit
    else:
        limit = bar.limit
    if high <= limit:
        return "met"
    if low > limit:
        return "**missed**"
    # The bar is not to be slower than the other: a range that includes 1 meets it.
    if source.kind == "ratio" and bar.limit == 1:
        return "met"
    return (f"open: the spread holds the bar ({'within' if middle <= limit else 'beyond'} it "
            "by the median)")


def rounds_of(source):
    return getattr(source, "of_rounds", len(source.numbers))


def load_text(source):
    loads, others = source.loads()
    if not loads:
        return "-"
    return f"{statistics.median(loads):.1f}; {statistics.median(others):.2f}"


def explained(what, why):
    for heading in why:
        if fnmatch.fnmatch(what, heading):
            anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            return f", [why](why.md#{anchor})"
    return ""


def print_bars(why):
    counts = {"met": 0, "missed": 0, "open": 0, "not measured": 0}
    out = []
    for topic, rows in bars.TOPICS:
        out += ["", f"## {topic}", "",
            "| what | bar | measured: median (interval) | rounds | load; others | |",
            "|---|---|---|---|---|---|"]
        for bar in rows():
            limit = ("" if bar.limit is None
                     else f"{'≥' if bar.least else '≤'} {bar.limit:g}{bar.unit.replace('x', ' x')}")
            if not bar.source.known():
                out.append(f"| {bar.what} | {limit} | - | 0 | - | {bar.source.reason()} |")
                counts["not measured"] += bar.limit is not None
                continue
            values = [value / bar.scale for value in bar.source.values()]
            said = verdict(bar, bar.source, values)
            for word in ("met", "missed", "open"):
                counts[word] += said.strip("*").startswith(word)
            if "missed" in said:
                said += explained(bar.what, why)
            out.append(f"| {bar.what} | {limit} | {measured(bar.source.kind, values, bar.unit)} | "
                       f"{rounds_of(bar.source)} | {load_text(bar.source)} | {said} |")
    print(f"Bars: {counts['met']} met, {counts['missed']} missed, {counts['open']} open, "
        f"{counts['not measured']} not measured.")
    print("\n".join(out))


def read_variants(path):
    """variant -> (base, label), in order"""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, _, base, label = line.rstrip("\n").split("\t")
                found[name] = (base, label)
    return found


def median(row, key, scale=1.0, digits=2):
    values = state.figures.get(row, {}).get(key)
    return f"{statistics.median(values.values()) / scale:.{digits}f}" if values else "-"


def against(bench, variant, base, key):
    source = state.ratio(bench, variant, base, key)
    if variant == base or not source.known():
        return "" if variant == base else "-"
    return measured("ratio", source.values(), "")


def each_event(bench, variant, base):
    """Processor time over that of the base for each event; for each call where calls are counted.
    Few drown in noise."""
    key = "calls" if variant in ("count", "sample") else "events"
    events = state.by_round(bench, variant, key)
    cost = state.over(bench, variant, base, "program_cpu")
    if variant == base or not cost.known() or not events or \
            statistics.median(events.values()) < 100000:
        return "-"
    return f"{statistics.median(cost.values()) / statistics.median(events.values()):.2f}"


def bytes_event(row):
    found = state.figures.get(row, {})
    if "bytes" not in found or not found.get("events") or \
            statistics.median(found["events"].values()) < 1000:
        return "-"
    size, events = (statistics.median(found[key].values()) for key in ("bytes", "events"))
    return f"{size / events:.2f}"


def rounds_and_load(row):
    entries = state.done.get(row, ())
    if not entries:
        return "0 | -"
    return (f"{len(entries)} | {statistics.median(entry[2] for entry in entries):.1f}; "
        f"{statistics.median(entry[3] for entry in entries):.2f}")


def remark(row):
    parts = []
    starved = state.figures.get(row, {}).get("starved")
    if starved and statistics.median(starved.values()) > 0:
        parts.append(f"the clock stood still for {statistics.median(starved.values()):g} %")
    if row in state.skipped:
        parts.append("then failed: " + state.skipped[row])
    return "; ".join(parts)


def print_program(bench, variants):
    rows = [row for row in variants if (bench, row) in state.figures or
            (bench, row) in state.skipped]
    kernel = any("kernel_wall" in state.figures.get((bench, row), {}) for row in rows)
    print(f"\n### {bench}\n")
    head = ["", "cpu ms", "x", "wall ms", "x"] + (["kernel x"] if kernel else []) + [
        "whole x", "events M", "lost", "ns/event", "B/event", "MiB", "rounds", "load; others", ""]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for variant in rows:
        row = (bench, variant)
        base, label = variants[variant]
        if row not in state.figures:
            print(f"| {label} | not run: {state.skipped[row]} |" + " |" * (len(head) - 2))
            continue
        print("| " + " | ".join([label, median(row, "program_cpu", 1e6),
            against(bench, variant, base, "program_cpu"),
            median(row, "program_wall", 1e6), against(bench, variant, base, "program_wall")] +
            ([against(bench, variant, base, "kernel_wall")] if kernel else []) +
            [against(bench, variant, base, "whole_wall"), median(row, "events", 1e6, 3),
            median(row, "lost", 1, 0), each_event(bench, variant, base), bytes_event(row),
            median(row, "program_kib", 1024, 1), rounds_and_load(row), remark(row)]) + " |")


def print_micro(bench, variants):
    names = {key.split("/")[1] for row, found in state.figures.items() if row[0] == bench
        for key in found if key.startswith("micro/")}
    for name in sorted(names):
        print(f"\n### {name}\n")
        print("| | ns a call | over | cpu ns | over | events M | lost | rounds | load; "
              "others | |\n|" + "---|" * 10)
        for variant, (base, label) in variants.items():
            row = (bench, variant)
            if row in state.figures:
                shown = [label]
                for kind in ("wall", "cpu"):
                    key = f"micro/{name}/{kind}"
                    cost = state.over(bench, variant, base, key)
                    shown += [median(row, key), "" if variant == base or not cost.known() else
                        measured("difference", cost.values(), "")]
                print("| " + " | ".join(shown + [median(row, "events", 1e6, 3),
                    median(row, "lost", 1, 0), rounds_and_load(row), remark(row)]) + " |")
            elif row in state.skipped:
                print(f"| {label} | not run: {state.skipped[row]} | | | | | | | | |")


def print_own(bench):
    row = (bench, "own")
    print(f"\n### {bench}\n")
    if row not in state.figures:
        print(f"not run: {state.skipped[row]}")
        return
    print(f"| rounds, load; others: {rounds_and_load(row).replace('|', ',')} | median (interval) "
          "|\n|---|---|")
    for key, values in state.figures[row].items():
        name = key.replace("_", " ").replace(",", ", ")
        print(f"| {name} | {measured('value', list(values.values()), '')} |")


def print_builds(programs):
    print("\n### Builds\n")
    print("| program | how | compile s, one core | x | .text | x | hot text | x | rounds |\n|" +
          "---|" * 9)
    for program in programs:
        for bench, variant in state.figures:
            if bench != program or not variant.startswith("build/"):
                continue
            base = "build/gcc" if variant.startswith("build/gcc") else "build/native"
            row = (bench, variant)
            print(f"| {program} | {variant[6:]} | {median(row, 'compile_cpu', 1e9)} "
                  f"| {against(*row, base, 'compile_cpu')} | "
                  f"{median(row, 'text', 1, 0)} | {against(*row, base, 'text')} | "
                  f"{median(row, 'hot_text', 1, 0)} | {against(*row, base, 'hot_text')} | "
                  f"{len(state.figures[row].get('compile_cpu', ()))} |")


def print_head(options):
    about = {}
    if options.about:
        with open(options.about, encoding="utf-8") as file:
            for line in file:
                words = line.rstrip("\n").split(None, 1)
                if len(words) == 2:
                    about[words[0]] = words[1]
    print("# Results\n")
    print("<!-- Written whole by benchmarks/run (make bench). Do not edit: "
          "why.md is for explanations. -->")
    if options.size != FULL:
        print(f"**Size '{options.size}': smaller inputs and fewer rounds. "
              "The bars are stated for the full size.**")
    print("What TeePerf costs beside native code and other tools, in one place: "
        "each bar with what was measured for it, then\n"
        "all figures. [benchmarks/README.md](../README.md) says what is measured and how; "
        "older results are in\n"
        "[archive](archive/README.md).\n")
    machine = (f"{about.get('cpu', 'unknown').strip()}, "
               f"{about.get('cores', '?').replace(',', ' cores,', 1)}")
    runs = sum(len(entries) for entries in state.done.values())
    first, last = about.get("started_started", "?"), about.get("date", "?")
    commit, now = about.get("started_commit", "?"), about.get("commit", "?")
    print("| | |\n|---|---|")
    print(f"| machine, of all rows | {machine} |")
    for key in ("tsc", "memory", "kernel", "system", "clang", "gcc", "peers"):
        if key in about:
            print(f"| {key} | {about[key]} |")
    later = "" if commit == now else f", and later ones up to {now} with the same binaries"
    print(f"| commit | {commit}{later} |")
    print(f"| measured | from {first} to {last}: {runs} runs, "
          f"{sum(entry[1] for entries in state.done.values() for entry in entries) / 60:.0f} min |")
    print("\n*Measured* is the median of the rounds with its 95 % interval (that of the sign test; "
        "of fewer than six rounds, the least and\n"
        "the largest value). Ratios and differences are those within each round. "
        "Where 1.00 (or no difference) lies inside the interval\n"
        "there is no ratio: *not told apart*, and how far the interval reaches from 1.00. "
        "A bar inside the interval is *open*.\n"
        "*Load; others*: medians of the load average when a round began, "
        "and of the processors that other\n"
        "programs kept busy during it.\n")


def write_medians(path):
    with open(path, "w", encoding="utf-8") as file:
        for (bench, variant), found in state.figures.items():
            for key, values in found.items():
                file.write(f"{bench}\t{variant}\t{key}\t{statistics.median(values.values()):.9g}\t"
                           f"{len(values)}\n")


def main():
    parser = argparse.ArgumentParser()
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--size", default=FULL)
    parser.add_argument("--about")
    parser.add_argument("--variants", default=os.path.join(here, "variants.tab"))
    parser.add_argument("--why")
    parser.add_argument("--medians")
    parser.add_argument("rows")
    options = parser.parse_args()
    state.read(options.rows)
    why = []
    if options.why and os.path.exists(options.why):
        with open(options.why, encoding="utf-8") as file:
            why = [line[3:].strip() for line in file if line.startswith("## ")]
    variants = read_variants(options.variants)
    print_head(options)
    print_bars(why)
    print("\n## All figures")
    benches = list(dict.fromkeys(row[0] for row in list(state.figures) + list(state.skipped)
                                 if not row[1].startswith("build/")))
    for bench in benches:
        if (bench, "own") in state.figures or (bench, "own") in state.skipped:
            print_own(bench)
        elif bench.startswith("micro"):
            print_micro(bench, variants)
        else:
            print_program(bench, variants)
    print_builds(dict.fromkeys(row[0] for row in state.figures if row[1].startswith("build/")))
    if options.medians:
        write_medians(options.medians)


if __name__ == "__main__":
    main()
