# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs under Gramine: their manifests, and what Gramine prints of their runs."""

import os
import platform
import re
import shutil
from types import SimpleNamespace

import grid
import measure
from text import Failure

# For a task without a template of its own. Gramine's Jinja replaces text in {{ }}.
TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.manifest.template")
# Threads that Gramine needs beside those of the program.
THREADS = 8
LABELS = {"EENTERs": "sgx_eenters", "EEXITs": "sgx_eexits", "AEXs": "sgx_aexs",
          "sync signals": "sgx_sync_signals", "async signals": "sgx_async_signals"}


def missing(kind):
    """Why there are no programs under Gramine of this KIND here; None: there are."""
    for tool in ("gramine-manifest", "gramine-direct", "gramine-sgx", "gramine-sgx-sign")[
            :4 if kind == "gramine-sgx" else 2]:
        if not shutil.which(tool):
            return "Gramine is not installed: '%s' is not in PATH" % tool
    if kind == "gramine-sgx" and not (os.path.exists("/dev/sgx_enclave") or
                                      os.path.exists("/dev/sgx/enclave")):
        return "this machine has no SGX: /dev/sgx_enclave does not exist"
    return None


def run_tool(experiment, argv, log):
    ended = measure.Measured()
    line = SimpleNamespace(argv=argv, variables=[], cwd="/")
    experiment.runner.run(line, log, log, ended)
    if ended.status != "done":
        raise Failure("'%s' failed (%s); its output is in this file" % (argv[0], ended.how), log)


def make(experiment, cell):
    """The manifest of a cell, from the template of the plan or the plain one; it gets each factor,
    and what the plain one wants."""
    folder = experiment.cell_directory(cell) + "/manifest"
    log = folder + "/log"
    os.makedirs(folder, exist_ok=True)
    name = grid.command(experiment, cell, "program", None, folder).program
    program = shutil.which(name)
    if not program:
        raise Failure("program '%s' does not exist" % name)
    if cell.variant.manifest:
        template = os.path.join(cell.plan.folder, cell.variant.manifest)
    else:
        template = shutil.copy(TEMPLATE, folder)
    values = {"enclave_size": "256M", "storage_type": "untrusted"}
    values.update((column, value) for column, value in zip(cell.plan.columns, cell.values)
                  if value is not None)
    threads = re.match(r"\s*[+-]?\d+", cell.value("num_threads") or "1")
    values.update(max_threads=(int(threads[0]) if threads else 0) + THREADS, entrypoint=program,
                  arch_libdir="/lib/%s-linux-gnu" % platform.machine(),
                  plan_directory=cell.plan.folder,
                  cell_directory=experiment.cell_directory(cell))
    manifest = folder + "/program.manifest"
    run_tool(experiment, ["gramine-manifest", *("-D%s=%s" % pair for pair in values.items()),
                          template, manifest], log)
    if cell.variant.kind == "gramine-sgx":
        run_tool(experiment, ["gramine-sgx-sign", "--manifest", manifest, "--output",
                              manifest + ".sgx"], log)


def read_statistics(path, to):
    """What Gramine counts of SGX, at the end of the program's standard error: the sums of all
    processes. Those of single threads, which come before, are part of them."""
    sums, total, processes = dict.fromkeys(LABELS.values(), 0), False, 0
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if "----- " in line:
                total = "Total SGX stats for process " in line
                processes += total
            found = re.match(r"\s*# of ([^:]*):\s*(\d+)", line)
            if total and found and found[1] in LABELS:
                sums[LABELS[found[1]]] += int(found[2])
    if not processes:
        to.note("not measured: %s: Gramine printed no statistics: they need gramine-sgx and "
                "'sgx.enable_stats = true' in the manifest" %
                ", ".join(name.replace("_", "-") for name in sums))
    for name, count in sums.items():
        if processes:
            to.add(name, "count", count)
