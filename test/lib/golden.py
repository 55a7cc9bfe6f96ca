# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""golden.py HERE --update|'' CASE...: the commands of golden cases (golden.sh). With --traces
first, CASE/trace.txt is made into CASE.trace, and must come back from its dump unchanged."""
import difflib
import os
import re
import shlex
import subprocess
import sys

from many import run

# The part that is the same in each build and at each time: no version, age of a file, style or
# script.
STEADY = [(re.compile(pattern, re.M), instead) for pattern, instead in (
    (r'"teeperf [0-9.]*"', '"teeperf VERSION"'), (r"^(# .*TeePerf) [0-9.]*$", r"\1 X"),
    (r" \([0-9,]* (s|min|h) ago\)$", ""), (r"^.*<style>(?s:.*?)</style>.*\n", ""),
    (r"^.*<script>(?s:.*?)</script>.*\n", ""))]
# teeperf alone, with what becomes of its messages.
PLAIN = re.compile(r"teeperf ([^|<>&;$`*?()~#\n]*?)( 2>&1| 2>&1 >/dev/null)?$")
SHELL = 'teeperf() {\n"$TEEPERF" "$@"\n}\n'
failed = False
count = 0


def fail(*what):
    global failed
    failed = True
    print("FAIL", *what)


def perform(command):
    """Its exit status, output and messages."""
    plain = PLAIN.match(command)
    if not plain:
        done = subprocess.run(["sh", "-c", SHELL + command], capture_output=True)
        return done.returncode, done.stdout, done.stderr
    done = run(*shlex.split(plain.group(1)))
    if not plain.group(2):
        return done.returncode, done.stdout, done.stderr
    if ">/dev/null" in plain.group(2):
        return done.returncode, done.stderr, b""
    return (done.returncode, None, b"") if done.stdout and done.stderr else \
        (done.returncode, done.stdout + done.stderr, b"")


def check(what, path, update):
    global count
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        expected = file.read()
    line = expected.split("\n", 1)[0]
    if not line.startswith("$ "):
        fail(what, "does not begin with '$ COMMAND'")
        return
    command, _, wanted = line[2:].partition(" # exit ")
    status, printed, said = perform(command)
    if printed is None:  # one stream for both: in their order
        done = subprocess.run(["sh", "-c", SHELL + command], capture_output=True)
        status, printed, said = done.returncode, done.stdout, done.stderr
    count += 1
    if status != int(wanted or 0):
        fail("%s: exit status %d, not %d: %s" % (what, status, int(wanted or 0), command))
        sys.stdout.write(said.decode(errors="replace"))
        return
    shown = printed.decode(errors="surrogateescape")
    for pattern, instead in STEADY:
        shown = pattern.sub(instead, shown)
    shown = line + "\n" + shown
    if update:
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(shown)
    elif shown != expected:
        fail(what, "differs")
        sys.stdout.writelines(difflib.unified_diff(
            *(text.encode(errors="surrogateescape").decode(errors="replace").splitlines(True)
              for text in (expected, shown)), path, "shown"))
        sys.stdout.write(said.decode(errors="replace"))


def make_trace(here, case):
    trace, again = case + ".trace", "again.trace"
    steps = [run("dump", "--assemble", os.path.join(here, case, "trace.txt"), "-o", trace),
             run("dump", trace)]
    with open("dump", "wb") as file:
        file.write(steps[1].stdout)
    steps.append(run("dump", "--assemble", "dump", "-o", again))
    for step in steps:
        if step.returncode:
            fail("%s: %s" % (case, step.stderr.decode(errors="replace")))
            return
    with open(trace, "rb") as one, open(again, "rb") as other:
        if one.read() != other.read():
            fail("%s: the dump does not give the same trace" % case)


def main():
    words = sys.argv[1:]
    traces = words[0] == "--traces"
    here, update, *cases = words[traces:]
    if traces:
        for case in cases:
            make_trace(here, case)
    for case in cases:
        names = sorted(name for name in os.listdir(os.path.join(here, case)) if "." not in name)
        if not names:
            fail(case, "has no command")
        for name in names:
            check(case + "/" + name, os.path.join(here, case, name), update == "--update")
    print("%d outputs compared" % count)
    return failed or not count


sys.exit(main())
