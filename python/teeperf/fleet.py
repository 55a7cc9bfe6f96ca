# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many recordings: a folder of 'teeperf fleet add'; docs/fleet.md has its tables."""

import glob
import os
import string

from . import run

TABLES = ("runs", "functions", "paths", "profile", "histograms", "path_histograms", "calls",
          "waits", "io", "experiments")
_PLAIN = string.ascii_letters + string.digits + "-_."


def _escaped(text):
    """As it stands in the name of a folder; what a shell's pattern would take for its own as
    well."""
    escaped = "".join(chr(byte) if chr(byte) in _PLAIN else "%%%02X" % byte
                      for byte in os.fsencode(text))
    return glob.escape(escaped)


class Fleet:
    """A folder of runs."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self.notes = ""
        if not os.path.isdir(self.path):
            raise run.Error("folder '%s' does not exist" % self.path)

    def __repr__(self):
        return "teeperf.fleet(%r)" % self.path

    def files(self, table, day="*", program="*"):
        """The Parquet files of a table, for readers of your own, as pandas.read_parquet or DuckDB's
        read_parquet."""
        if table not in TABLES:
            raise run.Error("'%s' is not one of the tables %s" % (table, ", ".join(TABLES)))
        folders = ["%s=%s" % (key, value if value == "*" else _escaped(value)) for key, value in
                   (("day", day), ("program", program))]
        return sorted(
            glob.glob(os.path.join(glob.escape(self.path), table, *folders, "run=*", "*.parquet")))

    def table(self, table, day="*", program="*"):
        """Rows of a table, of one day ("2026-11-26") or program if you say which, with its columns
        as in docs/fleet.md."""
        files = self.files(table, day, program)
        if not files:
            return run.frame([])
        found = _read(files)
        if found is not None:
            return found
        return self.query("SELECT * FROM %s" % table, day=None if day == "*" else day,
                          program=None if program == "*" else program)

    def query(self, sql, **options):
        """The rows of SQL over the tables, by 'teeperf fleet query', of whose options OPTIONS are:
        day="2026-11-26", program="NAME"."""
        found, self.notes = run.rows(["fleet", "query"],
                                     [*run.options(options), "--sql", sql, self.path])
        return found

    def question(self, name, **options):
        """The rows of a named query, as question("top"); 'teeperf fleet query' lists them. OPTIONS
        are its options."""
        found, self.notes = run.rows(["fleet", "query"], [*run.options(options), self.path, name])
        return found

    def runs(self):
        """The runs, oldest first."""
        return self.query("SELECT * FROM runs ORDER BY run_id")


def _read(files):
    """A DataFrame of Parquet files, or None if there is no pandas, or nothing that it reads them
    with."""
    if run.pandas is None:
        return None
    try:
        import pyarrow.parquet  
    except ImportError:
        return None
    frames = [pyarrow.parquet.ParquetFile(file).read().to_pandas() for file in files]
    return run.pandas.concat(frames, ignore_index=True)
