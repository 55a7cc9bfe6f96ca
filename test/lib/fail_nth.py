#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Let the N-th allocation, or the N-th call of the system, fail in a command, for N = 1, 2, ...

fail_nth.py SHIM MOST [--prepare SHELL] [--verify SHELL] [--trouble STATUS] -- COMMAND...: until the
command runs untouched, or with MOST > 0 for about MOST values of N, evenly spread. Each run must
end with an exit status of its own: 0, or 1 with one line that says why. With 0 it has done its
usual work, or has reported on standard error what it could not do; and --verify accepts its
results. A command whose status 1 is an answer has another one for trouble.
"""
import os
import re
import select
import struct
import subprocess
import sys


def die(text, result):
    print("FAILED: %s\n%s%s" % (text, result.stdout[-2000:].decode(errors="replace"),
                                result.stderr[-4000:].decode(errors="replace")), file=sys.stderr)
    sys.exit(1)


# What 'record' says of others' traces is no failure of its own.
NO_ERROR = re.compile("warning: |note: |, was completed: |the older trace (?:is now|becomes) ")


# enum kind of fail_nth.c
KINDS = {"memory": 1, "io": 2}


class Harness:
    def __init__(self, shim, options, command):
        self.shim, self.command = shim, command
        self.prepare, self.verify = options.get("--prepare"), options.get("--verify")
        self.name = os.path.basename(command[0])
        self.trouble = int(options.get("--trouble", "1"))
        self.allowed = {0, 1, self.trouble}
        self.references = {}
        self.start()

    def start(self):
        """Begin the command, which waits to be forked for each run: fail_nth.c."""
        with open("fail.count", "wb") as file:
            file.write(bytes(16))
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        environment = dict(os.environ, LD_PRELOAD=self.shim,
                           FAIL_IN="/" + self.name, FAIL_KIND="memory", FAIL_AT="0",
                           FAIL_COUNT="fail.count", FAIL_SERVER="%d,%d" % (orders, answers))
        with open("fail.server", "wb") as said:
            self.server = subprocess.Popen(self.command, env=environment,
                                           pass_fds=(orders, answers), stdout=said, stderr=said)
        os.close(orders)
        os.close(answers)

    def stop(self):
        os.close(self.orders)
        os.close(self.answers)
        self.server.wait()

    def run(self, kind, number, sticky):
        if self.prepare:
            subprocess.run(["sh", "-c", self.prepare], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        os.write(self.orders, struct.pack("<QII", number, KINDS[kind], sticky))
        ready, _, _ = select.select([self.answers], [], [], 600)
        answer = os.read(self.answers, 4) if ready else b""
        text = {}
        for name in ("out", "err"):
            with open("fail." + (name if answer else "server"), "rb") as file:
                text[name] = file.read()
        status = os.waitstatus_to_exitcode(struct.unpack("<i", answer)[0]) if answer else None
        result = subprocess.CompletedProcess(self.command, status, text["out"], text["err"])
        if not answer:
            self.server.kill()
            die("%s %d: %s" %
                (kind, number, "no end" if not ready else "the command itself has ended"), result)
        if os.environ.get("FAIL_VERBOSE"):
            print(kind, number, result.returncode, result.stderr.decode().rstrip())
        with open("fail.count", "rb") as file:
            calls, failed = struct.unpack("<QQ", file.read())
        return result, calls, failed

    def check(self, what, result, reference):
        # AddressSanitizer itself needs memory where a thread begins.
        if b"AddressSanitizer: CHECK failed: sanitizer_" in result.stderr:
            return
        # So does the C library, for the thread-local data of libraries that are loaded at run time
        # (those of libcurl).
        if b"cannot allocate memory for thread-local data: ABORT" in result.stderr:
            return
        if result.returncode not in self.allowed:
            die("%s: exit status %d" % (what, result.returncode), result)
        lines = result.stderr.decode(errors="replace").splitlines()
        said = [line for line in lines if re.match(r"teeperf|\S+:\d+:\d+: error: ", line)]
        errors = [line for line in said if not NO_ERROR.search(line)]
        # A file that can be read in part is shown in part, with a warning for each part that is
        # not.
        if result.returncode == self.trouble and (len(errors) > 1 or not said):
            die("%s: failed with %d lines of error" % (what, len(errors)), result)
        if result.returncode != self.trouble and result.stdout != reference.stdout and \
                result.stderr == reference.stderr:
            die("%s: other output than usual, and not a word why" % what, result)
        if result.returncode == 0 and self.verify:
            verified = subprocess.run(["sh", "-c", self.verify], capture_output=True)
            if verified.returncode:
                die("%s: '%s' is not true" % (what, self.verify), verified)
        for line in said:
            if re.search(r"\(null\)|%[sdu]|: *$|Success", line):
                die("%s: a strange message: %s" % (what, line), result)

    def reference(self, kind):
        """What the command does untouched, and how many calls of KIND it makes."""
        if kind not in self.references:
            reference, all_calls, _ = self.run(kind, 0, False)
            if reference.returncode not in self.allowed:
                die("%s does not even work" % self.command, reference)
            if not all_calls:
                die("%s: not one call was counted" % self.command, reference)
            self.references[kind] = reference, all_calls
        return self.references[kind]

    def play(self, kind, most, sticky):
        reference, all_calls = self.reference(kind)
        step = max(1, all_calls // most) if most else 1
        tried, failures, number = 0, 0, 1
        while not most or number <= all_calls:
            result, _, failed = self.run(kind, number, sticky)
            if not failed:
                break
            tried += 1
            what = "%s: %s call %d of about %d%s" % (
                " ".join(self.command[1:5]), kind, number, all_calls, ", and all after it" * sticky)
            self.check(what, result, reference)
            failures += result.returncode == self.trouble
            # The first ones are each a place of its own.
            number += 1 if number < min(8, most or 8) else step
        return tried, failures, all_calls


def main():
    arguments = sys.argv[1:]
    split = arguments.index("--")
    shim, most = arguments[0], int(arguments[1])
    options = dict(zip(arguments[2:split:2], arguments[3:split:2]))
    harness = Harness(shim, options, arguments[split + 1:])
    text = []
    for kind, sticky in (("memory", False), ("io", False), ("memory", True), ("io", True)):
        tried, failures, calls = harness.play(kind, most, sticky)
        text.append("%s%s %d of %d, %d failed" % (kind, "+" * sticky, tried, calls, failures))
    harness.stop()
    print("%s: %s" % (" ".join(arguments[split + 2:split + 6]), "; ".join(text)))


main()
