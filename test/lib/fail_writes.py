#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Record with the N-th write to the trace failing, for N = 1, 2, ... until none fails, alone or
with all that follow.

fail_writes.py SHIM TEEPERF EVENTS CALLS WHOLE STEP [--counted] [--once] -- RECORD...: each trace is
checked by views_of_rest.py; of every STEP-th one, all views. --once: each alone only. RECORD writes
its trace to r.trace.
"""
import collections
import os
import struct
import subprocess
import sys

split = sys.argv.index("--")
shim, tool, events, calls, whole, step = sys.argv[1:7]
command = sys.argv[split + 1:]
views = [sys.executable, os.path.join(os.path.dirname(__file__), "views_of_rest.py"), tool,
         "r.trace", events, calls, whole]
views += [word for word in sys.argv[7:split] if word != "--once"]


def die(text, result):
    print("FAILED: %s\n%s%s" % (text, result.stdout, result.stderr), file=sys.stderr)
    sys.exit(1)


def play(sticky):
    verdicts = collections.Counter()
    number = 0
    while True:
        number += 1
        for name in ("r.trace", "r.trace.old"):
            if os.path.exists(name):
                os.remove(name)
        with open("fail.count", "wb") as file:
            file.write(bytes(16))
        environment = dict(os.environ, LD_PRELOAD=shim, FAIL_IN="/teeperf",
                           FAIL_KIND="write", FAIL_AT=str(number),
                           FAIL_COUNT="fail.count", **({"FAIL_STICKY": "1"} if sticky else {}))
        result = subprocess.run(command, env=environment, capture_output=True, text=True,
                                timeout=600)
        with open("fail.count", "rb") as file:
            failed = struct.unpack("<QQ", file.read())[1]
        what = "write %d%s" % (number, " and all after it" * sticky)
        if result.returncode != (1 if failed else 0):
            die("%s: record exits with %d" % (what, result.returncode), result)
        if not os.path.exists("r.trace"):
            verdicts["none"] += 1
            continue
        checked = subprocess.run(views + ["--all"] * (number % int(step) == 0 or not failed),
                                 capture_output=True, text=True)
        if checked.returncode:
            die("%s: %s" % (what, checked.stdout), checked)
        if not failed:
            if checked.stdout.strip() != "complete":
                die("nothing failed, and the trace is not complete", checked)
            return number - 1, verdicts
        verdicts[checked.stdout.strip()] += 1


for sticky in (False,) if "--once" in sys.argv[7:split] else (False, True):
    count, verdicts = play(sticky)
    print("%s%s: %d writes failed: %s" %
          (" ".join(command[2:-5]), ", each with all that follow" * sticky, count,
           ", ".join("%d %s" % (n, v) for v, n in sorted(verdicts.items()))))
    if not verdicts["exact" if not sticky else "open"]:
        print("FAILED: no trace was %s: nothing was tried" % ("open" if sticky else "exact"),
              file=sys.stderr)
        sys.exit(1)
