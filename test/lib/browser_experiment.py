#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_experiment.py PAGE SUMMARY.csv: use the page of e2e/experiment/browser in a browser.
Leaves light.png and dark.png."""
import csv
import os
import sys

from browser import Browser

failures = 0
STATE = """
const at = node => { const box = node.getBoundingClientRect();
	return {x: box.x + box.width / 2, y: box.y + box.height / 2, height: box.height, width: box.width}; };
return [...document.querySelectorAll('#plots > section')].map(section => ({
	task: section.dataset.task,
	legend: [...section.querySelectorAll('.legend span')].map(span => span.textContent),
	axis: section.querySelector('.head select') ? section.querySelector('.head select').selectedOptions[0].text : null,
	text: section.innerText,
	panels: [...section.querySelectorAll('.panel')].map(panel => ({
		title: panel.querySelector('h3') ? panel.querySelector('h3').textContent : '',
		labels: [...panel.querySelectorAll('text')].map(text => text.textContent),
		marks: [...panel.querySelectorAll('title')].map(title => ({text: title.textContent, ...at(title.parentNode)})),
		whiskers: [...panel.querySelectorAll('.whisker')].map(at),
		runs: panel.querySelectorAll('.run').length,
		dashes: [...panel.querySelectorAll('.path')].filter(path => path.hasAttribute('stroke-dasharray'))
			.map(path => path.getAttribute('stroke-dasharray')),
	})),
}));
"""


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def choose(browser, selector, text):
    """As with the keyboard: the choice, and the event that follows it."""
    done = browser.run("""const select = document.querySelector(%r);
        const option = [...select.options].find(option => option.text.startsWith(%r));
        if (!option) return false;
        select.value = option.value; select.dispatchEvent(new Event('change')); return true;""" %
                       (selector, text))
    check("there is a choice '%s'" % text, done, True)
    return browser.run(STATE)


def main():
    page, summary = sys.argv[1:]
    with open(summary, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with Browser(1300, 1500) as browser:
        browser.requests()
        url = "file://" + os.path.abspath(page)
        browser.open(url)
        check("no network", [other for other in browser.requests() if other != url and
                             not other.startswith("data:")], [])
        check("no complaints", [entry["message"] for entry in browser.log("browser")], [])
        state = browser.run(STATE)
        check("no script of a name has run", browser.run("return typeof window.hacked"),
              "undefined")
        check("tasks", [section["task"] for section in state], ["writes<b>", "single"])
        writes, single = state
        check("legend", writes["legend"], ["native", "other"])
        check("axis", (writes["axis"], single["axis"]), ("size", None))
        check("panels", [panel["title"] for panel in writes["panels"]],
              ["kind plain", "kind </script><script>window.hacked=1</script>"])
        for panel in writes["panels"]:
            check("values and units", [label for label in panel["labels"]
                                       if label in ("1K", "4K", "16K", "size, logarithmic")],
                  ["1K", "4K", "16K", "size, logarithmic"])
            check("unit", sum("wall time (" in label for label in panel["labels"]), 1)
            check("marks, whiskers, runs",
                  (len(panel["marks"]), len(panel["whiskers"]), panel["runs"]), (6, 6, 24))
            check("series differ without colour", len(set(panel["dashes"])), 2)
        # With two runs there is no interval.
        check("of few runs",
              (len(single["panels"][0]["marks"]), len(single["panels"][0]["whiskers"])), (2, 0))
        check("what cannot run here",
              "Gramine is not installed" in browser.run("return document.body.innerText") or
              "gramine-direct" in single["text"], True)
        browser.screenshot("light.png")

        # Another figure: places are as the medians are.
        writes = choose(browser, "#figure", "write call bytes")[0]
        panel = writes["panels"][0]
        found = {mark["text"].split(":")[0]: mark for mark in panel["marks"]}
        medians = {"%s, size %s" % (row["variant"], row["size"]): float(row["median"])
                   for row in rows
                   if row["metric"] == "write_call_bytes" and row["kind"] == "plain"}
        check("marks", set(found), set(medians))
        names = sorted(medians, key=medians.get)
        low, high = found[names[0]], found[names[-1]]
        scale = (low["y"] - high["y"]) / (medians[names[-1]] - medians[names[0]])
        for name in names:
            check("place of " + name,
                  abs(low["y"] - found[name]["y"] - (medians[name] - medians[names[0]]) * scale) <
                  2, True)
        check("twice as much",
              abs(medians["other, size 16K"] / medians["native, size 16K"] - 2) < 0.01, True)
        check("the axis begins with 0", "0.0" in panel["labels"] or "0" in panel["labels"], True)

        # Another axis.
        writes = choose(browser, ".head select", "kind")[0]
        check("panels of the other axis", [panel["title"] for panel in writes["panels"]],
              ["size 1K", "size 4K", "size 16K"])
        browser.run("document.getElementById('single').click()")
        check("single runs are hidden",
              sum(panel["runs"] for panel in browser.run(STATE)[0]["panels"]), 0)

        browser.devtools("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": "dark"}])
        browser.settle()
        browser.screenshot("dark.png")
        check("dark", browser.run("return getComputedStyle(document.body).backgroundColor"),
              "rgb(16, 18, 23)")
        # Narrow: nothing is wider than the window.
        browser.devtools("Emulation.setDeviceMetricsOverride", width=420, height=900,
                         deviceScaleFactor=1, mobile=False)
        browser.settle()
        check("narrow", browser.run("return document.documentElement.scrollWidth <= 420"), True)
        browser.screenshot("narrow.png")
        # Without scripts there is a table.
        browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(url)
        browser.devtools("Emulation.setScriptExecutionDisabled", value=False)
        check("a table without scripts",
              browser.run("return document.querySelectorAll('header table tr').length"), 1 + 12 + 3)
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
