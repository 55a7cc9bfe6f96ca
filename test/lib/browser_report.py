#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_report.py REPORT DIFF TIMELESS EMPTY: use the reports of report/browser with mouse and
keyboard in a browser. Leaves pictures of each view, light and dark, in the current folder.
"""
import os
import re
import sys

from browser import KEYS, Browser

KEYS.update({"Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015",
             "Backspace": "\ue003", "Home": "\ue011", "Shift": "\ue008"})
EVIL = 'operator<<&">'
MARKUP = "</script></title></noscript><script>window.hacked=1</script><img src=x onerror=hacked=2>"
STATE = """
const flame = FLAME, tree = flame.tree, frames = {};
const box = flame.canvas.getBoundingClientRect();
flame.frames.node.forEach((node, i) => {
	const [top, high] = flame.edge(flame.frames.depth[i]);
	const name = functionName(tree.fn[node]) + (flame.frames.depth[i] > 0 && tree.fn[tree.parent[node]] === tree.fn[node] ? "'" : '');
	frames[name + (name in frames ? ' again' : '')] = {x: box.x + flame.frames.x[i],
		y: box.y + top - flame.scroller.scrollTop, width: flame.frames.width[i], height: high - 1,
		total: tree.total[node], depth: flame.frames.depth[i]};
});
return {frames: frames, width: flame.width, at: flame.at < 0 ? null : functionName(tree.fn[flame.at]),
	chips: [...document.querySelectorAll('#chips > *')].map(chip => chip.textContent),
	foot: document.getElementById('foot-name').textContent, hash: location.hash,
	tip: document.getElementById('tip').hidden ? null : document.getElementById('tip').textContent};
