#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the calls of every function in a profile with callgrind's count of the same program.

usage: compare_counts.py [--by-name] TOP.csv CALLGRIND.out SOURCES

TOP.csv is `teeperf analyze --view top --format csv`, CALLGRIND.out the output of callgrind. Only
functions whose source file lies below the folder SOURCES are compared: other functions that
callgrind saw (the C library, start files, the runtime) were not compiled by teeperf cc. Each such
function must be in both, with the same count. Name and source file identify a function; with
--by-name, for C++, the name alone: instances of the library's templates belong to the program too,
and callgrind knows only the file of the code that was inlined at a function's begin.

Prints how many functions and calls were compared; exit 1, with the differences, if there are any.
"""

import collections
import csv
import os
import re
import sys


def read_profile(path, sources, by_name):
    counts = collections.Counter()
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            source = os.path.realpath(row["file"]) if row["file"] else ""
            if not by_name and not source.startswith(sources):
                sys.exit("'%s' is in the profile, but its source '%s' is not below '%s'"
                         % (row["function"], row["file"], sources))
            # Functions that are counted are listed even if nobody calls them.
            if int(row["calls"]):
                place = "" if by_name else os.path.basename(source)
                counts[row["function"], place] += int(row["calls"])
    return counts


class Names:
    """Callgrind writes "(12) name" the first time, and "(12)" from then on."""

    def __init__(self):
        self.names = {}

    def read(self, text):
        match = re.fullmatch(r"\((\d+)\)(?: (.*))?", text)
        if not match:
            return text
        if match[2] is not None:
            self.names[match[1]] = match[2]
        return self.names[match[1]]


def read_callgrind(path):
    """Calls into each function, from the lines

        fl=FILE  fn=FUNCTION              the function that the following costs belong to
        fi=FILE  fe=FILE                  another file of the same function (inlined code)
        cfi=FILE cfn=FUNCTION calls=N T   N calls of FUNCTION, in FILE if that is another one
    """
    files, functions = Names(), Names()
    counts = collections.Counter()
    current = callee_file = callee = None
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"(fl|fi|fe|fn|cfi|cfl|cfn|calls)=\s*(.*)", line)
            if not match:
                continue
            key, value = match.groups()
            if key in ("fl", "fi", "fe"):
                current = files.read(value)
            elif key == "fn":
                functions.read(value)
                callee_file = None
            elif key in ("cfi", "cfl"):
                callee_file = files.read(value)
            elif key == "cfn":
                # A recursive call is counted for "name'2".
                callee = re.sub(r"'\d+$", "", functions.read(value))
            else:
                counts[callee, callee_file or current] += int(value.split()[0])
                callee_file = None
    return counts


def select(counts, sources, profile, by_name):
    """What callgrind counted of the program's own functions."""
    below = collections.Counter()
    for (name, source), calls in counts.items():
        # No compiler instruments functions that are written in assembly.
        if source.endswith((".S", ".s")):
            continue
        # Where callgrind knows no folder it gives a bare name, or "???".
        inside = os.path.isabs(source) and os.path.realpath(source).startswith(sources)
        if by_name and (inside or (name, "") in profile):
            below[name, ""] += calls
        elif not by_name and inside:
            below[name, os.path.basename(source)] += calls
    return below


def main():
    arguments = sys.argv[1:]
    by_name = arguments[:1] == ["--by-name"]
    if by_name:
        arguments.pop(0)
    if len(arguments) != 3:
        sys.exit(__doc__)
    sources = os.path.realpath(arguments[2]) + "/"
    profile = read_profile(arguments[0], sources, by_name)
    callgrind = select(read_callgrind(arguments[1]), sources, profile, by_name)
    differences = 0
    for key in sorted(profile.keys() | callgrind.keys()):
        if profile[key] != callgrind[key]:
            differences += 1
            print("%s (%s): profile %d, callgrind %d" % (*key, profile[key], callgrind[key]))
    if not profile or not callgrind:
        sys.exit("nothing to compare")
    print("%d functions, %d calls compared: %d differ"
          % (len(profile.keys() | callgrind.keys()), sum(callgrind.values()), differences))
    sys.exit(1 if differences else 0)


main()
