# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One recording."""

import os

from . import run


class Trace:
    """A trace file. NOTES are those of the last reading, as of events that were lost: read them."""

    def __init__(self, path, **filters):
        self.path = os.fspath(path)
        self.notes = ""
        self._filters = run.options(filters)
        if not os.path.exists(self.path):
            raise run.Error("file '%s' does not exist" % self.path)

    def __repr__(self):
        return "teeperf.open(%r)" % self.path

    def query(self, sql, **parameters):
        """The rows of SQL over the trace; docs/queries.md has the tables. PARAMETERS stand for
        :NAME in it."""
        given = []
        for name, value in parameters.items():
            given += ["--param", name if value is None else "%s=%s" % (name, value)]
        table, self.notes = run.rows(["query"], [*self._filters, *given, "--", self.path, sql])
        return table

    def example(self, name, **parameters):
        """The rows of a query that comes with teeperf ('teeperf query --example' lists them)."""
        given = []
        for key, value in parameters.items():
            given += ["--param", "%s=%s" % (key, value)]
        table, self.notes = run.rows(["query"],
                                     ["--example=" + name, *self._filters, *given, "--", self.path])
        return table

    def table(self, name):
        """A whole table, as "functions", "paths", "thread_paths", "threads", "calls" or "meta"."""
        if not name.isidentifier():
            raise run.Error("'%s' is not the name of a table" % name)
        return self.query('SELECT * FROM "%s"' % name)

    def functions(self):
        """Calls and times of each function, most self time first."""
        return self.query("SELECT * FROM functions ORDER BY self_ns DESC")

    def paths(self):
        """Calling contexts of all threads, in preorder."""
        return self.query("SELECT * FROM paths ORDER BY path")

    def threads(self):
        """The threads."""
        return self.table("threads")

    def calls(self, function=None):
        """Single calls, in times as they were recorded; of one function by its name, else all."""
        if function is None:
            return self.table("calls")
        return self.query("SELECT c.* FROM calls c JOIN functions f USING (fn) "
                          "WHERE f.function = :function", function=function)

    def meta(self):
        """Facts about the trace, by their names."""
        table = self.query("SELECT * FROM meta")
        records = table if isinstance(table, list) else table.to_dict("records")
        return {record["key"]: record["value"] for record in records}
