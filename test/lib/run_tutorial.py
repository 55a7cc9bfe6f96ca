#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the commands of a document in this folder, and compare what they print with what the document
shows.

usage: run_tutorial.py DOC [--update]

Blocks that begin with ```console are run, in order, in one bash: each line "$ COMMAND" is a
command, and the lines up to the next one are its output, standard error included. Each must exit
with 0. --update writes the outputs into DOC.

Compared are words and shape: a number with its unit is '#', a run of blanks, dashes or equal signs
is one. Lines of a heading that depend on how busy the machine is (their first words are in MACHINE)
and a progress line may be there or not.
"""

import os
import re
import subprocess
import sys

MACHINE = ("processor", "times", "uncertain", "log", "clock", "starved", "coarse", "waits",
           "+/- >100%", "unit")
# A busy machine's, which --update leaves out.
BUSY = re.compile(r"(teeperf [a-z-]+: warning: )?(starved|coarse|waits|\+/- >100%) ")
NUMBER = (r"[<>~]?[+-]?\d[\d,.]*(?:e[+-]?\d+)?(?:\s?(?:ns|us|µs|ms|s|min|h|%|B|KB|MB|GB|KiB|MiB|"
          r"GiB|MHz|GHz|k|M|G|x)\b|%)?")
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)
END = "@@ end of output @@"


def steps(block):
    """The commands of a block, each with its output's lines."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            sys.exit("a block must begin with a command: %s" % line)
        else:
            found[-1][1].append(line)
    return found


def masked(lines):
    kept = []
    for line in lines:
        words = line.strip()
        if not words or words.startswith(MACHINE) or BUSY.match(words):
            continue
        words = re.sub(r"(?<![\w.-])" + NUMBER + r"(?![\w])", "#", words)
        words = re.sub(r"[#█▏▎▍▌▋▊▉*-]*[█▏▎▍▌▋▊▉*]+", "=", words)
        words = re.sub(r"(#\s*)+", "# ", words)
        kept.append(re.sub(r"\s+", " ", words).strip())
    return kept


class Shell:
    def __init__(self):
        self.process = subprocess.Popen(["bash", "--noprofile", "--norc"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace",
                                        env=dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb"))

    def run(self, command):
        self.process.stdin.write("{ %s\n} </dev/null\nstatus=$?; echo; echo \"%s $status\"\n"
                                 % (command, END))
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("%s: the shell has ended" % command)
            if line.startswith(END):
                break
            lines.append(line.rstrip("\n").split("\r")[-1])
        if lines and not lines[-1]:
            lines.pop()  # the echo's, or what the command left open
        return lines, int(line.split()[-1])


def main():
    doc = sys.argv[1]
    update = sys.argv[2:] == ["--update"]
    with open(doc, encoding="utf-8") as file:
        text = file.read()
    shell, count, bad = Shell(), 0, 0

    def run(match):
        nonlocal count, bad
        written = ""
        for command, shown in steps(match.group()):
            got, status = shell.run(command)
            if status:
                sys.exit("$ %s\nexit %d: %s" % (command, status, "\n".join(got)))
            count += 1
            if not update and masked(got) != masked(shown):
                bad += 1
                print("$ %s\nprints\n  %s\nand %s shows\n  %s" % (command, "\n  ".join(masked(got)),
                    os.path.basename(doc), "\n  ".join(masked(shown))))
            written += "$ %s\n" % command + "".join(line.rstrip() + "\n"
                                                    for line in got if not BUSY.match(line))
        return written

    text = BLOCK.sub(run, text)
    if update:
        with open(doc, "w", encoding="utf-8") as file:
            file.write(text)
    print("%d commands ran" % count)
    sys.exit(1 if bad or not count else 0)


if __name__ == "__main__":
    main()
