# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
The present time of a log's clock, for teeperf-gdb.py. A soft clock is in the log. A counter of the
processor is read here, if the process runs on this machine; the process of a core file stopped long
ago.
"""
import ctypes
import mmap
import os
import platform

import gdb

import teeperf_abi as abi

# By the log's clock: machine, and code that returns its counter.
COUNTERS = {abi.TEEPERF_CLOCK_TSC:
    ("x86_64", "0f3148c1e2204809d0c3"),  # rdtsc; shl $32, %rdx; or %rdx, %rax; ret
    abi.TEEPERF_CLOCK_CNTVCT: ("aarch64", "40e03bd5c0035fd6"),  # mrs x0, cntvct_el0; ret
    abi.TEEPERF_CLOCK_RDTIME: ("riscv64", "732510c067800000"),  # rdtime a0; ret
    abi.TEEPERF_CLOCK_TSC_ORDERED: ("x86_64", "0f3148c1e2204809d0c3"),
}


def is_here():
    """Whether the selected inferior is a process of this machine that runs, or would if it were not
    stopped."""
    connection = getattr(gdb.selected_inferior(), "connection", None)
    return (connection is not None and connection.type == "native" and
            bool(gdb.selected_inferior().pid))


def counter(clock):
    """The processor's counter, None if it cannot be read from here."""
    machine, code = COUNTERS.get(clock, ("", ""))
    if machine != platform.machine():
        return None
    # The kernel makes code of a file's page ready to run; of other memory we would have to.
    try:
        file = os.memfd_create("teeperf-gdb-clock")
    except (OSError, AttributeError):
        return None
    try:
        os.ftruncate(file, mmap.PAGESIZE)
        os.write(file, bytes.fromhex(code))
        with mmap.mmap(file, mmap.PAGESIZE, mmap.MAP_PRIVATE,
                       mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as page:
            place = ctypes.c_char.from_buffer(page)
            now = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(place))()
            del place
        return now
    except (OSError, ValueError, BufferError):
        return None
    finally:
        os.close(file)


def now(log):
    """Ticks, or None where nobody knows."""
    if log.clock in (abi.TEEPERF_CLOCK_SOFT_TSC, abi.TEEPERF_CLOCK_SOFT_MONOTONIC,
                     abi.TEEPERF_CLOCK_SOFT_COUNT):
        return log.counter
    return counter(log.clock) if is_here() else None
