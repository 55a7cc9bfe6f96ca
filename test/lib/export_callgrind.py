#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# export_callgrind.py TRACE...: callgrind_annotate finds in the export "callgrind" of each the
# calls, the self and the inclusive time of each function.
import os
import re
import subprocess
import sys

import export_check as check

LINE = re.compile(r"\s*([\d,.]+) +([*<]) +(.*?)(?: \(([\d,]+)x\))?(?: \[(|/[^]]*|\?\?\?)\])?")
MADE_UP = re.compile(r"\?\?\?:\((root|only counted|thread \d+ .*)\)")


def number(text):
    return 0 if text == "." else int(text.replace(",", ""))


def annotate(file, inclusive):
    """(total, {function: cost}, {function: calls}) as callgrind_annotate prints them."""
    # Not in the folder of the sources: it removes the folder from the file of a caller, but not
    # from that of a callee, so that these would be two functions.
    done = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", "--tree=caller",
         f"--inclusive={'yes' if inclusive else 'no'}", os.path.abspath(file)],
        cwd="/", capture_output=True, text=True, errors="surrogateescape")
    if done.returncode or done.stderr:
        sys.exit(f"FAILED: callgrind_annotate {file}: {done.stderr}")
    head, _, body = done.stdout.rpartition("file:function\n")
    total = number(re.search(r"([\d,.]+)  PROGRAM TOTALS", head).group(1))
    costs, calls, waiting = {}, {}, 0
    for line in body.splitlines()[1:]:
        match = LINE.fullmatch(line)
        if not match:
            if line.strip():
                check.fail(f"callgrind_annotate says: {line}")
            continue
        if match.group(2) == "<":
            waiting += number(match.group(4))
        else:
            costs[match.group(3)] = number(match.group(1))
            calls[match.group(3)] = waiting
            waiting = 0
    return total, costs, calls


def key(row):
    """As the file has it; functions of one name and file have their addresses behind it."""
    name = re.sub(r"^ +", lambda m: "_" * len(m.group()), row["function"])
    return f"{row['file'] or '???'}:{name}"


def plain(name, wanted):
    """Without the address of a twin and the level of recursion; that level."""
    level = 1
    if name not in wanted and (match := re.fullmatch(r"(.*)'(\d+)", name, re.S)):
        name, level = match.group(1), int(match.group(2))
    if name not in wanted and (match := re.fullmatch(r"(.*) \[[^]]*0x[0-9a-f]+\]", name, re.S)):
        name = match.group(1)
    return name, level


def check_trace(trace, *options):
    weight_calls = "calls" in options
    choice = [o for o in options if o not in ("--weight", "calls")]
    wanted, timed = check.reference(trace, *choice, key=key)
    file = check.export(trace, "callgrind", "export.callgrind", *options)
    what = " ".join([trace, *options])
    total, own, calls = annotate(file, False)
    _, inclusive, calls_again = annotate(file, True)
    check.compare(f"{what}: calls, twice", calls, calls_again)
    got_calls, got_own, got_inclusive, slack = {}, {}, {}, {}
    for name, cost in own.items():
        if MADE_UP.fullmatch(name):
            if cost:
                check.fail(f"{what}: {name} has time of its own")
            continue
        base, level = plain(name, wanted)
        got_calls[base] = got_calls.get(base, 0) + calls[name]
        got_own[base] = got_own.get(base, 0) + cost
        # A caller of the same function has all of this already.
        if level == 1:
            got_inclusive[base] = got_inclusive.get(base, 0) + inclusive[name]
    check.compare(f"{what}: total", {"sum": total}, {"sum": sum(own.values())})
    check.compare(f"{what}: root", {"inclusive": total}, {"inclusive": inclusive["???:(root)"]})
    check.compare(f"{what}: calls", {n: f.calls for n, f in wanted.items()}, got_calls)
    if weight_calls or not timed:
        check.compare(f"{what}: calls as cost",
                      {n: f.calls - f.counted for n, f in wanted.items()}, got_own)
        return
    same = check.compare
    if not check.exact(trace):
        paths = check.paths_of(trace, *choice)
        slack = {n: paths.get(n.partition(":")[2], 0) for n in wanted}
        same = lambda *a: check.compare_near(*a, slack)
    same(f"{what}: self", {n: f.self_ns for n, f in wanted.items()}, got_own)
    unique = {n: f.inclusive for n, f in wanted.items() if f.inclusive is not None}
    same(f"{what}: inclusive", unique, {n: i for n, i in got_inclusive.items() if n in unique})


for trace in sys.argv[1:]:
    check_trace(trace)
    check_trace(trace, "--raw")
    check_trace(trace, "--weight", "calls")
check_trace(sys.argv[1], "--thread", "0")
check.finish(100)
