#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make random programs, compile them with and without TeePerf, and compare with the interpreter.

usage: random_programs.py [--plain EVERY] [--keep] [--spoil] FIRST COUNT

For each seed from FIRST on: output and exit code of the instrumented program (and, of one in EVERY
programs, of the same without TeePerf) are those that the interpreter computes; and so are, in the
profile, the calls of each function, and of each call path in each thread. The seed chooses the
options, too. Of one program in ten inlining is left to the compiler, and only what it prints
counts. --spoil leaves a function out that the interpreter knows of, which must be seen. --keep
keeps all programs.

Needs TEEPERF in the environment, and works in the current folder, where programs that failed are
kept.
"""

import argparse
import collections
import csv
import glob
import os
import platform
import random
import re
import shutil
import subprocess
import sys

import random_plan
import random_run
import random_write

TEEPERF = os.environ.get("TEEPERF", "teeperf")


class Failure(Exception):
    pass


def run(command, cwd, wanted=0, timeout=600):
    """Run COMMAND; return its output."""
    done = subprocess.run(command, cwd=cwd, timeout=timeout, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != wanted:
        raise Failure("exit status %d, not %d: %s\n%s%s" % (
            done.returncode, wanted, " ".join(command), done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


def majors():
    root = os.path.join(os.path.dirname(os.path.dirname(TEEPERF)), "lib", "teeperf")
    return sorted(int(path.rsplit("-", 1)[1]) for path in glob.glob(root + "/llvm-*"))


class Options:
    """How the program of a seed is compiled and recorded."""

    def __init__(self, seed, plan):
        choose = random.Random(seed * 7919 + 1)
        self.major = choose.choice(majors())
        self.level = choose.choice(["-O0", "-O1", "-O2", "-O2", "-O3", "-Os"])
        self.lto = (choose.choice(["", "", "", "", "-flto", "-flto=thin"]) if self.major >= 15
                    else "")
        if not shutil.which("ld.lld-%d" % self.major):
            self.lto = ""
        self.shape = choose.choice(["inline", "dual", "call"])
        self.exits = choose.choice(["timed", "timed", "untimed"])
        ordered = "tsc-ordered" if platform.machine() == "x86_64" else "tsc"
        self.clock = choose.choice(["tsc", ordered, "soft", "none"])
        self.free = choose.random() < 0.1
        self.more = choose.choice([[], [], [], ["-fno-plt"], ["-fomit-frame-pointer"],
                                   ["-fstack-protector-all"],
                                   ["-ffunction-sections", "-Wl,--gc-sections"]])
        self.compress = choose.random() < 0.2
        self.plan = plan

    def driver(self, instrument):
        words = ["--llvm", str(self.major), "--allowlist", "list.allow", "--shape", self.shape,
                 "--exits", self.exits, "--check=off"]
        return words if instrument else ["--llvm", str(self.major), "--level=off"]

    def clang(self):
        return ["-w", "-g", "-pthread", self.level, *self.more, *([self.lto] if self.lto else [])]

    def __str__(self):
        return " ".join(self.clang() + self.driver(True)[:2] + [self.shape, self.exits, self.clock]
                        + (["inlining"] if self.free else []))


def build(plan, options, folder, name, instrument):
    """Compile and link PLAN into folder/NAME."""
    objects = []
    driver = options.driver(instrument)
    library = [file for file in plan.files if file.startswith("lib.")]
    for file in plan.files:
        cc = "c++" if file.endswith(".cpp") else "cc"
        words = ["-fexceptions"] if cc == "cc" else []
        if file in library:
            run([TEEPERF, cc, *driver, *options.clang(), *words, "-fPIC", "-shared", file, "-o",
                 "lib%s.so" % name], folder)
            continue
        objects.append("%s-%s.o" % (name, file.split(".")[0]))
        run([TEEPERF, cc, *driver, *options.clang(), *words, "-c", file, "-o", objects[-1]], folder)
    link = ["-L.", "-l" + name, "-Wl,-rpath,$ORIGIN"] if library else []
    run([TEEPERF, "c++" if plan.cxx else "cc", *driver, *options.clang(), *objects, *link, "-o",
         name], folder)


def short(name):
    """A function's name without parameters, and what compilers append to names of clones."""
    return re.sub(r"\.(llvm|specialized|constprop|part|cold|isra)\.?\d*", "",
                  name.split("(")[0].split(" [")[0])