"""
failures = 0


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def near(what, found, wanted, slack=1.5):
    check("%s: %r near %r" % (what, found, wanted), abs(found - wanted) <= slack, True)


class Report:
    def __init__(self, browser, file):
        self.browser = browser
        self.url = "file://" + os.path.abspath(file)

    def open(self, fragment="", wait=True):
        self.browser.open("about:blank")
        self.browser.open(self.url + "#" + fragment)
        if wait and \
                not self.browser.until("return document.documentElement.dataset.loaded === 'yes'"):
            check("the report is shown", self.browser.run("return document.body.innerText"), "")

    def settle(self):
        self.browser.settle()
        self.browser.until("return !document.querySelector('#edges[aria-busy=true]')")

    def state(self, flame="views.flame"):
        self.settle()
        return self.browser.run(STATE.replace("FLAME", flame))

    def press(self, *keys):
        for key in keys:
            self.browser.keys(key)

    def click(self, frame):
        self.browser.pointer(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)

    def hover(self, frame):
        self.browser.pointer(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2,
                             False)

    def click_on(self, selector):
        box = self.browser.run("const e = document.querySelector(%r); e.scrollIntoView({block: "
                               "'nearest'});const b = e.getBoundingClientRect();return {x: b.x, y: "
                               "b.y, width: b.width, height: b.height}" % selector)
        self.click(box)
        self.settle()

    def text(self, selector):
        return self.browser.run("return document.querySelector(%r).textContent" % selector)

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(%r)].map(e => "
                                "e.textContent)" % selector)

    def drag(self, x0, y0, x1, y1):
        self.browser.call("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
                {"type": "pointerMove", "duration": 0, "x": round(x0), "y": round(y0)},
                {"type": "pointerDown", "button": 0},
                {"type": "pointerMove", "duration": 20, "x": round((x0 + x1) / 2), "y": round(y1)},
                {"type": "pointerMove", "duration": 20, "x": round(x1), "y": round(y1)},
                {"type": "pointerUp", "button": 0}]}]})
        self.settle()


def loads(report):
    report.open()
    state = report.state()
    frames = state["frames"]
    check("frames", sorted(frames), sorted(["program", "main", "left", "x", "y", EVIL, MARKUP,
        "loop", "turn", "turn'", "turn' again", "leaf"]))
    whole = state["width"]
    near("the root", frames["program"]["width"], whole)
    near("main", frames["main"]["width"], whole / 2)
    near("left", frames["left"]["width"], whole * 0.3)
    near(EVIL, frames[EVIL]["width"], whole * 0.15)
    check("callers are above", frames["program"]["y"] < frames["main"]["y"] < frames["left"]["y"],
          True)
    check("the heaviest is at the left",
          frames["left"]["x"] < frames[EVIL]["x"] < frames[MARKUP]["x"], True)
    check("scripts", report.browser.run("return [document.querySelectorAll('script:not([type]), "
        "img').length, typeof window.hacked]"), [1, "undefined"])
    check("tiles", report.texts(".tiles dd:not(.sub)"), ["1.000 µs", "2", "22", "none", "tsc"])
    return state


def zooms(report, before):
    browser = report.browser
    report.click(before["frames"]["left"])
    state = report.state()
    near("the zoomed frame", state["frames"]["left"]["width"], state["width"])
    near("what it calls", state["frames"]["x"]["width"], state["width"] / 2)
    check("others are gone", EVIL in state["frames"], False)
    check("it is selected", (state["at"], state["foot"]), ("left", "left"))
    check("the address has it", "zoom=" in state["hash"], True)
    browser.run("history.back()")
    browser.until("return !location.hash.includes('zoom=')")
    check("Back zooms out", report.state()["frames"], before["frames"])
    # The same by keys: the canvas has the focus since the click.
    report.press("Home", "Down", "Down", "Right")
    check("arrows", report.state()["at"], EVIL)
    report.press("Left", "Down", "Right")
    check("more arrows", report.state()["at"], "y")
    report.press("Enter")
    near("Enter zooms", report.state()["frames"]["y"]["width"], before["width"])
    report.press("Backspace")
    near("Backspace goes back by one", report.state()["frames"]["left"]["width"], before["width"])
    report.press("0")
    check("0 shows all", report.state()["frames"], before["frames"])
    check("read aloud", report.text("#live").split(",")[0], "y")


def hovers(report, before):
    report.hover(before["frames"][EVIL])
    check("tip", report.state()["tip"], EVIL + "prog.c:5Total300 ns · 15.0%Self300 ns · 15.0%Calls1"
          "Mean300 nsMin – max300 ns – 300 ns")
    report.browser.pointer(640, 5, False)
    check("no tip", report.state()["tip"], None)


def searches(report, before):
    report.press("/", "^", "[", "x", "y", "]", "$")
    check("found", report.state()["chips"], ["2 functions, 25.0% with what they call"])
    report.press("Enter")
    check("the first", report.state()["at"], "x")
    report.press("Enter")
    check("the next", report.state()["at"], "y")
    report.press("Escape")
    check("Escape ends the search", report.state()["chips"], [])
    report.press("/", "<", "<", "&", '"')
    check("as it is", report.state()["chips"], ["1 function, 15.0% with what they call"])
    report.press("Escape")
    report.press("/", "x", "(")
    check("no expression", report.state()["chips"], ["0 functions, 0.0% with what they call"])
    report.press("Escape")
    check("all is as before", report.state()["frames"], before["frames"])


def transforms(report, before):
    report.click(before["frames"]["left"])
    report.press("0", "h")
    state = report.state()
    check("hidden", (state["chips"], "left" in state["frames"]), (["Hidden: left×"], False))
    near("what it called is its caller's", state["frames"]["x"]["depth"], 2, 0)
    near("main keeps its time", state["frames"]["main"]["width"], before["width"] / 2)
    report.press("x")
    check("undone", report.state()["frames"], before["frames"])
    report.press("f")
    state = report.state()
    check("focus", (state["chips"], sorted(state["frames"])),
          (["Focus: left×"], ["left", "program", "x", "y"]))
    near("focused", state["frames"]["left"]["width"], before["width"])
    report.click_on(".chip")
    check("its chip undoes it", report.state()["frames"], before["frames"])
    report.press("c")
    state = report.state()["frames"]
    check("recursion is one frame", sorted(name for name in state if "turn" in name), ["turn"])
    near("with all of its time", state["turn"]["total"], 900, 0)
    report.press("c", "i")
    state = report.state()["frames"]
    check("inverted", state["leaf"]["depth"], 1)
    check("callers are below", state["loop"]["depth"], 1)
    check("self time", (state["x"]["total"], state["leaf"]["total"], state["left"]["total"]),
          (300, 200, 100))
    report.press("i", "u")
    state = report.state()["frames"]
    check("flames", state["program"]["y"] > state["main"]["y"] > state["left"]["y"], True)
    report.press("u")
    report.click_on('[data-name="order"] [value="first"]')
    state = report.state()["frames"]
    check("first called first", state["left"]["x"] < state[EVIL]["x"], True)
    report.click_on('[data-name="order"] [value="weight"]')
    report.click_on('[data-name="weight"] [value="calls"]')
    near("by calls", report.state()["frames"]["main"]["total"], 6, 0)
    report.click_on('[data-name="weight"] [value="time"]')
    check("all is as before", report.state()["frames"], before["frames"])
    report.browser.run("const s = document.querySelector('[name=thread]'); s.value = '1';"
                       "s.dispatchEvent(new Event('change'))")
    state = report.state()["frames"]
    check("one thread", (sorted(state)[:2], state["program"]["total"]), (["leaf", "loop"], 1000))
    report.browser.run("change({thread: ''})")


def timeline(report):
    report.press("2")
    state = report.state("views.part")
    near("everything", state["frames"]["program"]["total"], 2000, 0)
    box = report.browser.run("const b = views.timeline.canvas.getBoundingClientRect(), "
                             "t = views.timeline;return {x: b.x, y: b.y, g: t.gutter, w: t.width - "
                             "t.gutter,tops: t.tracks().map(k => k.top), span: data.facts.span}")
    x = lambda ns: box["x"] + box["g"] + box["w"] * ns / box["span"]
    first, second = (box["y"] + top + 8 for top in box["tops"])
    # From 100 to 400 in the first thread: 200 of x, 100 of y. Cells are 8 wide.
    report.drag(x(100) + 1, first, x(400) - 1, first + 20)
    state = report.state("views.part")
    check("selection", state["chips"], ["Selected: 96 ns – 400 ns in one 0, times as recorded×"])
    frames = state["frames"]
    check("its flame graph",
          (frames["program"]["total"], frames["x"]["total"], frames["y"]["total"]), (304, 204, 100))
    report.browser.screenshot("selection.png")
    report.press("1")
    check("the flame graph has it, too", report.state()["frames"]["program"]["total"], 304)
    report.press("3")
    check("and the table", (report.text('tr[data-fn="2"] .self'),
                            report.text('tr[data-fn="2"] .calls')), ("204 ns", "–"))
    report.press("2", "x")
    # A click on a call selects its function; the canvas then has the keys.
    report.browser.pointer(x(250), first + 2 * 18)
    check("a click", report.state("views.part")["foot"], "x")
    report.press("+")
    report.browser.until("return location.hash.includes('view=')")
    report.settle()
    view = report.browser.run("return [views.timeline.from, views.timeline.to, "
                              "location.hash.includes('view=')]")
    near("plus zooms", view[1] - view[0], box["span"] / 2)
    check("the address has the view", view[2], True)
    report.press("v")
    state = report.state("views.part")
    near("v selects what is in view", state["frames"]["program"]["total"], 1000, 32)
    report.press("Escape", "Escape")
    check("Escape ends it", report.state("views.part")["chips"], [])
    # Both threads.
    report.drag(x(500) + 1, first, x(1000) - 1, second + 20)
    check("both threads", report.state("views.part")["frames"]["program"]["total"], 1008)
    report.press("x")


def table(report):
    report.press("3")
    report.settle()
    names = report.texts("#table-body .name")
    check("by self time", (len(names), names[0] in (EVIL, "x", "turn")), (9, True))
    # Short, with the whole name in its title.
    whole = report.browser.run(
        "return [...document.querySelectorAll('#table-body .name')].map(cell => cell.title)")
    check("hostile names are text", MARKUP in whole, True)
    row = report.texts('tr[data-fn="6"] td')
    check("a row", row[:6] + row[-1:],
          ["turn", "700 ns", "35.0%", "900 ns", "3", "667 ns", "prog.c:7"])
    report.click_on("th.calls button")
    calls = [int(text) for text in report.texts("#table-body .calls")]
    check("by calls", calls, sorted(calls, reverse=True))
    report.click_on("th.calls button")
    calls = [int(text) for text in report.texts("#table-body .calls")]
    check("the other way round", calls, sorted(calls))
    check("said to screen readers", report.browser.run(
        "return document.querySelector('th.calls').getAttribute('aria-sort')"), "ascending")
    report.click_on('tr[data-fn="6"] .name')
    check("durations", (report.text("#durations-name"), report.texts("#durations-facts dd")[0]),
          ("turn", "3"))
    # Three calls of 5 ns that are not known, and three that it made, of 2.
    check("how far off it may be", "700 ns ± 21 ns" in report.text("#foot-numbers"), True)
    report.press("Up")
    check("arrows", report.text("#foot-name") != "turn", True)


UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 1, "": 1}


def number(text):
    """What a cell of the table is worth: the time or count at its beginning; -1 for none."""
    match = re.match(r"([+−±]?)([\d,.]+) ?(ns|µs|ms|s|%|)", text)
    return float(match.group(2).replace(",", "")) * UNITS[match.group(3)] if match else -1


def sorts(report, wanted):
    """Each heading that is there is seen, and sorts by what stands below it."""
    report.press("3")
    report.settle()
    heads = report.browser.run("return [...document.querySelectorAll('#table-head "
                               "th:not([hidden])')].map(e => [e.className, "
                               "e.textContent.replace(/[▲▼]/, ''), e.firstChild.offsetWidth > 0])")
    check("headings", heads, [[name, title, True] for name, title in wanted])
    for name, _ in wanted:
        report.click_on("th.%s button" % name)
        order, cells = report.browser.run("return [document.querySelector('th.%s').ariaSort, "
            "[...document.querySelectorAll('#table-body td.%s')].map(e => e.textContent)]" %
            (name, name))
        check("%s sorts" % name, order in ("ascending", "descending"), True)
        if name == "histogram":
            continue
        values = [cell.lower()
                  for cell in cells] if name in ("name", "place") else list(map(number, cells))
        check("by %s, %s" % (name, order), values, sorted(values, reverse=order == "descending"))
    report.browser.run("change({sort: 'self'})")


def frames(report, before):
    """A frame that was clicked has its own numbers, above those of all calls of its function."""
    columns = ("return [...document.querySelectorAll('#foot-numbers span')]."
               "map(e => [...e.children].map(c => c.textContent))")
    report.open()
    report.click(report.state()["frames"]["turn'"])
    report.settle()
    check("a frame", (report.text("#foot-name"), report.browser.run(columns)),
          ("turn", [["", "This frame", "The function"], ["Total", "700 ns · 35.0%", ""],
              ["Self", "300 ns · 15.0%", "700 ns ± 21 ns"],
              ["Calls", "1", "3"], ["Mean", "700 ns", "667 ns"], ["Inclusive", "", "900 ns"],
              ["p50 / p99", "", "688 ns / 900 ns"]]))
    report.click(report.state()["frames"]["turn"])
    report.settle()
    check("another of the same function", report.browser.run(columns)[1][1], "900 ns · 45.0%")
    report.press("Down")
    check("by keys", report.browser.run(columns)[1][1], "700 ns · 35.0%")
    # Its stack goes where the browser's own paste takes it from; a field of one line has no line
    # ends.
    for inverted in ("", "1"):
        report.browser.run("change({inverted: %r})" % inverted)
        report.settle()
        report.browser.run(
            "const {tree} = views.flame; const leaf = "
            "tree.fn.indexOf(data.functions.name.indexOf('leaf'));views.flame.select(leaf)")
        report.press("y")
        report.browser.until(
            "return document.getElementById('live').textContent.includes('copied')")
        report.press("/")
        report.browser.keys("Control", "v")
        report.settle()
        turn = " turn (prog.c:7)"
        check("the stack is copied" + inverted,
              report.browser.run("return document.getElementById('search').value"),
              "leaf (prog.c:9)" + ("" if inverted else turn * 3 + " loop (prog.c:8)"))
        report.press("Escape")
    report.browser.run("change({inverted: ''})")
    report.settle()
    report.click(report.state()["frames"]["program"])
    report.settle()
    check("the root", (report.text("#foot-name"), report.browser.run(columns)[1][1],
                       report.browser.run("return document.getElementById('acts').hidden")),
          ("program", "2.000 µs · 100%", True))
    report.press("3")
    report.click_on('tr[data-fn="6"] .name')
    check("of a row all calls", report.browser.run(columns)[0], ["Self", "700 ns ± 21 ns"])
    report.press("s")
    report.settle()
    report.click(report.state("views.sandwich.callees")["frames"]["leaf"])
    report.settle()
    check("in the sandwich", report.browser.run(columns)[:2],
          [["", "leaf", "The function"], ["Total", "200 ns · 22.2%", ""]])
    report.press("5")
    report.settle()
    check("other tabs have no frame", report.browser.run(columns)[0], ["Self", "700 ns ± 21 ns"])
    report.browser.run("[...document.querySelectorAll('#tree-body tr')].find(r => "
                       "r.cells[0].textContent.includes('loop')).click()")
    report.press("Right", "Right")
    check("a branch", report.browser.run(columns)[:2],
          [["", "This frame", "The function"], ["Total", "900 ns · 45.0%", ""]])
    report.press("2")
    report.settle()
    box = report.browser.run("const b = views.timeline.canvas.getBoundingClientRect(), "
                             "t = views.timeline;return {x: b.x + t.x(250), y: "
                             "b.y + t.tracks()[0].top + 2 * 18 + 8}")
    report.browser.pointer(box["x"], box["y"])
    report.settle()
    check("a call", (report.text("#foot-name"), report.browser.run(columns)[:3]),
          ("x",
           [["", "This call", "The function"], ["Takes", "300 ns", ""], ["Begins at", "0 ns", ""]]))


def keys_after_mouse(report):
    """Keys are for what the mouse was used on, though no canvas was clicked."""
    browser = report.browser
    report.open("tab=timeline")
    box = browser.run("const b = views.timeline.canvas.getBoundingClientRect(), "
                      "m = views.timeline.map.getBoundingClientRect();return {x: "
                      "b.x + b.width / 2, y: b.y + 40, map: m.y + m.height / 2}")
    span = browser.run("return data.facts.span")
    view = "return views.timeline.to - views.timeline.from"

    def zoom():
        browser.wheel(box["x"], box["y"], -400, KEYS["Control"])
        check("the wheel zooms", bool(browser.until(
            "return views.timeline.to - views.timeline.from < data.facts.span / 2")), True)

    for key in ("Escape", "0"):
        zoom()
        report.press(key)
        near("%s after the wheel" % key, browser.run(view), span)
    zoom()
    wide = browser.run(view)
    report.press("-")
    near("- after the wheel", browser.run(view), 2 * wide)
    report.press("0")
    # A button has the focus, or nothing: what had it is gone.
    zoom()
    report.click_on("#select-view")
    check("a part", len(report.state("views.part")["chips"]), 1)
    report.press("Escape")
    check("Escape after a button ends the selection", report.state("views.part")["chips"], [])
    report.press("0")
    near("0 after a button", browser.run(view), span)
    zoom()
    report.press("v")
    report.settle()
    report.click_on(".chip")
    report.press("-")
    near("- after a button that is gone", browser.run(view), 2 * wide)
    report.press("0")
    browser.pointer(box["x"], box["map"])
    check("a click on the map", browser.run(view) < span, True)
    report.press("Escape")
    near("Escape after it", browser.run(view), span)
    # The flame graph likewise.
    browser.run("change({tab: 'flame'})")
    all_frames = report.state()["frames"]
    for key in ("Escape", "0", "Backspace", "-"):
        report.click(all_frames["main"])
        check("zoomed", report.state()["frames"]["main"]["width"] > all_frames["main"]["width"],
              True)
        report.click_on('[data-name="up"] [value=""]')
        report.press(key)
        check("%s after a button" % key, report.state()["frames"], all_frames)
    # A field takes its keys itself.
    browser.run("change({tab: 'timeline'})")
    zoom()
    report.press("/", "0", "-")
    check("the field has them", (browser.run("return document.getElementById('search').value"),
                                 browser.run(view) < span / 2), ("0-", True))
    report.press("Escape")
    check("Escape is the field's", (browser.run("return document.getElementById('search').value"),
                                    browser.run(view) < span / 2), ("", True))


# Which element or role may have which attribute: what WAI-ARIA allows, of what the pages use.
ACCESSIBLE = """
const allowed = {
	'aria-pressed': 'button', 'aria-expanded': 'row button', 'aria-selected': 'tab row gridcell', 'aria-level': 'row',
	'aria-posinset': 'row', 'aria-setsize': 'row', 'aria-sort': 'columnheader', 'aria-controls': '*', 'aria-busy': '*', 'aria-label': '*',
	'aria-labelledby': '*', 'aria-hidden': '*', 'aria-live': '*', 'aria-modal': 'dialog', 'aria-orientation': 'separator',
	'aria-valuemin': 'separator', 'aria-valuemax': 'separator', 'aria-valuenow': 'separator'};
