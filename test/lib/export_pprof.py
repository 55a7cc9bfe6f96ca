#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# export_pprof.py TRACE...: the export "pprof" of each, read by protoc and, if it is there, by
# `go tool pprof`, has the calls and times of all functions, and what a profile needs.
import gzip
import os
import re
import shutil
import sys

import export_check as check
from protobuf_text import first, parse

lib = os.path.dirname(os.path.abspath(__file__))
go = shutil.which("go")


def decode(file):
    raw = gzip.decompress(open(file, "rb").read())
    return parse(check.run("protoc", "--proto_path", lib, "--decode=Profile", "pprof.proto",
                           text=False, stdin=raw).decode())


def check_profile(trace, options, profile, wanted, timed, exact):
    """All that refers to something finds it, and the sums are ours."""
    strings = profile["string_table"]
    what = f"{' '.join([trace, *options])}: protoc"
    if strings[0] != "":
        check.fail(f"{what}: string 0 is not empty")
    types = [(strings[first(t, "type")], strings[first(t, "unit")]) for t in profile["sample_type"]]
    check.compare(what, {"types": [("calls", "count")] + [("time", "nanoseconds")] * timed},
                  {"types": types})
    check.compare(what, {"default": "time" if timed else "calls"},
                  {"default": strings[first(profile, "default_sample_type")]})
    mappings = {first(m, "id") for m in profile.get("mapping", [])}
    functions = {first(f, "id"): f for f in profile["function"]}
    locations = {}
    for location in profile["location"]:
        (line,) = location["line"]
        function = functions[first(line, "function_id")]
        if first(line, "line") != first(function, "start_line"):
            check.fail(f"{what}: a location's line is not its function's")
        if first(location, "mapping_id") not in mappings | {0}:
            check.fail(f"{what}: a location is in no mapping")
        locations[first(location, "id")] = function
    facts = {}
    for function in functions.values():
        name = strings[first(function, "name")]
        facts.setdefault(name, set()).add(
            (strings[first(function, "filename")], first(function, "start_line")))
    for name, f in wanted.items():
        if clean(name) not in facts or (f.file, f.line) not in facts[clean(name)]:
            check.fail(f"{what}: {name!r} is not in {f.file}:{f.line}")

    calls, own, inclusive, slack, threads = {}, {}, {}, {}, set()
    for sample in profile.get("sample", []):
        path = [strings[first(locations[i], "name")] for i in sample["location_id"]]
        values = sample["value"] + [0] * (2 - len(sample["value"]))
        labels = {strings[first(label, "key")]: label for label in sample.get("label", [])}
        if "path" not in labels:
            label = labels.get("tid") or labels.get("thread")
            threads.add(label and first(label, "num"))
        calls[path[0]] = calls.get(path[0], 0) + values[0]
        own[path[0]] = own.get(path[0], 0) + values[1]
        for name in set(path):
            inclusive[name] = inclusive.get(name, 0) + values[1]
            slack[name] = slack.get(name, 0) + 1
    same = check.compare if exact else lambda *a: check.compare_near(*a, slack)
    names = {clean(name): f for name, f in wanted.items()}
    check.compare(f"{what}: calls", {n: f.calls for n, f in names.items() if f.calls}, calls)
    same(f"{what}: self", {n: f.self_ns for n, f in names.items()}, own)
    unique = {n for n, f in names.items() if f.inclusive is not None}
    for name in names:
        inclusive.setdefault(name, 0)
    same(f"{what}: inclusive", {n: names[n].inclusive for n in unique},
         {n: i for n, i in inclusive.items() if n in unique})
    comments = [strings[i] for i in profile["comment"]]
    rows = check.threads(trace, *options)
    said = [f"thread     {r['thread']}, tid {r['tid']}: {r['name'] or 'thread'}" for r in rows]
    tids = {int(r["tid"]) or int(r["thread"]) or None for r in rows}
    if len(rows) < 2:
        said, tids = [], {None}
    check.compare(what, {"threads": said},
                  {"threads": [c for c in comments if c.startswith("thread  ")]})
    if not threads <= tids or (len(rows) > 1 and len(threads) < 2):
        check.fail(f"{what}: labels of threads {threads}, not {tids}")
    if not any(c.startswith("clock ") for c in comments):
        check.fail(f"{what}: the clock is not among the comments")
    return inclusive


def clean(name):
    return name.encode(errors="surrogateescape").decode(errors="replace").replace("\ufffd", "?")


UNITS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "mins": 6e10, "hrs": 3.6e12}


def check_go(trace, file, index, wanted):
    """`go tool pprof -top` says the same; its times have two places behind the point."""
    text = check.run(go, "tool", "pprof", "-top", "-nodefraction=0", "-nodecount=1000000",
                     "-unit=ns" if index == "time" else "-unit=count", f"-sample_index={index}",
                     file)
    got = {}
    for line in text[text.index("flat%"):].splitlines()[1:]:
        match = re.fullmatch(r"\s*([\d.]+)(\D*)\s+\S+%\s+\S+%\s+([\d.]+)(\D*)\s+\S+%\s+(.*?)", line)
        if match:
            got[match.group(5)] = (float(match.group(1)), float(match.group(3)))
        else:
            check.fail(f"{trace}: go tool pprof: {line}")
    check.compare(f"{trace}: go tool pprof {index}", wanted, got)


def check_trace(trace, *options):
    wanted, timed = check.reference(trace, *options)
    file = check.export(trace, "pprof", "export.pb.gz", *options)
    exact = check.exact(trace)
    profile = decode(file)
    inclusive = check_profile(trace, options, profile, wanted, timed, exact)
    if not go:
        return
    names = {clean(name): f for name, f in wanted.items()}
    if exact and timed and all(f.inclusive is not None for f in wanted.values()):
        check_go(trace, file, "time", {n: (f.self_ns, f.inclusive) for n, f in names.items()
                                       if f.inclusive})


for trace in sys.argv[1:]:
    check_trace(trace)
    check_trace(trace, "--raw")
check_trace(sys.argv[1], "--thread", "0")
if not go:
    print("go tool pprof is not there (package golang-go): read with protoc alone")
check.finish(100)
