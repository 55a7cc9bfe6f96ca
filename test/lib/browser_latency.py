#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_latency.py SERVER LIMITED NONE: use latency over time and the slowest calls of the
reports of report/latency in a browser. Leaves pictures, light and dark, wide and narrow, in the
current folder.
"""
import os
import sys

from browser import KEYS, Browser

KEYS.update({"Right": "\ue014", "Up": "\ue013", "Home": "\ue011"})
failures = 0
TEXT = "return document.querySelector('#view-latency %s').textContent"
ROWS = ("return [...document.querySelectorAll('.slowest tbody tr')].map(row => "
        "[...row.cells].map(cell => cell.textContent))")
# Cells of the map: calls of all of them, and of those whose colour is not the paper's.
PAINTED = """
const view = views.latency.map, {map, pen, ratio} = view;
const paper = theme.panel, seen = [];
let all = 0, painted = 0;
for (let at = 0; at < map.calls.length; at++) {
	if (!map.calls[at])
		continue;
	all += map.calls[at];
	const x = view.x(Math.floor(at / map.rows) + 0.5), y = view.y(at % map.rows + 0.5);
	const [r, g, b] = pen.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data;
	const empty = pen.getImageData(Math.floor((HEAT_SIDE - 2) * ratio), 2, 1, 1).data;
	painted += r !== empty[0] || g !== empty[1] || b !== empty[2];
}
return [all, painted === map.calls.filter(n => n).length];
"""
CELL = """
const view = views.latency.map, {map} = view, box = view.canvas.getBoundingClientRect();
const at = map.calls.indexOf(map.most), column = Math.floor(at / map.rows), row = at % map.rows;
return [box.x + view.x(column + 0.5), box.y + view.y(row + 0.5), map.most, column];
"""
WINDOW = """
const call = data.slowest.of.get(selectedFunction())[0], from = call.start, to = from + call.duration;
const {start, duration, path} = data.facts.threads[call.thread].longest, names = {};
if (views.timeline.from > from || views.timeline.to < to)
	return {};
