#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tree_paths.py TREE.csv: the tree view as sorted lines "path calls", parameters left out of
names."""

import csv
import sys

paths = {}
stack = []
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        depth = int(row["depth"])
        # A clone stays one: "f(int) [clone .resume]" is "f [clone .resume]".
        name, clone, which = row["function"].partition(" [clone ")
        name = name.split("(")[0] + clone + which
        del stack[depth - 1 :]
        stack.append(name)
        path = ";".join(stack)
        paths[path] = paths.get(path, 0) + int(row["calls"])
for path in sorted(paths):
    print(path, paths[path])