def read_tree(text):
    """The paths of each thread, as {path: calls}."""
    threads = collections.defaultdict(collections.Counter)
    stack = []
    for row in csv.DictReader(text.splitlines()):
        del stack[int(row["depth"]) - 1:]
        stack.append(short(row["function"]))
        threads[row["thread"]][tuple(stack)] += int(row["calls"])
    return list(threads.values())


def show(paths):
    return sorted("%s %d" % (";".join(path), calls) for path, calls in paths.items())


def compare_profile(plan, expected, folder):
    threads = run([TEEPERF, "analyze", "run.trace", "--view", "threads", "--format", "csv"], folder)
    lost = sum(int(row["lost"]) for row in csv.DictReader(threads.splitlines()))
    if lost:
        raise Failure("%d events were lost" % lost)
    got = read_tree(run([TEEPERF, "analyze", "run.trace", "--view", "tree", "--format", "csv"],
                        folder))
    want = [paths for paths in expected.threads if paths]
    want, got = sorted(map(show, want)), sorted(map(show, got))
    if want != got:
        text = ""
        for one, other in zip(want, got):
            text += "".join("  missing: %s\n" % line for line in sorted(set(one) - set(other))[:10])
            text += "".join("  wrong: %s\n" % line for line in sorted(set(other) - set(one))[:10])
        raise Failure("paths of %d threads, %d expected, differ:\n%s" % (len(got), len(want), text))
    calls = collections.Counter()
    top = run([TEEPERF, "analyze", "run.trace", "--view", "top", "--format", "csv"], folder)
    for row in csv.DictReader(top.splitlines()):
        if int(row["calls"]):
            calls[short(row["function"])] += int(row["calls"])
    if calls != expected.calls:
        raise Failure("calls of functions differ: missing %s, wrong %s" % (
            dict(expected.calls - calls), dict(calls - expected.calls)))


def test(seed, folder, plain, spoil):
    """Test the program of SEED; return how many calls were compared, and its options."""
    plan = random_plan.Plan(seed)
    options = Options(seed, plan)
    writer = random_write.Writer(plan)
    files = {"random.h": writer.header("" if options.free else "__attribute__((noinline))"),
             "list.allow": random_write.allowlist(plan)}
    if spoil:
        files["list.allow"] += "fun:%s=skip\n" % plan.starts[-1].name
    for file in plan.files:
        files[file] = writer.source(file)
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    expected = random_run.Run(plan)
    with open(os.path.join(folder, "options"), "w", encoding="utf-8") as file:
        file.write("%s\n" % options)
    wanted = "".join(line + "\n" for line in expected.lines)
    if plain:
        build(plan, options, folder, "alone", False)
        if run(["./alone"], folder, expected.code) != wanted:
            raise Failure("the program does not do what the interpreter does")
    build(plan, options, folder, "program", True)
    compress = ["--compress"] if options.compress else []
    got = run([TEEPERF, "record", "-q", "--mode", "full", "--size", "16M", "--ready", "16M",
               "--clock", options.clock, *compress, "-o", "run.trace", "--", "./program"], folder,
              expected.code)
    if got != wanted:
        raise Failure("the recorded program does not do what the interpreter does: %s, not %s" % (
            got, wanted))
    if not options.free:
        compare_profile(plan, expected, folder)
    return sum(expected.calls.values()), options


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--plain", type=int, default=1)
    parser.add_argument("--spoil", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    arguments = parser.parse_args()
    sys.setrecursionlimit(20000)
    calls = tested = 0
    failed = []
    seen = collections.Counter()
    for seed in range(arguments.first, arguments.first + arguments.count):
        folder = os.path.abspath("seed-%d" % seed)
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        tested += 1
        try:
            some, options = test(seed, folder, arguments.plain and seed % arguments.plain == 0,
                                 arguments.spoil)
            calls += some
            seen.update([options.level, "LLVM %d" % options.major, options.lto or "no LTO"])
            if not arguments.keep:
                shutil.rmtree(folder)
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed.append(seed)
            print("seed %d: %s" % (seed, failure), flush=True)
    print("%d programs, %d calls compared: %d failed%s" % (
        tested, calls, len(failed), ": seeds " + " ".join(map(str, failed)) if failed else ""))
    print(", ".join("%s %d" % item for item in sorted(seen.items())))
    sys.exit(1 if failed or not calls else 0)


main()
