# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a plan: TOML -> Plan, with each mistake at its place."""

import bisect
import os
import re
import tomllib
from itertools import accumulate
from types import SimpleNamespace

from text import Failure, meant

KINDS = ("native", "teeperf", "perf-stat", "gramine-direct", "gramine-sgx")
EVENTS = ("task-clock", "context-switches", "cpu-migrations", "page-faults", "cycles",
          "instructions", "branches", "branch-misses", "cache-references", "cache-misses")
BYTES_MOST = 16 << 20


class Text(str):
    """A text of the plan, and where it is."""
    place = (1, 1)


def text_at(value, place):
    made = Text(value)
    made.place = place
    return made


# ---- places: tomllib has checked the text, so here it is only walked through

SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
BLANK = re.compile(r"[ \t]*")
STRING = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'',
                    re.S)
BARE = re.compile(r"[A-Za-z0-9_-]+")
REST = re.compile(r"[^,\]}#\r\n]*")


class Places:
    """Offsets of values and keys by their paths, as ("tasks", 0, "args")."""

    def __init__(self, source):
        self.source = source
        self.values, self.keys = {(): 0}, {}
        counts = {}
        base = ()
        at = self.skip(0)
        while at < len(source):
            if source[at] == "[":
                base, at = self.header(at, counts)
            else:
                at = self.pair(at, base)
            at = self.skip(at)

    def skip(self, at, what=SPACE):
        return what.match(self.source, at).end()

    def names(self, at, base):
        """The parts of a key with dots: (path, offset). self.end is behind it then."""
        while True:
            at = self.skip(at, BLANK)
            found = STRING.match(self.source, at) or BARE.match(self.source, at)
            name = found[0]
            base += (tomllib.loads("a = " + name)["a"] if name[0] in "\"'" else name,)
            yield base, at
            at = self.skip(found.end(), BLANK)
            if self.source[at] != ".":
                self.end = at
                return
            at += 1

    def header(self, at, counts):
        many = self.source[at + 1] == "["
        names = list(self.names(at + 1 + many, ()))
        base = ()
        for i, (name, place) in enumerate(names):
            path = base + name[-1:]
            self.keys.setdefault(path, place)
            self.values.setdefault(path, at)
            if many and i == len(names) - 1:
                counts[path] = counts.get(path, 0) + 1
            base = path + ((counts[path] - 1,) if path in counts else ())
        self.values[base] = at
        return base, self.end + 1 + many

    def pair(self, at, base):
        for path, place in self.names(at, base):
            self.keys.setdefault(path, place)
            self.values.setdefault(path, place)
        return self.value(self.skip(self.end + 1, BLANK), path)

    def value(self, at, path):
        self.values[path] = at
        if self.source[at] not in "[{":
            found = STRING.match(self.source, at)
            return found.end() if found else self.skip(at, REST)
        close = "]" if self.source[at] == "[" else "}"
        at = self.skip(at + 1)
        count = 0
        while self.source[at] != close:
            at = self.value(at, path + (count,)) if close == "]" else self.pair(at, path)
            count += 1
            at = self.skip(at)
            if self.source[at] == ",":
                at = self.skip(at + 1)
        return at + 1


TYPES = {str: "a text", bool: "true or false", int: "a whole number",
         float: "a number with a fraction", list: "a list", dict: "a table"}


class Node:
    """A value, and where it and its key are."""

    def __init__(self, plan, value, places, path, key=""):
        self.key, self.value = key, value
        self.place = plan.place(places.values.get(path, 0))
        self.key_place = plan.place(places.keys[path]) if path in places.keys else self.place
        if "\0" in key or (isinstance(value, str) and "\0" in value):
            plan.fail(self.key_place if "\0" in key else self.place,
                      "the text has a NUL character; leave it out")
        if isinstance(value, int) and not -2**63 <= value < 2**63:
            plan.fail(self.place, "this is not TOML: the number has more than 64 bits")
        self.items = []
        if isinstance(value, dict):
            self.items = sorted((Node(plan, of, places, path + (name,), name)
                                 for name, of in value.items()),
                                key=lambda node: (node.key_place, node.key))
        elif isinstance(value, list):
            self.items = [Node(plan, of, places, path + (i,)) for i, of in enumerate(value)]

    def __getitem__(self, key):
        return next((item for item in self.items if item.key == key), None)

    @property
    def type(self):
        return TYPES.get(type(self.value), "a date or time")


