#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""doc_commands.py TEEPERF FILE...: each line of the files' code blocks that runs teeperf has a
command, options, views and formats that its --help knows."""

import re
import shlex
import subprocess
import sys

GROUPS = ("allowlist", "fleet")
helps = {}


def help_of(teeperf, words):
    key = " ".join(words)
    if key not in helps:
        ran = subprocess.run([teeperf] + words + ["--help"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        helps[key] = ran.stdout if ran.returncode == 0 else None
    return helps[key]


def problem_of(teeperf, words):
    """The faults of a command line; words are those behind "teeperf"."""
    length = 2 if words[0] in GROUPS else 1
    command = words[:length]
    if command == ["help"]:
        return None
    text = help_of(teeperf, command)
    if text is None:
        return "there is no command '%s'" % " ".join(command)
    rest = words[length:]
    for i, word in enumerate(rest):
        if word in ("--", "|", "&&") or re.match(r"\.?/|gramine|qemu", word):
            break
        if not word.startswith("-") or word == "-":
            continue
        name, _, value = word.partition("=")
        if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(name), text):
            if command[0] in ("cc", "c++") and not name.startswith("--"):
                continue  # clang's
            return "'%s' has no option '%s'" % (" ".join(command), name)
        if name in ("--view", "--format", "--time", "--clock", "--mode", "--level"):
            value = value or (rest[i + 1] if i + 1 < len(rest) else "")
            known = text
            if command == ["export"] and name == "--format":
                known = subprocess.run([teeperf, "export", "--list"], stdout=subprocess.PIPE,
                                       text=True).stdout
            if not re.search(r"\b%s\b" % re.escape(value), known):
                return "'%s' has no %s '%s'" % (" ".join(command), name, value)
    return None


def main():
    teeperf, count, bad = sys.argv[1], 0, 0
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            blocks = re.findall(r"^ *```[^\n]*\n(.*?)^ *```$", file.read(), re.M | re.S)
        for line in "\n".join(blocks).split("\n"):
            for match in re.finditer(r"(?:^|[\s;|&(]|sudo )teeperf ((?:[a-z]).*)",
                                     line.split("  #")[0]):
                if re.match(r"\S+:", match.group(1)):
                    continue  # a message, "teeperf record: ..."
                try:
                    words = shlex.split(match.group(1).replace("...", ""))
                except ValueError:
                    words = match.group(1).replace('"', "").replace("'", "").split()
                problem = problem_of(teeperf, words)
                count += 1
                if problem:
                    bad += 1
                    print("%s: %s: %s" % (name, problem, line.strip()))
                break
    print("%d command lines" % count)
    sys.exit(1 if bad or count < 80 else 0)


main()
