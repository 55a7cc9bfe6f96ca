#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What became of a suite, for test/suites/run.

verdict.py facts LABEL PROFILE.json CALLED
    print a line of facts about one recorded process, and add the functions it called to CALLED
verdict.py row FOLDER NAME VERSION
    compare FOLDER/native.results with FOLDER/instrumented.results and look at the facts of all
    processes; write FOLDER/row; exit 1 and say why if something is not as it should be
verdict.py table FOLDER NAME...
    print FOLDER/NAME/row of each
"""

import collections
import difflib
import glob
import json
import os
import sys

# Each of these says that a stack or the trace was not whole. None may be there, unless events were
# lost, which is counted and reported.
ODDITIES = ("unmatched_enters", "unmatched_exits", "unknown_resyncs", "backwards", "holes",
            "problems", "cut", "began_before", "dropped")
COLUMNS = ("suite", "version", "processes", "functions", "events", "lost", "tests", "same",
           "compared with callgrind")


def facts(label, path, called):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    functions = {(row["module"], row["linkage"] or row["address"])
                 for row in profile["functions"] if row["calls"]}
    line = {key: profile[key] for key in ODDITIES + ("events", "lost", "open", "threads_count")}
    line["label"] = label
    line["calls"] = sum(row["calls"] for row in profile["functions"])
    # Several processes may end at once: each adds its lines in one write.
    with open(called, "ab", buffering=0) as file:
        file.write("".join("%s %s\n" % pair for pair in sorted(functions)).encode())
    print(json.dumps(line))


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def compare(native, instrumented, complaints):
    """Each test must have the same exit status and the same output."""
    names = {os.path.basename(path) for folder in (native, instrumented)
             for ending in ("status", "same") for path in glob.glob(folder + "/*." + ending)}
    for name in sorted(names):
        texts = []
        for folder in (native, instrumented):
            path = os.path.join(folder, name)
            texts.append(read(path) if os.path.exists(path) else None)
        if texts[0] != texts[1]:
            lines = [(text or "(it is not there)\n").splitlines() for text in texts]
            shown = list(difflib.unified_diff(*lines, "native", "instrumented", lineterm="", n=1))
            complaints.append("'%s' differs:\n  %s" % (name, "\n  ".join(shown[:12])))


def row(folder, name, version):
    native, instrumented = folder + "/native.results", folder + "/instrumented.results"
    complaints = []
    compare(native, instrumented, complaints)
    tests = [read(results + "/tests").splitlines() for results in (native, instrumented)]
    differing = set(tests[0]) ^ set(tests[1])
    for line in sorted(differing)[:20]:
        complaints.append("only %s: %s" % ("instrumented" if line in tests[1] else "native", line))
    if len(tests[0]) != len(tests[1]):  # the same line twice
        complaints.append("%d tests native, %d instrumented" % (len(tests[0]), len(tests[1])))
    if not tests[0]:
        complaints.append("no test was run")

    processes = [json.loads(line) for line in read(instrumented + "/facts").splitlines()]
    lossy = 0
    for process in processes:
        if process.get("unreadable"):
            complaints.append("the trace of '%s' cannot be read" % process["label"])
        elif process["lost"]:
            lossy += 1
        else:
            odd = ["%d %s" % (process[key], key) for key in ODDITIES if process[key]]
            if odd:
                complaints.append("the trace of '%s': %s" % (process["label"], ", ".join(odd)))
    sound = [process for process in processes if not process.get("unreadable")]
    total = {key: sum(process[key] for process in sound) for key in ("events", "lost", "open")}
    if not total["events"]:
        complaints.append("nothing was recorded")
    for path in sorted(glob.glob(instrumented + "/*.differs")):
        text = read(path)
        if text:
            lines = text.splitlines()
            shown = lines[:20] + ["(%d more in '%s')" % (len(lines) - 20, path)][:len(lines) > 20]
            complaints.append("%s:\n  %s" % (os.path.basename(path), "\n  ".join(shown)))

    counts = collections.Counter(line.split()[0] for line in tests[0])
    counts_path = instrumented + "/counts"
    values = {
        "suite": name,
        "version": version,
        "processes": "%d" % len(processes),
        "functions": "%d" % len(set(read(instrumented + "/called").splitlines())),
        "events": "{:,}".format(total["events"]),
        "lost": "{:,}{}".format(total["lost"], " in %d" % lossy if lossy else ""),
        "tests": ", ".join("%d %s" % (counts[key], key) for key in sorted(counts)),
        "same": "no" if complaints else "yes",
        "compared with callgrind": "; ".join(read(counts_path).splitlines())
                                   if os.path.exists(counts_path) else "-",
    }
    with open(folder + "/row", "w", encoding="utf-8") as file:
        json.dump(values, file)
    for complaint in complaints:
        sys.stderr.write("FAILED: %s: %s\n" % (name, complaint))
    return 1 if complaints else 0


def table(folder, names):
    rows = [COLUMNS]
    for name in names:
        path = os.path.join(folder, name, "row")
        if os.path.exists(path):
            values = json.loads(read(path))
            rows.append([values[column] for column in COLUMNS])
        else:
            rows.append([name] + [""] * (len(COLUMNS) - 2) + ["no result"])
    widths = [max(len(line[i]) for line in rows) for i in range(len(COLUMNS))]
    for line in rows:
        print("| %s |" % " | ".join(cell.ljust(width) for cell, width in zip(line, widths)))
        if line is COLUMNS:
            print("|%s|" % "|".join("-" * (width + 2) for width in widths))


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "facts":
        return facts(*arguments)
    if command == "row":
        return row(*arguments)
    return table(arguments[0], arguments[1:])


sys.exit(main())