const own = {BUTTON: 'button', OPTION: 'option', TR: 'row', TD: 'cell', TH: 'columnheader', DIALOG: 'dialog', TABLE: 'table'};
const wrong = [];
const ids = new Map();
for (const e of document.querySelectorAll('*')) {
	const role = e.getAttribute('role') || own[e.tagName] || '';
	const say = text => wrong.push(text + ': ' + e.outerHTML.slice(0, 90));
	if (e.id)
		ids.set(e.id, (ids.get(e.id) || 0) + 1);
	for (const {name, value} of e.attributes) {
		if (!name.startsWith('aria-'))
			continue;
		if (!(allowed[name] === '*' || allowed[name]?.split(' ').includes(role)))
			say(name + ' of a ' + (role || e.tagName));
		if (role === 'row' && name !== 'aria-hidden' && !e.closest(name === 'aria-selected' ? '[role=grid], [role=treegrid]' : '[role=treegrid]'))
			say(name + ' of a row that is in no grid');
		if ((name === 'aria-controls' || name === 'aria-labelledby') && !value.split(' ').every(id => document.getElementById(id)))
			say(name + ' names nothing');
		if (value === '' || value === 'undefined' || value === 'null')
			say(name + ' is ' + value);
	}
	for (const [outer, inner] of [['tablist', 'tab'], ['treegrid', 'row']])
		if (role === inner && !e.closest('[role=' + outer + '], table'))
			say('a ' + inner + ' outside of a ' + outer);
	if (e.matches('label[for]') && !document.getElementById(e.htmlFor))
		say('a label of nothing');
	if (e.matches('[aria-hidden=true] *, [aria-hidden=true]') && e.matches('button, a, input, select, [tabindex="0"]'))
		say('what is hidden takes the focus');
}
for (const [id, count] of ids)
	if (count > 1)
		wrong.push('id ' + id + ' ' + count + ' times');
