#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kill program, recorder or both at random moments, and demand every record from the trace.

crash_rounds.py TEEPERF PROGRAM ROUNDS SEED. PROGRAM is crash_program.c, instrumented: it says
itself how many calls each of its threads had begun and completed. What was completed must be in the
trace, or be counted as lost; nothing else may be there. A failure names the seed of its round.
"""
import csv
import glob
import io
import os
import random
import signal
import struct
import subprocess
import sys
import time

ACCOUNT = struct.Struct("<QQQ40x")
ENDLESS = 0


def fail(round_seed, text, extra=""):
    print("FAILED: round with seed %d: %s\n%s" % (round_seed, text, extra), file=sys.stderr)
    sys.exit(1)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def read_accounts():
    with open("accounts", "rb") as file:
        return [account for account in ACCOUNT.iter_unpack(file.read()) if account[0]]


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(") ", 1)[1][0] not in "ZX"
    except (OSError, IndexError):
        return False


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


class Round:
    def __init__(self, teeperf, program, seed, totals):
        self.teeperf, self.program, self.seed, self.totals = teeperf, program, seed, totals
        self.rng = random.Random(seed)
        self.fail = lambda text, extra="": fail(seed, text + " [%s]" % self.text, extra)
        self.text = ""

    def choose(self):
        rng = self.rng
        self.target = rng.choice(["program", "recorder", "both", "group"])
        self.clock = rng.choice(["tsc", "soft", "none"])
        self.threads = rng.choice([1, 1, 2, 4])
        self.early = rng.random() < 0.15
        self.delay = rng.random() ** 3 * 0.25
        self.lives_on = self.target == "recorder" and rng.random() < 0.5
        options = ["--mode", rng.choice(["stream", "full"]), "--clock", self.clock, "--drain",
                   rng.choice(["auto", "now", "late", "end"]), "--size",
                   rng.choice(["512K", "1M", "4M", "32M"])]
        if rng.random() < 0.5:
            options.append("--compress")
        # A program that nobody will kill must end by itself.
        self.calls = 3000000 if self.lives_on else ENDLESS
        self.arguments = [str(self.threads), str(self.calls), str(rng.choice([0, 500, 20000]))]
        self.text = " ".join([self.target] + options + self.arguments)
        return options

    def strike(self, recorder):
        """Kill the target; returns the program's process id, 0 if it had not started."""
        if not self.early:
            while not any(account[1] for account in read_accounts()):
                # Program and recorder may have ended while we had no processor.
                if recorder.poll() is not None and not any(a[1] for a in read_accounts()):
                    self.fail("the recorder ended by itself", recorder.stderr.read())
        time.sleep(self.delay)
        program = (children(recorder.pid) or [0])[0]
        if self.target == "group":
            os.killpg(recorder.pid, signal.SIGKILL)
        elif self.target == "program" and program:
            kill(program)
        elif self.target == "both" and program and self.rng.random() < 0.5:
            kill(program)
            time.sleep(self.rng.random() * 0.003)
            kill(recorder.pid)
        else:
            kill(recorder.pid)
            # Only now is it sure who its child is.
            program = program or (children(recorder.pid) or [0])[0]
        return program

    def end_program(self, program):
        if self.target == "recorder" and program and alive(program):
            time.sleep(self.rng.random() * 0.05)
            if os.path.exists("x.trace") and alive(program):
                again = run(self.teeperf, "recover", "x.trace")
                if again.returncode == 1:
                    self.totals["refused"] += "still writing" in again.stderr
                elif alive(program):
                    self.fail("recovered while the program ran", again.stderr)
            if not self.lives_on:
                kill(program)
        elif program and self.target != "program":
            kill(program)
        while program and alive(program):
            time.sleep(0.002)

    def recover(self):
        way = self.rng.random()
        if way < 0.25:
            # The recovery is killed, and done again.
            first = subprocess.Popen([self.teeperf, "recover", "x.trace"],
                                     stderr=subprocess.DEVNULL)
            time.sleep(self.rng.random() * 0.02)
            first.kill()
            self.totals["recoveries killed"] += first.wait() == -signal.SIGKILL
        if way > 0.7:
            done = run(self.teeperf, "record", "-q", "-o", "next.trace", "true")
        else:
            done = run(self.teeperf, "recover", "x.trace")
        if done.returncode:
            self.fail("not recovered", done.stderr)
        self.totals["recovered"] += 1

    def check(self, accounts):
        shown = run(self.teeperf, "analyze", "--view", "threads", "--format", "csv", "x.trace")
        if shown.returncode:
            self.fail("the trace is damaged", shown.stderr)
        rows = {int(row["tid"]): row for row in csv.DictReader(io.StringIO(shown.stdout))}
        for tid, begun, done in accounts:
            row = rows.get(tid, {"events": "0", "lost": "0"})
            events, lost = int(row["events"]), int(row["lost"])
            if not 2 * done <= events + lost <= 2 * begun:
                self.fail("thread %d began %d calls and completed %d, the trace has %d events and "
                          "%d lost" % (tid, begun, done, events, lost), shown.stdout + shown.stderr)
            self.totals["events"] += events
            self.totals["lost"] += lost

    def play(self):
        options = self.choose()
        for name in glob.glob("*.trace*"):
            os.unlink(name)
        with open("accounts", "wb") as file:
            file.write(bytes(16 * ACCOUNT.size))
        recorder = subprocess.Popen(
            [self.teeperf, "record", "-q", "-o", "x.trace", *options, self.program, "accounts",
             *self.arguments],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True)
        program = self.strike(recorder)
        said = recorder.stderr
        killed = self.target != "program" or not program
        if killed:
            recorder.wait(timeout=600)
            self.end_program(program)
        elif recorder.wait(timeout=600) not in (-signal.SIGKILL, 0):
            self.fail("the recorder ended with %d" % recorder.returncode, said.read())
        said.close()
        # A program that was killed before we could see it has not begun anything, or we wait here.
        accounts = read_accounts()
        if not os.path.exists("x.trace") or not any(account[1] for account in accounts):
            if any(account[1] for account in accounts):
                self.fail("the program ran, and there is no trace")
            self.totals["nothing begun"] += 1
            run(self.teeperf, "record", "-q", "-o", "next.trace", "true")
        else:
            if killed:
                self.recover()
            self.check(accounts)
        self.totals[self.target] += 1
        left = glob.glob("/dev/shm/teeperf-%d-*" % recorder.pid)
        if left:
            self.fail("left behind: " + " ".join(left))


def main():
    teeperf, program, rounds, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    totals = dict.fromkeys(["program", "recorder", "both", "group", "recovered", "refused",
                            "recoveries killed", "nothing begun", "events", "lost"], 0)
    for i in range(rounds):
        Round(teeperf, program, seed + i, totals).play()
    print("%d rounds from seed %d: %s" % (
        rounds, seed, ", ".join("%s %d" % item for item in totals.items())))
    if rounds >= 20 and not (totals["recovered"] and totals["events"]):
        fail(seed, "nothing was recovered, so nothing was tested")


main()
