#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleet_choose.py make: text of ten traces of about 1 ms of two programs, server-N.txt and
worker-N.txt, in builds with other addresses; 'burst' is called in server-0 alone, 2,000 times.
fleet_choose.py check TEEPERF JSON TRACE...: the calls, times and prices in the JSON object of
'teeperf fleet allowlist' are the sums of 'teeperf analyze' over the traces. A tick is a
nanosecond."""

import collections
import csv
import io
import json
import subprocess
import sys

NAMES = ["main", "burst", "shared", "other", "work"]


def trace(program, number):
    order = NAMES if number % 2 else NAMES[::-1]
    address = {name: 0x401000 + 0x900 * (number % 2) + 16 * at for at, name in enumerate(order)}
    lines = ["trace created=%d" % ((1700000000 + 86400 * (number > 0) + 60 * number) * 10**9),
             "clock kind=tsc hz=1000000000", "command",
             '\tstring "/"', '\tstring "/usr/bin/%s"' % program, "symbols"]
    lines += ['\tsymbol %#x "%s" file="%s.c" line=1' % (address[name], name, program)
              for name in order]
    lines += ["chunk thread=0 tid=1 time=0", "\t0 enter %#x" % address["main"]]
    time = 0
    calls = [("shared", 1000)] * 10 + ([("burst", 200)] * 2000 if (program, number) == ("server", 0)
                                       else [("work", 90000)] * 10)
    calls += [("other", 500 + number)] * 3
    for name, length in calls:
        lines.append("\t%d enter %#x" % (time + 50, address[name]))
        time += 50 + length
        lines.append("\t%d exit %#x" % (time, address[name]))
    end = max(time + 10, 1000000)
    lines += ["\t%d exit %#x" % (end, address["main"]), "end"]
    with open("%s-%d.txt" % (program, number), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def check(teeperf, path, traces):
    calls, self_ns, time_ns = collections.Counter(), collections.Counter(), 0
    for name in traces:
        text = subprocess.run([teeperf, "analyze", "--format", "csv", name], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        for row in csv.DictReader(io.StringIO(text)):
            calls[row["linkage"]] += int(row["calls"])
            self_ns[row["linkage"]] += int(row["self_ns"])
            if row["linkage"] == "main":
                time_ns += int(row["inclusive_ns"])
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    functions = {row["function"]: row for row in found["functions"]}
    if set(functions) != set(calls):
        sys.exit("functions: %s, not %s" % (sorted(functions), sorted(calls)))
    for name, row in functions.items():
        if row["calls"] != calls[name] or abs(row["self_ns"] - self_ns[name]) > 1 or \
                row["event_ns"] != 10 * calls[name]:
            sys.exit("%s: %s, not %d calls, %d ns" % (name, row, calls[name], self_ns[name]))
    # The run is that from the first record to the last, and main is all of it.
    if abs(found["time_ns"] - time_ns) > len(traces):
        sys.exit("time: %s, not %s" % (found["time_ns"], time_ns))
    cost = sum(row["event_ns"] for row in functions.values() if row["level"] == "event")
    if abs(found["cost_ns"] - cost) > 1 or abs(found["overhead"] - cost / time_ns) > 2e-6 or \
            cost > 0.01 * time_ns:
        sys.exit("cost: %s, overhead: %s, not %s of %s" %
                 (found["cost_ns"], found["overhead"], cost, time_ns))


if sys.argv[1] == "make":
    for each in range(5):
        trace("server", each)
        trace("worker", each)
else:
    check(sys.argv[2], sys.argv[3], sys.argv[4:])
