#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""query_examples.py TEEPERF: each query that comes with teeperf gives what Python computes from the
calls themselves, on traces of three threads that are made up here, as text."""

import collections
import json
import random
import subprocess
import sys

import many

TEEPERF = sys.argv[1]
NAMES = ["main", "alpha", "beta", "gamma", "delta"]


class Call:
    def __init__(self, tid, name, parent, t0):
        self.tid, self.name, self.parent, self.t0 = tid, name, parent, t0
        self.children = 0
        self.path = (parent.path if parent else ()) + (name,)
        self.rec = self.path[:-1].count(name)

    def end(self, t1):
        self.t1 = t1
        self.dur = t1 - self.t0
        self.self = self.dur - self.children
        if self.parent:
            self.parent.children += self.dur


def make(file, seed, count=400):
    """Write a trace to FILE; its calls, by thread and then as they begin."""
    pick = random.Random(seed)
    calls = []
    text = ["clock kind=tsc hz=1000000000", "command", '\tstring "/"', '\tstring "prog"', "symbols"]
    text += ["\tsymbol 0x%x %s" % (0x401000 + 16 * i, name) for i, name in enumerate(NAMES)]
    text += ["threads"] + ["\tthread tid=%d name=\"t%d\"" % (11 + tid, tid) for tid in range(3)]
    for tid in range(3):
        time = pick.randrange(1000)
        stack = []
        text.append("chunk thread=%d tid=%d time=%d" % (tid, 11 + tid, time))
        left = count
        while left or stack:
            if left and (not stack or (len(stack) < 9 and pick.random() < 0.5)):
                call = Call(tid, "main" if not stack else pick.choice(NAMES[1:]),
                            stack[-1] if stack else None, time)
                stack.append(call)
                calls.append(call)
                text.append("\t%d enter %s" % (time, call.name))
                left -= 1
            else:
                call = stack.pop()
                call.end(time)
                text.append("\t%d exit %s" % (time, call.name))
            time += pick.choice((1, 3, 20, 21, 1000))
    text.append("end")
    with open(file + ".txt", "w") as out:
        out.write("\n".join(text) + "\n")
    many.run_quick([TEEPERF, "dump", "--assemble", file + ".txt", "-o", file], check=True)
    for number, call in enumerate(calls, 1):
        call.id = number
    return calls


def ask(name, **parameters):
    command = [TEEPERF, "query", "--format", "json", "--example=" + name, "--attach",
               "b=before.trace"]
    for key, value in parameters.items():
        command += ["--param", "%s=%s" % (key, value)]
    return json.loads(many.run_quick(command + ["now.trace"], check=True,
                                     stdout=subprocess.PIPE).stdout)


def pctl(values, thousandths):
    return sorted(values)[max((thousandths * len(values) + 999) // 1000, 1) - 1]


def by(calls, key):
    groups = collections.OrderedDict()
    for call in calls:
        groups.setdefault(key(call), []).append(call)
    return groups


def total(calls):
    return sum(call.dur for call in calls)


def self_time(calls):
    return sum(call.self for call in calls)


def inclusive(calls):
    return sum(call.dur for call in calls if call.rec == 0)


checked = 0


def same(what, rows, expected, *order):
    """ROWS have the columns of EXPECTED in its order; those whose order is open by equal keys are
    sorted."""
    global checked
    got = [tuple(row.values()) for row in rows]
    expected = [tuple(row) for row in expected]
    if got != expected:
        for one, other in zip(got + [None] * len(expected), expected):
            if one != other:
                sys.exit("%s: %r, not %r (%d rows, not %d)" %
                         (what, one, other, len(got), len(expected)))
        sys.exit("%s: %d rows, not %d" % (what, len(got), len(expected)))
    checked += 1


def overlap(one, other):
    return min(one.t1, other.t1) - max(one.t0, other.t0)


def check(now, before):
    number = {name: i for i, name in enumerate(NAMES)}  # functions are numbered by address
    functions = by(now, lambda call: call.name)
    top = max(NAMES, key=lambda name: (self_time(functions[name]), -number[name]))

    same("thread-functions", ask("thread-functions"), sorted(
        ((calls[0].tid, "t%d" % calls[0].tid, calls[0].name, len(calls), self_time(calls))
         for calls in by(now, lambda call: (call.tid, call.name)).values()),
        key=lambda row: (-row[3], row[0], number[row[2]]))[:20])

    everything = self_time(now)
    rows = ask("top")
    for row in rows:
        row["percent"] = round(row["percent"] - 100 * row["self_ns"] / everything)  # to a digit
    same("top", rows, sorted(((name, len(calls), self_time(calls), inclusive(calls), 0)
                              for name, calls in functions.items()),
        key=lambda row: (-row[2], number[row[0]])))

    durations = {name: [call.dur for call in calls] for name, calls in functions.items()}
    same("latency", ask("latency"),
         sorted(((name, len(times), pctl(times, 500), pctl(times, 900), pctl(times, 990),
                  pctl(times, 999), max(times)) for name, times in durations.items()),
             key=lambda row: (-row[4], number[row[0]])))

    for function in (None, "beta"):
        chosen = {"function": function} if function else {}
        calls = functions[function or top]
        same("latency-by-caller", ask("latency-by-caller", **chosen), sorted(
            ((name, len(group), pctl([c.dur for c in group], 500),
              pctl([c.dur for c in group], 990), max(c.dur for c in group)) for name, group in by(
                  calls, lambda c: c.parent.name if c.parent else "(none)").items()),
            key=lambda row: (-row[1], number.get(row[0], -1))))

        # Paths are numbered in preorder, children in the order in which they were found.
        rows = ask("latency-by-history", **chosen)
        groups = by(calls, lambda c: c.path)
        expected = sorted(((len(group), total(group), pctl([c.dur for c in group], 990),
                            " > ".join(path)) for path, group in groups.items()),
                          key=lambda row: -row[1])
        got = [tuple(row.values())[1:] for row in rows]
        if [row[1] for row in got] != [row[1]
                                       for row in expected[:10]] or not set(got) <= set(expected):
            sys.exit("latency-by-history: %r, not %r" % (got, expected[:10]))

        outer = function or max(NAMES, key=lambda name: (inclusive(functions[name]), -number[name]))
        inner = [call for call in now if outer in call.path]
        same("inside", ask("inside", **chosen),
             sorted(((name, len(group), self_time(group))
                     for name, group in by(inner, lambda c: c.name).items()),
                 key=lambda row: (-row[2], number[row[0]])))

        calls = [call for call in calls if call.rec == 0]
        pairs = collections.OrderedDict()
        for one in calls:
            for other in calls:
                if one.tid < other.tid and one.t0 < other.t1 and other.t0 < one.t1:
                    pairs.setdefault((one.tid, other.tid), []).append(overlap(one, other))
        same("contention", ask("contention", **chosen), sorted(
            ((a, b, len(times), sum(times)) for (a, b), times in pairs.items()),
            key=lambda row: (-row[3], row[0], row[1])))

        levels = collections.Counter()
        edges = sorted([(c.t0, 1) for c in calls] + [(c.t1, -1) for c in calls])
        level = 0
        for (t, d), (after, _) in zip(edges, edges[1:]):
            level += d
            levels[level] += after - t
        same("concurrency", ask("concurrency", **chosen), sorted(levels.items()))

    edges = by(now, lambda c: (c.parent.path if c.parent else None, c.path))
    callees = collections.OrderedDict()
    for (parent, path), group in edges.items():
        if parent:
            row = callees.setdefault((parent[-1], path[-1]), [0, 0, 0])
            row[0] += len(group)
            row[1] += sum(1 for call in now if call.path == parent)
            row[2] += total(group)
    same("redundant-callees", ask("redundant-callees"), sorted(
        ((caller, callee, calls, round(calls / callers + 1e-12, 3), ns)
         for (caller, callee), (calls, callers, ns) in callees.items() if calls > callers),
        key=lambda row: (-row[4], number[row[0]], number[row[1]]))[:10])

    slowest = sorted((call for call in now if len(call.path) > 1),
                     key=lambda c: (-c.dur, c.id))[:10]
    same("outliers", ask("outliers"), ((c.id, c.name, c.tid, c.t0, c.dur, sum(
        1 for o in now if o.tid != c.tid and o.name == c.name and o.t0 < c.t1 and o.t1 > c.t0))
        for c in slowest))

    best = sorted(NAMES, key=lambda name: (-self_time(functions[name]), number[name]))[:5]
    same("phases", ask("phases", bucket=5000), sorted(
        ((bucket, name, len(group), self_time(group)) for (bucket, name), group in
         by([c for c in now if c.name in best], lambda c: (c.t0 - c.t0 % 5000, c.name)).items()),
        key=lambda row: (row[0], -row[3], number[row[1]])))

    earlier = by(before, lambda call: call.name)
    same("diff", ask("diff"), sorted(
        ((name, self_time(earlier.get(name, [])), self_time(functions.get(name, [])),
          self_time(functions.get(name, [])) - self_time(earlier.get(name, [])),
          len(earlier.get(name, [])), len(functions.get(name, []))) for name in NAMES),
        key=lambda row: (-abs(row[3]), row[0])))


def main():
    for seed in range(3):
        before = make("before.trace", 100 + seed, 200)
        now = make("now.trace", seed)
        start = min(call.t0 for call in now)
        for call in now:  # times begin at the first record
            call.t0 -= start
            call.t1 -= start
        check(now, before)
    names = many.run_quick([TEEPERF, "query", "--example"], stdout=subprocess.PIPE,
                           check=True).stdout.split(b"\n")
    if len(names) != 13:
        sys.exit("there are %d examples, and this knows 12" % (len(names) - 1))
    print("%d answers agree" % checked)


main()
