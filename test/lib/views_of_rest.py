#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the views of a trace say, held against what the program did.

views_of_rest.py TEEPERF TRACE EVENTS CALLS WHOLE [--all] [--counted]

EVENTS enters and exits in all, CALLS of leaf(); --counted: these are counted calls, and EVENTS is
0. WHOLE is a complete trace to compare with. Events shown and events missing account for all of
them, in every view, and no view says "complete" of a trace that lacks any. --all: the slow views as
well. Prints "complete", "exact", "bounded" or "open".
"""
import json
import re
import sys

import many

arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
tool, trace, events, calls, whole = (arguments[0], arguments[1], int(arguments[2]),
                                     int(arguments[3]), arguments[4])
every, counted = "--all" in sys.argv, "--counted" in sys.argv


def run(*words):
    return many.run_quick([tool, *words], capture_output=True, text=True, errors="replace",
                          timeout=600)


def check(what, right, *seen):
    if not right:
        print("FAILED: %s: %s" % (what, " | ".join(str(it)[-1500:] for it in seen)),
              file=sys.stderr)
        sys.exit(1)


shown = run("analyze", "--format", "json", trace)
head = json.loads(shown.stdout)
complete, missing, most = head["complete"], head["missing_events"], head["missing_events_at_most"]
numbers = [head["events"], missing, most, head["missing_counted_calls"]]
check("a view's exit code", shown.returncode == (0 if complete else 1), shown.returncode,
      shown.stderr)
check("missing is not lost", head["lost"] == 0, head["lost"])

# The sum: exact where the trace says so, else within what it says.
exact = most == missing
check("more than there was", head["events"] + missing <= events, numbers)
check("less than there was", most is None or events <= head["events"] + most, numbers)
check("the sum is not exact", not exact or head["events"] + missing == events, numbers)
check("complete, though it lacks events", not complete or
      (head["events"] == events and exact and not missing), numbers)
check("incomplete, though it lacks none", complete or most is None or most > 0 or
      head["missing_counted_calls"] or head["problems"], numbers)

# Calls: each has two events, but for those whose exit is missing.
leaf = sum(int(row["calls"]) for row in head["functions"] if row["function"] == "leaf")
if counted:
    check("counted calls", leaf + head["missing_counted_calls"] == calls or most is None, leaf,
          numbers)
    check("complete, though it lacks calls", not complete or leaf == calls, leaf)
else:
    check("calls and events", leaf * 2 >= head["events"] and leaf <= calls, leaf, numbers)
    check("calls of a complete trace", not complete or leaf == calls, leaf)

table = run("analyze", trace)
line = re.search(r"^events +[0-9,]+, (.*)$", table.stdout, re.M)
check("the table's heading", line and (line[1] == "complete") == complete, table.stdout)
if exact and missing:
    check("the table's number", "incomplete: %s events missing" % format(missing, ",") == line[1],
          line[0])

meta = run("query", "--format", "json", trace, "SELECT key, value FROM meta")
facts = {row["key"]: row["value"] for row in json.loads(meta.stdout)}
check("SQL", facts["complete"] == str(int(complete)) and facts["missing_events"] == str(missing) and
      facts.get("missing_events_at_most") == (None if most is None else str(most)), facts, numbers)
check("SQL's exit code", meta.returncode == shown.returncode, meta.returncode)

if every:
    csv = run("analyze", "--format", "csv", "--strict", trace)
    check("CSV with --strict", csv.returncode == (0 if complete else 1), csv.returncode, csv.stderr)
    check("CSV's notes", complete or "--strict: '%s' is incomplete: " % trace in csv.stderr,
          csv.stderr)
    page = run("report", "-o", "-", trace)
    check("the report", page.returncode == shown.returncode, page.returncode, page.stderr)
    check("the report's number", not missing or format(missing, ",") +
          " missing</dd>" in page.stdout, re.findall("<dt>Losses.*", page.stdout))
    check("the report's tile", ("every recorded call is here" in page.stdout) == complete)
    chrome = run("export", "--format", "chrome", "-o", "-", trace)
    other = json.loads(chrome.stdout)["otherData"]
    check("an export", (other["complete"], other["missing_events"]) == (complete, missing), other)
    diff = run("diff", "--fail-if", "calls>+1000%", whole, trace)
    refused = "--fail-if compares complete traces only" in diff.stderr
    check("diff --fail-if", refused != complete and diff.returncode == (0 if complete else 1),
          diff.stderr)
    recovered = run("recover", trace)
    said = "' is complete: there is nothing to recover" in recovered.stderr
    check("recover", said == complete or (not complete and not said), recovered.stderr)
    if head["missing_chunks"] and most is not None:
        check("recover's number",
              re.search(r"^teeperf recover: \d+ chunks(,)? with .* gone", recovered.stderr, re.M),
              recovered.stderr)

print("complete" if complete else "exact" if exact else "open" if most is None else "bounded")
