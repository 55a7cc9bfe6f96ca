#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser_lanes.py SMALL MANY NONE METERS QUIET: look at the lanes of the reports of report/lanes
in a browser. Leaves pictures, light and dark, in the current folder.
"""
import os
import sys

from browser import Browser

failures = 0
# Where something of a lane is: of an event its middle, of a time that place.
PLACE = """
const view = views.timeline, box = view.canvas.getBoundingClientRect();
const track = view.tracks()[%d], at = track.lanes.findIndex(lane => lane.kind.title === %r), lane = track.lanes[at];
const time = %s;
return [box.x + view.x(time), box.y + track.base + at * track.lane + track.lane / 2 - view.scroller.scrollTop];
"""
METER = """
const view = views.timeline, box = view.canvas.getBoundingClientRect();
view.scroller.scrollTop = 9999;
const low = view.tracks()[0].bottom + GAP;
return [box.x + view.x(200), box.y + low + 4.5 * METER - view.scroller.scrollTop];
"""
TIP = ("return document.getElementById('tip').hidden ? null : [...document.querySelectorAll('#tip "
       "strong, #tip .place, #tip dd')].map(e => e.textContent)")


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def show(browser, file):
    browser.open("about:blank")
    browser.open("file://" + os.path.abspath(file) + "#tab=timeline")
    check("%s is shown" % file,
          browser.until("return document.documentElement.dataset.loaded === 'yes'"), True)
    browser.settle()


def tip(browser, thread, lane, time, click=False):
    browser.pointer(*browser.run(PLACE % (thread, lane, time)), click)
    browser.settle()
    return browser.run(TIP)


def lanes(browser):
    return browser.run("return views.timeline.tracks().map(track => track.lanes.map(lane => "
                       "lane.kind.title))")


def main():
    small, many, none, meters, quiet = sys.argv[1:]
    event = "lane.start[%d] + lane.duration[%d] / 2"
    with Browser(1280, 900) as browser:
        show(browser, small)
        check("lanes", lanes(browser), [["system calls", "block I/O", "page faults"], ["waits"]])
        check("a read", tip(browser, 0, "system calls", event % (0, 0)),
              ["read", "system calls", "200 ns", "2.050 µs", "832", "reader", "prog 0"])
        check("a request", tip(browser, 0, "block I/O", "lane.start[0] + 50"),
              ["random block read", "block I/O", "4.000 µs", "2.600 µs", "4,096", "reader",
               "prog 0"])
        check("a fault", tip(browser, 0, "page faults", event % (1, 1)),
              ["major code fault", "page faults", "900 ns", "3.000 µs", "reader", "prog 0"])
        check("a wait names who ended it", tip(browser, 1, "waits", event % (0, 0)),
              ["futex", "waits", "17.50 µs", "3.100 µs", "worker", "waker, prog 0", "17.40 µs",
               "worker 1"])
        check("a wait that nobody ended", tip(browser, 1, "waits", event % (1, 1)),
              ["futex", "waits", "5.000 µs", "25.00 µs", "worker", "worker 1"])
        check("nothing happened", tip(browser, 1, "waits", "45000"), None)
        tip(browser, 0, "system calls", event % (0, 0), True)
        check("a click selects the function",
              browser.run("return document.getElementById('foot-name').textContent"), "reader")
        for scheme in ("light", "dark"):
            browser.devtools("Emulation.setEmulatedMedia",
                             features=[{"name": "prefers-color-scheme", "value": scheme}])
            browser.settle()
            browser.screenshot("lanes-%s.png" % scheme)
        low = browser.run("""
const number = text => text.match(/[\\d.]+/g).map(v => v / 255);
const light = c => number(c).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ink = light('20 23 28');
return laneKinds.filter(kind => !((light(rgb(kind.colour)) + 0.05) / (ink + 0.05) >= 4.5)).map(kind => kind.title);""")
        check("contrast of labels", low, [])
        button = "return document.querySelector('[data-name=lanes] button').%s"
        browser.run(button % "click()")
        browser.settle()
        check("the button hides lanes", lanes(browser), [[], []])
        browser.run(button % "click()")
        show(browser, many)
        check("what is too short is counted", tip(browser, 1, "page faults", "256.5 * view.cell"),
              ["page faults", "too short to be drawn one by one", "10", "70 ns", "117.2 µs",
               "other 1"])
        for file, wanted in ((none, [[], [], []]), (quiet, [[], []])):
            show(browser, file)
            check("no lanes, and no button for them", (lanes(browser), browser.run(
                "return document.querySelector('[data-name=lanes]').hidden")), (wanted, True))
        show(browser, meters)
        browser.pointer(*browser.run(METER), False)
        browser.settle()
        check("a meter", browser.run(TIP),
              ["package-0", "of the whole program", "60.0 W", "0 ns", "400 ns"])
        check("meters have room",
              browser.run("const v = views.timeline; return v.height + v.space.offsetHeight >= "
                          "v.tracks()[0].bottom + 6 * METER"), True)
        browser.screenshot("meters.png")
        browser.run(button % "click()")
        browser.settle()
        browser.pointer(*browser.run(METER), False)
        browser.settle()
        check("the button hides meters", browser.run(TIP), None)
        check("errors", [entry["message"] for entry in browser.log("browser")], [])
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
