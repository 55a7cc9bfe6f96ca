#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# export_speedscope.py TRACE...: the export "speedscope" of each is what speedscope's schema asks
# for, and has the self and inclusive times of each function.
import json
import sys

import export_check as check

UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def has(what, value, wanted, optional={}):
    """VALUE is an object with exactly these members, of these types."""
    if not isinstance(value, dict) or set(wanted) - set(value) or \
            set(value) - set(wanted) - set(optional):
        check.fail(f"{what}: members {list(value)}")
        return
    for key, kind in {**wanted, **optional}.items():
        if key in value and (not isinstance(value[key], kind) or isinstance(value[key], bool)):
            check.fail(f"{what}: {key} is {value[key]!r}")


def check_trace(trace, *options):
    calls = "calls" in options
    choice = [o for o in options if o not in ("--weight", "calls")]
    wanted, timed = check.reference(trace, *choice)
    text = open(check.export(trace, "speedscope", "export.json", *options), "rb").read().decode()
    file = json.loads(text)
    what = " ".join([trace, *options])
    has(what, file, {"$schema": str, "shared": dict, "profiles": list, "name": str,
                     "exporter": str, "activeProfileIndex": int})
    if file["$schema"] != "https://www.speedscope.app/file-format-schema.json":
        check.fail(f"{what}: schema {file['$schema']}")
    frames = file["shared"]["frames"]
    for frame in frames:
        has(what, frame, {"name": str}, {"file": str, "line": int})
    own, inclusive = {}, {}
    for profile in file["profiles"]:
        has(what, profile, {"type": str, "name": str, "unit": str, "startValue": int,
                            "endValue": int, "samples": list, "weights": list})
        if profile["type"] != "sampled" or profile["unit"] not in UNITS or \
                profile["unit"] != ("none" if calls or not timed else "nanoseconds"):
            check.fail(f"{what}: {profile['type']} in {profile['unit']}")
        if len(profile["samples"]) != len(profile["weights"]) or \
                sum(profile["weights"]) != profile["endValue"] - profile["startValue"]:
            check.fail(f"{what}: {profile['name']} does not add up")
        for path, weight in zip(profile["samples"], profile["weights"]):
            if weight <= 0 or not path:
                check.fail(f"{what}: a sample of {weight} with {len(path)} functions")
            names = [frames[i]["name"] for i in path]
            own[names[-1]] = own.get(names[-1], 0) + weight
            for name in set(names):
                inclusive[name] = inclusive.get(name, 0) + weight
    names = {n.encode(errors="surrogateescape").decode(errors="replace"): f
             for n, f in wanted.items()}
    if calls or not timed:
        check.compare(f"{what}: calls", {n: f.calls - f.counted for n, f in names.items()
                                         if f.calls > f.counted}, own)
        return
    same = check.compare
    if not check.exact(trace):
        # Also of those that are rounded to nothing, which have no sample.
        slack = check.paths_of(trace, *choice)
        same = lambda *a: check.compare_near(*a, slack)
    same(f"{what}: self", {n: f.self_ns for n, f in names.items() if f.self_ns}, own)
    same(f"{what}: inclusive", {n: inclusive.get(n) if f.inclusive is None else f.inclusive
                                for n, f in names.items() if f.inclusive != 0}, inclusive)
    rows = check.threads(trace, *choice)
    check.compare(f"{what}: threads",
                  {"names": [f"{r['name'] or 'thread'} {r['thread']}" +
                             (f" (tid {r['tid']})" if r["tid"] != "0" else "") for r in rows]},
                  {"names": [p["name"] for p in file["profiles"]]})
    places = {(f.get("name"), f.get("file", ""), f.get("line", 0)) for f in frames}
    check.compare(f"{what}: places", {n: True for n in names},
                  {n: (n, f.file, f.line if f.file else 0) in places for n, f in names.items()})


for trace in sys.argv[1:]:
    check_trace(trace)
    check_trace(trace, "--raw")
    check_trace(trace, "--weight", "calls")
check.finish(100)
