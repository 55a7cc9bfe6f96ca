#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""views_agree.py TRACE...: all views and exports of a trace say the same.

From the rows of the tree view follow the calls, self and inclusive times of each function, of each
pair of caller and callee, and of each path. What every other view and export says of them is
compared with that, compensated and --raw, to the nanosecond: the traces have a clock of 1 GHz, and
functions of different names. A program that is not there (perf, uftrace, protoc) is
left out and named. --browser: the reports instead, in Chromium.

It is long as it has a reader for each format: what they share is a dozen lines.
"""
import collections
import csv
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import export_check as check
import many
import parquet_read
import slices

START = "(start of a thread)"
# What was running when a recorder attached: no call of it was recorded, so that it is none among
# single calls, and has no calls in sums; but callgrind's readers would take its time for its
# caller's.
ATTACHED = "[attached]"
FIELDS = ("calls", "self", "inclusive")
missing = set()


class Sums:
    """calls, self and inclusive time by some key; None: unknown."""

    def __init__(self):
        self.rows = collections.defaultdict(lambda: dict.fromkeys(FIELDS, 0))

    def add(self, key, /, **values):
        row = self.rows[key]
        for field in FIELDS:
            row[field] = (None if values.get(field) is None or
                          row[field] is None else row[field] + values[field])


class Numbers:
    """Of a trace: what follows from its paths, each a tuple of names from the outermost call on."""

    def __init__(self, paths):
        self.paths = paths
        self.functions, self.pairs = Sums(), Sums()
        for path, row in paths.rows.items():
            caller = path[-2] if len(path) > 1 else START
            pair = (caller, path[-1])
            above = zip((START,) + path[:-1], path[:-1])
            self.functions.add(path[-1], calls=row["calls"], self=row["self"],
                               inclusive=0 if path[-1] in path[:-1] else row["inclusive"])
            self.pairs.add(pair, calls=row["calls"], self=row["self"],
                           inclusive=0 if pair in above else row["inclusive"])


def recorded(truth):
    """The paths of which calls were recorded, by themselves and in a trace of single calls."""
    paths, single = Sums(), Sums()
    for path, row in truth.paths.rows.items():
        if path != (ATTACHED,):
            paths.add(path, **row)
            single.add(path[1:] if path[0] == ATTACHED else path, **row)
    return Numbers(paths), Numbers(single)


def with_inclusive(paths):
    """Paths of which only self times are known get inclusive ones."""
    whole = Sums()
    for path, row in paths.rows.items():
        for size in range(1, len(path) + 1):
            whole.add(path[:size], calls=0, self=0, inclusive=row["self"])
        whole.add(path, calls=row["calls"], self=row["self"], inclusive=0)
    return whole


def agree(what, wanted, got, *fields):
    """That these fields of two sums are the same; keys of which all fields are 0 or unknown may be
    missing."""
    def of(sums):
        rows = {key: tuple(row[field] for field in fields) for key, row in sums.rows.items()}
        return {key: row for key, row in rows.items() if any(row)}
    check.compare(what, of(wanted), of(got))


def number(text):
    return int(text) if text not in ("", None) else 0


# ---- what views and tables say

def read_tree(trace, *options):
    paths, stack = Sums(), []
    for row in check.view("tree", trace, *options):
        del stack[int(row["depth"]) - 1:]
        stack.append(row["function"])
        paths.add(tuple(stack), calls=int(row["calls"]), self=number(row["self_ns"]),
                  inclusive=number(row["inclusive_ns"]))
    return paths


def read_top(trace, *options):
    """The timed calls of functions, and all calls of them."""
    timed, calls, scaled = Sums(), {}, Sums()
    for row in check.rows(trace, *options):
        values = {"self": number(row["self_ns"]), "inclusive": number(row["inclusive_ns"])}
        of = int(row["timed_calls"])
        timed.add(row["function"], calls=of, **values)
        calls[row["function"]] = int(row["calls"])
        scaled.add(row["function"], calls=int(row["calls"]), **values)
    return timed, calls, scaled


def check_function_view(what, trace, truth, calls, *options):
    callers, callees, own = Sums(), Sums(), {}
    for row in check.view("function", trace, "--function", "*", *options):
        values = {"calls": int(row["calls"]), "self": number(row["self_ns"]),
                  "inclusive": number(row["inclusive_ns"])}
        if row["relation"] == "caller":
            callers.add((row["name"], row["function"]), **values)
        elif row["relation"] == "callee":
            callees.add((row["function"], row["name"]), **values)
        else:
            own[row["function"]] = values["calls"]
    inner = Sums()
    inner.rows.update({pair: row for pair, row in truth.pairs.rows.items() if pair[0] != START})
    agree(f"{what}: callers", truth.pairs, callers, *FIELDS)
    agree(f"{what}: callees", inner, callees, *FIELDS)
    check.compare(f"{what}: calls", calls, own)


def check_inverted(what, trace, truth, *options):
    """Each row is of the calls at the end of all paths that end with it and its callers."""
    got, wanted, chain = Sums(), Sums(), []
    for row in check.view("inverted", trace, *options):
        del chain[int(row["depth"]) - 1:]
        chain.append(row["function"])
        got.add(tuple(reversed(chain)), calls=int(row["calls"]), self=number(row["self_ns"]))
    for path, row in truth.paths.rows.items():
        for size in range(1, len(path) + 1):
            wanted.add(path[-size:], calls=row["calls"], self=row["self"])
    agree(what, wanted, got, "calls", "self")


def check_json(what, trace, *options):
    """JSON has what CSV has, where both have a column."""
    for view, rows in (("top", "functions"), ("tree", "tree"), ("function", "functions"),
                       ("inverted", "inverted"), ("threads", "threads")):
        choice = ("--function", "*") if view == "function" else ()
        done = many.run_quick([check.teeperf, "analyze", "--view", view, "--format", "json",
                               *choice, *options, trace], capture_output=True, text=True)
        got = json.loads(done.stdout)[rows]
        wanted = check.view(view, trace, *choice, *options)
        shared = set(wanted[0]) & set(got[0])
        if len(got) != len(wanted) or len(shared) < 4:
            check.fail(f"{what}: {view} has {len(got)} rows in JSON, {len(wanted)} in CSV, "
                       f"and shares {shared}")
        for i, (one, other) in enumerate(zip(wanted, got)):
            check.compare(f"{what}: row {i} of {view}", {key: one[key] for key in shared},
                          {key: "" if other[key] is None else str(other[key]) for key in shared})


def check_threads(what, trace, *options):
    """Of each thread the calls of its paths, and the times of its outermost ones."""
    calls, busy = collections.Counter(), collections.Counter()
    for row in check.view("tree", trace, *options):
        calls[row["thread"]] += int(row["calls"])
        busy[row["thread"]] += number(row["inclusive_ns"]) if row["depth"] == "1" else 0
    for row in check.threads(trace, *options):
        counted = sum(int(of["calls"]) - int(of["timed_calls"])
                      for of in check.rows(trace, "--thread", row["thread"], *options))
        check.compare(f"{what}: thread {row['thread']}",
                      {"calls": calls[row["thread"]] + counted, "busy": busy[row["thread"]]},
                      {"calls": int(row["calls"]), "busy": number(row["busy_ns"])})


SQL = {"functions": "SELECT function AS name, NULL AS caller, timed_calls AS calls, "
    "self_ns AS self, inclusive_ns AS inclusive FROM functions", "pairs":
    """SELECT f.function AS name, coalesce(g.function, '%s') AS caller, p.calls, p.self_ns AS self, CASE WHEN EXISTS (
        SELECT 1 FROM paths q JOIN paths r ON r.path = q.parent WHERE q.path < p.path AND p.path <= q.last
        AND q.fn = p.fn AND r.fn IS u.fn) THEN 0 ELSE p.inclusive_ns END AS inclusive FROM paths p JOIN functions f
        ON f.fn = p.fn JOIN paths u ON u.path = p.parent LEFT JOIN functions g ON g.fn = u.fn""" %
    START, "paths": "SELECT p.path, p.parent, f.function AS name, p.calls, p.self_ns AS self, "
    "p.inclusive_ns AS inclusive FROM paths p LEFT JOIN functions f USING (fn)", "thread_paths":
    """SELECT p.path, p.parent, f.function AS name, sum(t.calls) AS calls, sum(t.self_ns) AS self,
        sum(t.inclusive_ns) AS inclusive FROM paths p LEFT JOIN functions f ON f.fn = p.fn LEFT JOIN thread_paths t
        ON t.path = p.path GROUP BY p.path""",
}
SINGLE = """SELECT p.path, p.parent, f.function AS name, count(c.id) AS calls, sum(c.self_raw_ns) AS self,
    sum(c.duration_ns) AS inclusive FROM paths p
    LEFT JOIN functions f ON f.fn = p.fn LEFT JOIN calls c ON c.path = p.path GROUP BY p.path"""


# Single calls, percentiles and sums are of one and the same time of each call. Here: functions with
# times out of order, and paths whose calls do not add up, but for the rounding of each number.
OUT_OF_ORDER = """SELECT f.function, l.min_ns, l.p50_ns, l.p90_ns, l.p99_ns, l.p999_ns, l.max_ns,
        f.total_ns * 1.0 / f.timed_calls AS mean
    FROM functions f JOIN latencies l ON l.fn = f.fn WHERE f.timed_calls > 0 AND NOT (
        f.min_ns = l.min_ns AND f.max_ns = l.max_ns AND l.min_ns <= l.p50_ns AND
        l.p50_ns <= l.p90_ns AND l.p90_ns <= l.p99_ns AND l.p99_ns <= l.p999_ns AND
        l.p999_ns <= l.max_ns AND l.min_ns - 1 <= mean AND mean <= l.max_ns + 1)"""
NOT_THE_SUM = """SELECT p.path, p.calls, p.self_ns, p.inclusive_ns, s.self, s.inclusive
    FROM paths p JOIN (SELECT path, count(*) AS n, sum(self_ns) AS self,
        sum(inclusive_ns) AS inclusive, sum(duration_ns - cost_ns - inclusive_ns) AS off
        FROM calls GROUP BY path) s ON s.path = p.path
    WHERE p.path AND (abs(p.self_ns - s.self) > s.n + 1 OR abs(s.off) > s.n OR
        abs(p.inclusive_ns - s.inclusive) > s.n + 1 OR
        s.n <> p.calls)"""


def name_paths(rows):
    """Rows of path, parent, name and numbers, a parent before its children."""
    names, paths = {}, Sums()
    for row in rows:
        above = names.get(row["parent"], ())
        names[row["path"]] = above + (row["name"],) if row["name"] is not None else ()
        if row["name"] is not None:
            paths.add(names[row["path"]], **{field: number(row[field]) for field in FIELDS})
    return paths


def check_tables(what, ask, truth, single, whole):
    """`ask` answers SQL; `single`: also what single calls say; `whole`: no path was left out."""
    sums = {"functions": Sums(), "pairs": Sums()}
    for kind, found in sums.items():
        for row in ask(SQL[kind]):
            found.add((row["caller"], row["name"]) if kind == "pairs" else row["name"],
                      **{field: number(row[field]) for field in FIELDS})
    agree(f"{what}: functions", truth.functions, sums["functions"], *FIELDS)
    agree(f"{what}: pairs", truth.pairs, sums["pairs"], *FIELDS)
    for kind in ("paths", "thread_paths"):
        agree(f"{what}: {kind}", truth.paths, name_paths(ask(SQL[kind])), *FIELDS)
    for sql in (OUT_OF_ORDER, NOT_THE_SUM) if whole else ():
        wrong = [dict(row) for row in ask(sql)]
        if wrong:
            check.fail(f"{what}: times of single calls and their sums differ: {wrong[:3]}")
    if single:
        agree(f"{what}: single calls", recorded(truth)[0].paths, name_paths(ask(SINGLE)), *FIELDS)


def check_sql(what, trace, truth, single, *options):
    def ask(sql):
        done = many.run_quick([check.teeperf, "query", "--format", "json", *options, trace, sql],
                              capture_output=True, text=True)
        if done.returncode not in (0, 1) or not done.stdout:
            sys.exit(f"FAILED: {what}: {sql}: {done.stderr}")
        return json.loads(done.stdout)
    # Single calls above what --focus and --ignore choose keep their times.
    whole = not {"--focus", "--ignore"} & set(options)
    check_tables(f"{what} in SQL", ask, truth, single, whole)
    file = check.export(trace, "sqlite", "agree.sqlite", *options)
    base = sqlite3.connect(file)
    base.row_factory = sqlite3.Row
    check_tables(f"{what} in SQLite", lambda sql: base.execute(sql).fetchall(), truth, single,
                 whole)
    base.close()


def check_parquet(what, trace, truth, single_calls, *options):
    shutil.rmtree("agree.parquet", ignore_errors=True)
    check.run(check.teeperf, "export", "--format", "parquet", "-o", "agree.parquet", *options,
              trace)

    def read(table, *parts):
        run = f"agree.parquet/{table}/run={os.path.basename(trace)[:-6]}"
        rows = []
        for folder in sorted(os.listdir(run)) if "thread" in parts else ["."]:
            columns, _ = parquet_read.read(f"{run}/{folder}/{table}.parquet")
            rows += [dict(zip(columns, values)) for values in zip(*columns.values())]
        return rows
    names = {}
    functions, paths, single = Sums(), Sums(), Sums()
    for row in read("functions"):
        names[row["fn"]] = row["function"].decode()
        functions.add(names[row["fn"]], calls=row["timed_calls"], self=row.get("self_ns", 0),
                      inclusive=row.get("inclusive_ns", 0))
    of = {0: ()}
    for row in read("paths")[1:]:
        of[row["path"]] = of[row["parent"]] + (names[row["fn"]],)
    for row in read("thread_paths"):
        paths.add(of[row["path"]], calls=row["calls"], self=row.get("self_ns", 0),
                  inclusive=row.get("inclusive_ns", 0))
    agree(f"{what}: functions", truth.functions, functions, *FIELDS)
    agree(f"{what}: paths", truth.paths, paths, *FIELDS)
    for row in read("calls", "thread"):
        single.add(of[row["path"]], calls=1, self=row.get("self_raw_ns", 0),
                   inclusive=row.get("duration_ns", 0))
    if single_calls:
        agree(f"{what}: single calls", recorded(truth)[0].paths, single, *FIELDS)


def check_csv(what, trace, truth, *options):
    """Of single calls, which are as recorded."""
    of, paths = {"": ()}, Sums()
    file = check.export(trace, "csv", "agree.csv", *options)
    for row in csv.DictReader(open(file, newline="")):
        of[row["id"]] = of[row["parent"]] + (row["function"],)
        paths.add(of[row["id"]], calls=1, self=number(row["self_raw_ns"]),
                  inclusive=number(row["duration_ns"]))
    agree(what, truth.paths, paths, *FIELDS)


# ---- exports of sums

def read_folded(trace, *options):
    """Each path begins with the program and, if there are several, the thread."""
    paths = Sums()
    first = 1 + (len(check.threads(trace, *(o for o in options if o == "--raw"))) > 1)
    for line in open(check.export(trace, "folded", "agree.folded", *options)):
        path, _, weight = line.rstrip("\n").rpartition(" ")
        paths.add(tuple(path.split(";"))[first:], calls=int(weight), self=int(weight))
    return paths


def check_callgrind(what, trace, truth, calls, *options):
    """f'2 is f called by f; made-up functions are in brackets."""
    names, name, own, pairs, of_calls = {}, None, Sums(), Sums(), {}
    inclusive = collections.Counter()

    def named(text):
        match = re.fullmatch(r"\((\d+)\)(?: (.*))?", text)
        names.setdefault(match.group(1), match.group(2))
        return names[match.group(1)]

    def plain(text):
        return re.sub(r"'\d+$", "", text)

    lines = iter(open(check.export(trace, "callgrind", "agree.callgrind", *options)))
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("fn="):
            name = named(line[3:])
        elif line.startswith("cfn="):
            callee = named(line[4:])
        elif line.startswith("calls="):
            count, cost = int(line[6:].split()[0]), int(next(lines).split()[-1])
            of_calls[plain(callee)] = of_calls.get(plain(callee), 0) + count
            caller = START if name.startswith("(") else plain(name)
            if not callee.startswith("(thread") and name != "(only counted)" and \
                    callee != "(only counted)":
                pairs.add((caller, plain(callee)), calls=count)
                if "'" not in callee:
                    inclusive[callee] += cost
        elif re.match(r"[+*-]?\d+ \d+$|\* \d+$", line) and name:
            own.add(plain(name), calls=0, self=int(line.split()[-1]), inclusive=0)
    made_up = [n for n in of_calls if n.startswith("(thread") or n == "(only counted)"]
    threads = pairs.rows.pop((START, ATTACHED), None)
    if threads and of_calls.pop(ATTACHED) != threads["calls"]:
        check.fail(f"{what}: {ATTACHED} is called by others than threads")
    calls = {n: c for n, c in calls.items() if n != ATTACHED}
    check.compare(f"{what}: calls", calls, {n: c for n, c in of_calls.items() if n not in made_up})
    agree(f"{what}: pairs", truth.pairs, pairs, "calls")
    agree(f"{what}: self", truth.functions, own, "self")
    check.compare(f"{what}: inclusive",
                  {n: row["inclusive"] for n, row in truth.functions.rows.items()
                   if row["inclusive"]}, {n: i for n, i in inclusive.items() if i})


