#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# browser_speedscope.py SPEEDSCOPE FILE CSV: speedscope itself, a folder with its index.html, opens
# FILE; its table of functions has the names and the shares of CSV (`teeperf analyze --format csv`,
# one thread).
import base64
import csv
import os
import sys
import time

from browser import PATIENCE, Browser

speedscope, profile, table = sys.argv[1:]
rows = list(csv.DictReader(open(table, newline="", errors="replace")))
total = sum(int(row["self_ns"] or 0) for row in rows)

# As speedscope's own command hands a file to its page.
script = os.path.abspath("profile.js")
with open(script, "w") as out:
    out.write("speedscope.loadFileFromBase64(%r, %r)" %
              (os.path.basename(profile), base64.b64encode(open(profile, "rb").read()).decode()))
failures = 0
with Browser(1600, 1200) as browser:
    browser.open("file://%s/index.html#localProfilePath=%s" % (os.path.abspath(speedscope), script))
    shown = []
    for _ in range(PATIENCE):
        time.sleep(0.05)
        browser.keys("3")  # the sandwich view
        shown = browser.run("return Array.from(document.querySelectorAll('tr'), "
                            "r => Array.from(r.children, c => c.textContent))")
        if len(shown) > 1:
            break
    got = {}
    for cells in shown[1:]:
        if len(cells) >= 3:
            got[cells[2]] = cells[:2]
    for row in rows:
        own, inclusive = int(row["self_ns"] or 0), int(row["inclusive_ns"] or 0)
        if not inclusive:
            continue
        name = row["function"]
        if name not in got:
            failures += 1
            print(f"FAILED: {name!r} is not among {list(got)}")
            continue
        for what, ns, cell in (("inclusive", inclusive, got[name][0]), ("self", own, got[name][1])):
            share = float(cell[cell.rindex("(") + 1:cell.rindex("%")].lstrip("<>"))
            if abs(share - ns * 100 / total) > 1.01:
                failures += 1
                print(f"FAILED: {what} of {name!r} is {cell}, not {ns} of {total} ns")
print(f"{len(got)} functions shown, {failures} failures")
sys.exit(failures != 0 or not got)
