#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_times.py KNOWN WAIT MIXED PLAIN: use the reports of report/times in a browser, and compare what they show with KNOWN.json."""
import json
import os
import sys

from browser import Browser

failures = 0
TIMES = ["cpu", "wait", "preempted"]
COLUMNS = "return [...document.querySelectorAll('#table-head th:not([hidden])')].map(e => e.className).filter(name => name.includes('_'))"
CELLS = "return [...document.querySelectorAll('#table-body tr')].map(row => [...row.querySelectorAll('td.name, td.%s')].map(e => e.textContent))"
WIDTHS = """
const tree = views.flame.tree, sums = {};
for (let i = 0; i < tree.count; i++)
	sums[functionName(tree.fn[i])] = (sums[functionName(tree.fn[i])] || 0) + tree.self[i];
return sums;"""
BUTTONS = "return [...document.querySelectorAll('.of-times')].filter(e => e.offsetWidth).map(e => e.value)"


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def show(browser, name, fragment=""):
    browser.open("about:blank")
    browser.open("file://" + os.path.abspath(name + ".html") + "#" + fragment)
    check("%s is shown" % name, browser.until("return document.documentElement.dataset.loaded === 'yes'"), True)
    browser.settle()


def click(browser, selector):
    browser.run("document.querySelector(%r).click()" % selector)
    browser.settle()


def main():
    known, wait, mixed, plain = sys.argv[1:]
    with open(known + ".json", encoding="utf-8") as file:
        functions = json.load(file)["functions"]
    with Browser(1280, 900) as browser:
        show(browser, known)
        check("buttons", browser.run(BUTTONS), TIMES)
        for name in TIMES:
            click(browser, '[data-name=weight] [value="%s"]' % name)
            found = browser.run(WIDTHS)
            check("widths by " + name, {row["function"]: found[row["function"]] for row in functions},
                  {row["function"]: row["self_%s_ns" % name] for row in functions})
        browser.run("change({tab: 'table', weight: 'time'})")
        browser.settle()
        check("columns", browser.run(COLUMNS), [of + name for of in ("self_", "inclusive_") for name in TIMES])
        check("waiting", sorted(browser.run(CELLS % "self_wait")),
              [["leaf", "300 ns"], ["main", "0 ns"], ["wait", "1.900 µs"], ["work", "0 ns"]])
        check("inclusive", sorted(browser.run(CELLS % "inclusive_preempted")),
              [["leaf", "100 ns"], ["main", "200 ns"], ["wait", "0 ns"], ["work", "0 ns"]])
        click(browser, "th.self_wait button")
        check("sorted", [row[0] for row in browser.run(CELLS % "self_wait")][:2], ["wait", "leaf"])
        browser.run("change({thread: '0'})")
        browser.settle()
        check("of one thread", sorted(browser.run(CELLS % "inclusive_wait")),
              [["leaf", "300 ns"], ["main", "2.200 µs"], ["wait", "1.900 µs"]])
        show(browser, wait)
        check("--time is what is shown first", (browser.run("return views.flame.tree.total[0]"), browser.run(
            "return document.querySelector('[data-name=weight] [aria-pressed=true]').value")), (2200, "wait"))
        browser.screenshot("wait.png")
        show(browser, mixed, "tab=table")
        check("of some functions it is not known", sorted(browser.run(CELLS % "self_cpu")),
              [["leaf", "1.100 µs"], ["main", "2.400 µs"], ["wait", "100 ns"], ["work", "–"]])
        browser.run("change({tab: 'flame'})")
        browser.settle()
        check("then there are no widths by it", browser.run(BUTTONS), [])
        show(browser, plain, "tab=table&weight=wait")
        check("nothing is known: no columns", browser.run(COLUMNS), [])
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
