#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the lanes of a report with the tables of its trace.

report_lanes.py REPORT EVENTS.json: EVENTS are rows of SQL with the columns of
report_data.LANE_COLUMNS and WAIT_COLUMNS, thread and lane, of all that the lanes should have.
Prints how many are drawn one by one, and how many are not; exits with 1 and a line for each
contradiction.
"""
import json
import sys

import report_data
from report_data import check


def key(event):
    return tuple("" if event[name] is None else str(event[name]) for name in ["thread", "lane"] +
                 report_data.LANE_COLUMNS + report_data.WAIT_COLUMNS)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        blocks = report_data.read_page(file.read())
    facts = json.loads(blocks["facts"])
    facts["cells"] = report_data.cells_of(blocks["time"])
    drawn, short = report_data.read_lanes(facts, blocks["lanes"])
    with open(sys.argv[2], encoding="utf-8") as file:
        wanted = json.load(file)
    least = min((event["duration_ns"] for event in drawn), default=0) if short else 0
    for name in {(event["thread"], event["lane"]) for event in wanted} | set(short):
        found = [key(event) for event in drawn if (event["thread"], event["lane"]) == name]
        mine = [event for event in wanted if (event["thread"], event["lane"]) == name]
        check("events of %s that are drawn" % (name,), sorted(found),
              sorted(key(event) for event in mine if event["duration_ns"] >= least))
        left = [event for event in mine if event["duration_ns"] < least]
        cells = [[0, 0] for _ in range(facts["cells"])]
        for event in left:
            cell = cells[int((event["start_ns"] - facts["start"]) * facts["cells"] / facts["span"])]
            cell[0] += 1
            cell[1] += event["duration_ns"]
        check("the others of %s" % (name,), short.get(name, [[0, 0]] * facts["cells"]), cells)
    check("events in lanes that should have none",
          {(e["thread"], e["lane"]) for e in drawn} - {(e["thread"], e["lane"]) for e in wanted},
          set())
    for line in report_data.failures[:5]:
        print(line[:2000])
    print("%d drawn, %d not" %
          (len(drawn), sum(cell[0] for cells in short.values() for cell in cells)))
    return bool(report_data.failures)


sys.exit(main())
