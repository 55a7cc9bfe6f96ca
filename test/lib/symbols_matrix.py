#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the table of `teeperf symbols` with the output of other tools for every function in it.

symbols_matrix.py CSV FILE OWN [libdw] [wrong-files] [no-addr2line]
    [no-inlines]: FILE has symbols and all debug information. Checked, of each
function:

nm               the same addresses, each with this linkage name and, with -C, this function name
llvm-symbolizer  file and line are those where the function begins in the source (DW_AT_decl_*):
                 equal; the chains of inlined functions at each instruction of our own: equal
addr2line        finds the first instruction in the line table: equal, as the sources have the brace
                 on the line of the name. Where the table has several rows for the first instruction
                 (the function's and its first statement's), it tells the last one: then both must
                 be among them. A part that the compiler split off (f.cold) begins somewhere inside
                 of f: it has a line if ours has. gcc does not say where a lambda was declared:
                 llvm-symbolizer must not know either. With wrong-files: binutils 2.40's addr2line
                 takes another file's name from the tables of gcc in DWARF 5 (objdump does not);
                 then the line must be right, and objdump know our file
eu-addr2line     the same, with libdw; for the functions of our own source
None of them knows a place where we know none, or the other way round.

At least OWN functions are in files of our own; a test that compares nothing is no test.
"""
import csv
import json
import os
import shutil
import subprocess
import sys

failures = []


def fail(row, tool, expected, found):
    failures.append("%s %s: %s says %r, teeperf %r"
                    % (row["address"], row["linkage"], tool, expected, found))


def output(*command, text=None):
    return subprocess.run(command, check=True, capture_output=True, text=True, input=text).stdout


def symbols(path, *options):
    """Names of the functions by address, as nm has them."""
    found = {}
    for line in output("nm", "--defined-only", "-f", "sysv", *options, path).splitlines():
        # A demangled name may have a bar in it; the other fields have none.
        fields = line.rsplit("|", 6)
        if len(fields) == 7 and (
                fields[3].strip() == "FUNC" or fields[2].strip() == "i"):
            found.setdefault(int(fields[1], 16), set()).add(fields[0].strip())
    return found


def place(text):
    """FILE:LINE, perhaps with a discriminator behind (binutils), or a column (elfutils)."""
    parts = text.split(" (")[0].split(":")
    line = parts[1] if len(parts) > 1 else "?"
    if parts[0] in ("", "??") or line in ("0", "?"):
        return None
    return os.path.realpath(parts[0]), int(line)


def line_rows(path):
    """(base name, line) of all rows of the line table by address."""
    found = {}
    for line in output("objdump", "--dwarf=decodedline", path).splitlines():
        words = line.split()
        if len(words) >= 3 and words[2].startswith("0x") and words[1].isdigit():
            found.setdefault(int(words[2], 16), set()).add((words[0], int(words[1])))
    return found


def base(told):
    return os.path.basename(told[0]), told[1]


def mine(row):
    return (os.path.realpath(row["file"]), int(row["line"])) if row["file"] else None


def compare_names(rows, path):
    linkage = symbols(path)
    demangled = symbols(path, "-C")
    addresses = {int(row["address"], 16) for row in rows}
    if addresses != set(linkage):
        failures.append("addresses: only nm has %s, only teeperf %s" % (
            [hex(a) for a in sorted(set(linkage) - addresses)],
            [hex(a) for a in sorted(addresses - set(linkage))]))
    for row in rows:
        address = int(row["address"], 16)
        if row["linkage"] not in linkage.get(address, ()):
            fail(row, "nm", linkage.get(address), row["linkage"])
        if row["function"] not in demangled.get(address, ()):
            fail(row, "nm -C", demangled.get(address), row["function"])


def compare_declared(rows, path, symbolizer):
    text = "".join(row["address"] + "\n" for row in rows)
    answers = output(symbolizer, "--output-style=JSON", "-e", path, text=text).splitlines()
    for row, answer in zip(rows, answers, strict=True):
        frames = json.loads(answer)["Symbol"]
        # Inlined functions come first; the last one is what the address belongs to.
        last = frames[-1] if frames else {}
        told = None
        # LLVM 19 loses the file's name where it is that of a specification and kept in the
        # abbreviation (gcc, DWARF 5). It has the line, and the file's name in the row.
        name = last.get("StartFileName") or last.get("FileName")
        if name and last.get("StartLine"):
            told = os.path.realpath(name), last["StartLine"]
        if told != mine(row):
            fail(row, "llvm-symbolizer", told, mine(row))


def compare_rows(rows, path, tool, table, wrong_files=False):
    text = "".join(row["address"] + "\n" for row in rows)
    answers = output(tool, "-e", path, text=text).splitlines()
    for row, answer in zip(rows, answers, strict=True):
        told = place(answer)
        if row["linkage"].endswith(".cold"):
            if (told is None) != (mine(row) is None):
                fail(row, tool, told, mine(row))
        elif told and not row["file"] and "Ul" in row["linkage"]:
            pass  # a lambda: llvm-symbolizer was asked
        elif told and row["file"] and told != mine(row):
            here = table.get(int(row["address"], 16), ())
            lines = {line for _, line in here}
            known = told[1] in lines if wrong_files else base(told) in here
            if not known or base(mine(row)) not in here:
                fail(row, tool, told, mine(row))
        elif told != mine(row):
            fail(row, tool, told, mine(row))


def compare_inlined(rows, path, symbolizer):
    """At each instruction of our own functions: the chain of inlined functions is
    llvm-symbolizer's."""
    own = {row["linkage"] for row in rows if row["file"]}
    addresses, inside = [], False
    for line in output("objdump", "-d", "--no-show-raw-insn", path).splitlines():
        if line.endswith(">:"):
            inside = line.split("<")[1][:-2] in own
        elif inside and line.startswith(" "):
            addresses.append("0x" + line.split(":")[0].strip())
    text = "\n".join(addresses) + "\n"
    found = {}
    lines = output(os.environ["TEEPERF"], "symbols", "--inlines", path, "-", text=text).splitlines()
    for row in csv.DictReader(lines):
        found.setdefault(row["address"], []).append(
            (row["function"], os.path.realpath(row["call_file"]), int(row["call_line"])))
    answers = output(symbolizer, "--output-style=JSON", "-e", path, text=text).splitlines()
    chains = 0
    for address, answer in zip(addresses, answers, strict=True):
        frames = json.loads(answer)["Symbol"]
        told = [(inner["FunctionName"], os.path.realpath(outer["FileName"]), outer["Line"])
                for inner, outer in zip(frames, frames[1:])]
        chains += bool(told)
        if told != found.get(address, []):
            failures.append("%s: llvm-symbolizer has the chain %r, teeperf %r"
                            % (address, told, found.get(address, [])))
    if chains < 5:
        failures.append("only %d addresses are in inlined functions" % chains)


def main():
    table, path, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    symbolizer = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
    own = [row for row in rows if row["file"]]
    if len(own) < least:
        failures.append("only %d functions have a place, not %d" % (len(own), least))
    compare_names(rows, path)
    if symbolizer:
        compare_declared(rows, path, symbolizer)
        if "no-inlines" not in sys.argv[4:]:
            compare_inlined(rows, path, symbolizer)
    table = line_rows(path)
    if "no-addr2line" not in sys.argv[4:]:
        compare_rows(rows, path, "addr2line", table, "wrong-files" in sys.argv[4:])
    if "libdw" in sys.argv[4:] and shutil.which("eu-addr2line"):
        compare_rows(own, path, "eu-addr2line", table)
    print("\n".join(failures[:40]))
    print("%d functions, %d with a place, %d differ" % (len(rows), len(own), len(failures)))
    return bool(failures)


sys.exit(main())
