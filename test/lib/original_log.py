#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""original_log.py TEXT LOG: make a log of the original TEE-Perf from text.

One line each, # begins a comment, numbers as in Python:
log [threads] [size=N] [next=N] [flags=N] [self=N] [pid=N] [map=N] [counter=N] [spare=N]
                        the header; without it, one whose numbers are right. spare: entries there is
                        room for
TIME enter|exit FUNCTION [THREAD]
TIME on|off             the recorder switches; in a log of threads its record goes where the tool
                        puts it
empty                   an entry that was never written
words N...              an entry of these words
cut N                   only the first N bytes of the file remain
"""
import struct
import sys

HEADER = 56
MASK = (1 << 64) - 1


def make(text):
    lines = [line.split("#")[0].split() for line in text.split("\n")]
    lines = [line for line in lines if line]
    head = {}
    threads = False
    if lines and lines[0][0] == "log":
        threads = "threads" in lines[0]
        head = {key: int(value, 0) for key, _, value in
                (word.partition("=") for word in lines[0][1:]) if value}
        lines = lines[1:]
    width = 24 if threads else 16
    entries = bytearray()
    strays = []  # place and bytes of records that the recorder writes elsewhere
    cut = None
    for line in lines:
        number = len(entries) // width
        if line[0] == "cut":
            cut = int(line[1], 0)
            continue
        if line[0] == "empty":
            words = []
        elif line[0] == "words":
            words = [int(word, 0) for word in line[1:]]
        elif line[1] in ("on", "off"):
            words = [int(line[0], 0) | (line[1] == "on") << 63, 0]
            if threads:
                strays.append((16 * number, struct.pack("<2Q", *words)))
                words = []
        else:
            words = [int(line[0], 0) | {"enter": 0, "exit": 1}[line[1]] << 63]
            words += [int(word, 0) for word in line[2:]]
        words = (words + [0, 0, 0])[:width // 8]
        entries += struct.pack("<%dQ" % len(words), *(word & MASK for word in words))
    count = len(entries) // width
    entries += bytes(width * head.get("spare", 4))
    for place, record in strays:
        entries[place:place + 16] = record
    size = head.get("size", HEADER + len(entries))
    header = struct.pack("<7Q", head.get("counter", 1000000),
        head.get("flags", 0x80010001 if threads else 0x80000001),
        head.get("self", 0x7f0000000000), head.get("pid", 4711), size, head.get("next", count),
        head.get("map", 0x555555555139))
    return (header + entries)[:size].ljust(size + 1, b"\0")[:cut]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        log = make(source.read())
    with open(sys.argv[2], "wb") as target:
        target.write(log)
