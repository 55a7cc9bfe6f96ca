#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_sides.py SIDES GATES ALONE: what the reports of report/sides show of a TEE. Leaves
pictures, light and dark, in the current folder."""
import os
import sys

from browser import KEYS, Browser

KEYS.update({"Down": "\ue015", "Right": "\ue014", "Left": "\ue012"})
failures = 0
TABS = ("return [...document.querySelectorAll('[role=tab]')].filter(e => "
        "e.offsetWidth).map(e => e.value)")
ROWS = ("return [...document.querySelectorAll('#view-%s tbody tr')].map(row => "
        "[...row.cells].map(e => e.textContent))")
HEADS = "return [...document.querySelectorAll('#view-%s th')].map(e => e.textContent)"
# The functions whose frames have a mark of the border, by their pixels.
MARKED = """
const {pen, frames, tree, ratio} = views.flame, ink = theme.ink;
pen.fillStyle = ink;
const wanted = [1, 3, 5].map(i => parseInt(pen.fillStyle.slice(i, i + 2), 16));
return [...new Set(frames.node.filter((node, i) => {
	const [y] = views.flame.edge(frames.depth[i]);
	const [r, g, b] = pen.getImageData(Math.round((frames.x[i] + frames.width[i] / 2) * ratio), Math.round((y + 0.5) * ratio), 1, 1).data;
	return [r, g, b].every((value, k) => Math.abs(value - wanted[k]) < 8);
}).map(node => functionName(tree.fn[node])))].sort();"""


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


def main():
    sides, gates, alone = sys.argv[1:]
    markup = "<img src=x onerror=hacked=1>"
    every = ["flame", "timeline", "table", "sandwich", "tree"]
    with Browser(1280, 900) as browser:
        show(browser, sides)
        check("tabs", browser.run(TABS), every + ["transitions", "contention", "latency", "graph"])
        check("calls over the border are marked", browser.run(MARKED), ["answer", "command"])
        colours = browser.run("return ['main', 'invoke', 'command', %r].map(name => "
                              "colourGroup(data.functions.name.indexOf(name)))" % markup)
        check("colours by side", colours, ["host", "host", "TEE", "TEE"])
        # By hand: 3500 and 900 of the first thread's command and below, 2000 of the second's; of
        # 20000.
        check("the share inside",
              browser.run("return document.getElementById('share-inside').textContent"),
              "32.0% inside the TEE")
        browser.run("change({thread: '1'})")
        browser.settle()
        check("of one thread",
              browser.run("return document.getElementById('share-inside').textContent"),
              "20.0% inside the TEE")
        browser.run("change({thread: ''})")
        browser.settle()
        for scheme in ("light", "dark"):
            browser.devtools("Emulation.setEmulatedMedia",
                             features=[{"name": "prefers-color-scheme", "value": scheme}])
            for tab in ("flame", "timeline", "transitions", "contention"):
                browser.run("change({tab: %r})" % tab)
                browser.settle()
                browser.screenshot("sides-%s-%s.png" % (tab, scheme))
        facts = browser.run("change({tab: 'flame'}); const t = currentTree();return nodeFacts(t, "
                            "t.fn.indexOf(data.functions.name.indexOf('command')))")
        check("what a frame says",
              [fact for fact in facts if fact[0] in ("Border", "Inside the TEE")],
              [["Inside the TEE", "6.400 µs · 92.8%"], ["Border", "a call into the TEE"]])
        browser.keys("6")
        browser.settle()
        rows = browser.run(ROWS % "transitions")
        check("transitions", [row[:4] for row in rows],
              [["command", "3", "6.900 µs", "2.300 µs"], ["answer", "1", "500 ns", "500 ns"]])
        browser.run("document.querySelector('#view-transitions tbody tr').focus()")
        browser.keys("Down")
        check("keys choose a row",
              (browser.run("return document.getElementById('foot-name').textContent"),
               browser.run("return document.activeElement.cells[0].textContent")),
              ("answer", "answer"))
        browser.run("document.querySelector('#view-transitions th button').click()")
        check("sorted by name", [row[0] for row in browser.run(ROWS % "transitions")],
              ["answer", "command"])
        check("said to screen readers",
              browser.run("return document.querySelector('#view-transitions th').ariaSort"),
              "ascending")
        check("the report's columns are the views'", browser.run(
            "return ['transitions', 'contention'].map(name => rowTables[name].columns.filter("
            "([key]) => !(key in data[name].rows[0])).length)"), [0, 0])
        browser.keys("7")
        browser.settle()
        heads = browser.run(HEADS % "contention")
        check("contention", heads[:2], ["Function", "Overlap▼"])
        check("no column of nothing", "Ended by" in heads, False)
        browser.run("document.getElementById('tab-graph').focus(); change({tab: 'graph'})")
        browser.keys("Right")
        check("round the tabs", browser.run("return state.tab"), "flame")
        show(browser, gates, "tab=transitions")
        check("gates by name", [row[:2] for row in browser.run(ROWS % "transitions")],
              [["ecall_command", "3"]])
        check(
            "but no sides",
            (browser.run("return [data.joined, document.querySelectorAll('[value=side]').length]"),
             browser.run("change({tab: 'flame'}); return null")), ([False, 0], None))
        browser.settle()
        check("and no marks", browser.run(MARKED), [])
        show(browser, alone, "tab=transitions")
        check("tabs of others", (browser.run(TABS), browser.run("return state.tab")),
              (every + ["latency", "graph"], "flame"))
        browser.keys("6")
        check("and no key", browser.run("return state.tab"), "flame")
        check("nothing ran that is a name",
              browser.run("return [typeof window.hacked, document.querySelectorAll('img').length]"),
              ["undefined", 0])
        check("errors", [entry["message"] for entry in browser.log("browser")
                         if "willReadFrequently" not in entry["message"]], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
