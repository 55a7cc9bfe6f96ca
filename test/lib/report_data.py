#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Read reports independently of their viewer, and compare them with what analyze says.

report_data.py REPORT ANALYSIS.json plain|folded|whole [REPORT ANALYSIS.json HOW]...: exits with 1
and a line for each contradiction. ANALYSIS is of the same options, as JSON, and made with --raw if
`whole`: then the timeline must have all time of all paths. `folded`: paths may be put together, so
that functions have no sums of paths.
"""
import base64
import hashlib
import html
import json
import re
import sys
import zlib

SCRIPT_MAX = 150000
failures = []


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %r, not %r" % (what, found, wanted))


def near(what, found, wanted, slack):
    if abs(found - wanted) > slack:
        failures.append("%s: %r is not within %r of %r" % (what, found, slack, wanted))


class Numbers:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def column(self, count):
        return [self.next() for _ in range(count)]

    def end(self, name):
        check("end of the block " + name, self.at, len(self.data))


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def read_page(text):
    """The blocks, after what makes the page safe was checked."""
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1))
    style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    blocks = dict(re.findall(r'<script type="application/octet-stream" '
        r'id="data-(\w+)">([A-Za-z0-9+/=]*)</script>', text))
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    check("scripts", len(scripts), 1)
    check("tags of scripts", len(re.findall(r"<\s*script", text, re.I)), len(blocks) + 1)
    check("policy", policy.split("; "), [
        "default-src 'none'", "script-src " + digest(scripts[0]), "style-src " + digest(style),
        "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'"])
    markup = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)
    check("references", re.findall(r"<[^>]*\s(?:src|href|style|on\w+)\s*=", markup), [])
    if len(scripts[0].encode()) >= SCRIPT_MAX:
        failures.append("the script has %d bytes" % len(scripts[0].encode()))
    return {name: zlib.decompress(base64.b64decode(data)) for name, data in blocks.items()}


TIMES = ["cpu", "wait", "preempted"]
TIME_COLUMNS = [of + name + "_ns" for of in ("self_", "inclusive_") for name in TIMES] + [
    "calls_estimated", "calls_estimated_pm", "inclusive_estimated_ns", "inclusive_estimated_pm_ns"]


def read_paths(data, base, times):
    numbers = Numbers(data)
    count = numbers.next()
    parent, stack = [-1], [0]
    for i in range(count):
        for _ in range(numbers.next()):
            stack.pop()
        parent.append(stack[-1])
        stack.append(i + 1)
    paths = {"count": count + 1, "parent": parent}
    names = ["fn", "level", "calls", "self", "min", "range"]
    for name in names + (["base_calls", "base_self"] if base else []) + (TIMES if times else []):
        paths[name] = [0] + numbers.column(count)
    numbers.end("paths")
    return paths


def check_functions(facts, analysis):
    functions = facts["functions"]
    times = ["self", "self_uncertainty", "inclusive", "min", "p50", "p90", "p99", "max"]
    nothing = [None] * len(functions["name"])
    columns = [functions["name"], functions["calls"]]
    columns += [[value or 0 for value in functions.get(name + "_ns", nothing)] for name in times]
    # An unknown time is not 0, and a column without any known time is absent.
    columns += [["-" if value is None else str(value) for value in functions.get(name, nothing)]
                for name in TIME_COLUMNS]
    wanted = sorted((f["function"], f["calls"], *(f.get(name + "_ns") or 0 for name in times),
                     *("-" if f[name] is None else str(f[name]) for name in TIME_COLUMNS))
                    for f in analysis["functions"])
    if not analysis["sampled_functions"]:
        check("functions", sorted(zip(*columns)), wanted)
    check("columns of nothing",
          [name for name in functions if functions[name] == nothing and nothing], [])
    for i, histogram in enumerate(functions["histogram"]):
        check("histogram", sum(histogram[1::2]),
              functions["timed_calls"][i] if facts["unit"] != "calls" else 0)
        check("order of bins", sorted(set(histogram[::2])), histogram[::2])
        if histogram:
            # A bound is a rounded number.
            low = facts["bounds"][histogram[0]]
            near("its lowest bin", functions["min_ns"][i], low, low / 8 + 2)
    return functions


def check_sums(functions, paths):
    """Of the paths, for each function."""
    count = len(functions["name"])
    calls, own, inclusive, places = ([0] * count for _ in range(4))
    times = {name: [0] * count for name in TIMES if name in paths}
    total = list(paths["self"])
    for i in range(paths["count"] - 1, 0, -1):
        total[paths["parent"][i]] += total[i]
    below = [0] * paths["count"]
    for i in range(paths["count"] - 1, 0, -1):
        below[i] += 1
        below[paths["parent"][i]] += below[i]
    for i in range(1, paths["count"]):
        fn = paths["fn"][i]
        calls[fn] += paths["calls"][i]
        own[fn] += paths["self"][i]
        for name, sums in times.items():
            sums[fn] += paths[name][i]
        places[fn] += below[i]
        if not paths["level"][i]:
            inclusive[fn] += total[i]
    for fn in range(count):
        name = functions["name"][fn]
        # Of a sampled function times are scaled up to all calls.
        if functions["timed_calls"][fn] and functions["timed_calls"][fn] == functions["calls"][fn]:
            check("calls of " + name, calls[fn], functions["timed_calls"][fn])
            near("self of " + name, own[fn], functions["self_ns"][fn], places[fn])
            for of, sums in times.items():
                near("%s of %s" % (of, name), sums[fn], functions["self_%s_ns" % of][fn],
                     places[fn])
            near("inclusive of " + name, inclusive[fn], functions["inclusive_ns"][fn], places[fn])


def check_threads(facts, data, paths):
    numbers = Numbers(data)
    names = ["calls", "self"] + [name for name in TIMES if name in paths]
    sums = {name: [0] * paths["count"] for name in names}
    for _ in facts["threads"]:
        at, rows = 0, []
        for step in numbers.column(numbers.next()):
            at += step
            rows.append(at)
        for name in names:
            for row, value in zip(rows, numbers.column(len(rows))):
                sums[name][row] += value
    numbers.end("threads")
    check("calls of all threads", sums["calls"][1:], paths["calls"][1:])
    for i in range(1, paths["count"]):
        for name in names[1:]:
            near("%s of path %d" % (name, i), sums[name][i], paths[name][i],
                 2 * len(facts["threads"]) + 2)


def cells_of(data):
    numbers = Numbers(data)
    numbers.next()
    return numbers.next()


def check_time(facts, data, paths, whole):
    numbers = Numbers(data)
    buckets, cells = numbers.next(), numbers.next()
    check("buckets", buckets % cells, 0)
    own = [0] * paths["count"]
    depth = [0] * paths["count"]
    for i in range(1, paths["count"]):
        depth[i] = depth[paths["parent"][i]] + 1
    pairs = 0
    for _ in facts["threads"]:
        for row in range(numbers.next()):
            at = 0
            for _ in range(numbers.next()):
                head = numbers.next()
                at += head // 16
                if head % 16:
                    check("depth of what is in a row", depth[numbers.next()], row + 1)
            check("length of a row", at, buckets)
        for _ in range(cells):
            path = 0
            for _ in range(numbers.next()):
                path += numbers.next()
                own[path] += numbers.next()
                pairs += 1
        count = numbers.next()
        start, at = [], 0
        for step in numbers.column(count):
            at += step
            start.append(at)
        for begins, takes in zip(start, numbers.column(count)):
            if begins + takes > facts["span"] + 1:
                failures.append("a call ends after the timeline")
        smaller = len(facts["functions"]["name"])
        for path in numbers.column(count):
            check("a call is of a path", 0 < path < paths["count"], True)
            check("a call is of light paths", paths["fn"][path] == smaller, False)
    numbers.end("time")
    if whole:
        for i in range(1, paths["count"]):
            near("time of path %d in the cells" % i, own[i], paths["self"][i], pairs + 2)


def read_begun(facts, data):
    """Of each thread the calls of each depth that began in each cell: [{cell: calls}]."""
    numbers = Numbers(data)
    threads = []
    for _ in facts["threads"]:
        rows = []
        for _ in range(numbers.next()):
            at, cells = 0, []
            for step in numbers.column(numbers.next()):
                at += step
                cells.append(at)
            rows.append(dict(zip(cells, numbers.column(len(cells)))))
        threads.append(rows)
    numbers.end("begun")
    return threads


def read_heat(data):
    """(columns, functions without a map, maps): of each map its function, first, step, rows and
    {(column, row): calls}."""
    numbers = Numbers(data)
    columns, _, left = numbers.column(3)
    maps = []
    for _ in range(numbers.next()):
        function, first, step, rows, used = numbers.column(5)
        at, cells = 0, []
        for difference in numbers.column(used):
            at += difference
            cells.append((at // rows, at % rows))
        maps.append({"function": function, "first": first, "step": step, "rows": rows,
                     "cells": dict(zip(cells, numbers.column(used)))})
    numbers.end("heat")
    return columns, left, maps


def check_heat(facts, functions, data):
    """The cells are the function's calls in the table, and over all columns its histogram."""
    columns, left, maps = read_heat(data)
    check("maps of functions", len({it["function"] for it in maps}), len(maps))
    # By processor time, if that is known of all.
    cpu = functions.get("inclusive_cpu_ns")
    of = cpu if cpu and None not in cpu else functions["inclusive_ns"]
    shown = [of[it["function"]] for it in maps]
    check("those with most time have a map", shown, sorted(shown, reverse=True))
    check("functions with and without a map", len(maps) + left,
          sum(bool(histogram) for histogram in functions["histogram"]))
    for it in maps:
        name, histogram = functions["name"][it["function"]], functions["histogram"][it["function"]]
        check("calls in the map of " + name, sum(it["cells"].values()),
              functions["timed_calls"][it["function"]])
        found, wanted = {}, {}
        for (column, row), calls in it["cells"].items():
            check("a cell of the map of " + name,
                  column < columns and row < it["rows"] and calls > 0, True)
            found[it["first"] + row] = found.get(it["first"] + row, 0) + calls
        for bucket, calls in zip(histogram[::2], histogram[1::2]):
            wanted[bucket // it["step"]] = wanted.get(bucket // it["step"], 0) + calls
        check("durations in the map of " + name, found, wanted)
        check("bounds of rows",
              len(facts["bounds"]) > min((it["first"] + it["rows"]) * it["step"], 975), True)


def read_slowest(data):
    """(most, functions without, {function: [(thread or None, start, duration, inside, full,
    cpu)]}).
    cpu is None where it is not known, else they are the slowest by it."""
    numbers = Numbers(data)
    most, left, by_cpu = numbers.column(3)
    slowest = {}
    for _ in range(numbers.next()):
        function, count = numbers.column(2)
        threads, starts, durations, inside, full, cpu = (numbers.column(count) for _ in range(6))
        slowest[function] = list(zip([at - 1 if at else None for at in threads], starts, durations,
                                     inside, map(bool, full),
                                     cpu if by_cpu else [None] * count))
    numbers.end("slowest")
    return most, left, slowest


def read_drawn(facts, data):
    """Of each thread the calls that are drawn one by one: (start, duration, path)."""
    numbers = Numbers(data)
    _, cells = numbers.column(2)
    threads = []
    for _ in facts["threads"]:
        for _ in range(numbers.next()):
            for _ in range(numbers.next()):
                if numbers.next() % 16:
                    numbers.next()
        for _ in range(cells):
            numbers.column(2 * numbers.next())
        count, at = numbers.next(), 0
        starts = [at := at + step for step in numbers.column(count)]
        threads.append(list(zip(starts, numbers.column(count), numbers.column(count))))
    return threads


def check_slowest(facts, functions, paths, blocks, whole):
    """They are the longest, in order, and the calls inside of full ones are drawn."""
    most, _, slowest = read_slowest(blocks["slowest"])
    drawn = read_drawn(facts, blocks["time"])
    for function, calls in slowest.items():
        name = functions["name"][function]
        check("slowest calls of " + name, len(calls), min(most, functions["timed_calls"][function]))
        order = [-(it[2] if it[5] is None else it[5]) for it in calls]
        check("order of the slowest calls of " + name, order, sorted(order))
        if whole and calls[0][5] is None:
            near("the slowest call of " + name, calls[0][2], functions["max_ns"][function], 1)
        for thread, start, duration, inside, full, _ in calls:
            if full and len(facts["functions"]["name"]) not in paths["fn"]:
                # Rounded times of neighbours may touch.
                found = sum(start <= at and at + takes <= start + duration + 1
                            for at, takes, _ in drawn[thread])
                if found < inside + 1:
                    failures.append("%d calls are drawn inside of a call of %s, which made %d" %
                                    (found, name, inside))


def check_waits(facts, data, analysis):
    """The strips have all the waiting that functions have; outside of calls a thread may wait,
    too."""
    numbers = Numbers(data)
    drawn = {"wait": 0, "preempted": 0}
    for _ in facts["threads"]:
        at, last = 0, 0
        for _ in range(max(numbers.next() - 1, 0)):
            at += numbers.next()
            length = numbers.next()
            if at < last or at + length // 2 > facts["span"] + 1:
                failures.append("a strip is out of order, or ends after the timeline")
            last = at + length // 2
            drawn["preempted" if length % 2 else "wait"] += length // 2
    numbers.end("waits")
    for name, ns in drawn.items():
        own = sum(row["self_%s_ns" % name] or 0 for row in analysis["functions"])
        if own > ns + 10 * len(analysis["functions"]):
            failures.append("functions have %d ns of %s, the strips %d" % (own, name, ns))


LANES = ["calls", "waits", "requests", "faults"]
LANE_COLUMNS = ["start_ns", "duration_ns", "call", "function", "bytes"]
WAIT_COLUMNS = ["woken_ns", "waker", "waker_thread"]


def read_lanes(facts, data):
    """Events that are drawn one by one, as dictionaries, and of each lane of each thread the
    others: [count, ns] of each cell."""
    numbers = Numbers(data)
    names = []
    for _ in range(numbers.next()):
        length = numbers.next()
        names.append(numbers.data[numbers.at:numbers.at + length].decode())
        numbers.at += length
    before = numbers.next()
    functions, threads = (facts["functions"]["name"],
                          [int(it["title"].split()[-1]) for it in facts["threads"]])
    drawn, short = [], {}
    for thread in threads:
        for lane in LANES:
            count = numbers.next()
            columns = {name: numbers.column(count)
                       for name in LANE_COLUMNS + (WAIT_COLUMNS if lane == "waits" else [])}
            at = -before
            for row in zip(*columns.values()):
                event = dict(zip(columns, row), thread=thread, lane=lane)
                at += event["start_ns"]
                event["start_ns"] = at + facts["start"]
                event["call"] = names[event["call"]]
                for name in ("bytes", "woken_ns"):
                    event[name] = event[name] - 1 if event.get(name) else None
                for name, texts in (("function", functions), ("waker", functions),
                                    ("waker_thread", threads)):
                    event[name] = texts[event[name] - 1] if event.get(name) else None
                drawn.append(event)
            if numbers.next():
                cells = short[thread, lane] = []
                for _ in range(facts["cells"]):
                    some = numbers.next()
                    cells.append([some, numbers.next() if some else 0])
    numbers.end("lanes")
    return drawn, short


def read_meters(data):
    """(name, unit, note, times, values) of each."""
    numbers = Numbers(data)
    meters = []

    def text():
        length = numbers.next()
        numbers.at += length
        return numbers.data[numbers.at - length:numbers.at].decode()
    while name := text():
        unit, note, count, at = text(), text(), numbers.next(), 0
        times = [at := at + step for step in numbers.column(count)]
        meters.append((name, unit, note, times, numbers.column(count)))
    numbers.end("meters")
    return meters


def check_report(report, result, how):
    with open(report, encoding="utf-8") as file:
        text = file.read()
    with open(result, encoding="utf-8") as file:
        analysis = json.load(file)
    failures.clear()
    blocks = read_page(text)
    facts = json.loads(blocks["facts"])
    functions = check_functions(facts, analysis)
    paths = read_paths(blocks["paths"], "base_self_ns" in functions, facts.get("times"))
    if how != "folded":
        check_sums(functions, paths)
    check_threads(facts, blocks["threads"], paths)
    if "time" in blocks:
        check_time(facts, blocks["time"], paths, how == "whole")
    for name in ("begun", "heat", "slowest"):
        check("the block " + name, name in blocks, "time" in blocks)
    if "time" in blocks:
        check_heat(facts, functions, blocks["heat"])
        begun = sum(sum(row.values()) for rows in read_begun(facts, blocks["begun"])
                    for row in rows)
        check("calls that began in all cells", begun, sum(paths["calls"]))
        check_slowest(facts, functions, paths, blocks, how == "whole")
    check("strips of waiting are there if it is known", "waits" in blocks, "time" in blocks and
          any(row["self_wait_ns"] is not None for row in analysis["functions"]))
    if "waits" in blocks:
        check_waits(facts, blocks["waits"], analysis)
    if "meters" in blocks:
        for name, _, _, times, values in read_meters(blocks["meters"]):
            check("%s has times in order, and values" % name, (times, len(values)),
                  (sorted(times), len(times)))
    if "lanes" in blocks:
        facts["cells"] = cells_of(blocks["time"])
        read_lanes(facts, blocks["lanes"])
    for line in failures[:20]:
        print("%s: %s" % (report, line))
    print("%s: %d functions, %d paths, %d self, %d smaller, times of %s, %d contradictions" %
          (report, len(functions["name"]), paths["count"] - 1, sum(paths["self"]),
              paths["fn"].count(len(functions["name"])),
              "4 kinds" if facts.get("times") else "1 kind", len(failures)))
    return not failures


def main():
    rest = iter(sys.argv[1:])
    good = [check_report(*of) for of in zip(rest, rest, rest, strict=True)]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
