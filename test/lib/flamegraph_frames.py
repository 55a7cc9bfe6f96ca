#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# flamegraph_frames.py SVG list: print "DEPTH CLASS TITLE" of each frame, sorted.
# flamegraph_frames.py SVG inverted CSV [PIXELS]: the frames next to the program are the functions
# of CSV (`teeperf
#     analyze --format csv`) with their self times and calls; narrower ones than PIXELS may be
#     missing.
# In any case: frames lie on their callers (or hang from them) and do not overlap; none is narrower
# than 0.19.
import csv
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
ROW = 19
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAILED:", text)


frames = []
for g in tree.parse(sys.argv[1]).iter(SVG + "g"):
    classes = g.get("class", "").split()
    if classes[:1] == ["frame"]:
        rect = g.find(SVG + "rect")
        frames.append((float(rect.get("y")), float(rect.get("x")), float(rect.get("width")),
                       classes[1:], g.get("data-name"), g.find(SVG + "title").text))
root = frames[0]
rows = {}
for frame in frames:
    rows.setdefault(round(abs(frame[0] - root[0]) / ROW), []).append(frame)
if sorted(rows) != list(range(len(rows))):
    fail(f"rows {sorted(rows)}")
for depth, row in rows.items():
    row.sort(key=lambda frame: frame[1])
    for a, b in zip(row, row[1:]):
        if a[1] + a[2] > b[1] + 0.011:
            fail(f"{a} and {b} overlap")
    for frame in row:
        if frame[2] < 0.19:
            fail(f"{frame} is narrow")
        if depth and not any(below[1] <= frame[1] + 0.011 and
                             frame[1] + frame[2] <= below[1] + below[2] + 0.021
                             for below in rows[depth - 1]):
            fail(f"{frame} lies on nothing")

if sys.argv[2] == "list":
    for depth, row in sorted(rows.items()):
        for frame in sorted(row, key=lambda f: f[5]):
            print(depth, " ".join(frame[3]) or "-", frame[5])
else:
    functions = {}
    least = float(sys.argv[4]) if len(sys.argv) > 4 else 0.25
    for line in csv.DictReader(open(sys.argv[3], newline="", errors="replace")):
        if int(line["self_ns"] or 0):
            calls, own = functions.get(line["function"].replace("\ufffd", "?"), (0, 0))
            functions[line["function"].replace("\ufffd", "?")] = (calls + int(line["timed_calls"]),
                                           own + int(line["self_ns"]))
    total = sum(own for _, own in functions.values())
    for name, (calls, own) in functions.items():
        found = [f for f in rows[1] if f[4] == name]
        # Functions with the same name have several frames, and a narrow one has none.
        if not found and own * 1176 / total < least:
            continue
        share = sum(f[2] for f in found) / root[2]
        count = sum(int(re.search(r"; ([\d,]+) calls?$", f[5]).group(1).replace(",", ""))
                    for f in found)
        if abs(share - own / total) > 0.0002 or count > calls:
            fail(f"{name} has {share:.4%} and {count} calls, not {own / total:.4%} and {calls}")
    if not functions:
        fail("no functions")
    print(f"{len(functions)} functions compared")
sys.exit(failures != 0)