def fields_of(data):
    """(field, value) of a protocol buffer's message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2, key
            size = varint()
            at += size
            yield key >> 3, data[at - size:at]


def packed(data):
    return [value for _, value in fields_of(
        b"".join(b"\x08" + part for part in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", data)))]


def read_pprof(trace, *options):
    strings, functions, locations, samples, types = [], {}, {}, [], []
    data = gzip.decompress(open(check.export(trace, "pprof", "agree.pb.gz", *options), "rb").read())
    for field, value in fields_of(data):
        if field == 1:
            types.append(dict(fields_of(value)))
        elif field == 2:
            sample = {"labels": []}
            for at, part in fields_of(value):
                if at == 3:
                    sample["labels"].append(dict(fields_of(part)))
                else:
                    sample.setdefault(at, []).extend(packed(part) if isinstance(part, bytes)
                                                     else [part])
            samples.append(sample)
        elif field == 4:
            location = dict(fields_of(value))
            locations[location[1]] = dict(fields_of(location[4]))[1]
        elif field == 5:
            function = dict(fields_of(value))
            functions[function[1]] = function[2]
        elif field == 6:
            strings.append(value.decode(errors="replace"))
    kinds = [strings[t[1]] for t in types]
    paths, counted = Sums(), {}
    for sample in samples:
        path = tuple(strings[functions[locations[at]]] for at in reversed(sample[1]))
        values = dict(zip(kinds, sample[2]))
        if any(strings[label.get(2, 0)] == "unknown: only counted" for label in sample["labels"]):
            counted[path[-1]] = counted.get(path[-1], 0) + values["calls"]
        else:
            paths.add(path, calls=values["calls"], self=values.get("time", 0))
    return paths, counted


def read_speedscope(trace, *options):
    file = json.load(open(check.export(trace, "speedscope", "agree.json", *options)))
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    paths = Sums()
    for profile in file["profiles"]:
        for sample, weight in zip(profile["samples"], profile["weights"]):
            paths.add(tuple(frames[at] for at in sample), calls=weight, self=weight)
    return paths


def read_perfdata(trace, *options):
    """By perf script. Functions in no file have no name there, but their address."""
    file = check.export(trace, "perfdata", "agree.perf.data", *options)
    known = {int(row["address"], 16): row["function"] for row in check.rows(trace)}
    done = subprocess.run(["perf", "script", "--no-inline", "--max-stack=16384", "-i", file, "-F",
                           "tid,time,ip,sym,period"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    paths = Sums()
    for block in done.stdout.split("\n\n"):
        head, *lines = block.strip("\n").splitlines() or [""]
        path = [line.strip().partition(" ") for line in lines if line.strip()]
        if path:
            weight = int(head.split(":")[1])
            paths.add(tuple(known[int(at, 16)] if name == "[unknown]" else name
                            for at, _, name in reversed(path)), calls=weight, self=weight)
    return paths


def check_dot(what, trace, truth, calls, timed, *options):
    """Functions and pairs, by the attributes of nodes and edges, nothing left out."""
    text = r'"((?:[^"\\]|\\.)*)"'
    names, own, pairs, functions = {}, {}, Sums(), Sums()
    of = {row["function"]: row for row in check.rows(trace, *options)}
    scaled = {name for name, row in of.items() if int(row["timed_calls"]) != int(row["calls"])}
    for line in open(check.export(trace, "dot", "agree.dot", "--min-share", "0", *options)):
        node = re.match(rf"\tn(\d+) \[label={text}, tooltip={text}, .*calls=(\d+)(?:, "
                        rf"self_ns=(\d+), inclusive_ns=(\d+))?\];", line)
        edge = re.match(rf"\tn(\d+) -> n(\d+) \[label={text}.* calls=(\d+)(?:, "
                        rf"inclusive_ns=(\d+))?\];", line)
        if edge:
            pairs.add((names[edge.group(1)], names[edge.group(2)]), calls=int(edge.group(4)),
                      self=0, inclusive=number(edge.group(5)))
        elif node:
            name = names[node.group(1)] = re.sub(r"\\(.)", r"\1", node.group(3))
            own[name] = int(node.group(4))
            functions.add(name, calls=0, self=number(node.group(5)),
                          inclusive=number(node.group(6)))
    inner = Sums()
    inner.rows.update({pair: row for pair, row in truth.pairs.rows.items() if pair[0] != START})
    agree(f"{what}: pairs in dot", inner, pairs, *(("calls", "inclusive") if timed else ("calls",)))
    check.compare(f"{what}: calls in dot", {name: count for name, count in calls.items() if count},
                  {name: count for name, count in own.items() if count})
    if timed:
        whole, drawn = Sums(), Sums()
        whole.rows.update({name: row for name, row in truth.functions.rows.items()
                           if name not in scaled})
        drawn.rows.update({name: row for name, row in functions.rows.items() if name not in scaled})
        agree(f"{what}: functions in dot", whole, drawn, "self", "inclusive")


def check_sums(what, trace, truth, calls, timed, *options):
    """Exports that are sums: of self times, which make the inclusive ones, and by --weight calls of
    calls."""
    by_calls = ("--weight", "calls", *options)
    for form, read in (("folded", read_folded), ("speedscope", read_speedscope),
                       ("perfdata", read_perfdata)):
        if form == "perfdata" and not shutil.which("perf"):
            missing.add("perf")
            continue
        if timed:
            paths = read(trace, *options)
            agree(f"{what} in {form}", truth.paths, with_inclusive(paths), "self", "inclusive")
        agree(f"{what} in {form} by calls", truth.paths, read(trace, *by_calls), "calls")
    paths, counted = read_pprof(trace, *options)
    agree(f"{what} in pprof", truth.paths, paths, "calls", "self")
    check.compare(f"{what}: counted in pprof",
                  {name: all_calls - truth.functions.rows[name]["calls"]
                   for name, all_calls in calls.items()
                   if all_calls > truth.functions.rows[name]["calls"]}, counted)
    check_dot(what, trace, truth, calls, timed, *options)
    if timed:
        check_callgrind(f"{what} in callgrind", trace, truth, calls, *options)


# ---- exports of single calls, which are as recorded

def check_single(what, trace, sums, truth, parts, *options):
    """`sums`: with items that are not calls."""
    for form, program in (("chrome", None), ("perfetto", "protoc"), ("speedscope", None),
                          ("firefox", None), ("uftrace", "uftrace")):
        if program and not shutil.which(program):
            missing.add(program)
            continue
        shutil.rmtree("agree.out", ignore_errors=True)
        calls = ["--calls"] if form == "speedscope" else []
        file = check.export(trace, form, "agree.out", *calls,
                            *options) if form != "uftrace" else "agree.out"
        if form == "uftrace":
            done = many.run_quick([check.teeperf, "export", "--format", form, "-o", file, *options,
                                   trace], capture_output=True)
            if done.returncode not in (0, 1):
                sys.exit(f"FAILED: {what}: {form}: {done.stderr}")
        of_threads = collections.defaultdict(list)
        for thread, begin, end, depth, name in sorted(slices.pair(slices.READERS[form](file))):
            of_threads[thread].append((int(begin), -int(end), depth, name))
        shutil.rmtree("agree.out", ignore_errors=True)
        if os.path.exists("agree.out"):
            os.remove("agree.out")
        paths, functions = Sums(), Sums()
        for of in of_threads.values():
            stack = []
            # A call that begins where its caller does comes behind it.
            for begin, end, depth, name in sorted(of, key=lambda s: (s[0], s[2])):
                del stack[depth:]
                stack.append(name)
                whole = -end - begin
                paths.add(tuple(stack), calls=1, self=whole, inclusive=whole)
                if depth:
                    paths.rows[tuple(stack[:-1])]["self"] -= whole
        for path, row in paths.rows.items():
            functions.add(path[-1], self=row["self"], calls=0, inclusive=0)
        if parts:
            # A call that is left for another stack is two there.
            agree(f"{what} in {form}", truth.functions, functions, "self")
        elif form == "firefox":
            # Calls one after another without a gap are one.
            agree(f"{what} in {form}", sums.paths, paths, "self", "inclusive")
        else:
            agree(f"{what} in {form}", truth.paths, paths, *FIELDS)


# ---- the report, by its own script

READ_REPORT = """
const done = arguments[arguments.length - 1];
// Names are shown short, and whole in titles.
const whole = cell => (cell.querySelector('button.link') ?? cell).title || cell.textContent;
const rowsOf = selector => [...document.querySelectorAll(selector + ' tr')].map(row => [...row.cells].map(whole));
const shown = () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
const pathOf = (tree, node) => {
	const names = [];
	for (let at = node; at > 0; at = tree.parent[at])
		names.unshift(functionName(tree.fn[at]));
	return names;
};
(async () => {
	const answer = {sandwich: [], tree: [], inverted: [], threads: []};
	answer.heat = [...data.heat?.maps ?? []].map(([fn, {calls}]) => [functionName(fn), calls.reduce((a, b) => a + b, 0)]);
	answer.graph = (data.graph?.edges ?? []).map(({from, to, calls, inclusive}) =>
		[...[from, to].map(i => functionName(data.graph.nodes[i].fn)), calls, inclusive ?? 0]);
	const functions = () => functionRows().filter(row => row.fn < data.functions.count)
		.map(row => [functionName(row.fn), row.calls, row.self, row.inclusive]);
	answer.functions = functions();
	change({tab: 'table'});
	answer.table = [...document.querySelectorAll('#table-body tr[data-fn]')].map(row => ['name', 'calls', 'self', 'inclusive'].map(
		name => name === 'name' ? whole(row.querySelector('.name')) : row.querySelector('.' + name)?.textContent ?? ''));
	change({tab: 'sandwich'});
	for (let fn = 0; fn < data.functions.count; fn++) {
		change({fn: String(fn)});
		views.sandwich.show();
		views.sandwich.finish();
		const tree = new Forward(currentSums(), {});
		const calls = [];
		const backward = views.sandwich.callers.tree;
		for (const kid of backward.children(0))
			calls.push([functionName(backward.fn[kid]), backward.calls[kid]]);
		answer.sandwich.push([functionName(fn), rowsOf('#edges-up'), rowsOf('#edges-down'),
			pairsOf(tree, fn, true).map(p => [p.fn < 0 ? '' : functionName(p.fn), p.calls, p.total]),
			pairsOf(tree, fn, false).map(p => [functionName(p.fn), p.calls, p.total]), calls]);
	}
	const tree = new Forward(currentSums(), {});
	answer.paths = [...Array(tree.count).keys()].slice(1).map(node => [pathOf(tree, node), tree.calls[node], tree.self[node], tree.total[node]]);
	for (const inverted of ['', '1']) {
		change({tab: 'tree', inverted, fn: ''});
		await shown();
		for (let row; (row = document.querySelector('#tree-body [aria-expanded=false]'));)
			views.tree.toggle(row, true);
		const chain = [];
		for (const row of document.querySelectorAll('#tree-body tr')) {
			const level = Number(row.getAttribute('aria-level')) - 1;
			chain.length = Math.max(level - 1, 0);
			if (level)
				chain.push(row.cells[0].title);
			answer[inverted ? 'inverted' : 'tree'].push([[...chain], ...[4, 3, 1].map(i => row.cells[i].textContent)]);
		}
	}
	for (let i = 0; i < data.facts.threads.length; i++) {
		change({thread: String(i), tab: 'table', inverted: ''});
		const {title, path} = data.facts.threads[i];
		answer.threads.push([title.split(' ').pop(), path.length ? functions() : null, !document.querySelector(`[name=thread] option[value="${i}"]`).disabled]);
	}
	done(answer);
})().catch(error => done({error: String(error.stack)}));
"""
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def near(what, text, wanted):
    """A time as the report writes it, four digits."""
    match = re.match(r"([\d.,]+) (ns|µs|ms|s)\b", text)
    got = float(match.group(1).replace(",", "")) * UNITS[match.group(2)] if match else None
    check.compared += 1
    if got is None or abs(got - wanted) > max(0.051, wanted / 1000):
        check.fail(f"{what}: {text!r}, not {wanted} ns")


def count_of(text):
    # An estimate of all calls may stand behind those that were recorded.
    text = text.split(" ")[0] if text else text
    return int(text.replace(",", "")) if text and text != "–" else 0


def check_report(what, browser, trace, truth, top, timed, *options):
    """`top`: what read_top() says."""
    _, calls, scaled = top
    done = many.run_quick([check.teeperf, "report", "-o", "agree.html", *options, trace],
                          capture_output=True)
    if done.returncode not in (0, 1):
        sys.exit(f"FAILED: {what}: {done.stderr}")
    browser.open("about:blank")
    browser.open("file://" + os.path.abspath("agree.html"))
    if not browser.until("return document.documentElement.dataset.loaded === 'yes'"):
        sys.exit(f"FAILED: {what}: the report is not shown: "
                 f"{browser.run('return document.body.innerText')}")
    answer = browser.call("POST", "/execute/async", {"script": READ_REPORT, "args": []})
    if "error" in answer:
        sys.exit(f"FAILED: {what}: {answer['error']}")

    def of_function(name, field):
        row = scaled.rows[name]
        with_times = truth.functions.rows[name]["calls"] if name in truth.functions.rows else 0
        if field == "calls" or not with_times:
            return row[field]
        return row[field] * row["calls"] // with_times if name in sampled else row[field]
    sampled = {row["function"] for row in check.rows(trace, *options)
               if 0 < int(row["timed_calls"]) < int(row["calls"])}
    functions = Sums()
    for name, count, own, inclusive in answer["functions"]:
        functions.add(name, calls=count, self=own, inclusive=inclusive)
    wanted = Sums()
    for name in scaled.rows:
        wanted.add(name, **{field: of_function(name, field) for field in FIELDS})
    if not sampled:
        agree(f"{what}: functions", wanted, functions, *FIELDS)
    else:
        agree(f"{what}: calls of functions", wanted, functions, "calls")
    recorded_calls = {row["function"]: int(row["timed_calls"])
                      for row in check.rows(trace, *options)}
    check.compare(f"{what}: latency over time",
                  {name: recorded_calls[name] for name, _ in answer["heat"]}, dict(answer["heat"]))
    if timed and not answer["heat"]:
        check.fail(f"{what}: there is no latency over time")
    of_graph = {(caller, callee): (count, inclusive)
                for caller, callee, count, inclusive in answer["graph"]}
    check.compare(f"{what}: call graph", {pair: (truth.pairs.rows[pair]["calls"], truth.pairs.rows[
        pair]["inclusive"] if timed else 0) for pair in of_graph}, of_graph)
    check.compare(f"{what}: table", calls, {row[0]: count_of(row[1]) for row in answer["table"]})
    for name, _, own, inclusive in answer["table"] if timed and not sampled else []:
        if own != "–" and scaled.rows[name]["inclusive"]:
            near(f"{what}: self of {name} in the table", own, scaled.rows[name]["self"])
            near(f"{what}: inclusive of {name} in the table", inclusive,
                 scaled.rows[name]["inclusive"])

    def of_pairs(name, up):
        return {(pair[0] if up else pair[1]): row for pair, row in truth.pairs.rows.items()
                if pair[1 if up else 0] == name}
    for name, up, down, exact_up, exact_down, flames in answer["sandwich"]:
        for shown, exact, above in ((up, exact_up, True), (down, exact_down, False)):
            pairs = of_pairs(name, above)
            title = f"{what}: {'callers' if above else 'callees'} of {name}"
            wanted_rows = {other: (row["calls"],) + ((row["inclusive"],) if timed else ())
                           for other, row in pairs.items()}
            check.compare(title, wanted_rows, {other or START: tuple(values[:2 if timed else 1])
                                               for other, *values in exact})
            rest = calls[name] - sum(row["calls"] for row in pairs.values()) if above else 0
            wanted_shown = {other: row["calls"] for other, row in pairs.items()}
            if rest:
                wanted_shown["(caller not known)"] = rest
            check.compare(f"{title}, shown", wanted_shown or {"none": 0},
                          {row[0]: count_of(row[3]) for row in shown})
            for row in shown if timed else []:
                if row[0] in pairs:
                    near(f"{title}, shown", row[1], pairs[row[0]]["inclusive"])
        # Frames of callers have all calls that were made from there.
        wanted_calls = {other: row["calls"] for other, row in of_pairs(name, True).items()
                        if other != START}
        check.compare(f"{what}: frames above {name}", wanted_calls, dict(flames))
    paths = Sums()
    for path, count, own, inclusive in answer["paths"]:
        paths.add(tuple(path), calls=count, self=own, inclusive=inclusive if timed else 0)
    agree(f"{what}: paths", truth.paths, paths, *FIELDS[:3 if timed else 1])
    check.compare(f"{what}: call tree",
                  {path: row["calls"] for path, row in truth.paths.rows.items()},
                  {tuple(path): count_of(count) for path, count, _, _ in answer["tree"] if path})
    for path, _, own, inclusive in answer["tree"] if timed else []:
        if path:
            near(f"{what}: self of {path} in the call tree", own,
                 truth.paths.rows[tuple(path)]["self"])
            near(f"{what}: inclusive of {path} in the call tree", inclusive,
                 truth.paths.rows[tuple(path)]["inclusive"])
    suffixes = collections.Counter()
    for path, row in truth.paths.rows.items():
        for size in range(1, len(path) + 1):
            suffixes[path[-size:]] += row["calls"]
    # It has neither calls nor a time of its own to begin a tree with.
    suffixes.pop((ATTACHED,), None)
    check.compare(f"{what}: inverted", dict(suffixes),
                  {tuple(reversed(path)): count_of(count)
                   for path, count, _, _ in answer["inverted"] if path})
    # Threads that have no paths are not in a report.
    for thread, functions_of, enabled in answer["threads"]:
        # One without numbers would be shown with those of all.
        check.compare(f"{what}: thread {thread}", {"can be chosen": functions_of is not None},
                      {"can be chosen": enabled})
        wanted_of = read_top(trace, "--thread", thread,
                             *options)[0] if "--thread" not in options else Sums()
        # A pattern that matches nothing in a thread is refused.
        if functions_of is None or not wanted_of.rows:
            continue
        got = Sums()
        for name, count, own, inclusive in functions_of:
            got.add(name, calls=count, self=own, inclusive=inclusive)
        agree(f"{what}: thread {thread}", wanted_of, got, *FIELDS[:3 if timed else 1])


# A part of a trace. Single calls keep their durations whatever of them was chosen by its path.
CHOICES = (("--raw", "--thread", "1"), ("--raw", "--depth", "3"), ("--raw", "--focus", "self"),
           ("--raw", "--ignore", "leaf"), ("--raw", "--min-time", "60ns"),
           ("--raw", "--time-range", "120ns..920ns"),
           ("--thread", "0"), ("--depth", "2"), ("--focus", "even", "--ignore", "odd"))


def main():
    traces = [trace for trace in sys.argv[1:] if trace != "--browser"]
    browser = None
    if "--browser" in sys.argv:
        from browser import Browser
        browser = Browser(1280, 900)
    try:
        for trace in traces:
            for options in ((), ("--raw",), *(CHOICES if "mutual" in trace else ())):
                what = " ".join((trace, *options))
                truth = Numbers(read_tree(trace, *options))
                top = read_top(trace, *options)
                timed = any(row["inclusive"] for row in truth.paths.rows.values())
                agree(f"{what}: top", truth.functions, top[0], *FIELDS)
                if browser:
                    check_report(f"{what} in the report", browser, trace, truth, top, timed,
                                 *options)
                    continue
                check_function_view(f"{what}: function", trace, truth, top[1], *options)
                check_inverted(f"{what}: inverted", trace, truth, *options)
                check_json(what, trace, *options)
                if not options or options == ("--raw",):
                    # With a filter, what sampled calls stand for is shared out among the threads.
                    check_threads(what, trace, *options)
                single = "--raw" in options and not {"--focus", "--ignore"} & set(options)
                check_sql(what, trace, truth, single, *options)
                check_parquet(f"{what} in parquet", trace, truth, single, *options)
                check_sums(what, trace, truth, top[1], timed, *options)
                if single:
                    single_calls = recorded(truth)[1]
                    check_csv(f"{what} in csv", trace, single_calls, *options)
                    if timed:
                        check_single(what, trace, truth, single_calls, "contexts" in trace,
                                     *options[1:])
    finally:
        if browser:
            browser.__exit__()
    if missing:
        print("not there, so left out: " + ", ".join(sorted(missing)))
    check.finish(60 * len(traces))


main()
