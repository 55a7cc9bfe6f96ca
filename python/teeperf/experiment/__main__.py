# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""teeperf experiment: run the experiments of a plan, and make tables and a page of what they
measured.

    plan.toml -> plan.py (its contents, checked) -> grid.py (experiments, order, commands)
        -> session.py (runs what has no result; measure.py, gramine.py)
        -> result.tsv of each run -> results.py (tables; parquet.py), page.py

cli/cmd_experiment.c has the options; it starts this with TEEPERF VERSION PLAN OUTPUT SEED
FLAGS..."""

import sys

if sys.version_info < (3, 11):
    sys.exit("teeperf experiment: this needs Python 3.11 or later, and python3 is %d.%d: "
             "install a later one, or put it first in PATH" % sys.version_info[:2])

# pylint: disable=wrong-import-position
import os
import shlex
import signal
import time

import grid
import measure
import page
import plan
import results
import session
import text
from text import Failure


def say(what):
    print(what, file=sys.stderr, flush=True)


def tell(what):
    say("teeperf experiment: " + what)


class Progress:
    """Messages while it runs. A terminal shows only the number of completed runs, and keeps the
    lines of failed ones."""

    def __init__(self, debug):
        self.debug = debug
        self.terminal = sys.stderr.isatty()
        self.started = time.monotonic()
        self.n = self.count = 0
        self.name = ""

    def clear(self):
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def makes(self, what):
        self.clear()
        tell(what)

    def time_left(self):
        """From how long the runs took so far."""
        if self.n < 2:
            return ""
        left = (time.monotonic() - self.started) / (self.n - 1) * (self.count - self.n + 1)
        unit, form = (1, "%.0f s") if left < 90 else (60, "%.0f min") if left < 5400 else \
            (3600, "%.1f h")
        return ", %s left" % (form % (left / unit))

    def begins(self, run, n, count, argv):
        self.n, self.count = n, count
        what = {grid.WARM_UP: "warm-up", grid.DEEP_TRACE: "deep trace"}.get(
            run.kind, "run %d of %d" % (run.iteration, run.cell.task.sample_size))
        self.name = "%s, %s" % (run.cell.name, what)
        self.clear()
        if self.debug:
            say("+ " + text.words(argv))
        if self.terminal:
            print("[%d/%d] %s%s" % (n, count, self.name, self.time_left()), end="",
                  file=sys.stderr, flush=True)

    def ends(self, run, of):
        self.clear()
        if self.terminal and (of.status == "done" or run.kind == grid.WARM_UP):
            return
        wall = of.metrics.get("wall_time")
        words = [text.seconds(wall[1])] if wall else []
        words += [of.how] if of.status != "done" else []
        say("[%d/%d] %s: %s" % (self.n, self.count, self.name, ", ".join(words)))


def dry_run(experiment):
    # Any order: only how many there are is shown.
    runs = grid.order(experiment.plan, experiment.cells, 0)
    print("%d experiments, %d runs, results in %s" % (
        len(experiment.cells), sum(not run.cell.skipped for run in runs),
        text.clean(experiment.output)))
    for cell in experiment.cells:
        print("%s: %s%s%s" % (
            cell.name, text.plural(cell.task.sample_size, "run"),
            ", %d to warm up" % cell.task.warm_up if cell.task.warm_up else "",
            "; not here: " + cell.skipped if cell.skipped else ""))
        for what, title in (("build", "build:   "), ("pre_run", "pre_run: "),
                            ("program", "run:     "), ("post_run", "post_run:")):
            line = grid.command(experiment, cell, what)
            variables = ["env", *line.variables] if what == "program" and line.variables else []
            if line.argv:
                print("    %s %s" % (title, text.words(variables + line.argv)))


def write_results(experiment, version):
    """Whether all runs are good."""
    found = results.Results(experiment)
    if found.items:
        found.write()
        measure.replace(experiment.output + "/report.html",
                        page.make(found, version).encode(errors="replace"))
    for what, (_, runs, cells) in found.notes.items():
        tell("note: %s (%s)" % (text.clean(what), text.plural(runs, "run") if runs
                                else text.plural(cells, "experiment")))
    if found.items:
        print(text.clean(experiment.output) + "/report.html", flush=True)
    else:
        tell("no results yet")
    bad = found.bad["failed"], found.bad["timed out"]
    if any(bad):
        tell("warning: %d runs failed and %d timed out: medians leave them out; their output is in "
             "their folders, and --retry runs them again" % bad)
    return not any(bad)


def run(experiment, file, flags, version):
    """The exit status."""
    failed = None
    if "tables" not in flags:
        tell("seed %d%s" % (experiment.seed,
                            ", kept for the next session" if experiment.seed_is_new else ""))
        watch = Progress(experiment.plan.debug)
        try:
            experiment.run("replace" in flags, "retry" in flags, watch)
        except Failure as error:
            failed = error
        watch.clear()
    number = experiment.runner.caught
    if failed and not number:
        say(failed)
    # What there is, is shown; but not after an error before the first run.
    good = write_results(experiment, version) if not failed or experiment.made else False
    if number:
        tell("interrupted by signal %d, %d runs are left: 'teeperf experiment %s' continues" %
             (number, experiment.left, shlex.quote(file)))
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return 0 if good and not failed else 1


def main():
    teeperf, version, file, output, seed, *flags = sys.argv[1:]
    try:
        experiment = session.Experiment(plan.read(file), teeperf, output or None)
        if "dry_run" in flags:
            dry_run(experiment)
            return 0
        experiment.begin(int(seed) if seed else None)
        return run(experiment, file, flags, version)
    except Failure as error:
        say(error)
        return 1


sys.exit(main())