return wrong;
"""


def accessible(report):
    browser = report.browser
    report.open("fn=1")
    for tab in ("flame", "timeline", "table", "sandwich", "tree"):
        browser.run("change({tab: %r})" % tab)
        report.settle()
        check("ids and attributes in %s of %s" % (tab, report.url[-12:]), browser.run(ACCESSIBLE),
              [])
        nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
        nameless = [node["role"]["value"] for node in nodes if not node.get("ignored") and
                    node["role"]["value"] in ("button", "tab", "combobox", "searchbox",
                                              "application", "Canvas", "grid", "treegrid") and
                    not node.get("name", {}).get("value")]
        check("nothing to be used is without a name in %s" % tab, nameless, [])
    roles = {node["role"]["value"] for node in nodes}
    check("the tree of what can be used is there", {"tab", "button", "treegrid"} <= roles, True)


def sandwich(report):
    report.click_on('tr[data-fn="6"] .name')
    report.press("s")
    report.settle()
    up, down = report.state("views.sandwich.callers"), report.state("views.sandwich.callees")
    check("callers", sorted(up["frames"]), ["loop", "turn"])
    check("above", up["frames"]["loop"]["y"] < up["frames"]["turn"]["y"], True)
    check("callees", (sorted(down["frames"]), down["frames"]["turn"]["total"]),
          (sorted(["leaf", "turn", "turn'", "turn' again"]), 900))
    # As analyze --view function has them: all calls, the time of those that are not within another
    # of the same pair.
    check("lists", (report.texts("#edges-up td"), report.texts("#edges-down td")),
          (["loop", "900 ns", "100%", "1", "turn", "700 ns", "77.8%", "2"],
           ["turn", "700 ns", "77.8%", "2", "leaf", "200 ns", "22.2%", "1"]))


def tree(report):
    report.press("5")
    report.settle()
    report.click_on("#tree-body tr")
    report.press("Home", "Right")
    names = report.texts("#tree-body td:first-child")
    check("the root is open", sorted(name.lstrip("▸▾") for name in names[:2]),
          ["loop", "program"] if "loop" in names[1] else ["main", "program"])
    check("levels", report.browser.run("return [...document.querySelectorAll('#tree-body "
        "tr')].slice(0, 2).map(r => r.getAttribute('aria-level'))"), ["1", "2"])
    report.press("*", "Down", "*")
    check("all rows are gridcells", report.browser.run(
        "return document.querySelectorAll('#tree-body td:not([role=gridcell])').length"), 0)
    name = report.browser.run("return document.activeElement.cells[0].textContent").lstrip("▸▾")
    report.press("Enter")
    near("Enter shows its frame", report.state()["frames"][name]["width"], report.state()["width"])
    report.press("x")
    check("help", report.browser.run("return document.getElementById('help').open"), False)
    report.press("?")
    check("help", report.browser.run("return document.getElementById('help').open"), True)
    report.press("Escape")
    check("closed", report.browser.run("return document.getElementById('help').open"), False)


def remembers(report):
    report.open("tab=table&sort=calls&search=turn")
    check("a link leads to the same", (report.texts("#table-body .name"), report.text("#chips")),
          (["turn"], "1 function, 45.0% with what they call"))
    for hostile in ("zoom=0.99999.-1.x&tab=flame",
                    "hide=99999.1&focus=77777&fn=1e9&range=9.1.1&view=9.0",
                    "tab=nothing&thread=5&order=x&sort=y&weight=z",
                    "range=0.100000.7.-1&tab=timeline"):
        report.open(hostile)
        check("nonsense in the address: " + hostile, report.browser.run(
            "return [document.getElementById('broken').hidden, data.loaded]"), [True, True])


def looks(report):
    browser = report.browser
    for scheme in ("light", "dark"):
        browser.devtools("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": scheme}])
        report.open()
        colours = browser.run("const s = getComputedStyle(document.body); "
                              "return [s.backgroundColor, s.color]")
        light = [sum(map(int, c.strip("rgb()").split(",")[:3])) for c in colours]
        check("paper and ink in %s" % scheme, (light[0] > light[1]) == (scheme == "light"), True)
        for tab in ("flame", "timeline", "table", "sandwich", "tree"):
            browser.run("change({tab: %r})" % tab)
            report.settle()
            browser.screenshot("%s-%s.png" % (tab, scheme))
    report.press("t")
    check("the button chooses", browser.run("return document.documentElement.dataset.theme"),
          "light")
    report.press("t", "t")
    # Contrast of text, by the rule of WCAG.
    for scheme in ("light", "dark"):
        browser.devtools("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": scheme}])
        ratios = browser.run("""
