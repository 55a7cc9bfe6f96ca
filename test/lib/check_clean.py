#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is what stands on standard input fit for a terminal? check_clean.py [--cells SEPARATOR] WHAT

Printable UTF-8 with newlines and tabs, nothing that changes the direction of text. With --cells no
cell of a table begins as a formula does, unless it is a number.
"""
import csv
import sys

DIRECTION = {0x61C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def is_bad(c):
    return (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F or ord(c) in DIRECTION


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def main():
    cells = sys.argv[2].replace("tab",
                                "\t").replace("comma", ",") if sys.argv[1] == "--cells" else None
    what = sys.argv[-1]
    data = sys.stdin.buffer.read()
    if len(data) < 20:
        sys.exit(f"{what}: printed next to nothing: {data!r}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        sys.exit(f"{what}: not UTF-8: {data[max(0, error.start - 40):error.end + 20]!r}")
    for at, c in enumerate(text):
        if is_bad(c):
            sys.exit(f"{what}: U+{ord(c):04X} in {text[max(0, at - 40):at + 20]!r}")
    for row in csv.reader(text.splitlines(keepends=True), delimiter=cells) if cells else ():
        for cell in row:
            if cell[:1] and cell[0] in "=+-@" and not is_number(cell):
                sys.exit(f"{what}: the cell {cell!r} is a formula")


main()
