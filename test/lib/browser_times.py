#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_times.py KNOWN WAIT MIXED PLAIN: use the reports of report/times in a browser, and
compare what they show with KNOWN.json."""
import json
import os
import sys

from browser import Browser

failures = 0
TIMES = ["cpu", "wait", "preempted"]
COLUMNS = ("return [...document.querySelectorAll('#table-head th:not([hidden])')].map(e => "
           "e.className).filter(name => name.includes('_'))")
CELLS = ("return [...document.querySelectorAll('#table-body tr')].map(row => "
         "[...row.querySelectorAll('td.name, td.%s')].map(e => e.textContent))")
WIDTHS = """
const tree = views.flame.tree, sums = {};
for (let i = 0; i < tree.count; i++)
	sums[functionName(tree.fn[i])] = (sums[functionName(tree.fn[i])] || 0) + tree.self[i];
return sums;"""
LEGEND = "return [...document.querySelectorAll('#legend > *')].map(e => e.textContent)"
# Whether frames were looked at, the sums of the root, and whether those of children are no more
# than those of their parents.
STRIPS = """
const {tree, frames} = views.flame;
return [frames.node.length > 3, tree.parts.map(part => part[0]), frames.node.every(n => n === 0 || tree.parts.every(part => part[n] <= part[tree.parent[n]]))];"""
# Whether the root's strip has each colour.
PAINTED = """
const {pen, frames, ratio} = views.flame, [y, high] = views.flame.edge(0);
const line = pen.getImageData(0, Math.round((y + high - 2.5) * ratio), Math.floor(views.flame.width * ratio), 1).data;
return timeColours.map(colour => {
	const wanted = rgb(colour).match(/[0-9]+/g).map(Number);
	for (let i = 0; i < line.length; i += 4)
		if (wanted.every((value, k) => Math.abs(line[i + k] - value) < 3))
			return true;
	return false;
});"""
BUTTONS = ("return [...document.querySelectorAll('.of-times')].filter(e => "
           "e.offsetWidth).map(e => e.value)")


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def show(browser, name, fragment=""):
    browser.open("about:blank")
    browser.open("file://" + os.path.abspath(name + ".html") + "#" + fragment)
    check("%s is shown" % name,
          browser.until("return document.documentElement.dataset.loaded === 'yes'"), True)
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
            check("widths by " + name,
                  {row["function"]: found[row["function"]] for row in functions},
                  {row["function"]: row["self_%s_ns" % name] for row in functions})
        # ---- strips of frames, and bars of rows
        click(browser, '[data-name=weight] [value="time"]')
        for inverted in ("", "1"):
            browser.run("change({inverted: %r})" % inverted)
            browser.settle()
            check("strips are all of the time" + inverted, browser.run(STRIPS), [True, [
                sum(row["self_%s_ns" % name] for row in functions) for name in TIMES], True])
        browser.run("change({inverted: ''})")
        browser.settle()
        browser.screenshot("strips.png")
        check("its legend", browser.run(LEGEND)[:4], ["strip", "running", "waiting", "preempted"])
        check("they are painted", browser.run(PAINTED), [True, True, True])
        browser.keys("p")
        browser.settle()
        check("p hides them", (browser.run(PAINTED), browser.run(LEGEND)[0]),
              ([False, False, False], "function"))
        browser.keys("p")
        browser.run("change({tab: 'table', weight: 'time'})")
        browser.settle()
        browser.screenshot("bars.png")
        check("bars",
              browser.run("return [...document.querySelectorAll('#table-body tr')].find(r => "
                          "r.cells[0].textContent === 'wait').querySelectorAll('.bar i').length"),
              3)
        check("columns", browser.run(COLUMNS),
              [of + name for of in ("self_", "inclusive_") for name in TIMES])
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
        check("--time is what is shown first",
              (browser.run("return views.flame.tree.total[0]"), browser.run(
                  "return document.querySelector('[data-name=weight] [aria-pressed=true]').value")),
              (2200, "wait"))
        browser.screenshot("wait.png")
        show(browser, mixed, "tab=table")
        check("of some functions it is not known", sorted(browser.run(CELLS % "self_cpu")),
              [["leaf", "1.100 µs"], ["main", "2.400 µs"], ["wait", "100 ns"], ["work", "–"]])
        browser.run("change({tab: 'flame'})")
        browser.settle()
        check("then there are no widths by it", browser.run(BUTTONS), [])
        check("and no strips", browser.run(
            "return [views.flame.tree.parts, document.querySelector('[data-name=parts]').hidden]"),
              [None, True])
        show(browser, plain, "tab=table&weight=wait")
        check("nothing is known: no columns", browser.run(COLUMNS), [])
        check("errors", [entry["message"] for entry in browser.log("browser")
                         if "willReadFrequently" not in entry["message"]], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
