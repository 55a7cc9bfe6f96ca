#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_axe.py AXE REPORT...: what axe-core says of each tab of the reports, and how far a
keyboard alone gets. AXE: its script, or nothing."""
import os
import sys

from browser import KEYS, Browser

KEYS.update({"Tab": "\ue004", "Down": "\ue015", "Up": "\ue013", "Right": "\ue014", "Left": "\ue012",
             "Space": " "})
failures = 0
RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.map(it => [it.impact, it.id, it.nodes.length,
	it.nodes[0].html.slice(0, 120), (it.nodes[0].failureSummary || '').slice(0, 300)])), error => done([['critical', String(error), 0, '', '']]));
"""
SEEN = """
const e = document.activeElement;
return e && e !== document.body ? (e.id || e.name || e.value || e.getAttribute('aria-label') || e.className || e.tagName) + '' : '';
"""
# What the mouse may be used on and is in sight.
USABLE = """
return [...document.querySelectorAll('button, select, input, summary, canvas[tabindex], [role=separator]')].filter(e =>
	e.offsetWidth && !e.closest('dialog') && e.tabIndex >= 0 && !e.closest('[role=tablist], thead')).map(e =>
	(e.id || e.name || e.value || e.getAttribute('aria-label') || e.className || e.tagName) + '');
"""


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


def tabs(browser):
    return browser.run("return [...document.querySelectorAll('[role=tab]')].filter(e => "
                       "!e.hidden).map(e => e.value)")


def asks_axe(browser, axe, files):
    pages = 0
    with open(axe, encoding="utf-8") as file:
        script = file.read()
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")):
        browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900,
                         deviceScaleFactor=1, mobile=False)
        browser.devtools("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": scheme}])
        for file in files:
            show(browser, file, "fn=0")
            browser.run(script)
            for tab in tabs(browser) + ["notes", "help"]:
                if tab == "notes":
                    browser.run("document.getElementById('notes').open = true")
                elif tab == "help":
                    browser.run("document.getElementById('notes').open = false; "
                                "document.getElementById('help').showModal()")
                else:
                    browser.run("change({tab: %r})" % tab)
                browser.settle()
                pages += 1
                for impact, rule, count, html, why in browser.call("POST", "/execute/async",
                                                                   {"script": RUN, "args": []}):
                    line = ("%s: %s, %d times in %s of %s at %d, %s: %s %s" %
                            (impact, rule, count, tab, file, width, scheme, html, why))
                    check(line, impact in ("serious", "critical"), False)
                    if impact not in ("serious", "critical"):
                        print(line)
    print("%d pages were looked at by axe-core" % pages)
    browser.devtools("Emulation.clearDeviceMetricsOverride")
    browser.devtools("Emulation.setEmulatedMedia", features=[])


def walks(browser, file):
    """Tab goes round all that can be used, in each tab."""
    for tab in tabs(browser):
        show(browser, file, "fn=0&tab=" + tab)
        wanted = set(browser.run(USABLE))
        seen = set()
        for _ in range(90):
            browser.keys("Tab")
            seen.add(browser.run(SEEN))
            if wanted <= seen:
                break
        check("Tab reaches all of %s of %s" % (tab, file), sorted(wanted - seen), [])


def calls_by_keys(browser, file):
    """The timeline: what a mouse can point at, arrows, comma and full stop choose."""
    show(browser, file, "tab=timeline")
    browser.run("views.timeline.canvas.focus()")
    chosen = ("return [document.getElementById('live').textContent, "
              "document.getElementById('foot-name').textContent]")
    browser.keys("Down")
    browser.keys(".")
    browser.settle()
    said, foot = browser.run(chosen)
    check("a call is chosen and read aloud", (bool(said), foot != "No function is selected"),
          (True, True))
    lanes = browser.run("return views.timeline.lines().filter(line => line.lane).length")
    check("there are lanes", lanes > 0, True)
    for _ in range(browser.run("return views.timeline.lines().findIndex(line => line.lane)")):
        browser.keys("Down")
    browser.keys(".")
    browser.settle()
    check("an event of a lane",
          browser.run("return document.getElementById('live').textContent")[:4], "read")
    check("with its numbers", browser.run("return [...document.querySelectorAll('#foot-numbers "
                                          "small')].map(e => e.textContent)")[1], "Takes")


def main():
    axe, files = sys.argv[1], sys.argv[2:]
    with Browser(1280, 900) as browser:
        for file in files:
            show(browser, file)
            walks(browser, file)
        calls_by_keys(browser, files[0])
        if axe:
            asks_axe(browser, axe, files)
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
