# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A session: what of an experiment has no result yet is run, one run at a time.

OUTPUT/CELL/ITERATION/result.tsv is written under another name and renamed: a run that has none did
not happen. Nothing but these files goes from running to showing, so a session that was killed
continues, and the tables can be made again without a run."""

import contextlib
import fcntl
import os
import pathlib
import random
import shutil
import time

import gramine
import grid
import measure
import text
from grid import DEEP_TRACE, WARM_UP
from text import Failure

STATE = "experiment.tsv"
# Changes when the same settings make other figures.
KEY_VERSION = 1


def make_folder(path):
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise Failure("cannot make the folder: %s" % error.strerror, path) from None


def remove_folder(path):
    try:
        if os.path.lexists(path):
            shutil.rmtree(path)
    except OSError as error:
        raise Failure("cannot remove the files of an earlier run: %s" % error.strerror,
                      path) from None


class Experiment:
    """A plan, its cells, and the folder of results. WATCH has begins, ends and makes, for
    messages."""

    def __init__(self, plan, teeperf, output=None):
        self.plan, self.teeperf = plan, teeperf
        base = os.path.basename(plan.file)
        folder = os.getcwd() if output else plan.folder
        name = output or plan.output_directory or \
            (base.rpartition(".")[0] or base) + ".results"
        self.output = os.path.join(folder, name).rstrip("/") or "/"
        self.cells = grid.make_cells(plan)
        missing = {kind: gramine.missing(kind) for kind in grid.KINDS[3:]}
        if not shutil.which("perf"):
            missing["perf-stat"] = "perf is not installed (on Debian: linux-perf)"
        for cell in self.cells:
            cell.skipped = missing.get(cell.variant.kind)
        self.runner = measure.Runner(teeperf)
        self.made = self.left = 0
        self.hashes = {}

    # ---- folders

    def cell_directory(self, cell):
        return "%s/%s" % (self.output, cell.name)

    def build_directory(self, variant):
        return "%s/build/%s" % (self.output, variant.name)

    def output_directory(self, cell, folder):
        """Where the program of a run puts its files."""
        return "%s/%s" % (folder, cell.value("storage_type") or "data")

    def folder(self, run):
        return "%s/%s" % (self.cell_directory(run.cell), run.iteration or run.kind)

    def begin(self, seed):
        """Make the folder, take its lock, and order the runs."""
        make_folder(self.output)
        lock = self.output + "/.lock"
        try:
            self.lock = open(lock, "a", encoding="utf-8")  # pylint: disable=consider-using-with
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure("another 'teeperf experiment' works in this folder; wait for its end, or "
                          "give another one with --output", self.output) from None
        except OSError as error:
            raise Failure("cannot write to the folder of results: %s" % error.strerror,
                          lock) from None
        self.seed = seed if seed is not None else self.plan.seed
        if self.seed is None and "seed" in self.read_state():
            self.seed = int(self.read_state()["seed"])
        self.seed_is_new = self.seed is None
        if self.seed is None:
            # Short enough to be typed again.
            self.seed = random.SystemRandom().getrandbits(32)
        self.runs = grid.order(self.plan, self.cells, self.seed)
        self.write_state()

    def read_state(self):
        path = pathlib.Path(self.output, STATE)
        lines = path.read_text(errors="replace").splitlines() if path.exists() else ()
        return dict(line.partition("\t")[::2] for line in lines)

    def write_state(self):
        system = os.uname()
        state = ["teeperf experiment\t1", "seed\t%d" % self.seed, "host\t" + system.nodename,
                 "system\t%s %s %s" % (system.sysname, system.release, system.machine),
                 "cores\t%d" % os.cpu_count()]
        with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
            state += ["processor\t" + line.partition(":")[2].strip() for line in file
                      if line.startswith("model name")][:1]
        measure.replace(self.output + "/plan.toml", self.plan.text.encode())
        measure.replace(self.output + "/" + STATE, ("\n".join(state) + "\n").encode())

    # ---- keys: of all that decides the measurement

    def hash_file(self, path):
        if path not in self.hashes:
            self.hashes[path] = self.runner.part(":hash", path)
        return self.hashes[path] and int(self.hashes[path], 16).to_bytes(8, "little")

    def hash_named(self, state, name):
        """A file that the plan names."""
        found = name and self.hash_file(os.path.join(self.plan.folder, name))
        return text.hash_bytes(state, found) if found else state

    def key(self, cell):
        state = text.HASH_START
        for number in (KEY_VERSION, grid.KINDS.index(cell.variant.kind), cell.task.timeout):
            state = text.hash_bytes(state, number.to_bytes(8, "little"))
        state = text.hash_text(state, ",".join(self.plan.events()))
        for what in ("program", "pre_run", "post_run"):
            state = grid.hash_line(state, grid.command(self, cell, what))
        # The program itself: other code makes other figures.
        run = grid.Run(cell, 1, grid.MEASURED, 0)
        program = grid.command(self, cell, "program", run, self.folder(run)).program
        path = shutil.which(program)
        if not path:
            name = cell.variant.executable or cell.task.executable
            self.plan.fail(name.place, "program '%s' does not exist%s" %
                           (program, "" if "/" in program else " in PATH"))
        found = self.hash_file(path)
        # It may be run, but not read.
        state = text.hash_bytes(state, found) if found else text.hash_text(state, path)
        return self.hash_named(state, cell.variant.manifest)

    # ---- builds

    def build(self, cell, watch):
        """Once for all sessions: two builds of one source may differ, and so would figures."""
        state = grid.hash_line(text.HASH_START, grid.command(self, cell, "build"))
        key = "%016x\n" % self.hash_named(state, cell.variant.allowlist)
        folder = self.build_directory(cell.variant)
        built = pathlib.Path(folder, ".built")
        if built.exists() and built.read_text(errors="replace") == key:
            return
        watch.makes("building variant '%s'" % cell.variant.name)
        remove_folder(folder)
        make_folder(folder)
        log = folder + "/build.log"
        ended = measure.Measured()
        self.runner.run(grid.command(self, cell, "build", None, folder), log, log, ended)
        if ended.status != "done":
            raise Failure("building variant '%s' failed (%s); its output is in this file" %
                          (cell.variant.name, ended.how), log)
        measure.replace(str(built), key.encode())

    def build_all(self, watch):
        built = []
        for cell in self.cells:
            if cell.skipped or not cell.variant.build_executable or cell.variant in built:
                continue
            built.append(cell.variant)
            self.build(cell, watch)

    # ---- running

    def find_wanted(self, replace, retry):
        """The runs that are to be made."""
        wanted, others = [], []
        for run in self.runs:
            if run.cell.skipped:
                continue
            found = measure.read(self.folder(run))
            if found and found.key != run.cell.key:
                others.append(run)
                found = None
            if not found or (retry and found.status != "done"):
                wanted.append(run)
        if others and not replace:
            raise Failure(
                "%s of other settings or another program (the first is of '%s'); give --replace to "
                "repeat the changed experiments, or another folder with --output" %
                ("1 result is" if len(others) == 1 else "%d results are" % len(others),
                 others[0].cell.name), self.output)
        return wanted

    def run_step(self, run, folder, step, to):
        """Whether the command before or after a run failed."""
        line = grid.command(self, run.cell, step, run, folder)
        if not line.argv:
            return False
        log = "%s/%s.log" % (folder, step)
        ended = measure.Measured()
        self.runner.run(line, log, log, ended, run.cell.task.timeout)
        if ended.status != "done":
            to.note("%s failed: %s" % (step, ended.how))
        return ended.status != "done"

    def measured(self, run, folder):
        """The figures to measure while the program runs."""
        plan, kind = self.plan, run.cell.variant.kind
        what = {"measured": 1}
        # What perf counts by itself would be counted twice, and slow it.
        if kind != "perf-stat":
            what["events"] = plan.events()
        if plan.energy:
            what.update(energy=folder + "/energy.csv",
                        energy_interval_ns=plan.energy_sample_interval)
        # What starts another program would have its own events among those of the program.
        if plan.system_events and kind == "native" and run.kind != DEEP_TRACE:
            what["system"] = 1
        return what

    def run_program(self, run, folder, line, to):
        if self.run_step(run, folder, "pre_run", to):
            to.status, to.how = "failed", "not run, as pre_run failed"
            return
        self.runner.run(line, folder + "/stdout", folder + "/stderr", to, run.cell.task.timeout,
                        **self.measured(run, folder))
        self.collect_rest(run, folder, to)
        self.run_step(run, folder, "post_run", to)

    def run_one(self, run, n, watch):
        folder = self.folder(run)
        output = self.output_directory(run.cell, folder)
        remove_folder(folder)
        make_folder(output)
        line = grid.command(self, run.cell, "program", run, folder)
        watch.begins(run, n, self.left, line.argv)
        to = measure.Measured(run.cell.key, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                              run.position)
        try:
            self.run_program(run, folder, line, to)
            if run.kind != WARM_UP:
                to.write(folder)
        finally:
            with contextlib.suppress(OSError):
                os.rmdir(output)  # A folder that nothing was put into says nothing.
        if run.kind == WARM_UP:
            remove_folder(folder)
        watch.ends(run, to)
        self.made += run.kind != WARM_UP

    def prepare(self, cell, n, watch):
        """What comes before the first run of a cell in this session, when caches may be as the boot
        left them."""
        if cell.variant.kind in grid.KINDS[3:]:
            watch.makes("making the manifest of '%s'" % cell.name)
            gramine.make(self, cell)
        for _ in range(cell.task.warm_up):
            self.run_one(grid.Run(cell, 0, WARM_UP, 0), n, watch)

    def run(self, replace, retry, watch):
        """Build what variants need, and run what has no result."""
        with self.runner:
            self.build_all(watch)
            for cell in self.cells:
                if not cell.skipped:
                    cell.key = self.key(cell)
            wanted = self.find_wanted(replace, retry)
            self.left = len(wanted)
            prepared = set()
            try:
                for n, run in enumerate(wanted, 1):
                    if run.cell not in prepared:
                        prepared.add(run.cell)
                        self.prepare(run.cell, n, watch)
                    self.run_one(run, n, watch)
            finally:
                self.left -= self.made

    # ---- what a run has left

    def collect_rest(self, run, folder, to):
        plan, kind = self.plan, run.cell.variant.kind
        figures = (plan.disk_read_nj_per_byte, plan.disk_write_nj_per_byte)
        moved = [to.metrics.get(name) for name in ("disk_read_bytes", "disk_written_bytes")]
        if any(figure is not None for figure in figures) and all(moved):
            to.add("disk_energy", "J", sum(value * figure / 1e9 for (_, value), figure
                                           in zip(moved, figures) if figure is not None))
        if kind == "perf-stat":
            read_perf(folder, to)
        path = folder + "/teeperf.trace"
        if kind == "teeperf" or run.kind == DEEP_TRACE:
            self.read_trace(path, to)
            to.note("user and system time, memory, faults, switches, counters, reads and writes "
                    "include the recorder; wall_time and cpu_time do not")
            if run.kind != DEEP_TRACE and not run.cell.variant.keep_traces:
                pathlib.Path(path).unlink(missing_ok=True)
        if kind == "gramine-sgx":
            gramine.read_statistics(folder + "/stderr", to)

    def read_trace(self, path, to):
        if not os.path.exists(path):
            to.note("no trace was written: 'teeperf record' gives the reason in the file stderr")
            return
        found = self.runner.part(":trace", path)
        if found is None:
            raise Failure("cannot add up the trace", path)
        own = measure.Measured()
        for line in found.split("\n"):
            own.take(line)
        for name, (unit, value) in own.metrics.items():
            (to.set if name in ("wall_time", "cpu_time") else to.add)(name, unit, value)
        to.add("trace_bytes", "bytes", os.path.getsize(path))
        for note in own.notes:
            to.note(note)


def read_perf(folder, to):
    """Lines of 'perf stat -x;': value;unit;event;..."""
    absent, found = [], 0
    path = pathlib.Path(folder, "perf.csv")
    for line in path.read_text(errors="replace").split("\n") if path.exists() else ():
        fields = line.split(";")
        if line.startswith("#") or len(fields) < 3:
            continue
        found += 1
        value, unit, event = fields[:3]
        try:
            number = float(value.replace(",", "."))
        except ValueError:
            absent.append(event)
            continue
        if event == "duration_time":
            to.set("wall_time", "s", number / 1e9)
        elif unit == "msec":
            to.add(event, "s", number / 1e3)
        else:
            to.add(event, unit or "count", number)
    if not found:
        to.note("'perf stat' has written no counters")
    if absent:
        to.note("not counted by 'perf stat', or not supported here: " + ", ".join(absent))
