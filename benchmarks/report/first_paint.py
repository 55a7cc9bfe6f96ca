#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""first_paint.py REPORT ROUNDS: milliseconds until a headless Chromium shows the head of the
report, and until the flame graph is about to be painted; medians, after one round that does not
count."""
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../test/lib"))
from browser import Browser  # noqa: E402

TIMES = """return [performance.getEntriesByName('first-contentful-paint')[0].startTime,
	performance.getEntriesByName('shown')[0].startTime, data.paths.count - 1]"""


def main():
    url = "file://" + os.path.abspath(sys.argv[1])
    rounds = []
    with Browser(1280, 800) as browser:
        for _ in range(int(sys.argv[2]) + 1):
            browser.open("about:blank")
            browser.open(url)
            while not browser.run("return document.documentElement.dataset.loaded === 'yes'"):
                time.sleep(0.05)
            rounds.append(browser.run(TIMES))
    head, flame, paths = (statistics.median(column) for column in zip(*rounds[1:]))
    print("%d %d %d" % (head, flame, paths))


main()
