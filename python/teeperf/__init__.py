# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recordings of TeePerf in Python.

    import teeperf
    trace = teeperf.open("teeperf.trace")
    trace.functions()                  # calls and times of each function
    trace.query("SELECT * FROM calls WHERE duration_ns > 1000000")
    runs = teeperf.fleet("runs/")      # of 'teeperf fleet add'
    runs.table("profile", program="redis-server")

Tables are pandas DataFrames where pandas is there, else lists of dicts. A trace is read by the
command 'teeperf', so this package has the numbers of all its other views.
"""

from .run import Error, command
from .fleet import Fleet
from .trace import Trace

__all__ = ["Error", "Fleet", "Trace", "command", "fleet", "open"]


def open(path, **filters):  # pylint: disable=redefined-builtin
    """The trace in the file PATH. FILTERS are those of 'teeperf query', as thread=1,
    focus="parse*", raw=True."""
    return Trace(path, **filters)


def fleet(path):
    """The fleet in the folder PATH."""
    return Fleet(path)
