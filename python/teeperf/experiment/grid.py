# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The experiments of a plan, the order of their runs, and their commands: Plan -> Cell, Run, Line.
"""

import math
import re
from collections import Counter, namedtuple
from types import SimpleNamespace

import text
from plan import KINDS, Text

CELLS_MOST = 100000
RUNS_MOST = 1000000
MASK = 0xffffffffffffffff
GAMMA = 0x9e3779b97f4a7c15

# ITERATION from 1 on; 0 of a warm-up and a deep trace.
Run = namedtuple("Run", "cell iteration kind position")
MEASURED, WARM_UP, DEEP_TRACE = "measured", "warm-up", "deep-trace"


class Cell:
    """One experiment. VALUES has None where it has no such factor; SKIPPED says why it cannot be
    run here; KEY is a hash of all that decides the measurement."""

    def __init__(self, plan, task, variant, values):
        self.plan, self.task, self.variant, self.values = plan, task, variant, values
        self.skipped, self.key = None, 0
        parts = [task.name, variant.name, *(value for value in values if value is not None)]
        self.name = "-".join(fit(part) for part in parts)
        if self.name[0] in ".-":
            self.name = "_" + self.name[1:]
        # A name has 255 bytes; a suffix may follow.
        self.name = self.name[:200]

    def value(self, name):
        return self.values[self.plan.columns.index(name)] if name in self.plan.columns else None


def fit(part):
    """Without what has to be quoted in the name of a folder."""
    return re.sub(r"[^a-zA-Z0-9._+=-]", "_",
                  part.encode(errors="surrogateescape").decode("latin-1"))


class Random:
    """Numbers that are the same everywhere (SplitMix64, Steele, Lea and Flood 2014)."""

    def __init__(self, seed):
        self.state = seed

    def below(self, count):
        """From 0 to COUNT - 1, each alike: the remainder at the end would favour small ones."""
        while True:
            self.state = self.state + GAMMA & MASK
            z = (self.state ^ self.state >> 30) * 0xbf58476d1ce4e5b9 & MASK
            z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
            z ^= z >> 31
            if z < MASK - MASK % count:
                return z % count


# ---- placeholders

PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.S)
OWN_NAMES = ("output_directory", "build_directory", "cell_directory", "plan_directory",
             "iteration", "task", "variant")


def expand(cell, value, folders=None):
    """The text VALUE with its placeholders replaced; without FOLDERS (a dict), those that are known
    when a run begins stay as they are."""
    def replace(match):
        name = match[1].strip(" \t")
        own = {**dict.fromkeys(OWN_NAMES[:5]), **(folders or {}), "task": cell.task.name,
               "plan_directory": cell.plan.folder, "variant": cell.variant.name}
        found = own.get(name) if name in own else cell.value(name)
        if found is None and name in ("threads", "num_threads"):
            found = cell.value("threads") or cell.value("num_threads")
        if found is None and name not in own:
            known = [*(of for of in cell.plan.columns if cell.value(of) is not None), *OWN_NAMES]
            cell.plan.fail(value.place, "'{{ %s }}' is not a placeholder of task '%s', variant "
                           "'%s'%s; there are %s" % (name, cell.task.name, cell.variant.name,
                                                     text.meant(name, known, "'{{ %s }}'"),
                                                     ", ".join(known)))
        return "{{ %s }}" % name if found is None else str(found)

    out = PLACEHOLDER.sub(replace, value)
    if "{{" in PLACEHOLDER.split(value)[-1]:
        cell.plan.fail(value.place, "'{{' has no '}}'; write {{ name }}, or pass such text in a "
                       "file")
    return out


def check(cell):
    """Placeholders are wrong before anything runs, or never."""
    task, variant = cell.task, cell.variant
    for value in (task.executable, *(task.args or ()), *(of for _, of in task.env),
                  *(of for _, of in variant.env), task.cwd, task.pre_run_executable,
                  *(task.pre_run_args or ()), task.post_run_executable,
                  *(task.post_run_args or ()), variant.executable, *(variant.options or ())):
        if value:
            expand(cell, value)


# ---- cells and runs

def make_cells(plan):
    cells = []
    for task in plan.tasks:
        for variant in task.variants:
            factors = dict(task.factors)
            if task.storage_type and variant.kind in KINDS[3:]:
                factors["storage_type"] = task.storage_type
            count = math.prod(map(len, factors.values()))
            if len(cells) + count > CELLS_MOST:
                plan.fail(task.place, "more than %d experiments; give factors fewer values" %
                          CELLS_MOST)
            # All combinations, the last factor changing fastest.
            for number in range(count):
                chosen = {}
                for name, values in reversed(factors.items()):
                    number, at = divmod(number, len(values))
                    chosen[name] = values[at]
                cells.append(Cell(plan, task, variant, [chosen.get(c) for c in plan.columns]))
    # What was not fit for a name, or was cut, may have made two of them alike.
    names = Counter(cell.name for cell in cells)
    for cell in cells:
        if names[cell.name] > 1:
            state = text.HASH_START
            for part in (cell.task.name, cell.variant.name, *cell.values):
                state = text.hash_text(state, "\1" if part is None else part)
            cell.name += "-%016x" % state
    for cell in cells:
        check(cell)
    return cells


def order(plan, cells, seed):
    """Each round has every cell once, in an order of its own, so that what drifts affects all cells
    alike. The deep traces come last."""
    traced = [cell for cell in cells if cell.task.deep_trace and
              cell.variant.kind in ("native", "teeperf")]
    if len(traced) + sum(cell.task.sample_size for cell in cells) > RUNS_MOST:
        plan.fail(cells[-1].task.place, "more than %d runs; give factors fewer values, or a "
                  "smaller sample_size" % RUNS_MOST)
    runs = []
    for number in range(1, max((cell.task.sample_size for cell in cells), default=0) + 1):
        # A round's order depends on its number alone, not on how many there are.
        random = Random((seed + number * 0xd1342543de82ef95) & MASK)
        cells_of = [cell for cell in cells if number <= cell.task.sample_size]
        for i in range(len(cells_of), 1, -1):
            other = random.below(i)
            cells_of[i - 1], cells_of[other] = cells_of[other], cells_of[i - 1]
        runs += [(cell, number, MEASURED) for cell in cells_of]
    runs += [(cell, 0, DEEP_TRACE) for cell in traced]
    return [Run(*run, i + 1) for i, run in enumerate(runs)]


# ---- commands

def wrapper(experiment, cell, run, folder):
    """What runs the program: the recorder, perf, or Gramine."""
    kind = cell.variant.kind
    traced = bool(run) and run.kind == DEEP_TRACE
    options = list(cell.variant.options or ())
    inside = folder or "{{ folder }}"
    if kind == "teeperf" or (kind == "native" and traced):
        deep = ["--events", "sched,syscalls,io,faults"] if traced else []
        return [experiment.teeperf if folder else "teeperf", "record", "-o",
                inside + "/teeperf.trace", *deep, *options, "--"]
    if kind == "perf-stat":
        # In some languages a comma is in the numbers. Its time is that of the program alone.
        return ["perf", "stat", "-x", ";", "-o", inside + "/perf.csv", "-e",
                "duration_time," + ",".join(cell.plan.events()), *options, "--"]
    return []


def command(experiment, cell, what, run=None, folder=None):
    """The command line of a cell: "program", "pre_run", "post_run" or "build", with ARGV (empty:
    the task has no such step), VARIABLES, CWD, and the measured PROGRAM. FOLDER is that of the run;
    without one, placeholders stay as they are, for keys and for showing."""
    task, variant, plan = cell.task, cell.variant, cell.plan
    folders = None
    if folder:
        folders = {"output_directory": experiment.output_directory(cell, folder),
                   "build_directory": experiment.build_directory(variant),
                   "cell_directory": experiment.cell_directory(cell),
                   "iteration": run.iteration if run else 0}

    def made(value, meaning="text"):
        """Programs without slashes are searched in PATH; paths are relative to the plan."""
        out = expand(cell, value, folders)
        if meaning == "text" or (meaning == "program" and "/" not in out) or out[:1] in "/{":
            return out
        return plan.folder + "/" + out.removeprefix("./")

    argv = []
    if what == "program":
        argv = [made(word) if isinstance(word, Text) else word
                for word in wrapper(experiment, cell, run, folder)]
        program = made(variant.executable or task.executable, "program")
        if variant.kind in KINDS[3:]:
            # Gramine has the program in its manifest, beside which it finds the rest.
            argv += [variant.kind, (experiment.cell_directory(cell) if folder
                                    else "{{ cell_directory }}") + "/manifest/program"]
        else:
            argv.append(program)
        argv += [made(value) for value in task.args or ()]
    else:
        owner = variant if what == "build" else task
        program = getattr(owner, what + "_executable")
        if program:
            program = made(program, "program")
            argv = [program, *(made(value) for value in getattr(owner, what + "_args") or ())]
    variables = ["%s=%s" % (name, made(value)) for name, value in (*task.env, *variant.env)]
    if what == "build" and variant.allowlist:
        variables.append("TEEPERF_ALLOWLIST=" + made(variant.allowlist, "path"))
    cwd = made(task.cwd, "path") if task.cwd and what != "build" else plan.folder
    return SimpleNamespace(argv=argv, variables=variables, cwd=cwd, program=program)


def hash_line(state, line):
    for words in (line.argv, line.variables):
        for word in words:
            state = text.hash_text(state, word)
        state = text.hash_bytes(state, len(words).to_bytes(4, "little"))
    return text.hash_text(state, line.cwd)
