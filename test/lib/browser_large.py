#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_large.py REPORT PATHS: open the report and use it; elements are counted, and times
printed, not judged."""
import os
import sys

from browser import Browser

WIDTH = 1440
ELEMENTS_MAX = 9000
TREES_MAX = 3  # the sandwich has three
DEPTH = 16  # of the paths, and one more for the root
failures = 0
# A change, until all of it is painted; the answer is after how many milliseconds something was.
CHANGE = """
const done = arguments[arguments.length - 1];
const begin = performance.now();
let first = 0;
change(arguments[0]);
requestAnimationFrame(() => setTimeout(() => first = performance.now() - begin));
// What is found in slices is there when nothing is busy.
const wait = () => document.querySelector('canvas[aria-busy=true], #edges[aria-busy=true]') ? setTimeout(wait)
	: requestAnimationFrame(() => requestAnimationFrame(() => done(first)));
requestAnimationFrame(() => requestAnimationFrame(wait));
"""
# The steps of each slice, and whether the canvas was busy after it.
WATCH = """
const extend = Flame.prototype.extend;
window.slices = [];
Flame.prototype.extend = function () {
	const before = work.steps;
	extend.call(this);
	slices.push([work.steps - before, this.canvas.getAttribute('aria-busy') === 'true']);
};
"""
FRAMES = ("const {node, x, width, depth} = views.flame.frames; "
          "return [node.map(it => views.flame.tree.fn[it]), x, width, depth]")
WORK = "return {...work}"


def used(browser):
    """Milliseconds of the main thread, by the processor's clock: other programs do not count."""
    return 1000 * next(it["value"] for it in browser.devtools("Performance.getMetrics")["metrics"]
                       if it["name"] == "TaskDuration")


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def main():
    report, wanted = sys.argv[1], int(sys.argv[2])
    url = "file://" + os.path.abspath(report)
    changes = [("zoom", {"zoom": "0"}), ("zoom out", {"zoom": ""}), ("inverted", {"inverted": "1"}),
        ("callers first", {"inverted": ""}), ("collapse recursion", {"recursion": "1"}),
        ("expand it", {"recursion": ""}), ("hide", {"hide": "3"}), ("show it", {"hide": ""}),
        ("focus", {"focus": "2"}), ("unfocus", {"focus": ""}),
        ("search", {"search": "function1"}), ("end of the search", {"search": ""}),
        ("one thread", {"thread": "1"}), ("all threads", {"thread": ""}),
        ("by calls", {"weight": "calls"}), ("by time", {"weight": "time"}),
        ("timeline", {"tab": "timeline"}), ("zoom there", {"view": "1000.200000"}),
        ("a selection", {"range": "10.90"}), ("its end", {"range": "", "view": ""}),
        ("table", {"tab": "table"}), ("sorted", {"sort": "calls"}), ("a function", {"fn": "5"}),
        ("sandwich", {"tab": "sandwich"}), ("tree", {"tab": "tree"}), ("dark", {"theme": "dark"})]
    with Browser(WIDTH, 900) as browser:
        with open("nothing.html", "w", encoding="utf-8") as file:
            file.write("<!doctype html><title>nothing</title>")
        browser.open("file://" + os.path.abspath("nothing.html"))
        browser.devtools("Performance.enable", timeDomain="threadTicks")
        begin = used(browser)
        browser.open(url)
        check("it is shown",
              browser.until("return document.documentElement.dataset.loaded === 'yes'"), True)
        browser.settle()
        check("paths", browser.run("return data.paths.count") > wanted, True)
        paths = browser.run("return data.paths.count")
        print("%d bytes, %d paths: opened with %.0f ms of the main thread" % (
            os.path.getsize(report), paths, used(browser) - begin))
        # The rest of the data must not cause the first tree to be made again, and only its visible
        # part is sorted.
        first = browser.run(WORK)
        check("trees of the first picture", first["trees"], 1)
        check("steps of the first picture: %r" % first, first["steps"] < paths, True)
        browser.run(WATCH)
        for name, patch in changes:
            begin = used(browser)
            before = browser.run(WORK)
            painted = browser.call("POST", "/execute/async", {"script": CHANGE, "args": [patch]})
            done = {key: value - before[key] for key, value in browser.run(WORK).items()}
            print("%-20s %5.0f ms, painted after %.0f ms; %d trees, %d steps, %d frames" % (
                name, used(browser) - begin, painted, done["trees"], done["steps"], done["frames"]))
            check("trees after '%s': %r" % (name, done), done["trees"] <= TREES_MAX, True)
            check("steps after '%s': %r" % (name, done), done["steps"] <= 2 * DEPTH * paths, True)
            check("frames after '%s': %r" % (name, done), done["frames"] <= 2 * DEPTH * WIDTH, True)
            elements = browser.run("return document.querySelectorAll('*').length")
            check("elements after '%s': %d" % (name, elements), elements < ELEMENTS_MAX, True)
        # In small slices the same frames are found; each ends at its limit, but for the children of
        # one node.
        browser.call("POST", "/execute/async", {
            "script": CHANGE, "args": [{"tab": "flame", "inverted": "1", "order": "name"}]})
        whole = browser.run(FRAMES)
        browser.run("slices.length = 0; work.slice = 2000")
        browser.call("POST", "/execute/async",
                     {"script": CHANGE, "args": [{"inverted": "", "order": "weight"}]})
        browser.call("POST", "/execute/async",
                     {"script": CHANGE, "args": [{"inverted": "1", "order": "name"}]})
        slices = browser.run("return slices")
        check("slices: %d" % len(slices), len(slices) > 10, True)
        check("steps of slices", max(steps for steps, _ in slices) < 2000 + paths, True)
        check("the last slice is the end", [busy for _, busy in slices][-2:], [True, False])
        check("frames by slices", browser.run(FRAMES) == whole, True)
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
