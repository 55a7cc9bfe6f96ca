# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run: a program is executed and measured by the command (recorder/measure), and what was
measured is kept in a file: request -> Measured <-> result.tsv."""

import math
import os
import re
import signal
import subprocess

import text
from text import Failure

FIRST_LINE = "teeperf experiment result\t1\n"
STATUSES = ("done", "failed", "timed out")
RESULT = "result.tsv"


class Measured:
    """METRICS: {name: (unit, value)}; a missing one was not measured, it is not 0. NOTES: what
    limits the figures."""

    def __init__(self, key=0, started="", position=0):
        self.key, self.started, self.position = key, started, position
        self.status, self.how = "done", ""
        self.metrics, self.notes = {}, []

    def add(self, name, unit, value):
        name = re.sub("[^A-Za-z0-9]", "_", name[:79])
        if math.isfinite(value):
            self.metrics.setdefault(name, (unit, value))

    def set(self, name, unit, value):
        """In place of the figure that is there: the program's wall_time leaves that of the whole
        command."""
        if name == "wall_time" and name in self.metrics:
            self.metrics.setdefault("command_time", self.metrics[name])
        self.metrics[name] = (unit, value)

    def note(self, what):
        what = text.clean(what)[:511]
        if what not in self.notes:
            self.notes.append(what)

    def take(self, line):
        """A line of the command, or of a file."""
        word, *fields = line.split("\t", 3)
        if word == "metric" and len(fields) == 3 and fields[0]:
            self.add(fields[0], fields[1], float(fields[2]))
        elif word == "note" and len(fields) == 1:
            self.note(fields[0])
        elif word == "status" and len(fields) == 2:
            self.status, self.how = STATUSES[STATUSES.index(fields[0])], fields[1]
        elif word == "key" and len(fields) == 1:
            self.key = int(fields[0], 16)
        elif word == "started" and len(fields) == 1:
            self.started = fields[0]
        elif word == "position" and len(fields) == 1:
            self.position = int(fields[0])
        # Others are those of a later version.

    def write(self, folder):
        """Whole, or not at all: the disk has it before its name does."""
        lines = ["key\t%016x" % self.key, "status\t%s\t%s" % (self.status, self.how),
                 "started\t" + self.started, "position\t%d" % self.position]
        lines += ["metric\t%s\t%s\t%.17g" % (name, unit, value)
                  for name, (unit, value) in self.metrics.items()]
        lines += ["note\t" + what for what in self.notes]
        data = FIRST_LINE + "".join(line + "\n" for line in [*lines, "end"])
        replace(os.path.join(folder, RESULT), data.encode(errors="replace"))


def replace(path, data):
    """Write a file under another name, and rename it."""
    try:
        with open(path + ".new", "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(path + ".new", path)
    except OSError as error:
        raise Failure("cannot write the file: %s" % error.strerror, path) from None


def read(folder):
    """The Measured of a folder, or None: there is no result, or no whole one."""
    try:
        with open(os.path.join(folder, RESULT), encoding="utf-8", errors="replace",
                  newline="\n") as file:
            data = file.read(4 << 20)
        lines = [line for line in data.removeprefix(FIRST_LINE).split("\n") if line]
        found = Measured()
        for line in lines[:lines.index("end")]:
            found.take(line)
    except (OSError, ValueError):
        return None
    return found if data.startswith(FIRST_LINE) and found.how and found.started else None


# ---- the command that runs it

class Runner:
    """Runs programs one at a time. SIGINT, SIGTERM and SIGHUP end the one that runs; the number is
    then in CAUGHT. One that was ignored when we came stays so, as SIGINT is in a shell's background
    jobs."""

    def __init__(self, teeperf):
        self.teeperf = teeperf
        self.caught = 0
        self.child = None

    def __enter__(self):
        self.old = {number: signal.signal(number, self.on_signal)
                    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
                    if signal.getsignal(number) != signal.SIG_IGN}
        return self

    def __exit__(self, *_):
        for number, handler in self.old.items():
            signal.signal(number, handler)

    def on_signal(self, number, _frame):
        self.caught = number
        if self.child:
            self.child.send_signal(number)

    def check(self):
        if self.caught:
            raise Failure("interrupted: " + signal.strsignal(self.caught))

    def run(self, line, output, errors, to, timeout=0, **measured):
        """Execute LINE, whose output is added to the files; its end, and MEASURED if there are
        such, are added to TO."""
        self.check()
        items = [("argv", word) for word in line.argv] + [("env", of) for of in line.variables]
        items += [("cwd", line.cwd), ("output", output), ("errors", errors),
                  ("timeout_ns", timeout)]
        items += [("event", event) for event in measured.pop("events", ())]
        items += measured.items()
        request = "".join("%s=%s\0" % item for item in items).encode(errors="surrogateescape")
        # A group of its own: a terminal's Ctrl-C comes once, from us.
        self.child = subprocess.Popen([self.teeperf, "experiment", ":run"], process_group=0,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.caught:
            self.child.send_signal(self.caught)
        found = self.child.communicate(request)[0].decode(errors="replace")
        code = self.child.returncode
        self.child = None
        for said in found.split("\n"):
            word, _, what = said.partition("\t")
            if word == "error":
                raise Failure(what)
            to.take(said)
        self.check()
        if code:
            raise Failure("'teeperf experiment :run' ended with %d" % code)

    def part(self, *words, given=""):
        """What another part of the command prints, or None."""
        done = subprocess.run([self.teeperf, "experiment", *words], input=given.encode(),
                              stdout=subprocess.PIPE, check=False, process_group=0)
        return None if done.returncode else done.stdout.decode(errors="replace")
