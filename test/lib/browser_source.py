#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_source.py WITH WITHOUT AXE: the source lines of report/source in a browser, with mouse
and keyboard. AXE: axe-core's script, or nothing."""
import os
import sys

from browser import Browser

failures = 0
ROWS = """return [...document.querySelectorAll('#source-lines tr')].map(row =>
	[...row.cells].map(cell => cell.textContent).concat(row.getAttribute('aria-current') || ''))"""
AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.filter(it => ['serious', 'critical'].includes(it.impact))
	.map(it => it.id + ' ' + it.nodes[0].html.slice(0, 200))), error => done([String(error)]));
"""


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def show(browser, file, fragment):
    browser.open("about:blank")
    browser.open("file://" + os.path.abspath(file) + "#" + fragment)
    check("%s is shown" % file,
          browser.until("return document.documentElement.dataset.loaded === 'yes'"), True)
    browser.settle()


def number(browser, name):
    return browser.run("return data.functions.name.indexOf(%r)" % name)


def main():
    shown, plain, axe = sys.argv[1:4]
    opened = "return document.getElementById('source').open"
    button = "return !document.getElementById('source-open').hidden"
    with Browser(1280, 900) as browser:
        show(browser, plain, "fn=0")
        browser.keys("o")
        check("no source without it", (browser.run(opened), browser.run(button)), (False, False))
        show(browser, shown, "")
        leaf, gone = number(browser, "leaf"), number(browser, "gone")
        browser.run("change({fn: '%d'})" % gone)
        browser.keys("o")
        check("none of a file that is not there", (browser.run(opened), browser.run(button)),
              (False, False))
        browser.run("change({fn: '%d'})" % leaf)
        browser.settle()
        check("a button", browser.run(button), True)
        box = browser.run(
            "const b = document.getElementById('source-open').getBoundingClientRect(); "
            "return [b.x + b.width / 2, b.y + b.height / 2]")
        browser.pointer(*box)
        browser.settle()
        check("the button opens it", browser.run(opened), True)
        browser.keys("2")
        check("other keys wait", browser.run("return state.tab"), "flame")
        browser.keys("Escape")
        check("Escape closes it", browser.run(opened), False)
        browser.keys("o")
        browser.settle()
        check("title", browser.run("return [document.getElementById('source-name').textContent, "
                                   "document.getElementById('source-place').textContent]"),
              ["leaf", "src/main.c:6"])
        rows = browser.run(ROWS)
        check("lines", [row[0] for row in rows], [str(i) for i in range(3, 10)])
        check("numbers of the function", rows[3][1:],
              ["2", "260 ns", "260 ns", "static int leaf(int n)", "true"])
        check("others have none", rows[4][1:4], ["", "", ""])
        check("text is text", 'onerror="window.hacked=1"> &amp;' in rows[5][4], True)
        check("nothing ran", browser.run(
            "return [window.hacked, document.querySelectorAll('#source img').length]"), [None, 0])
        for scheme in ("light", "dark"):
            browser.run("applyTheme(state.theme = %r)" % scheme)
            browser.screenshot("source-%s.png" % scheme)
            if axe:
                with open(axe, encoding="utf-8") as file:
                    browser.run(file.read())
                check("axe-core, " + scheme,
                      browser.call("POST", "/execute/async", {"script": AXE, "args": []}), [])
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
