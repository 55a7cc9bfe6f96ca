# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For tests of exports: our own numbers of a trace, and how what a reader made of an export
# compares.
import csv
import io
import os
import sys

import many

teeperf = os.environ["TEEPERF"]
failures = 0
compared = 0


def fail(text):
    global failures
    failures += 1
    print("FAILED:", text)


def run(*command, status=0, text=True, stdin=None):
    """The standard output of COMMAND, which has to end with STATUS and, if it is not ours,
    quietly."""
    done = many.run_quick(command, input=stdin, capture_output=True, text=text,
                          errors="surrogateescape" if text else None)
    if done.returncode != status:
        sys.exit(f"FAILED: {command} ends with {done.returncode}: {done.stderr}")
    return done.stdout


def export(trace, form, out, *options):
    """Write the export; the name of the file."""
    if os.path.exists(out):
        os.remove(out)
    # A damaged trace is exported, too.
    done = many.run_quick([teeperf, "export", "--format", form, "-o", out, *options, trace],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1) or not os.path.exists(out):
        sys.exit(f"FAILED: export {form} of {trace} ends with {done.returncode}: {done.stderr}")
    return out


class Function:
    """Sums of all functions of a name; inclusive is None if there are several."""

    def __init__(self):
        self.calls = self.counted = self.self_ns = self.inclusive = 0
        self.file = self.linkage = self.module = ""
        self.line = self.address = 0


def exact(trace):
    """Whether a tick is a nanosecond: then nothing is rounded."""
    return "real" not in trace or "1ghz" in trace


def unguarded(cell):
    """Text without the apostrophe that keeps a spreadsheet from taking it for a formula."""
    return cell[1:] if cell and cell[0] == "'" and cell[1:2] in ("=", "+", "-", "@") else cell


def view(name, trace, *options):
    """The rows of a view."""
    done = many.run_quick([teeperf, "analyze", "--view", name, "--format", "csv", *options, trace],
                          capture_output=True, text=True, errors="surrogateescape")
    if done.returncode not in (0, 1):
        sys.exit(f"FAILED: analyze of {trace} ends with {done.returncode}: {done.stderr}")
    return [{key: unguarded(cell) for key, cell in row.items()}
            for row in csv.DictReader(io.StringIO(done.stdout))]


def rows(trace, *options):
    return view("top", trace, *options)


def threads(trace, *options):
    return view("threads", trace, *options)


def paths_of(trace, *options):
    """{function: in how many paths it is}, of all threads."""
    done = many.run_quick([teeperf, "export", "--format", "folded", "--weight", "calls", *options,
                           trace], capture_output=True, text=True, errors="surrogateescape")
    paths = {}
    for line in done.stdout.splitlines():
        for name in set(line.rpartition(" ")[0].split(";")):
            paths[name] = paths.get(name, 0) + 1
    return paths


def reference(trace, *options, key=lambda row: row["function"]):
    """By name: what `analyze --view top` says. Also whether there are times."""
    functions = {}
    timed = False
    for row in rows(trace, *options):
        known = key(row) in functions
        f = functions.setdefault(key(row), Function())
        f.calls += int(row["calls"])
        f.counted += int(row["calls"]) - int(row["timed_calls"])
        f.self_ns += int(row["self_ns"] or 0)
        f.inclusive = None if known else int(row["inclusive_ns"] or 0)
        f.file, f.line = row["file"], int(row["line"])
        f.linkage, f.module = row["linkage"], row["module"]
        f.address = int(row["address"], 16)
        timed = timed or row["self_ns"] != ""
    if not functions:
        sys.exit(f"FAILED: no functions in {trace}")
    return functions, timed


def compare(what, wanted, got):
    """Both are dictionaries; all has to be the same."""
    global compared
    compared += len(wanted)
    for key in sorted(set(wanted) | set(got), key=str):
        if key not in got:
            fail(f"{what}: {key!r} is missing")
        elif key not in wanted:
            fail(f"{what}: {key!r} should not be there")
        elif wanted[key] != got[key]:
            fail(f"{what}: {key!r} is {got[key]}, not {wanted[key]}")


def compare_near(what, wanted, got, slack):
    """As compare, but of numbers, each of which may be wrong by slack[key]."""
    global compared
    compared += len(wanted)
    for key in sorted(set(wanted) | set(got), key=str):
        a, b = wanted.get(key, 0), got.get(key, 0)
        if abs(a - b) > slack.get(key, 0):
            fail(f"{what}: {key!r} is {b}, not {a} (+- {slack.get(key, 0)})")


def finish(least):
    print(f"{compared} numbers compared, {failures} failures")
    if compared < least:
        sys.exit(f"FAILED: only {compared} numbers were compared")
    sys.exit(failures != 0)
