#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an export with single calls holds, read by its own reader or by rules of its own, and
compared.

slices.py FORMAT PATH CSV [same|parts|within|within-parts|calls]
    The slices of the export PATH make the calls, self and inclusive times of CSV, which `teeperf
    analyze --raw --format csv` has written: to the nanosecond (the trace has to have one tick a
    nanosecond). parts: a call may be several slices, so that only times are compared. calls: only
    how many they are.
slices.py FORMAT PATH CSV within
    The same for any clock: each begin and end is rounded to a nanosecond, so that a sum of N slices
    may be off by N nanoseconds.
slices.py uftrace-report|uftrace-graph|uftrace-replay TEXT CSV [same|parts|within DIR]
    What uftrace prints of DIR agrees with CSV: calls, and in a report times as far as they are
    printed; within: for any clock, as above.
slices.py list FORMAT PATH...
    Print all slices as "thread begin end depth name", those of each file in order.
slices.py split FORMAT WHOLE TIME FROM PATH...
    The slices of the files PATH (PATH.0001, ...), each of TIME from FROM on, are those of WHOLE,
    cut where one file ends and the next begins. Nothing else may happen at these times.
"""
import codecs
import collections
import csv
import decimal
import json
import os
import re
import subprocess
import sys

LOST = re.compile(r"^\[(\d+ )?events lost\]$")


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


def pair(events, keep_lost=False):
    """Slices (thread, begin, end, depth, name) of events (thread, time, is_begin, name)."""
    stacks = collections.defaultdict(list)
    last = collections.defaultdict(int)
    slices = []
    for thread, time, begins, name in events:
        if time < last[thread]:
            fail(f"time of thread {thread} runs backwards at {time}")
        last[thread] = time
        if begins:
            stacks[thread].append((name, time))
            continue
        if not stacks[thread]:
            fail(f"thread {thread} ends '{name}' at {time}, and nothing is open")
        open_name, begin = stacks[thread].pop()
        if name is not None and open_name != name:
            fail(f"thread {thread} ends '{name}' at {time} in '{open_name}'")
        if keep_lost or not LOST.match(open_name):
            slices.append((thread, begin, time, len(stacks[thread]), open_name))
    for thread, stack in stacks.items():
        if stack:
            fail(f"thread {thread} leaves {len(stack)} slices open")
    return slices


# ---- readers: each gives events

def read_uftrace(path):
    command = ["uftrace", "dump", "-d", path, "--no-pager"]
    text = subprocess.run(command, check=True,
                          stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    line = re.compile(r"^(\d+)\.(\d+)\s+(\d+): \[(entry|exit )\] (.*)\([0-9a-f]+\) depth: (\d+)$")
    depth = collections.Counter()
    for row in text.split("\n"):
        match = line.match(row)
        if not match:
            continue
        thread, begins = int(match[3]), match[4] == "entry"
        depth[thread] -= not begins
        if depth[thread] != int(match[6]):
            fail(f"depth: {row}")
        depth[thread] += begins
        # All is a nanosecond later there.
        yield thread, int(match[1]) * 10**9 + int(match[2]) - 1, begins, match[5]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def read_chrome(path):
    # As numbers with three places they are exact.
    with open(path, encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    names = {}
    for event in trace["traceEvents"]:
        kind, thread = event["ph"], event["tid"]
        if kind == "M":
            names[thread, event["name"]] = event["args"]
        elif kind in "BE":
            if (thread, "thread_name") not in names:
                fail(f"thread {thread} has no name")
            time = event["ts"] * 1000
            if time != int(time):
                fail(f"time {event['ts']} is no whole nanosecond")
            yield thread, int(time), kind == "B", event.get("name")
        elif kind not in "iX":
            fail(f"event {event}")


def text_messages(lines):
    """A protocol buffer as text, as lists of (field, value), a message being such a list."""
    result = []
    for line in lines:
        line = line.strip()
        if line == "}":
            return result
        if line.endswith(" {"):
            result.append((line[:-2], text_messages(lines)))
        elif line:
            field, value = line.split(": ", 1)
            if value[0] == '"':
                value = unescape(value[1:-1])
            result.append((field, value))
    return result


def unescape(text):
    simple = {"n": b"\n", "r": b"\r", "t": b"\t"}
    return re.sub(
        rb"\\([0-7]{3}|.)",
        lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else simple.get(m[1].decode(), m[1]),
        text.encode()).decode("utf-8")


def read_perfetto(path):
    proto = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfetto.proto")
    with open(path, "rb") as file:
        text = subprocess.run(
            ["protoc", "--proto_path", os.path.dirname(proto), "--decode=Trace", proto], check=True,
            stdin=file, stdout=subprocess.PIPE).stdout.decode("utf-8")
    names, times, threads, clocks, tracks = {}, {}, {}, {}, {}
    for field, packet in text_messages(iter(text.split("\n"))):
        if field != "packet":
            fail(f"field {field} of the trace is not known")
        for key, _ in packet:
            if key.isdigit():
                fail(f"field {key} of a packet is not known")
        packet = dict(packet)
        sequence = packet["trusted_packet_sequence_id"]
        if packet.get("sequence_flags") == "1":
            names = {key: name for key, name in names.items() if key[0] != sequence}
        elif packet.get("sequence_flags") == "2" and sequence not in clocks:
            fail(f"sequence {sequence} needs what it has not begun with")
        for key, clock in packet.get("clock_snapshot", []):
            clock = dict(clock)
            if clock["clock_id"] == "64":
                times[sequence] = int(clock["timestamp"])
        if "trace_packet_defaults" in packet:
            defaults = dict(packet["trace_packet_defaults"])
            clocks[sequence] = defaults["timestamp_clock_id"]
            tracks[sequence] = dict(defaults["track_event_defaults"])["track_uuid"]
        if "track_descriptor" in packet:
            track = dict(packet["track_descriptor"])
            if "thread" in track:
                threads[track["uuid"]] = int(dict(track["thread"])["tid"])
                if not dict(track["thread"])["thread_name"]:
                    fail("a thread has no name")
        for key, data in packet.get("interned_data", []):
            data = dict(data)
            if key == "event_names":
                names[sequence, data["iid"]] = data["name"]
        if "track_event" not in packet or "timestamp_clock_id" in packet:
            continue
        event = dict(packet["track_event"])
        times[sequence] += int(packet["timestamp"])
        kind = event["type"]
        if kind != "TYPE_INSTANT":
            begins = kind == "TYPE_SLICE_BEGIN"
            yield (threads[tracks[sequence]], times[sequence], begins,
                   names[sequence, event["name_iid"]] if begins else None)


def read_speedscope_calls(path):
    trace = load(path)
    frames = trace["shared"]["frames"]
    for profile in trace["profiles"]:
        number = int(re.match(r"^.* (\d+)( \[|$)", profile["name"])[1])
        if profile["type"] != "evented" or profile["unit"] != "nanoseconds":
            fail(f"profile {number} is of another kind")
        last = profile["startValue"]
        for event in profile["events"]:
            yield number, event["at"], event["type"] == "O", frames[event["frame"]]["name"]
            last = event["at"]
        if last > profile["endValue"]:
            fail(f"profile {number} ends early")


def read_firefox(path):
    """Its samples are stretches of time; adjacent calls on one path look like one."""
    profile = load(path)
    if profile["meta"]["preprocessedProfileVersion"] != 48:
        fail("another version")
    for thread in profile["threads"]:
        stacks, frames, names = thread["stackTable"], thread["frameTable"], thread["stringArray"]
        functions, samples = thread["funcTable"], thread["samples"]
        for table in (stacks, frames, functions, samples):
            for key, column in table.items():
                if isinstance(column, list) and len(column) != table["length"]:
                    fail(f"column {key} has {len(column)} of {table['length']} rows")
        if samples["weightType"] != "tracing-ms":
            fail("weights are no times")
        open_stack, end = [], 0
        for stack, time, weight in zip(samples["stack"], samples["time"], samples["weight"]):
            path = []
            while stack is not None:
                path.insert(0, names[functions["name"][frames["func"][stacks["frame"][stack]]]])
                stack = stacks["prefix"][stack]
            begin = round(time * 10**6)
            if begin != end:
                for name in reversed(open_stack):
                    yield thread["tid"], end, False, name
                open_stack = []
            same = 0
            while open_stack[same:same + 1] == path[same:same + 1] != []:
                same += 1
            for name in reversed(open_stack[same:]):
                yield thread["tid"], begin, False, name
            for name in path[same:]:
                yield thread["tid"], begin, True, name
            open_stack, end = path, begin + round(weight * 10**6)
        for name in reversed(open_stack):
            yield thread["tid"], end, False, name


READERS = {
    "chrome": read_chrome,
    "firefox": read_firefox,
    "perfetto": read_perfetto,
    "speedscope": read_speedscope_calls,
    "uftrace": read_uftrace,
}


# ---- views of uftrace: sums

UNITS = {"us": 1000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9}


def printed_ns(text):
    """A time as it is printed, and how far the real one may be from it."""
    if not text.strip():
        return 0, 1
    number, unit = text.split()
    return float(number) * UNITS[unit], UNITS[unit] / 1000


def check_report(path, want, slack):
    seen = set()
    with open(path, encoding="utf-8", errors="replace") as file:
        for row in file.read().split("\n")[2:]:
            name = row[38:].rstrip()
            if not name or LOST.match(name):
                continue
            seen.add(name)
            if int(row[26:36]) != want[0][name]:
                fail(f"report: {row}, but there are {want[0][name]} calls")
            for text, what in (row[2:12], 2), (row[14:24], 1):
                ns = want[what][name]
                value, bound = printed_ns(text)
                if abs(value - ns) > bound + 1 + slack(what, name):
                    fail(f"report: {row}, but it is {ns} ns")
    if seen != set(want[0]):
        fail(f"report: other functions: {sorted(seen ^ set(want[0]))}")


def check_calls(what, calls, want):
    calls = {name: count for name, count in calls.items() if not LOST.match(name)}
    if calls != dict(want[0]):
        fail(f"{what}: {calls}, not {dict(want[0])}")


def check_graph(path, want, _):
    calls = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        rows = file.read().split("\n")
    first = True
    for row in rows:
        match = re.match(r"^.{12} : [ |+-]*\((\d+)\) (.*)$", row)
        if match and not first:
            calls[match[2]] += int(match[1])
        first = first and not match
    check_calls("graph", calls, want)


def check_replay(path, want, _):
    calls = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        for row in file.read().split("\n"):
            match = re.match(r"^.{12}\[ *\d+\] \| *(\S.*?)(;| \{)$", row)
            if match:
                # Parentheses are added to names that have none.
                name = match[1]
                if name not in want[0] and name.endswith("()"):
                    name = name[:-2]
                calls[name] += 1
    check_calls("replay", calls, want)


VIEWS = {"uftrace-report": check_report, "uftrace-graph": check_graph,
         "uftrace-replay": check_replay}


# ---- comparing

def sums(slices):
    """calls, self, inclusive by name; of recursive calls only the outermost is inclusive."""
    calls, own, inclusive, made = (collections.Counter() for _ in range(4))
    by_thread = collections.defaultdict(list)
    for item in slices:
        by_thread[item[0]].append(item)
    for items in by_thread.values():
        # A slice comes out when it ends: what it contains is before it, and one deeper.
        below = collections.Counter()
        below_count = collections.Counter()
        names = []
        for _, begin, end, depth, name in items:
            calls[name] += 1
            own[name] += end - begin - below[depth + 1]
            below[depth + 1] = 0
            below[depth] += end - begin
            made[name] += below_count[depth + 1]
            below_count[depth + 1] = 0
            below_count[depth] += 1
        open_names = collections.Counter()
        for _, begin, end, depth, name in reversed(items):
            while len(names) > depth:
                open_names[names.pop()] -= 1
            if not open_names[name]:
                inclusive[name] += end - begin
            names.append(name)
            open_names[name] += 1
    return calls, own, inclusive, made


def wanted(path, format_name):
    """What the analyzer has, by names as the format has them."""
    # uftrace sums by name, so functions that share one have their places there.
    places = format_name.startswith("uftrace")
    # Each writer mends text that is not UTF-8 in its own way.
    codecs.register_error("ask", lambda error: ("?" * (error.end - error.start), error.end))
    errors = "ask" if format_name == "perfetto" else "replace"
    calls, own, inclusive = (collections.Counter() for _ in range(3))
    with open(path, newline="", encoding="utf-8", errors=errors) as file:
        rows = [row for row in csv.DictReader(file)]
        names = collections.Counter(row["function"] for row in rows)
        for row in rows:
            if row["timed_calls"] == "0":
                continue
            name = row["function"]
            if places and names[name] > 1:
                name += f" ({os.path.basename(row['file'])}:{row['line']})"
            calls[name] += int(row["timed_calls"])
            own[name] += int(row["self_ns"])
            inclusive[name] += int(row["inclusive_ns"])
    return calls, own, inclusive


def rounding(got, what, name):
    """How far rounded slices may be off in a sum: each of its own, and in its self time each that
    it calls."""
    return got[0][name] + (got[3][name] if what == 1 else 0)


def compare(slices, want, how):
    got = sums(slices)
    # Of calls that took no time there is nothing in parts.
    known = {name for name in want[0] if name in got[0] or not how.endswith("parts") or
             want[2][name]}
    if set(got[0]) != known:
        fail(f"other functions: {sorted(set(got[0]) ^ set(want[0]))}")
    for i, what, mine, theirs in zip(range(3), ("calls", "self", "inclusive"), got, want):
        for name in known:
            off = abs(mine[name] - theirs[name])
            # A slice is as long as it was, though calls in it are left out.
            bound = mine[name] + theirs[name] if what != "calls" and how == "calls" else 0
            if what == "calls" and how.endswith("parts"):
                bound = mine[name]
            elif what != "calls" and how.startswith("within"):
                bound = rounding(got, i, name)
            if off > bound:
                fail(f"{what} of '{name}': {mine[name]}, not {theirs[name]}")
    print(f"{len(known)} functions, {sum(got[0].values())} slices: equal")


def check_split(format_name, whole, time, start, paths):
    read = READERS[format_name]
    if format_name == "firefox":
        # Where calls follow one another on one path it has no bounds: sums have to do.
        want, got = sums(pair(read(whole))), [collections.Counter(), collections.Counter()]
        for path in paths:
            for total, part in zip(got, sums(pair(read(path)))[1:3]):
                total.update(part)
        if got != list(want[1:3]):
            fail(f"{got}, not {want[1:3]}")
        print(f"{len(paths)} files: equal sums")
        return
    wanted_slices = collections.Counter()
    for thread, begin, end, depth, name in pair(read(whole)):
        at = begin
        while at < end or at == begin:
            bound = min(end, start + ((at - start) // time + 1) * time)
            wanted_slices[thread, at, bound, depth, name] += 1
            at = bound
            if at == end:
                break
    got = collections.Counter()
    for path in paths:
        number = int(path.rsplit(".", 1)[1]) - 1
        low, high = start + number * time, start + (number + 1) * time
        for item in pair(read(path)):
            if item[1] < low or item[2] > high:
                fail(f"{path}: {item} is not between {low} and {high}")
            got[item] += 1
    if got != wanted_slices:
        fail(f"too many: {list((got - wanted_slices))[:5]}, missing: "
             f"{list((wanted_slices - got))[:5]}")
    print(f"{len(paths)} files, {sum(got.values())} slices: equal")


def main():
    if sys.argv[1] == "split":
        check_split(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]),
                    sys.argv[6:])
        return
    if sys.argv[1] == "list":
        for path in sys.argv[3:]:
            for item in sorted(pair(READERS[sys.argv[2]](path))):
                print(*item)
        return
    want = wanted(sys.argv[3], sys.argv[1])
    if sys.argv[1] in VIEWS:
        slack = lambda what, name: 0
        if sys.argv[4:5] == ["within"]:
            got = sums(pair(read_uftrace(sys.argv[5])))
            slack = lambda what, name: rounding(got, what, name)
        VIEWS[sys.argv[1]](sys.argv[2], want, slack)
        return
    compare(pair(READERS[sys.argv[1]](sys.argv[2])), want, (sys.argv[4:] or ["same"])[0])


if __name__ == "__main__":
    main()