applyTheme();
const number = text => { const e = document.createElement('i'); e.style.color = text; document.body.append(e);
	const c = getComputedStyle(e).color.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255); e.remove(); return c; };
const light = text => number(text).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
	.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const all = [];
for (const paper of ['paper', 'panel'])
	for (const ink of ['ink', 'dim', 'accent', 'found'])
		all.push([ink + ' on ' + paper, ratio(theme[ink], theme[paper])]);
for (let fn = -1; fn < data.functions.all; fn++)
	all.push(['frame ' + fn, ratio(FRAME_INK, functionColour(fn))]);
for (let i = 0; i <= 10; i++)
	all.push(['change ' + i, ratio(FRAME_INK, nodeColour({fn: [0], total: [i], base: [10 - i]}, 0))]);
return all.filter(pair => !(pair[1] >= 4.5));""")
        check("contrast in %s" % scheme, ratios, [])
    for width, height in ((420, 900), (800, 700), (1600, 1000)):
        browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                         deviceScaleFactor=2, mobile=False)
        report.open()
        report.settle()
        check("nothing sticks out at %d" % width, browser.run(
            "return document.documentElement.scrollWidth <= innerWidth"), True)
        check("crisp", browser.run("return views.flame.canvas.width === 2 * views.flame.width"),
              True)
        browser.screenshot("width-%d.png" % width)
    browser.devtools("Emulation.clearDeviceMetricsOverride")
    browser.devtools("Emulation.setEmulatedMedia", features=[])


def compares(report):
    report.open()
    state = report.state()
    check("widths are after", state["frames"]["main"]["total"], 1000)
    report.hover(state["frames"]["left"])
    check("the change", "Before300 nsChange+300 ns (+100%)" in report.state()["tip"], True)
    colour = ("return nodeColour(views.flame.tree, views.flame.frames.node.find(n => "
              "functionName(views.flame.tree.fn[n]) === %r))")
    more, less, same = (report.browser.run(colour % name) for name in ("left", "loop", EVIL))
    reds = [int(c.strip("rgb()").split()[0]) for c in (more, less)]
    check("more is warmer than less", (reds[0] > reds[1], same not in (more, less)), (True, True))
    report.click_on('[data-name="weight"] [value="before"]')
    check("widths as before", report.state()["frames"]["main"]["total"], 800)
    check("what is gone is there", "gone" in report.state()["frames"], True)
    report.press("3")
    report.click_on("th.change button")
    check("the greatest change first", report.texts("#table-body .change")[0][:1] in "+−", True)
    report.browser.screenshot("diff.png")


def fails(browser, reports):
    timeless, empty, whole = reports
    timeless.open()
    check("without a clock widths are calls", timeless.state()["frames"]["main"]["total"], 3)
    timeless.press("2")
    check("no timeline", timeless.text("#no-timeline"),
          "Recorded without a clock, so there is no timeline.")
    timeless.press("3")
    check("only calls", timeless.browser.run("return [...document.querySelectorAll('#table-head "
        "th:not([hidden])')].map(e => e.className)"), ["name", "calls", "place"])
    empty.open()
    for tab in "23451":
        empty.press(tab)
    check("nothing is no error", browser.run("return document.getElementById('broken').hidden"),
          True)
    with open(whole.url[7:], encoding="utf-8") as file:
        text = file.read()
    at = text.index('id="data-paths">')
    with open("cut.html", "w", encoding="utf-8") as file:
        file.write(text[:at + 40] + "</script>" +
                   text[text.index("\n<script>") if "\n<script>" in text else at:])
    Report(browser, "cut.html").open(wait=False)
    check("a damaged report says so",
          browser.until("return !document.getElementById('broken').hidden"), True)
    script = browser.devtools("Page.addScriptToEvaluateOnNewDocument",
                              source="delete self.DecompressionStream")
    whole.open(wait=False)
    check("an old browser", browser.until("return !document.getElementById('too-old').hidden"),
          True)
    browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    whole.open(wait=False)
    # Scripts of the driver run all the same.
    check("without scripts", whole.texts("noscript td")[:1] != [], True)
    check("and without damage", MARKUP in whole.texts("noscript td"), True)
    browser.screenshot("noscript.png")
    browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


def main():
    with Browser(1280, 900) as browser:
        report, diff, timeless, empty = (Report(browser, file) for file in sys.argv[1:])
        before = loads(report)
        zooms(report, before)
        hovers(report, before)
        searches(report, before)
        transforms(report, before)
        timeline(report)
        table(report)
        sandwich(report)
        tree(report)
        frames(report, before)
        keys_after_mouse(report)
        sorts(report, [("name", "Function"), ("self", "Self"), ("share", "Self %"),
                       ("inclusive", "Inclusive"), ("calls", "Calls"), ("mean", "Mean"),
                       ("p50", "p50"), ("p90", "p90"), ("p99", "p99"),
                       ("max", "Max"), ("histogram", "Durations"), ("place", "Source")])
        diff.open()
        sorts(diff, [("name", "Function"), ("self", "Self"), ("share", "Self %"),
                     ("before", "Before"), ("change", "Change"), ("inclusive", "Inclusive"),
                     ("calls", "Calls"), ("callsBefore", "Calls before"), ("mean", "Mean"),
                     ("p99", "p99"), ("place", "Source")])
        for page in (report, diff, timeless, empty):
            accessible(page)
        remembers(report)
        compares(diff)
        looks(report)
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
        fails(browser, (timeless, empty, report))
        asked = {url for url in browser.requests() if not url.startswith(("file:///", "about:"))}
        check("requests", asked, set())
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
