#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
check_ring.py TEEPERF PROGRAM TRACE [DEMAND...]: a flight recorder's trace of ring_program.c holds
the end of each thread's work. Its chunks follow one another, and so do its steps, record by record:
an interpreter of the program checks the records. Prints a line for each thread, with the first and
the last step that are there whole (-1: none). Demands:

  chunks=N         no thread has more chunks than that
  threads=N        this number of threads have chunks
  written=N        thread 0 wrote N records; those that are there and those that were overwritten
                   make that number
  last:T=N         the last whole step of thread T is number N; last:T>=N: or a later one; thread *
                   stands for each of those with the most chunks
  all:T=N          thread T is there from its beginning on, with N steps
  handlers=N       at least this number of whole steps of handlers are there; their records may be
                   between any others
"""
import re
import subprocess
import sys

BITS = 24
WORDS = 8184  # of a chunk
INNER = ("step", "zero", "one")
HANDLERS = ("on_timer", "handler_step", "handler_zero", "handler_one")
teeperf, program, trace, *demands = sys.argv[1:]


def fail(what):
    sys.exit("FAILED: %s: %s" % (trace, what))


def run(*command):
    return subprocess.run([teeperf, *command], check=True, stdout=subprocess.PIPE, text=True).stdout


names = {}
for line in run("symbols", program).splitlines()[1:]:
    fields = line.split(",")
    names[int(fields[0], 16)] = fields[1]

bias, chunks, facts, lines = None, {}, {}, None
for line in run("dump", trace).splitlines():
    words = line.split()
    if line.startswith("chunk "):
        facts = dict(word.split("=", 1) for word in words[1:])
        lines = []
        chunks.setdefault(int(facts["thread"]), {})[int(facts["sequence"])] = lines
    elif line.startswith("\tmodule ") and line.rstrip('"').endswith("/" + program.split("/")[-1]):
        bias = int(re.search(r"bias=(\w+)", line).group(1), 16)
    elif not line.startswith("\t"):
        lines = None
    elif lines is not None:
        lines.append(words)


def step_of(number, prefix=""):
    yield "enter", prefix + "step"
    for bit in range(BITS - 1, -1, -1):
        name = prefix + ("one" if number >> bit & 1 else "zero")
        yield "enter", name
        yield "exit", name
    yield "exit", prefix + "step"


def number_of(events, at, prefix=""):
    """The number of the step that begins there, and whether it is there whole."""
    found = events[at:at + 2 * BITS + 2]
    if len(found) < 2 * BITS + 2:
        return None
    number = 0
    for kind, name in found[1:-1:2]:
        number = number * 2 + (name == prefix + "one")
    return number


def follow(thread, events):
    """The numbers of the first and the last whole step; each record is what it must be."""
    outer = [i for i, (_, name) in enumerate(events) if name not in INNER]
    start = next((i for i, event in enumerate(events) if event == ("enter", "step")), len(events))
    number = number_of(events, start) if start < len(events) else None
    if number is None:
        return -1, -1
    first, last, at = number, -1, start
    before = list(step_of(number - 1)) if number else []
    head = [event for i, event in enumerate(events[:start]) if i not in outer]
    if head != before[len(before) - len(head):]:
        fail("thread %d begins with %s, which is no end of step %d" %
             (thread, head[:4], number - 1))
    while at < len(events):
        if events[at][1] not in INNER:
            number, at = 0, at + 1
            continue
        wanted = list(step_of(number))
        found = events[at:at + len(wanted)]
        if found != wanted[:len(found)]:
            fail("thread %d, record %d: %s instead of step %d" % (thread, at, found, number))
        if len(found) == len(wanted):
            last = number
        at, number = at + len(found), number + 1
    return first, last


seen, whole, handled = {}, {}, 0
for thread, parts in sorted(chunks.items()):
    sequences = sorted(parts)
    if sequences != list(range(sequences[0], sequences[-1] + 1)):
        fail("thread %d has the chunks %s" % (thread, sequences))
    events, controls = [], 0
    for sequence in sequences:
        for words in parts[sequence]:
            if words[-2:-1] in (["enter"], ["exit"]):
                address = (int(words[-1], 16) - bias) & 0xffffffff
                events.append((words[-2], names[address]))
            else:
                controls += 1
        if sequence != sequences[-1] and len(parts[sequence]) != WORDS:
            fail("thread %d has %d words in chunk %d" % (thread, len(parts[sequence]), sequence))
    handlers = [event for event in events if event[1] in HANDLERS]
    events = [event for event in events if event[1] not in HANDLERS]
    at = 0
    while at < len(handlers):
        number = number_of(handlers, at,
                           "handler_") if handlers[at] == ("enter", "handler_step") else None
        if number is not None and handlers[at:at + 2 * BITS +
                                           2] == list(step_of(number, "handler_")):
            handled += 1
        at += 1
    seen[thread] = follow(thread, events)
    whole[thread] = sequences[0] == 0
    parts["written"] = sequences[0] * WORDS + len(events) + len(handlers)
    print("thread %d first=%d last=%d records=%d chunks=%d" % (
        thread, *seen[thread], len(events) + len(handlers) + controls, len(sequences)))

most = max((len(parts) - 1 for parts in chunks.values()), default=0)
for demand in demands:
    what, thread, sign, value = re.fullmatch(r"(\w+)(?::(\d+|\*))?(=|>=)(\d+)", demand).groups()
    value = int(value)
    chosen = [t for t in chunks
              if len(chunks[t]) - 1 == most] if thread == "*" else [int(thread or 0)]
    for number in chosen:
        if what != "threads" and number not in seen:
            fail("thread %d is not there: %s" % (number, demand))
        first, last = seen.get(number, (-1, -1))
        if what == "chunks":
            good = most <= value
        elif what == "threads":
            good = len(chunks) == value
        elif what == "written":
            good = chunks[0]["written"] == value
        elif what == "last":
            good = last == value if sign == "=" else last >= value
        elif what == "all":
            good = whole[number] and (first, last) == (0, value - 1)
        elif what == "handlers":
            good = handled >= value
        else:
            fail("no such demand: " + demand)
        if not good:
            fail("'%s' is not true: thread %d has steps %d to %d, most chunks %d, threads %d, "
                 "written %d, handled %d" % (demand, number, first, last, most, len(chunks),
                     chunks.get(0, {}).get("written", 0), handled))
