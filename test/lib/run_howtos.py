#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_howtos.py FILE...: run each command in the code blocks of how-to guides, in this folder,
which has the programs that they name. Each exits with 0, but for those in STATUS; those in SKIPPED
are not run, each for a reason. An entry that no command needs any more is a fault."""

import os
import re
import subprocess
import sys

from run_tutorial import Shell

FILES = {
    "install.md": "builds and installs TeePerf itself",
    "inside-a-tee.md": "needs the SDKs of TEEs: test/e2e/tee has stand-ins",
}
SKIPPED = {
    r"make|cmake -B": "builds a user's source tree: test/e2e/docs/tutorial.sh",
    r"--events|--view (waits|system)|what-if":
        "needs root and the kernel's tracepoints: test/e2e/system",
    r"--daemon|systemctl": "goes on for ever",
    r"--watch": "goes on until the program ends: test/e2e/attach",
    r"--pid": "needs a program that may be attached to: test/e2e/attach",
    r"--control|teeperf ctl": "needs a program that goes on: test/e2e/control",
    r"clickhouse|fleet push": "needs a server: test/e2e/fleet",
    r"enclave\.so": "signs an enclave",
}
# Exit statuses that are results, too.
STATUS = {
    r"--fail-if": (0, 1),  # the programs are the same: by luck of their times
    r"check-release": (1,),  # it is instrumented
}


def commands(text):
    """The commands of the code blocks; one of several lines is one."""
    for block in re.findall(r"^ *```\n(.*?)^ *```$", text, re.M | re.S):
        lines = ""
        for line in block.splitlines():
            lines += line.strip() + "\n"
            if subprocess.run(["bash", "-n"], input=lines, stderr=subprocess.DEVNULL,
                              text=True).returncode == 0:
                yield lines.strip()
                lines = ""
        if lines:
            sys.exit("not a command: %s" % lines)


def find(table, text):
    return [key for key in table if re.search(key, text)]


def main():
    shell, count, bad, used = Shell(), 0, 0, set()
    shell.run('sudo() { "$@"; }; git() { echo 0123456789012345678901234567890123456789; }')
    for path in sys.argv[1:]:
        name = os.path.basename(path)
        if name in FILES:
            used.add(name)
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for command in commands(text):
            skipped = find(SKIPPED, command)
            used.update(skipped)
            if skipped:
                continue
            result = find(STATUS, command)
            used.update(result)
            got, status = shell.run(command.replace("/srv/profiles", "profiles"))
            count += 1
            if status not in (STATUS[result[0]] if result else (0,)):
                bad += 1
                print("%s: exit %d: %s\n  %s" % (name, status, command, "\n  ".join(got)))
    for key in {*FILES, *SKIPPED, *STATUS} - used:
        bad += 1
        print("no command is %s: take it off the list" % key)
    print("%d commands ran" % count)
    sys.exit(1 if bad or count < 30 else 0)


main()
