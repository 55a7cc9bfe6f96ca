#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# export_perfdata.py TRACE...: perf finds in the export "perfdata" of each the self and inclusive
# times of each function: with `perf script` exactly, with `perf report` as far as it prints them.
import re
import subprocess
import sys

import export_check as check

MAX = "--max-stack=16384"


def perf(*command):
    done = subprocess.run(["perf", *command], capture_output=True, text=True,
                          errors="surrogateescape", stdin=subprocess.DEVNULL)
    # Without symbols perf says so on standard error, and that is all that it may say.
    said = [line for line in done.stderr.splitlines() if line.strip() and
            not re.search("no symbols found|failed to open|Failed to open|kptr_restrict|vmlinux|"
                          "Check /proc|Samples in kernel|[Ww]ill not be resolved|"
                          "resolved using", line)]
    if done.returncode or said:
        check.fail(f"perf {command[0]} ends with {done.returncode}: {done.stderr}")
    return done.stdout


def without_parameters(linkages):
    """As perf demangles them."""
    out = check.run("c++filt", "-p", stdin="\n".join(linkages)).split("\n")
    return dict(zip(linkages, out))


def by_names(rows):
    names = without_parameters([row["linkage"] for row in rows])
    return lambda row: names[row["linkage"]] if row["module"] else int(row["address"], 16)


def script(file):
    """[(tid, period, [leaf, ..., root])], with names where there are any, addresses elsewhere."""
    samples = []
    text = perf("script", "--no-inline", MAX, "-i", file, "-F", "tid,time,ip,sym,period")
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if not lines:
            continue
        head = re.fullmatch(r"\s*(\d+)\s+([\d.]+):\s+(\d+)\s*", lines[0])
        path = []
        for line in lines[1:]:
            address, _, name = line.strip().partition(" ")
            path.append(int(address, 16) if name == "[unknown]" else name)
        samples.append((int(head.group(1)), int(head.group(3)), path))
    return samples


def report(file):
    """{name: (children in percent, period, samples)}"""
    text = perf("report", "--stdio", "--no-inline", "--children", "-g", "none", "-t", "\t",
                "--percent-limit=0", MAX, "-F", "overhead_children,period,sample,sym", "-i", file)
    rows = {}
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        children, period, samples, name = line.split("\t")
        name = name.strip()[4:]
        name = int(name, 16) if name.startswith("0x") else name
        rows[name] = (float(children.strip().rstrip("%")), int(period), int(samples))
    return rows


def check_trace(trace, *options):
    calls = "calls" in options
    choice = [o for o in options if o not in ("--weight", "calls")]
    wanted, timed = check.reference(trace, *choice, key=by_names(check.rows(trace, *choice)))
    file = check.export(trace, "perfdata", "export.perf.data", *options)
    what = " ".join([trace, *options])
    own, inclusive, paths = {}, {}, {}
    total = 0
    for tid, period, path in script(file):
        total += period
        own[path[0]] = own.get(path[0], 0) + period
        for function in set(path):
            inclusive[function] = inclusive.get(function, 0) + period
            paths[function] = paths.get(function, 0) + 1
    if calls or not timed:
        check.compare(f"{what}: calls", {n: f.calls - f.counted for n, f in wanted.items()
                                         if f.calls > f.counted}, own)
    else:
        same = check.compare
        if not check.exact(trace):
            # Also of those that are rounded to nothing, which have no sample.
            for name, count in check.paths_of(trace, *choice).items():
                paths[name] = max(paths.get(name, 0), count)
            same = lambda *a: check.compare_near(*a, paths)
        same(f"{what}: self", {n: f.self_ns for n, f in wanted.items() if f.self_ns}, own)
        same(f"{what}: inclusive",
             {n: f.inclusive for n, f in wanted.items() if f.inclusive}
             | {n: inclusive.get(n) for n, f in wanted.items() if f.inclusive is None}, inclusive)
    # What perf report adds up is what perf script has listed.
    shown = report(file)
    check.compare(f"{what}: periods", {n: own.get(n, 0) for n in inclusive},
                  {n: row[1] for n, row in shown.items()})
    for name, (children, _, _) in shown.items():
        share = inclusive.get(name, 0) * 100 / total
        if abs(children - share) > 0.0051:
            check.fail(f"{what}: perf report: {name!r} has {children} %, not {share:.2f} %")
    threads = {tid for tid, _, _ in script(file)}
    wanted_threads = {row["thread"] for row in check.threads(trace, *choice) if int(row["calls"])}
    if len(threads) > len(wanted_threads):
        check.fail(f"{what}: samples of {len(threads)} threads, not {len(wanted_threads)}")
    return file


for trace in sys.argv[1:]:
    check_trace(trace)
    check_trace(trace, "--raw")
    file = check_trace(trace, "--weight", "calls")
# Against itself nothing has changed.
text = perf("diff", file, file)
rows = [line for line in text.splitlines() if "%" in line and not line.startswith("#")]
if not rows or any(re.search(r"[1-9]", line.split()[1]) and "%" in line.split()[1]
                   for line in rows):
    check.fail(f"perf diff: {text}")
head = perf("report", "--header-only", "-i", file)
for wanted in ("teeperf-calls", "arch : ", "hostname : teeperf", "nrcpus avail : 1", "cmdline : "):
    if wanted not in head:
        check.fail(f"perf report --header-only: no {wanted!r} in {head}")
check.finish(100)
