#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_graph.py RECURSION MANY WITHOUT NOCLOCK: use the call graphs of the reports of
report/graph in a browser. Leaves pictures, light and dark, in the current folder.
"""
import os
import sys

from browser import KEYS, Browser

KEYS.update({"Down": "\ue015", "Up": "\ue013"})
failures = 0
NODES = ("return [...document.querySelectorAll('.graphplace [data-node]')].map(box => "
         "[...box.querySelectorAll('text')].map(e => e.textContent))")
EDGES = ("return [...document.querySelectorAll('.graphplace .edge')].map(edge => "
         "[edge.querySelector('text').textContent, edge.querySelector('title').textContent])")
# Texts that are wider than their box.
WIDE = """return [...document.querySelectorAll('.graphplace [data-node]')].filter(box => [...box.querySelectorAll('text')].some(
	text => text.getComputedTextLength() > Number(box.firstChild.getAttribute('width')) + 1)).length"""


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def show(browser, file, fragment="tab=graph"):
    browser.open("about:blank")
    browser.open("file://" + os.path.abspath(file) + "#" + fragment)
    check("%s is shown" % file,
          browser.until("return document.documentElement.dataset.loaded === 'yes'"), True)
    browser.settle()


def main():
    recursion, many, without, no_clock = sys.argv[1:]
    with Browser(1280, 900) as browser:
        show(browser, recursion)
        check("nodes", browser.run(NODES), [
            ["main", "self 200 ns · 20.0%", "inclusive 1.000 µs · 100%", "1 call"],
            ["a", "self 600 ns · 60.0%", "inclusive 800 ns · 80.0%", "3 calls"],
            ["b", "self 200 ns · 20.0%", "inclusive 300 ns · 30.0%", "1 call"]])
        check("edges", sorted(browser.run(EDGES)),
              [["1", "a → a: 1 call, 500 ns"], ["1", "a → b: 1 call, 300 ns"],
                  ["1", "b → a: 1 call, 100 ns"], ["1", "main → a: 1 call, 800 ns"]])
        check("texts fit", browser.run(WIDE), 0)
        x, y = browser.run("const box = document.querySelector('[data-node=\"1\"] "
                           "rect').getBoundingClientRect(); return [box.x + 9, box.y + 9]")
        browser.pointer(x, y, False)
        browser.settle()
        check("tip", browser.run("return document.querySelector('#tip strong').textContent"), "a")
        browser.pointer(x, y)
        browser.settle()
        check("a click selects",
              browser.run("return [document.getElementById('foot-name').textContent, "
                          "document.querySelectorAll('.edge.on').length]"), ["a", 4])
        browser.run("document.querySelector('[data-node=\"1\"]').focus()")
        browser.keys("Up")
        check("the caller", browser.run("return document.getElementById('foot-name').textContent"),
              "main")
        browser.keys("Down")
        browser.keys("Down")
        check("what it calls",
              browser.run("return [document.getElementById('foot-name').textContent, "
                          "document.activeElement.dataset.node]"), ["b", "2"])
        check("one of them is in the order of Tab", browser.run(
            "return document.querySelectorAll('.graphplace [tabindex=\"0\"]').length"), 1)
        wide = "return Number(document.querySelector('.graphplace svg').getAttribute('width'))"
        before = browser.run(wide)
        browser.keys("+")
        check("larger", browser.run(wide) > before, True)
        browser.run("change({search: '^a$'})")
        browser.settle()
        check("search",
              browser.run("return [...document.querySelectorAll('.graphplace .pale')].length"), 2)
        browser.screenshot("graph.png")
        browser.run("change({search: ''}); document.querySelector('[data-node=\"2\"]').focus()")
        browser.keys("Enter")
        check("its sandwich", browser.run(
            "return [state.tab, document.getElementById('filling-name').textContent]"),
              ["sandwich", "b"])

        show(browser, many)
        check("as many as there is room for", len(browser.run(NODES)), 80)
        check("and what is left out", "40 lighter functions" in browser.run(
            "return document.querySelector('.graph h2').textContent"), True)
        browser.devtools("Emulation.setDeviceMetricsOverride", width=390, height=900,
                         deviceScaleFactor=1, mobile=False)
        browser.devtools("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": "dark"}])
        show(browser, many)
        check("nothing is wider than the page",
              browser.run("return document.documentElement.scrollWidth <= innerWidth"), True)
        browser.screenshot("graph-dark.png")
        browser.devtools("Emulation.clearDeviceMetricsOverride")
        show(browser, without)
        check("without graphviz", "package graphviz" in browser.run(
            "return document.querySelector('#view-graph .empty').textContent"), True)
        show(browser, no_clock)
        check("without a clock", browser.run(NODES)[0], ["b", "6 calls"])
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
