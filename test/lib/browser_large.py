#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_large.py REPORT PATHS: open the report and use it; elements are counted, and times printed, not judged."""
import os
import sys

from browser import Browser

ELEMENTS_MAX = 9000
failures = 0
# A change, until it is painted.
CHANGE = """
const done = arguments[arguments.length - 1];
change(arguments[0]);
requestAnimationFrame(() => requestAnimationFrame(done));
"""


def used(browser):
    """Milliseconds of the main thread, by the processor's clock: other programs do not count."""
    return 1000 * next(it["value"] for it in browser.devtools("Performance.getMetrics")["metrics"] if it["name"] == "TaskDuration")


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def main():
    report, wanted = sys.argv[1], int(sys.argv[2])
    url = "file://" + os.path.abspath(report)
    changes = [
        ("zoom", {"zoom": "0"}), ("zoom out", {"zoom": ""}), ("inverted", {"inverted": "1"}), ("callers first", {"inverted": ""}),
        ("collapse recursion", {"recursion": "1"}), ("expand it", {"recursion": ""}), ("hide", {"hide": "3"}), ("show it", {"hide": ""}),
        ("focus", {"focus": "2"}), ("unfocus", {"focus": ""}), ("search", {"search": "function1"}), ("end of the search", {"search": ""}),
        ("one thread", {"thread": "1"}), ("all threads", {"thread": ""}), ("by calls", {"weight": "calls"}), ("by time", {"weight": "time"}),
        ("timeline", {"tab": "timeline"}), ("zoom there", {"view": "1000.200000"}), ("a selection", {"range": "10.90"}),
        ("its end", {"range": "", "view": ""}), ("table", {"tab": "table"}), ("sorted", {"sort": "calls"}), ("a function", {"fn": "5"}),
        ("sandwich", {"tab": "sandwich"}), ("tree", {"tab": "tree"}), ("dark", {"theme": "dark"})]
    with Browser(1440, 900) as browser:
        with open("nothing.html", "w", encoding="utf-8") as file:
            file.write("<!doctype html><title>nothing</title>")
        browser.open("file://" + os.path.abspath("nothing.html"))
        browser.devtools("Performance.enable", timeDomain="threadTicks")
        begin = used(browser)
        browser.open(url)
        check("it is shown", browser.until("return document.documentElement.dataset.loaded === 'yes'"), True)
        browser.settle()
        check("paths", browser.run("return data.paths.count") > wanted, True)
        print("%d bytes, %d paths: opened with %.0f ms of the main thread" % (
            os.path.getsize(report), browser.run("return data.paths.count"), used(browser) - begin))
        for name, patch in changes:
            begin = used(browser)
            browser.call("POST", "/execute/async", {"script": CHANGE, "args": [patch]})
            print("%-20s %5.0f ms" % (name, used(browser) - begin))
            elements = browser.run("return document.querySelectorAll('*').length")
            check("elements after '%s': %d" % (name, elements), elements < ELEMENTS_MAX, True)
            check("frames after '%s'" % name, browser.run("return !views.flame || !views.flame.frames || views.flame.frames.node.length < 200000"), True)
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
