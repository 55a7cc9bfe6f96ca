#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the functions in a table of `analyze --format csv` with what other tools say of them.

symbols_agree.py CSV COUNT [MODULE=FILE...]: there are COUNT functions; linkage name and demangled
name of each are nm's, file and line are those of addr2line and, where it is installed, those that
llvm-symbolizer gives as the function's start. FILE is asked instead of MODULE, for what was
stripped.
"""
import csv
import json
import os
import shutil
import subprocess
import sys

failures = 0


def fail(row, tool, found, expected):
    global failures
    failures += 1
    print("%s: %s is %r, but teeperf says %r" % (row["address"], tool, expected, found))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(path, *options):
    """Names by address, of functions that are defined in the file."""
    found = {}
    for line in output("nm", "--defined-only", *options, path).splitlines():
        address, kind, name = line.split(" ", 2)
        if kind in "TtWwi":
            found.setdefault(int(address, 16), set()).add(name)
    return found


def place(text):
    """addr2line's FILE:LINE, perhaps with a discriminator behind."""
    path, line = text.split(" (")[0].rsplit(":", 1)
    return os.path.realpath(path), line


def compare(path, rows, symbolizer):
    addresses = [row["address"] for row in rows]
    linkage = symbols(path)
    demangled = symbols(path, "-C")
    lines = output("addr2line", "-e", path, *addresses).splitlines()
    for row, line in zip(rows, lines):
        address = int(row["address"], 16)
        found = os.path.realpath(row["file"]), row["line"]
        if row["linkage"] not in linkage.get(address, ()):
            fail(row, "nm", row["linkage"], linkage.get(address))
        if row["function"] not in demangled.get(address, ()):
            fail(row, "nm -C", row["function"], demangled.get(address))
        # Code that the compiler made has no line, and then perhaps another's file: a leaf may
        # begin with such.
        told = place(line)
        frame = (symbolizer and
                 json.loads(output(symbolizer, "--output-style=JSON", "-e", path, row["address"])))
        last = frame[0]["Symbol"][-1] if frame else None
        start = last and (os.path.realpath(last["StartFileName"]), str(last["StartLine"]))
        if start and start != found:
            fail(row, "llvm-symbolizer", found, start)
        # The addr2line of binutils 2.40 takes file 1 for file 0 in tables of DWARF 5 that link-time
        # optimisation has made: it may be wrong about the file if llvm-symbolizer is there and says
        # otherwise.
        if start and told[1] == found[1]:
            continue
        if not row["file"] or told != found and told[1] != "?":
            fail(row, "addr2line", found, told)


def main():
    table, count = sys.argv[1], int(sys.argv[2])
    files = dict(argument.split("=", 1) for argument in sys.argv[3:])
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    symbolizer = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
    if len(rows) != count:
        print("%d functions, not %d" % (len(rows), count))
        print("\n".join(row["function"] for row in rows))
        return 1
    for module in sorted({row["module"] for row in rows}):
        mine = [row for row in rows if row["module"] == module]
        compare(files.get(module, module), mine, symbolizer)
    return failures != 0


sys.exit(main())
