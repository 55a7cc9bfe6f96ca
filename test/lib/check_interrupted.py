#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_interrupted.py MODE OUTPUT TREE.csv TOP.csv THREADS.csv MARKS.csv: the profile of
interrupted.cpp is exact.

Each path of the program itself has its exact calls, below each of them there may be handlers and
nothing else, a handler's activation is whole or absent, and absent ones are reported as lost.
"""

import csv
import sys

mode, output, tree, top, threads, marks = sys.argv[1:7]
mode, _, with_marks = mode.partition("+")
words = open(output).read().split()
said = {key: int(value) for key, value in zip(words[::2], words[1::2])}
rounds = said["rounds"]
wrong = []

want = {"main": 1, "main;one_round": rounds}
if said["fillers"]:
    want["main;filler"] = said["fillers"]
if said["odds"]:
    want["main;odd"] = want["main;odd;leaps"] = said["odds"]
for path in ("catches", "catches;throws", "catches;leaf", "behind", "behind;leaf"):
    want["main;one_round;" + path] = rounds
stretch = ("work", "work;leaf", "work;catches", "work;catches;leaf", "work;untried",
           "work;untried;leaf")
sampled = "main;one_round;work;sampled"

calls = {}
handled = {"handler": 0, "handler;inner": 0, "handler;handler2": 0, "handler;handler2;inner": 0}
stack = []
with open(tree, newline="") as file:
    for row in csv.DictReader(file):
        depth = int(row["depth"])
        del stack[depth - 1 :]
        stack.append(row["function"].split("(")[0])
        path = ";".join(stack)
        if "handler" in stack:
            below = ";".join(stack[stack.index("handler") :])
            if below not in handled:
                wrong.append("unexpected path " + path)
            handled[below] = handled.get(below, 0) + int(row["calls"])
        else:
            calls[path] = calls.get(path, 0) + int(row["calls"])

for path in stretch:
    path = "main;one_round;" + path
    if mode != "jump":
        want[path] = rounds
    elif calls.get(path, 0) > rounds:
        wrong.append(f"{path}: {calls[path]} calls of {rounds}")
    else:
        calls.pop(path, None)
calls.pop(sampled, None)
for path in sorted(set(want) | set(calls)):
    if want.get(path, 0) != calls.get(path, 0):
        wrong.append(f"{path}: {calls.get(path, 0)} calls, not {want.get(path, 0)}")

inner = {"big": 4000}.get(mode, 2)
whole = handled["handler"]
lost = sum(int(row["lost"]) for row in csv.DictReader(open(threads, newline="")))
events = 2 + 2 * inner + bool(with_marks)
if mode == "nested":
    events += 4
    if handled["handler;handler2"] != whole or handled["handler;handler2;inner"] != whole:
        wrong.append("a nested handler is missing")
if mode == "jump":
    events -= 1
if handled["handler;inner"] != inner * whole:
    wrong.append("a handler was recorded in part")
if lost != events * (said["handlers"] - whole):
    wrong.append(f"{said['handlers']} handlers, {whole} recorded, but {lost} events lost")
for row in csv.DictReader(open(top, newline="")):
    if row["function"].split("(")[0] in ("counted", "sampled") and mode != "jump":
        if int(row["calls"]) != rounds:
            wrong.append(f"{row['function']}: {row['calls']} calls, not {rounds}")

# Names are whole. One that a handler interrupts is there behind it, unless it jumps away.
marked = {"of work": 0, "of a handler": 0}
for row in csv.DictReader(open(marks, newline="")):
    marked[row["name"]] = marked.get(row["name"], 0) + 1
if len(marked) > 2:
    wrong.append(f"marks that nobody made: {sorted(marked)}")
if with_marks and marked["of a handler"] != whole:
    wrong.append(f"{marked['of a handler']} marks of {whole} handlers")
if with_marks and (marked["of work"] > rounds or (mode != "jump" and marked["of work"] != rounds)):
    wrong.append(f"{marked['of work']} marks of {rounds} rounds")

print(f"{mode}: {rounds} rounds, {said['handlers']} signals, {whole} recorded, {lost} events lost")
for line in wrong[:20]:
    print("WRONG:", line)
sys.exit(bool(wrong))
