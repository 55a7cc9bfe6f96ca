# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up what the runs have left: result.tsv of each -> Results, and its tables as CSV, Parquet
and SQLite."""

import contextlib
import os
import pathlib
import re
import sqlite3
import statistics
from collections import Counter, namedtuple

import measure
import parquet
import text
from grid import DEEP_TRACE, MEASURED
from text import Failure

RUNS_LEAST = 3  # Of fewer there is no interval.

Summary = namedtuple("Summary", "cell metric unit values median low high")


class Results:
    """ITEMS: (run, Measured) in the order of runs, deep traces among them. FIGURES: {name: unit}
    as they appear. SUMMARIES: of a cell's runs that are done, by cell and figure. NOTES: {text:
    [first cell, runs, cells]}."""

    def __init__(self, experiment):
        self.experiment = experiment
        self.figures, self.notes = {}, {}
        self.bad = Counter()
        for cell in experiment.cells:
            if cell.skipped:
                self.add_note(cell.skipped, cell, 0)
        found = ((run, measure.read(experiment.folder(run))) for run in experiment.runs)
        self.items = [(run, of) for run, of in found if of]
        of_cell = {}
        for run, of in self.items:
            self.bad[of.status] += of.status != "done"
            for name, (unit, _) in of.metrics.items():
                self.figures.setdefault(name, unit)
            for note in of.notes:
                self.add_note(note, run.cell, 1)
            if run.kind == MEASURED and of.status == "done":
                of_cell.setdefault(run.cell, []).append(of)
        self.summaries = [self.summarize(cell, name, of_cell[cell]) for cell in experiment.cells
                          if cell in of_cell for name in self.figures
                          if any(name in of.metrics for of in of_cell[cell])]
        self.add_intervals()

    def add_note(self, what, cell, runs):
        note = self.notes.setdefault(what, [cell, 0, 0])
        note[1] += runs
        note[2] += 1

    def summarize(self, cell, name, of):
        values = sorted(one.metrics[name][1] for one in of if name in one.metrics)
        return Summary(cell, name, self.figures[name], values, statistics.median(values), None,
                       None)

    def add_intervals(self):
        """By the command, as 9,999 samples of each figure would take Python minutes."""
        wanted = [i for i, of in enumerate(self.summaries) if len(of.values) >= RUNS_LEAST]
        lines = []
        for of in (self.summaries[i] for i in wanted):
            # The same figures have the same interval, whatever else is in the plan.
            seed = text.hash_text(text.hash_text(self.experiment.seed, of.metric), of.cell.name)
            lines.append("%d %s\n" % (seed, " ".join("%.17g" % value for value in of.values)))
        found = self.experiment.runner.part(":intervals", given="".join(lines)) if lines else ""
        if found is None:
            raise Failure("cannot make the intervals of medians")
        for i, line in zip(wanted, found.splitlines()):
            low, high = map(float, line.split())
            self.summaries[i] = self.summaries[i]._replace(low=low, high=high)

    # ---- tables

    def cell_columns(self):
        plan, cells = self.experiment.plan, self.experiment.cells
        known = [[cell.values[i] for cell in cells if cell.values[i] is not None]
                 for i in range(len(plan.columns))]
        self.numeric = [bool(values) and all(map(is_number, values)) for values in known]
        return [("experiment", "TEXT"), ("task", "TEXT"), ("variant", "TEXT")] + [
            (name, "REAL" if numeric else "TEXT")
            for name, numeric in zip(plan.columns, self.numeric)]

    def cell_values(self, cell):
        return [cell.name, cell.task.name, cell.variant.name] + [
            value if value is None or not numeric else float(value)
            for value, numeric in zip(cell.values, self.numeric)]

    def runs(self, kind):
        """(columns, rows): a row for each run of this KIND."""
        columns = [*self.cell_columns(), ("iteration", "INTEGER"), ("position", "INTEGER"),
                   ("started", "TEXT"), ("status", "TEXT"), ("ended_with", "TEXT"),
                   *((column(name, unit), "REAL") for name, unit in self.figures.items())]
        return columns, [
            [*self.cell_values(run.cell), run.iteration, of.position, of.started, of.status, of.how,
             *(of.metrics.get(name, (0, None))[1] for name in self.figures)]
            for run, of in self.items if run.kind == kind]

    def measurements(self):
        """A row for each figure of a run."""
        columns = [*self.cell_columns(), ("iteration", "INTEGER"), ("status", "TEXT"),
                   ("metric", "TEXT"), ("unit", "TEXT"), ("value", "REAL")]
        return columns, [
            [*self.cell_values(run.cell), run.iteration, of.status, name, unit, value]
            for run, of in self.items if run.kind == MEASURED
            for name, (unit, value) in of.metrics.items()]

    def summary(self):
        """A row for each figure of an experiment."""
        columns = [*self.cell_columns(), ("metric", "TEXT"), ("unit", "TEXT"), ("runs", "INTEGER"),
                   *((name, "REAL") for name in ("median", "median_low", "median_high", "min",
                                                 "max"))]
        return columns, [
            [*self.cell_values(of.cell), of.metric, of.unit, len(of.values), of.median, of.low,
             of.high, of.values[0], of.values[-1]] for of in self.summaries]

    def write(self):
        folder = self.experiment.output
        tables = {}
        for name, (columns, rows) in (("runs", self.runs(MEASURED)),
                                      ("deep_traces", self.runs(DEEP_TRACE)),
                                      ("measurements", self.measurements()),
                                      ("summary", self.summary())):
            columns = distinct(columns)
            tables[name] = columns, rows
            measure.replace("%s/%s.csv" % (folder, name), csv(columns, rows))
            measure.replace("%s/%s.parquet" % (folder, name), parquet.encode(columns, rows))
        save(tables, folder + "/results.sqlite")


def is_number(value):
    return re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", value)


def column(name, unit):
    """The name with the unit: disk_read_bytes is not disk_read_bytes_bytes."""
    return name if unit == "count" or name.endswith("_" + unit) else name + "_" + unit


def distinct(columns):
    """SQLite takes A and a for one name: the second is A_2."""
    seen, out = set(), []
    for name, kind in columns:
        own, number = name, 2
        while own.lower() in seen:
            own, number = "%s_%d" % (name, number), number + 1
        seen.add(own.lower())
        out.append((own, kind))
    return out


def field(value):
    """Of CSV. What a spreadsheet would take for a formula gets a quote."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return text.number(value)
    guard = "'" if value[:1] in ("=", "+", "-", "@") and not is_number(value) else ""
    out = "\n".join(text.clean(line) for line in (guard + value).split("\n"))
    return '"%s"' % out.replace('"', '""') if re.search('[,"\n]', out) else out


def csv(columns, rows):
    lines = [[name for name, _ in columns], *rows]
    return "".join(",".join(map(field, line)) + "\n" for line in lines).encode()


def save(tables, path):
    """TABLES, {name: (columns, rows)}, as a database in place of an older one."""
    own = path + ".new"
    try:
        pathlib.Path(own).unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(own)) as database:
            database.execute("PRAGMA synchronous = off")
            for name, (columns, rows) in tables.items():
                database.execute('CREATE TABLE "%s"(%s)' % (name, ", ".join(
                    '"%s" %s' % one for one in columns)))
                database.executemany('INSERT INTO "%s" VALUES(%s)' % (
                    name, ", ".join("?" * len(columns))), rows)
            database.commit()
        os.rename(own, path)
    except (sqlite3.Error, OSError) as error:
        raise Failure("cannot write: SQLite: %s" % error, path) from None