# ---- values of keys

WANTED = {
    "text": ("a text", '"..."'),
    "texts": ("a list of texts", '["a", "b"]'),
    "values": ("a list of numbers or texts", "[1, 2, 4]"),
    "count": ("a whole number", "5"),
    "number": ("a number", "1.5"),
    "bool": ("true or false", "true"),
    "time": ("a time", '"30s"'),
    "ms": ("a time", '"100ms"'),
    "env": ("a table of texts", '{ NAME = "value" }'),
}
TIMES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
REPEAT = {"sample_size": ("count", 1, 1000000), "warm_up": ("count", 0, 1000), "timeout": "time",
          "deep_trace": "bool", "num_threads": None, "enclave_size": None}
GLOBALS = {"output_directory": "text", "extra_perf_events": "texts", "debug": "bool",
           "system_events": "bool", "energy": "bool", "energy_sample_interval": "ms",
           "disk_read_nj_per_byte": "number", "disk_write_nj_per_byte": "number",
           "seed": ("count", 0, 2**63 - 1), **REPEAT}
VARIANT = {"kind": "text", "executable": "text", "options": "texts", "env": "env",
           "build_executable": "text", "build_args": "texts", "allowlist": "text",
           "manifest": "text", "keep_traces": "bool"}
TASK = {"name": "text", "executable": "text", "args": "texts", "env": "env", "cwd": "text",
        "pre_run_executable": "text", "pre_run_args": "texts", "post_run_executable": "text",
        "post_run_args": "texts", "storage_type": "values", "variants": "texts", "factors": None,
        **REPEAT}
RESERVED = ("task", "variant", "iteration", "cell", "status", "metric", "unit", "value",
            "output_directory", "build_directory", "cell_directory", "plan_directory")


def empty(fields, **more):
    """What a table has that says nothing: no text, no list, no variables, false."""
    none = {"texts": None, "values": None, "env": (), "bool": False}
    return SimpleNamespace(**{**{key: none.get(kind) for key, kind in fields.items()}, **more})


