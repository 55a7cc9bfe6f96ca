#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_layout.py FIVE: the visible part of the report of report/layout. Leaves pictures, light
and dark, in the current folder."""
import os
import sys

from browser import KEYS, Browser

KEYS.update({"Up": "\ue013", "Down": "\ue015", "Home": "\ue011", "End": "\ue010", "Tab": "\ue004"})
failures = 0
TRACKS = """
const view = views.timeline;
return view.tracks().map(track => [track.rows, track.bottom - view.scroller.scrollTop <= view.height, track.lanes.length, track.lane]);
"""
SPLIT = "return Number(document.getElementById('split').getAttribute('aria-valuenow'))"
HEIGHTS = ("return [views.timeline.scroller, document.getElementById('part')].map(e => "
           "e.getBoundingClientRect().height)")
LEGEND = "return [...document.querySelectorAll('#legend > *')].map(e => e.textContent)"


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def show(browser, file, fragment=""):
    browser.open("about:blank")
    browser.open("file://" + os.path.abspath(file) + "#" + fragment)
    check("%s is shown" % file,
          browser.until("return document.documentElement.dataset.loaded === 'yes'"), True)
    browser.settle()


def drag(browser, x, y, to):
    browser.call("POST", "/actions", {"actions": [{
        "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "duration": 20, "x": round(x), "y": round(to)},
            {"type": "pointerUp", "button": 0}]}]})
    browser.settle()


def splits(browser):
    check("where it is at first", browser.run(SPLIT), 60)
    browser.run("document.getElementById('split').focus()")
    browser.keys("Down")
    browser.settle()
    above, below = browser.run(HEIGHTS)
    check("Down", (browser.run(SPLIT), round(above / (above + below) * 100)), (65, 65))
    for _ in range(9):
        browser.keys("Down")
    check("not further than it goes", browser.run(SPLIT), 85)
    browser.keys("Home")
    check("Home", browser.run(SPLIT), 15)
    check("the address has it", browser.run("return location.hash.includes('split=15')"), True)
    browser.keys("Enter")
    check("Enter", (browser.run(SPLIT), browser.run("return location.hash.includes('split=')")),
          (60, False))
    box = browser.run("const b = document.getElementById('split').getBoundingClientRect(); "
                      "return [b.x + b.width / 2, b.y + b.height / 2]")
    drag(browser, *box, box[1] - 100)
    less = browser.run(SPLIT)
    check("dragged up", less < 60, True)
    check("threads have less", browser.run(HEIGHTS)[0] < above, True)
    browser.call("POST", "/refresh", {})
    browser.until("return document.documentElement.dataset.loaded === 'yes'")
    browser.settle()
    check("after a reload it is where it was", browser.run(SPLIT), less)
    for nonsense in ("split=", "split=999", "split=-1", "split=x"):
        show(browser, sys.argv[1], "tab=timeline&" + nonsense)
        check(nonsense, 15 <= browser.run(SPLIT) <= 85, True)


def main():
    file = sys.argv[1]
    with Browser(1440, 900) as browser:
        browser.devtools("Emulation.setDeviceMetricsOverride", width=1440, height=900,
                         deviceScaleFactor=1, mobile=False)
        show(browser, file, "tab=timeline")
        check("the head is one line", browser.run(
            "return document.querySelector('header').getBoundingClientRect().height <= 60"), True)
        tracks = browser.run(TRACKS)
        check("five threads", len(tracks), 5)
        check("all of them are in sight, with a lane", [track[1:3] for track in tracks],
              [[True, 1]] * 5)
        for scheme in ("light", "dark"):
            browser.devtools("Emulation.setEmulatedMedia",
                             features=[{"name": "prefers-color-scheme", "value": scheme}])
            browser.settle()
            browser.screenshot("five-%s.png" % scheme)
        # A thread that is opened has all of its rows.
        box = browser.run("const b = views.timeline.canvas.getBoundingClientRect(); "
                          "return [b.x + 30, b.y + views.timeline.tracks()[0].top + 8]")
        browser.pointer(*box)
        browser.settle()
        opened = browser.run(TRACKS)
        check("opened", (opened[0][0] > tracks[0][0], opened[0][3]), (True, 14))
        browser.pointer(*box)
        browser.settle()
        check("and closed", browser.run(TRACKS), tracks)
        splits(browser)
        # ---- the legend
        show(browser, file)
        check("files have colours", sorted(browser.run(LEGEND)),
              sorted(["file"] + ["part%d.c" % i for i in range(6)]))
        colours = browser.run("return [...document.querySelectorAll('#legend .dot')].map(e => "
                              "e.style.background)")
        check("each its own", len(set(colours)), 6)
        browser.run("change({colour: 'function'})")
        legend = browser.run(LEGEND)
        check("functions, too", (legend[0], len(legend) > 10), ("function", True))
        # ---- notes
        browser.run("document.querySelector('summary').focus()")
        browser.keys("Enter")
        check("notes open", browser.run("return document.getElementById('notes').open"), True)
        browser.screenshot("notes.png")
        browser.keys("Escape")
        check("Escape closes them", browser.run(
            "return [document.getElementById('notes').open, document.activeElement.tagName]"),
              [False, "SUMMARY"])
        for width in (390, 900, 1100):
            browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=800,
                             deviceScaleFactor=1, mobile=False)
            show(browser, file, "tab=timeline")
            check("one line at %d" % width, browser.run(
                "return [document.querySelector('header').getBoundingClientRect().height <= "
                "60,document.documentElement.scrollWidth <= innerWidth]"), [True, True])
            browser.screenshot("head-%d.png" % width)
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
