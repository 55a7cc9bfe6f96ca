# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
A flight recorder in GDB: the open calls and the last events of each thread, out of the log in the
memory of a stopped process or of a core file (docs/gdb.md).

    (gdb) source share/teeperf/gdb/teeperf-gdb.py
    (gdb) teeperf status | stacks | events
"""
import os
import sys

folder = os.path.dirname(os.path.abspath(__file__))
if folder not in sys.path:
    sys.path.append(folder)
writes = sys.dont_write_bytecode
sys.dont_write_bytecode = True
try:
    import teeperf_gdb_commands  # noqa: E402,F401
except ModuleNotFoundError as error:
    if error.name != "teeperf_abi":
        raise
    raise ImportError("the build makes teeperf_abi.py: source share/teeperf/gdb/teeperf-gdb.py "
                      "of the build folder, or of where TeePerf is installed, "
                      "not the source tree's") from None

sys.dont_write_bytecode = writes
del folder, writes
