#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_flamegraph.py SVG TALL ICICLE: use the flame graphs of report/flamegraph-browser with
mouse and keyboard in a browser.

Leaves light.png and dark.png in the current folder.
"""
import pathlib
import sys

from browser import Browser

STATE = """
const frames = {};
for (const g of document.querySelectorAll('.frame')) {
	const r = g.querySelector('rect'), box = r.getBoundingClientRect();
	frames[g.dataset.name] = {shown: box.width > 0, x: box.x, y: box.y, width: box.width,
		height: box.height, label: g.querySelector('text').textContent,
		title: g.querySelector('title').textContent, fill: getComputedStyle(r).fill};
}
const text = id => document.getElementById(id).textContent;
const box = id => { const b = document.getElementById(id).getBoundingClientRect();
	return {x: b.x, y: b.y, width: b.width, height: b.height, shown: b.width > 0}; };
return {frames: frames, info: text('info'), match: text('match'), reset: box('reset'),
	search: box('search'), paper: getComputedStyle(document.documentElement).backgroundColor,
	ink: getComputedStyle(document.querySelector('.title')).fill,
	width: document.documentElement.clientWidth, root: document.documentElement.tagName,
	scripts: document.querySelectorAll('script').length, hacked: typeof window.hacked};
"""
EVIL = 'operator<<&">'
MARKUP = "</title></text><script>window.hacked=1</script>"
failures = 0


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def near(what, found, wanted, slack=1.0):
    check(what, abs(found - wanted) <= slack or found, True)


def click(browser, box, press=True):
    browser.pointer(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, press)


def shown(state):
    return sorted(name for name, frame in state["frames"].items() if frame["shown"])


def loads(browser, everything, icicle=False):
    state = browser.run(STATE)
    check("root element", state["root"], "svg")
    check("frames", shown(state), everything)
    frames = state["frames"]
    check("label", frames[EVIL]["label"], EVIL)
    check("title", frames[EVIL]["title"].split(": ")[0], EVIL)
    check("scripts", (state["scripts"], state["hacked"]), (1, "undefined"))
    whole = frames["program"]["width"]
    near("the program is as wide as the window", whole, state["width"], 30)
    for name, share in (("main", 1), ("left", 0.6), ("x", 0.3), ("y", 0.2), (EVIL, 0.3)):
        near("width of " + name, frames[name]["width"], whole * share)
    # A flame stands on its root, and a callee lies on its caller; an icicle hangs.
    order = ["program", "main", "left"]
    check("order", sorted(order, key=lambda name: frames[name]["y"]),
          order if icicle else order[::-1])
    check("nothing to reset", state["reset"]["shown"], False)
    return state


def zooms(browser, before):
    whole = before["frames"]["program"]["width"]
    click(browser, before["frames"]["left"])
    state = browser.run(STATE)
    check("zoomed", shown(state), ["left", "main", "program", "x", "y"])
    near("the zoomed frame", state["frames"]["left"]["width"], whole)
    near("its caller", state["frames"]["main"]["width"], whole)
    near("what it calls", state["frames"]["x"]["width"], whole / 2)
    check("reset is offered", state["reset"]["shown"], True)
    click(browser, state["frames"]["y"])
    check("zoomed twice", shown(browser.run(STATE)), ["left", "main", "program", "y"])
    click(browser, state["frames"]["main"])
    check("a click on a caller goes back", shown(browser.run(STATE)),
          sorted(set(before["frames"]) & set(shown(before))))
    click(browser, state["frames"]["left"])
    browser.keys("Escape")
    check("Escape resets the zoom", browser.run(STATE)["frames"], before["frames"])
    click(browser, before["frames"]["left"])
    click(browser, browser.run(STATE)["reset"])
    check("so does the button", browser.run(STATE)["frames"], before["frames"])


def searches(browser, before):
    def fills(state):
        old = before["frames"]
        return sorted(name for name in old if state["frames"][name]["fill"] != old[name]["fill"])

    # The mouse must not hover over a frame, which is drawn in another way then.
    browser.pointer(300, 5, False)
    browser.keys("/")
    browser.prompt("^[xy]$")
    state = browser.run(STATE)
    check("found", fills(state), ["x", "y"])
    check("share", state["match"], "^[xy]$: 50.0% matched")
    click(browser, state["frames"]["left"])
    browser.pointer(300, 5, False)
    check("share of the zoomed", browser.run(STATE)["match"], "^[xy]$: 83.3% matched")
    browser.keys("Control", "f")
    browser.prompt('<<&"')
    browser.keys("Escape")
    check("Escape resets the search", browser.run(STATE)["match"], "")
    check("and its colour", fills(browser.run(STATE)), [])
    browser.keys("Control", "f")
    browser.prompt('<<&"')
    check("share of " + EVIL, browser.run(STATE)["match"], '<<&": 30.0% matched')
    # A caller and its callee count once; a text that is not a regular expression is searched
    # literally.
    click(browser, browser.run(STATE)["search"])
    browser.prompt("left|x$")
    check("nested", browser.run(STATE)["match"], "left|x$: 60.0% matched")
    browser.keys("/")
    browser.prompt("x(")
    check("no expression", browser.run(STATE)["match"], "x(: 0.0% matched")
    browser.keys("/")
    browser.prompt(None)
    check("a dismissed search", browser.run(STATE)["match"], "x(: 0.0% matched")
    browser.keys("Escape")
    check("all is as before", browser.run(STATE)["frames"], before["frames"])


def hovers(browser, before):
    click(browser, before["frames"][EVIL], False)
    check("the sums", browser.run(STATE)["info"], EVIL + ": 300 ns, 30.00%; self 300 ns; 1 call")
    browser.pointer(300, 5, False)
    check("no sums", browser.run(STATE)["info"], before["info"])


def colours(browser):
    seen = {}
    for scheme in ("light", "dark"):
        browser.devtools("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": scheme}])
        state = browser.run(STATE)
        seen[scheme] = sum(map(int, state["paper"].strip("rgb()").split(",")[:3]))
        ink = sum(map(int, state["ink"].strip("rgb()").split(",")[:3]))
        check("contrast in %s mode" % scheme, abs(ink - seen[scheme]) > 450, True)
        browser.screenshot(scheme + ".png")
    check("dark is darker", seen["dark"] < 150 < 600 < seen["light"], True)


def resizes(browser, everything):
    for width in (1600, 700):
        before = browser.run("return innerWidth")
        browser.call("POST", "/window/rect", {"width": width, "height": 500})
        # It says so before the page knows.
        browser.until("return innerWidth !== %d" % before)
        browser.settle()
        state = browser.run(STATE)
        program = state["frames"]["program"]
        near("fits into %d" % width, program["x"] + program["width"], state["width"], 20)
        check("nothing is lost", shown(state), everything)


def is_tall(browser):
    """More rows than the window: the root is in sight at once, and the head is at any time."""
    height = browser.run("return window.innerHeight")
    # The browser sends this event with its next picture: not later than now, for the test.
    browser.run("window.dispatchEvent(new Event('scroll'))")
    state = browser.run(STATE)
    root = state["frames"]["program"]
    check("the root is in sight", 0 < root["y"] < height - root["height"], True)
    check("the head is in sight", 0 < state["search"]["y"] < 40, True)
    browser.run("window.scrollTo(0, 100)")
    browser.run("window.dispatchEvent(new Event('scroll'))")
    state = browser.run(STATE)
    check("the root is scrolled away", state["frames"]["program"]["y"] > height, True)
    check("the head is still in sight", 0 < state["search"]["y"] < 40, True)


def main():
    tall = pathlib.Path(sys.argv[2]).absolute().as_uri()
    url = pathlib.Path(sys.argv[1]).absolute().as_uri()
    everything = sorted(["program", "main", "left", "x", "y", EVIL, MARKUP])
    with Browser(1280, 500) as browser:
        browser.open(url)
        before = loads(browser, everything)
        zooms(browser, before)
        searches(browser, before)
        hovers(browser, before)
        colours(browser)
        resizes(browser, everything)
        browser.open(tall)
        is_tall(browser)
        icicle = pathlib.Path(sys.argv[3]).absolute().as_uri()
        browser.open(icicle)
        before = loads(browser, everything, True)
        zooms(browser, before)
        searches(browser, before)
        check("an icicle opens at its top", browser.run("return window.scrollY"), 0)
        check("requests", browser.requests(), [url, tall, icicle])
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