class Plan:
    """The contents of a plan's file, checked. [globals] are attributes."""

    def __init__(self, file, data):
        self.file = file
        try:
            self.text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Failure("this is not TOML: it is not UTF-8", file) from None
        self.lines = self.text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.columns = []
        self.tasks = []
        self.__dict__.update(vars(empty(GLOBALS, sample_size=1, warm_up=0, timeout=0, energy=True,
                                        energy_sample_interval=100000000)))
        self.globals_factors = {}
        root = self.parse()
        self.folder = os.path.realpath(os.path.dirname(file) or ".")
        self.read_root(root)

    def fail(self, place, what):
        excerpt = self.lines[place[0] - 1] if place[0] <= len(self.lines) else ""
        raise Failure(what, self.file, place, excerpt.rstrip("\r"))

    def place(self, at):
        line = bisect.bisect(self.starts, at)
        return line, at - self.starts[line - 1] + 1

    def parse(self):
        try:
            found = tomllib.loads(self.text)
            return Node(self, found, Places(self.text), ())
        except tomllib.TOMLDecodeError as error:
            what, _, where = str(error).partition(" (at ")
            line = re.match(r"line (\d+), column (\d+)", where)
            place = (int(line[1]), int(line[2])) if line else self.place(len(self.text))
            self.fail(place, "this is not TOML: " + what)
        except RecursionError:
            raise Failure("this is not TOML: it has too many lists in one another",
                          self.file) from None

    # ---- fields

    def fail_type(self, node, key, kind):
        name, example = WANTED[kind]
        self.fail(node.place, "'%s' takes %s, as in %s = %s; this is %s" %
                  (key, name, key, example, node.type))

    def read_value(self, node, key):
        """A text, or a number as the file would have it."""
        make = {str: str, int: str, float: "{:.15g}".format, bool: lambda of: str(of).lower()}
        if type(node.value) not in make:
            self.fail_type(node, key, "values")
        return text_at(make[type(node.value)](node.value), node.place)

    def read_texts(self, node, key, kind):
        if not isinstance(node.value, list):
            if kind == "texts":
                self.fail_type(node, key, kind)
            return [self.read_value(node, key)]
        for item in node.items:
            if kind == "texts" and not isinstance(item.value, str):
                self.fail_type(item, key, kind)
        return [self.read_value(item, key) for item in node.items]

    def read_time(self, node, key, kind):
        if isinstance(node.value, str):
            found = re.fullmatch(r"(\d+\.?\d*|\.\d+)[ \t]*(ns|us|ms|s)", node.value, re.A)
            if not found:
                self.fail(node.place, "'%s' takes a time with its unit, as in \"1.5s\" or \"200ms\""
                          % key)
            value = float(found[1]) * TIMES[found[2]]
        elif type(node.value) in (int, float):
            value = node.value * (1e6 if kind == "ms" else 1e9)
        else:
            self.fail_type(node, key, kind)
        if not 0 <= value < 1e18:
            self.fail(node.place, "'%s' takes a time from 0 to 31 years" % key)
        return int(value)

    def read_env(self, node, key):
        if not isinstance(node.value, dict):
            self.fail_type(node, key, "env")
        for item in node.items:
            if not item.key or "=" in item.key:
                self.fail(item.key_place,
                          "this cannot be the name of a variable; leave out '='")
        return [(item.key, self.read_value(item, item.key)) for item in node.items]

    def read_field(self, node, key, kind):
        kind, least, most = kind if isinstance(kind, tuple) else (kind, 0, 0)
        value = node.value
        if kind in ("texts", "values"):
            return self.read_texts(node, key, kind)
        if kind in ("time", "ms"):
            return self.read_time(node, key, kind)
        if kind == "env":
            return self.read_env(node, key)
        wanted = {"text": str, "bool": bool, "count": int, "number": (int, float)}[kind]
        if not isinstance(value, wanted) or isinstance(value, bool) != (kind == "bool"):
            self.fail_type(node, key, kind)
        if kind == "text" and not value:
            self.fail(node.place, "'%s' must not be empty" % key)
        if kind == "count" and not least <= value <= most:
            self.fail(node.place, "'%s' takes a number from %d to %d" % (key, least, most))
        if kind == "number" and not 0 <= value < 1e18:
            self.fail(node.place, "'%s' takes a number of at least 0" % key)
        return text_at(value, node.place) if kind == "text" else value

    def read_table(self, node, where, fields, to):
        """Set the attributes of TO; a key that FIELDS has not is an error."""
        if not isinstance(node.value, dict):
            self.fail(node.place, "%s is a table of keys; this is %s" % (where, node.type))
        for item in node.items:
            if item.key not in fields:
                self.fail(item.key_place, "%s has no key '%s'%s" % (
                    where, item.key, meant(item.key, fields) or
                    "; teeperf help experiment lists them"))
            if fields[item.key]:
                setattr(to, item.key, self.read_field(item, item.key, fields[item.key]))

    def check_once(self, values, what):
        for i, value in enumerate(values):
            if value in values[:i]:
                self.fail(value.place, what % value)

    # ---- factors

    def add_factor(self, to, node):
        name = node.key
        if name in RESERVED:
            self.fail(node.key_place,
                      "'%s' has a meaning already; give the factor another name" % name)
        if not re.fullmatch(r"[A-Za-z0-9_]{1,60}", name):
            self.fail(node.key_place, "a factor's name has 1 to 60 letters, digits and _")
        values = self.read_texts(node, name, "values")
        self.check_once(values, "'" + name + "' has the value '%s' twice; leave one out")
        to[name] = values

    def read_factors(self, table, own, to):
        """Those of a table "factors", and two that are keys of their own."""
        if own and not isinstance(own.value, dict):
            self.fail(own.place, "'factors' is a table of lists, as in factors = "
                      "{ size = [1, 2] }; this is %s" % own.type)
        for item in own.items if own else ():
            self.add_factor(to, item)
        for name in ("num_threads", "enclave_size"):
            if table and table[name]:
                self.add_factor(to, table[name])

    # ---- variants

    def read_variant(self, node):
        made = empty(VARIANT, name=node.key, place=node.key_place)
        self.read_table(node, "[variants.%s]" % node.key, VARIANT, made)
        kind = made.kind or text_at(made.name, made.place)
        if kind not in KINDS:
            self.fail(kind.place, "'%s' is not a kind of variant%s; kinds are native, teeperf, "
                      "perf-stat, gramine-direct and gramine-sgx" % (kind, meant(kind, KINDS)))
        made.kind = str(kind)
        if made.build_args is not None and not made.build_executable:
            self.fail(made.place, "variant '%s' has build_args, but no build_executable" %
                      made.name)
        return made

    def read_variants(self, node):
        if node and not isinstance(node.value, dict):
            self.fail(node.place, "'variants' is a table of tables, as in [variants.NAME]; "
                      "this is %s" % node.type)
        self.variants = {item.key: self.read_variant(item) for item in (node.items if node else ())}
        for kind in KINDS:
            self.variants.setdefault(kind, empty(VARIANT, name=kind, kind=kind, place=(1, 1)))

    def choose_variants(self, task):
        """Without a list: the program as it is, and under SGX if a key needs that."""
        names = task.variants
        if not names:
            sgx = task.storage_type or task.factors.get("enclave_size")
            names = [Text("native")] + [Text("gramine-sgx")] * bool(sgx)
        for name in names:
            if name not in self.variants:
                self.fail(name.place, "unknown variant '%s'%s; write [variants.%s] with its kind" %
                          (name, meant(name, self.variants), name))
        self.check_once(names, "variant '%s' is named twice; leave one out")
        task.variants = [self.variants[name] for name in names]

    # ---- tasks

    def name_task(self, task):
        own = task.name
        task.name = own or task.executable.rsplit("/", 1)[-1]
        if not task.name:
            self.fail(task.executable.place, "'%s' is a folder, not a program" % task.executable)
        if any(other.name == task.name for other in self.tasks):
            self.fail(own.place if own else task.place, "two tasks are called '%s'; give this one "
                      "a name, as in name = \"%s-2\"" % (task.name, task.name))

    def read_task(self, node):
        task = empty(TASK, place=node.place, factors=dict(self.globals_factors),
                     **{key: getattr(self, key) for key in
                        ("sample_size", "warm_up", "timeout", "deep_trace")})
        self.read_table(node, "a task", TASK, task)
        if not task.executable:
            self.fail(node.place, "a task needs an executable, as in executable = \"/bin/true\"")
        self.name_task(task)
        self.read_factors(node, node["factors"], task.factors)
        task.storage_type = task.storage_type or []
        for kind in task.storage_type:
            if kind not in ("encrypted", "untrusted"):
                self.fail(kind.place, "'%s' is not a storage_type; expected \"encrypted\" and "
                          "\"untrusted\"" % kind)
        self.check_once(task.storage_type, "'%s' is named twice; leave one out")
        for step in ("pre_run", "post_run"):
            if getattr(task, step + "_args") is not None and not getattr(task, step +
                                                                         "_executable"):
                self.fail(task.place, "task '%s' has %s_args, but no %s_executable" %
                          (task.name, step, step))
        self.choose_variants(task)
        task.factors = {name: values for name, values in task.factors.items() if values}
        for name in [*task.factors, *["storage_type"] * bool(task.storage_type)]:
            if name not in self.columns:
                self.columns.append(name)
        self.tasks.append(task)

    def read_root(self, root):
        sections = dict.fromkeys(("globals", "factors", "variants", "tasks"))
        self.read_table(root, "the plan", sections, self)
        table = root["globals"]
        if table:
            self.read_table(table, "[globals]", GLOBALS, self)
        if self.energy_sample_interval < 1000000:
            self.fail(table["energy_sample_interval"].place, "'energy_sample_interval' must be at "
                      "least 1 ms: the counters change no faster")
        self.read_factors(table, root["factors"], self.globals_factors)
        self.read_variants(root["variants"])
        tasks = root["tasks"]
        if not tasks or not isinstance(tasks.value, list) or not tasks.items:
            self.fail(tasks.place if tasks else (1, 1), "the plan has no tasks; write [[tasks]] "
                      "and a program to run, as in executable = \"/bin/true\"")
        for item in tasks.items:
            self.read_task(item)

    def events(self):
        return [*EVENTS, *(self.extra_perf_events or ())]


def read(file):
    try:
        with open(file, "rb") as stream:
            data = stream.read(BYTES_MOST + 1)
    except OSError as error:
        raise Failure("cannot open the plan: %s" % error.strerror, file) from None
    if len(data) > BYTES_MOST:
        raise Failure("the plan has more than %d MiB" % (BYTES_MOST >> 20), file)
    return Plan(file, data)
