# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command 'teeperf', and tables of what it prints."""

import json
import os
import shutil
import subprocess

try:
    import pandas
except ImportError:
    pandas = None


class Error(Exception):
    """What 'teeperf' said when it failed, and its exit code."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


def command():
    """The 'teeperf' to run: $TEEPERF, or that of $PATH."""
    found = os.environ.get("TEEPERF") or shutil.which("teeperf")
    if not found:
        raise Error("cannot find the command 'teeperf' in $PATH: install TeePerf, "
                    "or set $TEEPERF to it")
    return found


def options(values):
    """Arguments of keyword arguments: min_time="10us" is --min-time 10us; True is an option alone;
    a list repeats it."""
    arguments = []
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                arguments.append(option)
            elif each is not None and each is not False:
                arguments += [option, str(each)]
    return arguments


def output(arguments):
    """(What 'teeperf ARGUMENTS' prints, what it notes). Of a damaged trace there is an output as
    well: then it is noted only."""
    done = subprocess.run([command(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    notes = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode not in (0, 1) or (done.returncode and not done.stdout):
        raise Error(notes or "teeperf %s failed" % arguments[0], done.returncode)
    return done.stdout.decode("utf-8", "surrogateescape"), notes


def rows(command, arguments):
    """The table that a COMMAND, as ["query"], prints, and what it notes."""
    text, notes = output([*command, "--format", "json", *arguments])
    return frame(json.loads(text or "[]")), notes


def frame(table):
    """A list of dicts as a DataFrame if pandas is there. Integers stay integers where some are
    NULL."""
    if pandas is None:
        return table
    return pandas.DataFrame(table).convert_dtypes(convert_string=False, convert_floating=False)
