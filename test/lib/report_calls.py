#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare latency over time, slowest calls, and calls that began, of a report made with --raw, with
the table calls.

report_calls.py REPORT CALLS.json [MAPS SLOWEST ROOM]: CALLS are rows of SQL with id, parent, thread
(its number), function, depth, start_ns and duration_ns, of a trace with a clock of 1 GHz and
functions of different names. MAPS, SLOWEST and ROOM are what the report was made with. Prints how
much was compared; exits with 1 and a line for each contradiction.
"""
import collections
import json
import sys

import report_data
from report_data import check


def bucket(value):
    shift = max(value.bit_length() - 1, 4) - 4
    return (shift << 4) + (value >> shift)


def compare_heat(facts, blocks, calls, most):
    columns, left, maps = report_data.read_heat(blocks["heat"])
    per_column = report_data.Numbers(blocks["heat"]).column(2)[1]
    width = facts["span"] // facts["cells"] * per_column
    times = collections.Counter()
    by_function = collections.defaultdict(list)
    for call in calls:
        by_function[call["function"]].append(call)
        times[call["function"]] += 1
    check("functions with a map", (len(maps), left),
          (min(most, len(times)), max(len(times) - most, 0)))
    for it in maps:
        name = facts["functions"]["name"][it["function"]]
        wanted = collections.Counter()
        for call in by_function[name]:
            column = min((call["start_ns"] - facts["start"]) // width, columns - 1)
            wanted[column, bucket(call["duration_ns"]) // it["step"] - it["first"]] += 1
        check("map of " + name, it["cells"], dict(wanted))
    return len(maps)


def compare_slowest(facts, blocks, paths, calls, most, room):
    drawn = report_data.read_drawn(facts, blocks["time"])
    found = collections.Counter((thread, start, takes,
                                 facts["functions"]["name"][paths["fn"][path]])
                                for thread, of in enumerate(drawn) for start, takes, path in of)
    children = collections.defaultdict(list)
    by_id = {call["id"]: call for call in calls}
    for call in calls:
        children[call["parent"]].append(call)

    def below(call):
        open_calls, all_below = [call], []
        while open_calls:
            kids = children[open_calls.pop()["id"]]
            all_below += kids
            open_calls += kids
        return all_below

    def key(call):
        return (facts["thread_of"][call["thread"]], call["start_ns"] - facts["start"],
                call["duration_ns"], call["function"])

    every = collections.Counter(map(key, calls))
    check("calls that are drawn and are none", dict(found - every), {})
    inside, full, part = set(), 0, 0
    for function, of in report_data.read_slowest(blocks["slowest"])[2].items():
        name = facts["functions"]["name"][function]
        # By processor time, if that is known.
        wanted = sorted((call for call in calls if call["function"] == name), key=lambda call: (
            -(call["inclusive_cpu_ns"] if of[0][5] is not None else call["duration_ns"]),
            call["start_ns"], call["thread"], call["id"]))[:most]
        check("slowest calls of " + name, [it[:4] for it in of], [
            (*key(call)[:3], len(below(call))) for call in wanted])
        for call, it in zip(wanted, of):
            if it[4]:
                full += 1
                inside.update(each["id"] for each in below(call) + [call])
            else:
                part += 1
    check("calls in windows that are not drawn",
          dict(collections.Counter(key(by_id[at]) for at in inside) - found), {})
    if len(inside) > room:
        report_data.failures.append("%d calls are in windows, which are to have %d" %
                                    (len(inside), room))
    return full, part, len(inside), sum(found.values())


def compare_begun(facts, blocks, calls):
    wanted = collections.Counter()
    width = facts["span"] // facts["cells"]
    for call in calls:
        cell = min((call["start_ns"] - facts["start"]) // width, facts["cells"] - 1)
        wanted[facts["thread_of"][call["thread"]], call["depth"] - 1, cell] += 1
    found = {(thread, depth, cell): count
             for thread, rows in enumerate(report_data.read_begun(facts, blocks["begun"]))
             for depth, row in enumerate(rows) for cell, count in row.items()}
    check("calls that began", found, dict(wanted))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        blocks = report_data.read_page(file.read())
    with open(sys.argv[2], encoding="utf-8") as file:
        calls = json.load(file)
    maps, most, room = map(int, sys.argv[3:] or (100, 5, 100000))
    facts = json.loads(blocks["facts"])
    facts["cells"] = report_data.cells_of(blocks["time"])
    facts["thread_of"] = {int(it["title"].split()[-1]): i for i, it in enumerate(facts["threads"])}
    paths = report_data.read_paths(blocks["paths"], False, facts.get("times"))
    count = compare_heat(facts, blocks, calls, maps)
    full, part, inside, drawn = compare_slowest(facts, blocks, paths, calls, most, room)
    compare_begun(facts, blocks, calls)
    for line in report_data.failures[:5]:
        print(line[:2000])
    print("%d calls, %d maps, %d slowest in full with %d calls, %d in part, %d drawn" % (
        len(calls), count, full, inside, part, drawn))
    return bool(report_data.failures)


sys.exit(main())