start.forEach((at, i) => {
	if (at >= from && at + duration[i] <= to)
		names[functionName(data.paths.fn[path[i]])] = (names[functionName(data.paths.fn[path[i]])] || 0) + 1;
});
return names;
"""
FOOT = ("return [...document.querySelectorAll('#foot-numbers span')].map(e => "
        "[...e.children].slice(0, 2).map(it => it.textContent))")
TIP = "return [...document.querySelectorAll('#tip dl > *')].map(e => e.textContent)"


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


def select(browser, name):
    browser.run("change({fn: String(data.functions.name.indexOf(%r))})" % name)
    browser.settle()


def functions(browser):
    for fn in range(browser.run("return data.functions.count")):
        browser.run("change({fn: '%d', tab: 'latency'})" % fn)
        browser.settle()
        calls = browser.run("return data.functions.timed_calls[%d]" % fn)
        check("calls in the map, and painted", browser.run(PAINTED), [calls, True])
        # Lines are in the rows where the histogram has them, if all of time is one column.
        check("p50 and p99", browser.run("""
            const {map} = views.latency.map, {rows, calls, bounds} = map, sums = new Float64Array(rows), fn = %d;
            calls.forEach((n, at) => sums[at %% rows] += n);
            return [['p50', 0.5], ['p99', 0.99]].every(([name, part]) => {
                const row = heatRank({rows, calls: sums}, 0, part), value = data.functions[name + '_ns'][fn];
                return bounds[row] - 1 <= value && value <= bounds[row + 1] + 1;
            });""" % fn), True)


def map_by_mouse_and_keys(browser):
    browser.run("change({tab: 'table'})")
    select(browser, "look_up")
    browser.keys("l")
    browser.settle()
    check("l shows it", browser.run("return [state.tab, document.querySelector('#view-latency h2 "
                                    "strong').textContent]"), ["latency", "look_up"])
    x, y, most, column = browser.run(CELL)
    browser.pointer(x, y, False)
    browser.settle()
    check("its tip", browser.run(TIP)[:2], ["Calls", "{:,}".format(most)])
    browser.pointer(x, y)
    browser.settle()
    check("what was clicked",
          browser.run(TEXT % "[role=status]").startswith("Calls {:,} · Took ".format(most)), True)
    browser.run("views.latency.map.canvas.focus()")
    browser.keys("Right")
    check("an arrow", browser.run("return views.latency.map.at.column"), column + 1)
    check("is read aloud", browser.run("return document.getElementById('live').textContent")[:6],
          "Calls ")
    browser.keys("Home")
    check("Home", browser.run("return views.latency.map.at.column"), 0)
    browser.screenshot("latency.png")
    browser.keys("Enter")
    browser.settle()
    check("Enter shows the time", browser.run("return [state.tab, Math.round(views.timeline.from), "
                                              "Math.abs(views.timeline.to - heatColumn(1)) < 2]"),
          ["timeline", 0, True])


def slowest(browser):
    select(browser, "request")
    browser.run("change({tab: 'latency', fn: String(data.functions.name.indexOf('answer'))})")
    browser.settle()
    rows = browser.run(ROWS)
    check("slowest calls", [(row[0], row[3]) for row in rows], [("20.00 µs", "0")] * 5)
    # A request that looks up 40 times, and one whose answer is slow.
    browser.run("change({fn: String(data.functions.name.indexOf('request'))})")
    browser.settle()
    inside = int(browser.run(ROWS)[0][3])
    browser.run("document.querySelector('.slowest .link').click()")
    browser.settle()
    browser.settle()
    names = browser.run(WINDOW)
    check("all that is inside is drawn", sum(names.values()), inside + 1)
    check("one request", (names["request"], names["parse"], names["answer"]), (1, 1, 1))
    foot = dict((title, text) for title, text in browser.run(FOOT))
    check("its numbers", (foot[""], foot["Calls inside"], foot["Takes"][:2]),
          ("The slowest call", str(inside), "20"))
    check("the call has the cursor", browser.run(
        "return [document.activeElement === views.timeline.canvas, Boolean(views.timeline.thing)]"),
          [True, True])
    browser.screenshot("slowest.png")
    first = browser.run("return state.view")
    browser.keys("w")
    browser.settle()
    check("w goes to the next", browser.run("return state.view") != first, True)
    check("and says so",
          browser.run("return document.getElementById('live').textContent").startswith(
              "Slowest call, number 2 of request"), True)
    browser.run("change({tab: 'table', fn: String(data.functions.name.indexOf('request'))})")
    browser.settle()
    browser.run("document.querySelector('#acts [value=w]').click()")
    browser.settle()
    check("from the table", browser.run("return [state.tab, state.view]"), ["timeline", first])


def main():
    server, limited, none = sys.argv[1:]
    with Browser(1280, 900) as browser:
        show(browser, server, "tab=latency")
        check("the heaviest at first", browser.run(TEXT % "h2 strong"), "main")
        functions(browser)
        map_by_mouse_and_keys(browser)
        slowest(browser)

        # ---- parts that are left out
        show(browser, limited, "tab=latency")
        check("calls that are not all drawn", [row[3] for row in browser.run(ROWS)],
              ["15,229 *", "15,229 *"])
        check("and why", browser.run(TEXT % ".edges > .note").startswith(
            "* Only the longest of the calls inside are drawn"), True)
        for name in browser.run("return data.functions.name.filter((_, "
                                "fn) => fn < data.functions.count && !data.heat.maps.has(fn))"):
            select(browser, name)
            check("no map of " + name,
                  browser.run("return [...document.querySelectorAll('#view-latency .heat, "
                              "#view-latency .empty')].map(e => e.hidden)"), [False, True])
            check("and why not", "for the 4 functions with the most "
                  "inclusive time" in browser.run(TEXT % ".empty"), True)
        # Bands say how many calls are in them.
        browser.run("change({tab: 'timeline', view: '0.' + Math.round(data.facts.span / 60)})")
        browser.settle()
        counts = browser.run("""
            const thread = data.facts.threads[0], depth = 3, {cell} = views.timeline, at = thread.begun[depth].findIndex((n, i) => n > 3 && drawnAt(thread, depth)[i] < n);
            return [bandFacts(thread, depth, (at + 0.5) * cell, cell).map(pair => pair[1]), thread.begun[depth][at], drawnAt(thread, depth)[at], at];""")
        check("counts of a band", counts[0],
              ["{:,}".format(int(counts[1])), "{:,}".format(int(counts[2]))])
        browser.run("views.timeline.setView(%d * views.timeline.cell, %d * views.timeline.cell)" %
                    (counts[3], counts[3] + 2))
        browser.settle()
        check("and they are written upon it", browser.run("""
            const texts = [], {pen} = views.timeline, write = pen.fillText;
            pen.fillText = text => texts.push(text);
            views.timeline.paintNow();
            pen.fillText = write;
            return texts.some(text => text.endsWith('more calls'));"""), True)
        browser.screenshot("counts.png")
        show(browser, none, "tab=latency")
        check("without a clock there is no tab",
              browser.run("return [state.tab, document.getElementById('tab-latency').hidden, "
                          "document.querySelector('.of-calls').hidden]"), ["flame", True, True])

        # ---- dark and narrow
        for width in (1280, 390):
            browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900,
                             deviceScaleFactor=1, mobile=False)
            browser.devtools("Emulation.setEmulatedMedia",
                             features=[{"name": "prefers-color-scheme", "value": "dark"}])
            show(browser, server, "tab=latency&fn=2")
            check("in %d pixels" % width, browser.run(PAINTED)[1], True)
            check("nothing is wider than the page",
                  browser.run("return document.documentElement.scrollWidth <= innerWidth"), True)
            browser.screenshot("latency-dark-%d.png" % width)
        check("errors", [entry["message"] for entry in browser.log("browser")
                         if "willReadFrequently" not in entry["message"]], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
