#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_source_calls.py REPORT PLAIN SOURCE PAIRS AXE: what the source view of
report/source-calls shows at the lines that call, held against PAIRS, CSV of query: what "work"
calls. PLAIN has no call sites. AXE: axe-core's script, or nothing."""
import csv
import sys

from browser import Browser
from browser_source import AXE, number, show
from report_source_calls import lines_of

failures = 0
ROWS = ("return [...document.querySelectorAll('#source-lines tr')]."
        "map(row => [...row.cells].map(cell => cell.textContent))")
CALLEES = ("return [...document.querySelectorAll('#source-callees tr')]."
           "map(row => [...row.cells].map(cell => cell.textContent))")


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def open_source(browser, file, function):
    show(browser, file, "")
    browser.run("change({fn: '%d'})" % number(browser, function))
    browser.keys("o")
    browser.settle()


def main():
    report, plain, source, pairs, axe = sys.argv[1:6]
    with open(pairs, encoding="utf-8") as file:
        wanted = {row["callee"]: (int(row["calls"]), int(row["inclusive_ns"]))
                  for row in csv.DictReader(file)}
    lines = {}
    for caller, line, callee in lines_of(source):
        if caller == "work":
            lines.setdefault(callee, []).append(line)
    with Browser(1280, 900) as browser:
        open_source(browser, report, "work")
        heads = browser.run("return [...document.querySelectorAll('#source .made')].map(it => "
                            "[it.textContent, it.hidden])")
        check("columns", heads, [["Calls made", False], ["In them", False]])
        # Exact sums; a time is shown in four digits.
        sums = browser.run("return callsOf(%d).callees.map(it => [functionName(it.fn), "
                           "it.calls, it.total])" % number(browser, "work"))
        check("callees", sorted(name for name, _, _ in sums), sorted(wanted))
        for name, calls, total in sums:
            check("calls of " + name, calls, wanted[name][0])
            # Each path's time is rounded to nanoseconds.
            check("time of " + name, abs(total - wanted[name][1]) <= 8, True)
        text = {name: browser.run("return [formatCount(%d), formatTime(%d)]" % (calls, total))
                for name, calls, total in sums}
        rows = {int(row[0]): row for row in browser.run(ROWS)}
        check("cells", {len(row) for row in rows.values()}, {7})
        calling = {}
        for callee, at in lines.items():
            mark = "*" if len(at) > 1 else ""
            for line in at:
                calling[line] = [text[callee][0] + mark, text[callee][1] + mark]
        # "main" calls in the same part of the file.
        found = {line: row[4:6] for line, row in rows.items() if row[4] and line in calling or
                 row[4] and "work(i" not in row[6]}
        check("lines that call", found, calling)
        shared = sorted(lines["often"])
        title = browser.run("return [...document.querySelectorAll('#source-lines tr')].find(row => "
                            "row.cells[0].textContent === '%d').cells[4].title" % shared[0])
        together = "lines %d and %d together" % tuple(shared)
        check("what is shared", title, "often: %s calls, %s, %s" % (*text["often"], together))
        place = {"often": together, "pointed": "an unknown line",
                 "deep": "line %d, in code inlined from outer \u2192 inner" % lines["deep"][0],
                 "once": "line %d" % lines["once"][0], "other": "line %d" % lines["other"][0]}
        check("in words", {row[0]: row[1:] for row in browser.run(CALLEES)},
              {name: [*text[name], place[name]] for name in wanted})
        note = "return document.getElementById('source-note').textContent"
        check("the mark is explained",
              browser.run(note).startswith("* Several lines call the same function"), True)
        for scheme in ("light", "dark"):
            browser.run("applyTheme(state.theme = %r)" % scheme)
            browser.screenshot("source-calls-%s.png" % scheme)
            if axe:
                with open(axe, encoding="utf-8") as file:
                    browser.run(file.read())
                check("axe-core, " + scheme,
                      browser.call("POST", "/execute/async", {"script": AXE, "args": []}), [])
        browser.keys("Escape")
        browser.run("change({fn: '%d'})" % number(browser, "deep"))
        browser.keys("o")
        browser.settle()
        check("who calls nothing has no list",
              browser.run("return document.getElementById('source-calls').hidden"), True)
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
        open_source(browser, plain, "work")
        check("no lines without call sites", {len(row) for row in browser.run(ROWS)}, {5})
        check("which is said", browser.run(note).startswith("Its calls are shown without lines"),
              True)
        check("callees are there", {row[0] for row in browser.run(CALLEES)} >= set(wanted), True)
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
