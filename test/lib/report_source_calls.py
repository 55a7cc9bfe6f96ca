#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""report_source_calls.py REPORT calls|unclear|none|nothing SOURCE...: the lines with calls in the
block "sources" are those that the SOURCEs say (comments "calls NAME"); unclear: the line in "other"
is not known; none: no line is known; nothing: nor are there source lines."""
import json
import re
import sys

from report_source import blocks

failures = 0


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def lines_of(path):
    """The calls that a source says: {(caller, line, callee)}, and the callers."""
    calls, function = set(), None
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            begin = re.match(r"(?:static )?(?:KEEP )?int (\w+)\(.*\)$", text)
            function = begin[1] if begin else function
            says = re.search(r"// calls (\w+)$", text)
            if says:
                calls.add((function, number, says[1]))
    return calls


def main():
    report, kind = sys.argv[1:3]
    known = kind in ("calls", "unclear")
    wanted = set().union(*(lines_of(source) for source in sys.argv[3:])) if known else set()
    in_words = {"deep": "outer \u2192 inner", "rare": "pieces"} if known else {}
    if kind == "unclear":
        wanted = {(caller, line if caller != "other" else 0, callee)
                  for caller, line, callee in wanted}
        del in_words["rare"]
    data = blocks(report)
    name = json.loads(data["facts"])["functions"]["name"]
    sources = json.loads(data["sources"])
    check("files", sorted(it["found"] for it in sources["files"]),
          [] if kind == "nothing" else ["main.c", "other.c"])
    found, chains = set(), {}
    for it in sources["calls"]:
        sites = it["sites"]
        for line, callee, inlined in zip(sites[::3], sites[1::3], sites[2::3]):
            found.add((name[it["fn"]], line, name[callee]))
            if inlined:
                chains[name[callee]] = sources["inlined"][inlined - 1]
    check("calls", sorted(found), sorted(wanted))
    check("functions with call sites", sorted(name[it["fn"]] for it in sources["calls"]),
          sorted(name) if known else [])
    check("inlined functions", chains, in_words)
    print("%d failures" % failures)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
