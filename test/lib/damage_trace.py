#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damage a recorded trace in many places, and see what teeperf makes of each.

damage_trace.py TEEPERF TRACE FUNCTION CUTS FLIPS: cuts TRACE at CUTS places and flips bits in FLIPS
copies, the same ones each time. No command may crash or hang; each must name the file and, for a
cut, the offset; calls of FUNCTION that lie before the damage must still be shown.
"""
import csv
import io
import random
import re
import struct
import sys

import many
import teeperf_abi as abi

TEEPERF, TRACE, FUNCTION = sys.argv[1:4]
CUTS, FLIPS = map(int, sys.argv[4:6])
SECTION = abi.teeperf_section
CHUNK, END = abi.TEEPERF_SECTION_CHUNK, abi.TEEPERF_SECTION_END
CHUNK_HEADER = abi.teeperf_chunk.size
COMMANDS = (
    ["analyze", "--format", "csv"],
    ["analyze", "--view", "tree", "--format", "json"],
    ["export", "--format", "folded"],
    ["export", "--format", "flamegraph", "-o", "-"],
    ["dump"],
)
failures = 0
ENDED = []  # calls that end in each section


def fail(what, result):
    global failures
    failures += 1
    print("FAIL", what, "status", result.returncode)
    print(result.stderr.decode(errors="replace")[:1500])


def run(what, path, command):
    result = many.run_quick([TEEPERF, *command, path], capture_output=True, timeout=600)
    if result.returncode not in (0, 1) or b"Sanitizer" in result.stderr:
        fail("%s: crash of %s" % (what, " ".join(command)), result)
    return result


def sections(data):
    """(offset, end, type) of each section."""
    at = abi.teeperf_trace_header.get("header_size", data)
    while at < len(data):
        section = SECTION.read(data, at)
        end = at + SECTION.size + (section.size + 7) // 8 * 8
        yield at, end, section.type
        at = end


def exits(data, part):
    """Calls that end in a chunk: exit records, whose kind is 1, and leaves, whose kind is 2."""
    at, _, kind = part
    if kind != CHUNK:
        return 0
    size = SECTION.get("size", data, at)
    first = at + SECTION.size + CHUNK_HEADER
    words = struct.unpack_from("<%dQ" % ((size - CHUNK_HEADER) // 8), data, first)
    return sum(word >> 32 >= abi.TEEPERF_NAME_FIRST and (word >> 32 & abi.TEEPERF_KIND_MASK) in (
        abi.TEEPERF_KIND_EXIT, abi.TEEPERF_KIND_UNTIMED) for word in words)


def calls(result, function=None):
    rows = csv.DictReader(io.StringIO(result.stdout.decode(errors="replace")))
    return sum(int(row["calls"]) for row in rows if function in (None, row["function"]))


def check(what, data, damage_at, parts, whole, must_speak):
    """DAMAGE_AT: offset of the first byte that is not as it was recorded."""
    path = "damaged.trace"
    with open(path, "wb") as file:
        file.write(data)
    results = [run(what, path, command) for command in COMMANDS]
    if must_speak:
        for command, result in zip(COMMANDS, results):
            text = result.stderr.decode(errors="replace")
            # A dump shows bytes: it need not know that a chunk is missing.
            if result.returncode != 1 and command[0] != "dump":
                fail("%s: %s says that all is well" % (what, command[0]), result)
            if result.returncode == 1 and path not in text:
                fail("%s: %s does not name the file" % (what, command[0]), result)
            if result.returncode == 1 and not re.search(r"at offset \d+|were written", text):
                fail("%s: %s does not name an offset" % (what, command[0]), result)
    # Names come from sections near the end: count calls, whatever the functions are called.
    before = sum(ended for part, ended in zip(parts, ENDED) if part[1] <= damage_at)
    if calls(results[0]) < before:
        fail("%s: %d of %d calls before it are shown" % (what, calls(results[0]), before),
             results[0])
    if damage_at >= parts[-1][0] and calls(results[0], FUNCTION) != whole:
        fail("%s: not %d calls of %s" % (what, whole, FUNCTION), results[0])


def main():
    with open(TRACE, "rb") as file:
        good = file.read()
    parts = list(sections(good))
    ENDED.extend(exits(good, part) for part in parts)
    whole = calls(run("good", TRACE, COMMANDS[0]), FUNCTION)
    if not whole or parts[-1][2] != END:
        print("FAIL: the trace is not good to begin with")
        return 1
    choose = random.Random(1)
    edges = [edge for at, end, _ in parts for edge in (at, at + 8, at + SECTION.size, end - 1)]
    cuts = {0, 7, 63, 64, len(good) - 1, *choose.sample(edges, min(20, len(edges)))}
    while len(cuts) < CUTS:
        cuts.add(choose.randrange(len(good)))
    for cut in sorted(cuts):
        check("cut to %d bytes" % cut, good[:cut], cut, parts, whole, True)
    for i in range(FLIPS):
        data = bytearray(good)
        # Half of them in headers and small sections: most bytes are records.
        if i % 2:
            at, end, _ = choose.choice(parts)
            byte = choose.randrange(at, min(end, at + SECTION.size + 256))
        else:
            byte = choose.randrange(abi.teeperf_trace_header.offset("created_unix_ns"), len(good))
        data[byte] ^= 1 << choose.randrange(8)
        covered = any(
            at <= byte < at + SECTION.size + SECTION.get("size", good, at) for at, _, _ in parts
        )
        check("bit in byte %d" % byte, bytes(data), byte, parts, whole, covered)
    print("%d calls, %d sections" % (sum(ENDED), len(parts)))
    print("%d cuts, %d flipped bits, %d failures" % (len(cuts), FLIPS, failures))
    return failures != 0


sys.exit(main())
