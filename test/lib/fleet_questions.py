#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleet_questions.py make: text of 32 traces of two programs in two builds each,
NAME-BUILD-NUMBER.txt; the second build of "worse" has a function of a fifth more time a call, that
of "same" has not. fleet_questions.py check TEEPERF FLEET TRACE...: named questions and SQL of the
fleet against 'teeperf analyze' of the traces. A tick is a nanosecond."""

import collections
import csv
import io
import json
import math
import random
import subprocess
import sys

import many

RUNS = 8
NAMES = ["main", "parse", "lookup", "emit", "idle"]


def make():
    for program in ("worse", "same"):
        for build in range(2):
            for number in range(RUNS):
                rng = random.Random("%s %d %d" % (program, build, number))
                order = list(NAMES) if build == 0 else ["added"] + NAMES[::-1]
                address = {name: 0x401000 + 0x900 * build + 16 * at
                           for at, name in enumerate(order)}
                # Runs of a build differ, as machines do.
                speed = rng.uniform(0.97, 1.03)
                mean = {"parse": 200, "lookup": 500 * (1.2 if program == "worse" and build else 1),
                        "emit": 100}
                lines = ["trace created=%d" % ((1700000000 + build * 86400 + number * 60) * 10**9),
                         "clock kind=tsc hz=1000000000", "command",
                         '\tstring "/"', '\tstring "/usr/bin/%s"' % program, "symbols"]
                lines += ['\tsymbol %#x "%s" file="source.c" line=1' % (address[name], name)
                          for name in order]
                lines += ["chunk thread=0 tid=1 time=100", "\t100 enter %#x" % address["main"]]
                time = 100
                for call in range(300):
                    name = ("parse", "lookup", "emit")[call % 3]
                    lines.append("\t%d enter %#x" % (time + 10, address[name]))
                    time += 10 + int(mean[name] * speed * rng.uniform(0.8, 1.2))
                    lines.append("\t%d exit %#x" % (time, address[name]))
                lines += ["\t%d exit %#x" % (time + 10, address["main"]), "end"]
                with open("%s-%d-%d.txt" % (program, build, number), "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")


def run(*arguments):
    return many.run_quick(arguments, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()


def wanted(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, what)))


def check(teeperf, fleet, traces):
    def ask(*arguments):
        return json.loads(run(teeperf, "fleet", "query", "--format", "json", *arguments))

    sums = collections.Counter()
    durations = collections.defaultdict(list)
    for trace in traces:
        for row in csv.DictReader(io.StringIO(run(teeperf, "analyze", "--format", "csv", trace))):
            sums[row["function"], "runs"] += 1
            sums[row["function"], "calls"] += int(row["calls"])
            sums[row["function"], "self_ns"] += int(row["self_ns"])
        for row in json.loads(run(teeperf, "query", "--format", "json", trace,
                                  "SELECT duration_ns FROM calls JOIN functions USING (fn) "
                                  "WHERE function = 'lookup'")):
            durations[trace.split("-")[0], trace.split("-")[1]].append(row["duration_ns"])

    # The programs have functions of the same names in modules of other names, or in none: so by
    # name.
    for rows in (ask(fleet, "top"), ask("--param", "most=100", fleet, "top"),
                 ask("--sql", "SELECT function, count(*) AS runs, sum(calls) AS calls, "
                     "sum(self_ns) AS self_ns FROM functions GROUP BY function", fleet)):
        found = collections.Counter()
        for row in rows:
            for key in ("runs", "calls", "self_ns"):
                found[row["function"], key] += row[key]
        wanted(found == sums, "sums of functions:", found, "not", sums)

    worse = ask(fleet, "regressions")
    wanted([(row["program"], row["function"]) for row in worse] == [("worse", "lookup")],
           "regressions:", worse)
    wanted(15 < worse[0]["percent"] < 25 and worse[0]["t"] > worse[0]["t_needed"] > 2,
           "regressions:", worse)
    wanted(worse[0]["old_runs"] == worse[0]["new_runs"] == RUNS, "regressions:", worse)
    wanted(ask("--program", "same", fleet, "regressions") == [], "an unchanged build is reported")
    wanted(ask("--param", "program=worse", "--param", "least=40", fleet, "regressions") == [],
           "less than $least is reported")
    back = ask("--param", "program=worse", "--param", "old=second", "--param", "new=first", fleet,
               "regressions")
    wanted(back == [], "a build that is faster is reported:", back)
    named = ask("--param", "program=worse", "--param", "old=first", "--param", "new=second", fleet,
                "regressions")
    # Fewer functions are compared, so less is needed.
    needed = [row.pop("t_needed") for row in (*named, *worse)]
    wanted(named == worse and needed[0] < needed[1], "revisions by name:", named)

    for program in ("worse", "same"):
        rows = ask("--param", "function=lookup", "--param", "program=" + program, fleet, "p99")
        wanted(len(rows) == 2, "p99 by day:", rows)
        for build, row in enumerate(rows):
            exact = sorted(durations[program, str(build)])
            p99 = exact[math.ceil(0.99 * len(exact)) - 1]
            wanted(row["calls"] == len(exact) and abs(row["quantile_ns"] - p99) <= p99 / 64, "p99:",
                   row, "not", p99)

    hosts = ask(fleet, "hosts")
    wanted({row["program_and_host"] for row in hosts} <= {"worse one", "worse two"} and
           {row["function"] for row in hosts} == {"lookup"}, "hosts:", hosts)
    skip = ask(fleet, "skip")
    wanted({row["function"] for row in skip} == {"main", "parse", "lookup", "emit"}, "skip:", skip)
    rare = ask(fleet, "rare")
    wanted(rare and all(row["of_runs"] == 2 * RUNS for row in rare), "rare:", rare)
    cost = ask(fleet, "cost")
    wanted({row["program"]: row["runs"] for row in cost} == {"worse": 2 * RUNS, "same": 2 * RUNS},
           "cost:", cost)

    count = ("SELECT count(*) AS n, min(day) AS first, max(day) AS last, "
             "max(program) AS program FROM runs")
    wanted(ask("--sql", count, fleet) == [{"n": 4 * RUNS, "first": "2023-11-14",
                                           "last": "2023-11-15", "program": "worse"}], "runs")
    wanted(ask("--day", "2023-11-14", "--program", "same", "--sql", count, fleet)[0]["n"] == RUNS,
           "--day and --program")
    wanted(ask("--day", "2023-11-15..2023-11-30", "--sql", count, fleet)[0]["n"] == 2 * RUNS,
           "--day with two days")
    print("%d functions of %d runs" % (len(sums) // 3, len(traces)))


if sys.argv[1] == "make":
    make()
else:
    check(sys.argv[2], sys.argv[3], sys.argv[4:])
