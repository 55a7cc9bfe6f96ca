#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_fleet.py make: traces of fleet/serve-browser as text. browser_fleet.py use URL: use the
page of 'fleet serve' with mouse and keyboard. Leaves pictures in the current folder."""
import json
import sys
import urllib.request

from browser import KEYS, Browser

KEYS.update({"Left": "\ue012", "Right": "\ue014", "Home": "\ue011", "Tab": "\ue004", "Space": " "})
MARKUP = "</script></title><script>window.hacked=1</script><img src=x onerror=window.hacked=2>"
PRUNED = "1 lighter one (<0.01% of time) are in “(smaller)”"
RUNS = 6
failures = 0


def make():
    """Six runs each of two builds; the second takes a fifth longer in `lookup`. Names are
    markup."""
    for build in range(2):
        for number in range(RUNS):
            lookup = (500 if build == 0 else 600) + number
            lines = ["trace created=%d" % ((1700000000 + build * 86400 + number * 600) * 10**9),
                     "clock kind=tsc hz=1000000000", "command",
                     '\tstring "/"', '\tstring "/usr/bin/<i>prog"', "symbols",
                     '\tsymbol 0x401000 main file="source.c" line=1',
                     '\tsymbol 0x401010 lookup file="source.c" line=2', '\tsymbol 0x401020 "%s"' %
                     MARKUP, '\tsymbol 0x401030 seldom file="other.c" line=4',
                     "chunk thread=0 tid=1 time=100", "\t100 enter main"]
            time = 100
            for _ in range(20):
                for name, long in (("lookup", lookup), ("0x401020", 200 + number),
                                   ("lookup", lookup)):
                    lines += ["\t%d enter %s" % (time + 10, name),
                              "\t%d exit %s" % (time + 10 + long, name)]
                    time += 10 + long
            lines += ["\t%d enter seldom" % time, "\t%d exit seldom" % (time + 1),
                      "\t%d exit main" % (time + 11), "end"]
            with open("%d-%d.txt" % (build, number), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def settled(browser, last=0):
    """Until the answers are shown that were asked for after the LAST time; returns how often that
    was so far."""
    return int(browser.until("const now = Number(document.documentElement.dataset.settled ?? "
                             "0);return document.documentElement.dataset.loaded === 'yes' && now > "
                             "%d && document.getElementById('page').ariaBusy !== 'true' && now" %
                             last) or 0)


def choose(browser, letter, by, value):
    last = int(browser.run("return Number(document.documentElement.dataset.settled ?? 0)"))
    done = browser.run(
        """const select = document.querySelectorAll('fieldset')[%d].querySelector('[data-by="%s"]');
        select.value = %s; select.dispatchEvent(new Event('change')); return select.value;""" %
        ("ab".index(letter), by, json.dumps(value)))
    settled(browser, last)
    return done


def rows(browser, table):
    return browser.run("return [...document.getElementById('%s').rows].map(row => "
                       "[...row.cells].map(cell => cell.textContent))" % table)


def middle(browser, script):
    return browser.run("const node = %s; node.scrollIntoView({block: 'center'}); "
                       "const box = node.getBoundingClientRect();return [box.x + box.width / 2, "
                       "box.y + box.height / 2]" % script)


def click(browser, script):
    last = int(browser.run("return Number(document.documentElement.dataset.settled ?? 0)"))
    browser.pointer(*middle(browser, script))
    return last


def contrast(browser, selector):
    """Of the least readable text that SELECTOR finds."""
    return browser.run("""
        const numbers = text => text.match(/[\\d.]+/g).map(Number);
        const light = colour => numbers(colour).slice(0, 3).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const paper = node => { for (let at = node; at; at = at.parentElement) { const c = getComputedStyle(at).backgroundColor;
            if ((numbers(c)[3] ?? 1) > 0) return c; } return 'rgb(255, 255, 255)'; };
        return Math.min(...[...document.querySelectorAll(%s)].filter(node => node.textContent.trim() && node.getClientRects().length).map(node => {
            const [a, b] = [light(getComputedStyle(node).color), light(paper(node))].sort((x, y) => y - x);
            return (a + 0.05) / (b + 0.05); }))""" % json.dumps(selector))


def use(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url + "api/runs") as answer:
        runs = json.load(answer)["runs"]
    with Browser(1280, 1000) as browser:
        browser.requests()
        browser.open(url)
        settled(browser)
        check("only from here",
              [other for other in browser.requests() if not other.startswith((url, "data:"))], [])
        check("runs in the table", len(rows(browser, "runs")), 2 * RUNS)
        check("newest first", [row[-1] for row in rows(browser, "runs")],
              [run["run_id"] for run in reversed(runs)])
        check("program", rows(browser, "runs")[0][3], "<i>prog")
        functions = rows(browser, "functions")
        check("functions", [row[0] for row in functions], ["lookup", MARKUP, "main", "seldom"])
        check("calls", [row[4] for row in functions], ["480", "240", "12", "12"])
        check("set A has all",
              browser.run("return document.querySelector('[data-count=a]').textContent"), "12 runs")
        check("set B has none",
              browser.run("return document.querySelector('[data-count=b]').textContent"), "0 runs")
        check("no processor times: no points", browser.run("return charts.runs.points.length"), 0)
        browser.run("const m = document.getElementById('measure'); m.value = 'duration_ns'; "
                    "m.dispatchEvent(new Event('change'))")
        check("points", browser.run("return charts.runs.points.length"), 2 * RUNS)
        check("values", browser.run("return charts.runs.points.map(point => point.value)"),
              [run["duration_ns"] for run in runs])
        # The higher, the longer.
        places = browser.run("return charts.runs.points.map(point => [point.value, "
                             "point.y, point.x])")
        check("order", [y for _, y, _ in sorted(places)],
              sorted([y for _, y, _ in places], reverse=True))
        check("time", [x for _, _, x in places], sorted(x for _, _, x in places))

        # Two sets, by choice.
        check("build of A", choose(browser, "a", "build", "first"), "first")
        check("build of B", choose(browser, "b", "build", "second"), "second")
        check("counts", browser.run(
            "return [...document.querySelectorAll('[data-count]')].map(node => node.textContent)"),
              ["6 runs", "6 runs"])
        check("ticks", browser.run("return [...document.querySelectorAll('#runs tr')].map(row "
                                   "=> [...row.querySelectorAll('input')].map(box => "
                                   "Number(box.checked)).join(''))"), ["01"] * RUNS + ["10"] * RUNS)
        compared = rows(browser, "compare")
        check("what is slower", [row[:3] for row in compared if row[1] == "slower"],
              [["lookup", "slower", "+19.9 %"]])
        check("the others", [row[1] for row in compared], ["slower"] + ["same"] * 3)
        browser.screenshot("sets.png")

        # The sets are in the address: a reload has them.
        address = browser.run("return location.href")
        browser.open("about:blank")
        browser.open(address)
        settled(browser)
        check("after a reload", browser.run(
            "return [...document.querySelectorAll('[data-count]')].map(node => node.textContent)"),
              ["6 runs", "6 runs"])
        check("measure after a reload",
              browser.run("return document.getElementById('measure').value"), "duration_ns")

        # By hand: a tick, with the keyboard.
        last = int(browser.run("return Number(document.documentElement.dataset.settled ?? 0)"))
        browser.run(
            "document.querySelectorAll('#runs tr')[0].querySelector('[data-set=a]').focus()")
        browser.keys("Space")
        settled(browser, last)
        check("one more",
              browser.run("return document.querySelector('[data-count=a]').textContent"), "7 runs")
        last = int(browser.run("return Number(document.documentElement.dataset.settled ?? 0)"))
        browser.keys("Space")
        settled(browser, last)
        check("one less",
              browser.run("return document.querySelector('[data-count=a]').textContent"), "6 runs")

        # The chart, with keys.
        browser.run("charts.runs.svg.focus()")
        browser.keys("Home")
        browser.keys("Right")
        check("the second run",
              "2023-11-14 22:23:20" in browser.run("return charts.runs.readout.textContent"), True)
        last = int(browser.run("return Number(document.documentElement.dataset.settled ?? 0)"))
        browser.keys("Enter")
        settled(browser, last)
        check("without it",
              browser.run("return document.querySelector('[data-count=a]').textContent"), "5 runs")
        last = int(browser.run("return Number(document.documentElement.dataset.settled ?? 0)"))
        browser.run("charts.runs.svg.focus()")
        browser.keys("Enter")
        settled(browser, last)
        check("with it", browser.run("return document.querySelector('[data-count=a]').textContent"),
              "6 runs")

        # A function's history, by a click.
        last = click(browser, "document.querySelector('#functions button')")
        settled(browser, last)
        check("history of",
              browser.run("return document.getElementById('history-name').textContent"), "lookup")
        check("its self times",
              browser.run("return charts.self.points.map(point => Math.round(point.value))"),
              [500 + i for i in range(RUNS)] + [600 + i for i in range(RUNS)])
        check("its days", [row[0] for row in rows(browser, "history-days")],
              ["2023-11-14, set A", "2023-11-15, set B"])
        p99 = browser.run("return charts.p99.points.map(point => point.value)")
        check("p99 within 1.6 %", all(abs(value - exact) <= exact / 64 for value, exact in zip(
            p99, [500 + i for i in range(RUNS)] + [600 + i for i in range(RUNS)])), True)
        browser.screenshot("history.png")
        check("no script of a name has run", browser.run("return typeof window.hacked"),
              "undefined")
        check("no complaints", [entry["message"] for entry in browser.log("browser")], [])

        for theme in ("light", "dark"):
            browser.devtools("Emulation.setEmulatedMedia",
                             features=[{"name": "prefers-color-scheme", "value": theme}])
            browser.settle()
            found = contrast(browser, "h1, h2, h3, p, td, th, label, button, a, select, legend, "
                             ".dim, .better, .worse")
            check("contrast, %s: %.2f" % (theme, found), found >= 4.5, True)
            browser.screenshot(theme + ".png")
        check("dark", browser.run("return getComputedStyle(document.body).backgroundColor"),
              "rgb(16, 18, 23)")
        for width in (390, 700):
            browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=844,
                             deviceScaleFactor=1, mobile=False)
            browser.settle()
            check("%d pixels" % width, browser.run("return document.documentElement.scrollWidth"),
                  width)
        browser.devtools("Emulation.setDeviceMetricsOverride", width=390, height=844,
                         deviceScaleFactor=1, mobile=False)
        browser.settle()
        browser.screenshot("narrow.png")
        # All that can be used is reached by Tab.
        reached = browser.run(
            """const can = [...document.querySelectorAll('button, a, input, select, svg[tabindex]')].filter(node => node.getClientRects().length);
            return can.filter(node => node.tabIndex < 0 || !(node.textContent || node.labels?.length || node.getAttribute('aria-label'))).map(node => node.outerHTML.slice(0, 80))""")
        check("reached and named", reached, [])
        browser.devtools("Emulation.clearDeviceMetricsOverride")

        # The flame graph of a set.
        def viewer(script):
            browser.until("return document.documentElement.dataset.loaded === 'yes' || "
                          "!document.getElementById('broken').hidden")
            browser.settle()
            return browser.run(script)
        browser.pointer(*middle(browser, "document.querySelector('[data-flame=a]')"))
        browser.until("return location.pathname === '/set'")
        names = "return [...data.functions.name]"
        check("functions of the set", viewer(names)[:2], ["lookup", MARKUP])
        check("frames", browser.run(
            "const tree = views.flame.tree; return views.flame.frames.node."
            "map(node => functionName(tree.fn[node])).slice(0, 4)"),
              ["<i>prog", "main", "lookup", MARKUP])
        with opener.open(url + "api/functions?a.build=first") as answer:
            exact = {row["function"]: row for row in json.load(answer)["functions"]}
        check("widths", browser.run("const tree = views.flame.tree; "
                                    "return tree.total[views.flame.frames.node[2]]"),
              exact["lookup"]["self_ns"])
        check("what was left out",
              browser.run("return document.getElementById('pruned').textContent"), PRUNED)
        browser.screenshot("flame.png")
        browser.keys("3")
        browser.settle()
        table = browser.run("return [...document.querySelectorAll('#table-body tr')].map(row => "
                            "[row.cells[0].textContent, row.querySelector('.calls').textContent])")
        check("the report's table", table, [[name, "{:,}".format(exact[name]["calls"])]
                                            for name in ("lookup", MARKUP, "main", "seldom")])
        browser.keys("5")
        browser.settle()
        check("the report's tree",
              "lookup" in browser.run("return document.getElementById('tree-body').textContent"),
              True)
        browser.screenshot("tree.png")
        browser.keys("3")
        browser.settle()
        browser.pointer(*middle(browser, "document.querySelector('#table-body tr')"))
        browser.keys("y")
        browser.until("return location.pathname === '/'")
        settled(browser)
        check("history from there",
              browser.run("return document.getElementById('history-name').textContent"), "lookup")

        # The difference of two.
        browser.open(address)
        settled(browser)
        browser.pointer(*middle(browser, "document.querySelector('[data-flame=ab]')"))
        browser.until("return location.pathname === '/set'")
        viewer("return 0")
        check("a baseline", browser.run("return data.baseline"), True)
        mean = browser.run("const tree = views.flame.tree; const node = "
                           "views.flame.frames.node[2]; return [functionName(tree.fn[node]), "
                           "tree.base[node], tree.total[node]]")
        check("means of a run", mean, ["lookup", 40 * 502.5, 40 * 602.5])
        browser.screenshot("difference.png")
        browser.devtools("Emulation.setDeviceMetricsOverride", width=390, height=844,
                         deviceScaleFactor=1, mobile=False)
        browser.settle()
        check("the difference at 390 pixels",
              browser.run("return document.documentElement.scrollWidth"), 390)
        check("no script of a name has run there", browser.run("return typeof window.hacked"),
              "undefined")
        check("no complaints there", [entry["message"] for entry in browser.log("browser")], [])
        # A set that cannot be shown says so.
        browser.open(url + "set?a.run=none")
        check("an error", viewer("return document.getElementById('broken').innerText"),
              "This report cannot be shown: unknown run 'none': it may have expired.")
    print("%d failures" % failures)
    return failures != 0


if sys.argv[1] == "make":
    make()
else:
    sys.exit(use(sys.argv[2]))
