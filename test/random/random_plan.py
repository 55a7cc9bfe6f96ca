# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A random program as data: what random_write turns into C and C++, and random_run computes.

A program is a graph of functions that call one another, in any direction. Each call hands on how
deep it may still go, and takes one from the thread's fuel, so that every program ends. A statement
is a tuple, its kind first:

    mix K                   compute
    call F K                call F directly
    table FS K              call one of FS through a table of pointers
    virtual CS K            call a method of one of the classes CS through its base class
    loop N BODY             BODY N times
    if MASK BODY ELSE       as the bits of the value are
    sort F                  qsort of two elements, with F to compare them
    search F N              bsearch in N elements, with F to compare them
    try BODY KINDS HANDLER AGAIN    KINDS: int, base (with derived), any; AGAIN: the handler
                                    rethrows
    throw KIND              int, base or derived, if there is somebody who catches all
    guard G BODY            BODY with a local object whose destructor is the function G
    setjmp BODY AFTER       AFTER if BODY ended with longjmp
    longjmp                 if there is a setjmp to go to
    raise                   a signal, whose handler is a function
    stack K                 an array of variable length
    exit CODE               if the program may end here
    tail F K, must F K      return F(...), as a tail call if the compiler likes, or for sure
"""

import random


class Function:
    def __init__(self, number, name, file, kind):
        self.number = number
        self.name = name  # as the profile has it
        self.file = file
        self.kind = kind  # plain, compare, method, guard, wide, real, record, variadic, inline
        self.static = False
        self.always_inline = False
        self.body = []
        self.level = "event"  # or skip, count, ("sample", N)


class Plan:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        choose = self.random
        self.cxx = choose.random() < 0.7
        self.library = choose.random() < 0.5
        self.threads = choose.choice([0, 0, 1, 2, 3, 4])
        self.fuel = choose.choice([50, 300, 1000, 3000])
        self.depth = choose.choice([4, 8, 20, 60])
        self.signals = choose.random() < 0.5
        self.exits = choose.random() < 0.3
        self.jumps = choose.random() < 0.6
        self.functions = []
        self.files = ["main.cpp" if self.cxx else "main.c", "one.c"]
        if self.cxx:
            self.files.append("two.cpp")
        if self.library:
            self.files.append("lib.cpp" if self.cxx and choose.random() < 0.5 else "lib.c")
        self.make_functions()
        self.special = [self.main, self.entry, self.report]
        for function in self.functions:
            if function not in self.special:
                function.body = self.make_body(function)
        self.choose_levels()

    def is_cxx(self, function):
        return function.file.endswith(".cpp")

    def in_library(self, function):
        return function.file.startswith("lib.")

    def add(self, name, file, kind):
        function = Function(len(self.functions), name, file, kind)
        self.functions.append(function)
        return function

    def make_functions(self):
        choose = self.random
        main = self.files[0]
        # These are always there, and called from main or from outside of the graph.
        self.main = self.add("main", main, "main")
        self.entry = self.add("thread_main", main, "thread")
        self.handler = self.add("on_signal", main, "handler")
        self.report = self.add("on_exit_report", main, "exit")
        self.begin = self.add("on_begin", self.files[-1], "begin")
        kinds = ["plain"] * 12 + ["wide", "real", "record", "variadic", "inline", "compare",
                                  "compare"]
        cxx_files = [file for file in self.files if file.endswith(".cpp")]
        for _ in range(choose.randint(4, 24)):
            file = choose.choice(self.files)
            kind = choose.choice(kinds +
                                 (["method", "method", "guard", "guard"] if cxx_files else []))
            if kind in ("method", "guard"):
                file = choose.choice(cxx_files)
            number = len(self.functions)
            name = {"method": "K%d::run", "guard": "G%d::~G%d",
                    "compare": "compare%d"}.get(kind, "f%d")
            name = name.replace("%d", str(number))
            function = self.add(name, file, kind)
            function.static = kind not in ("method", "guard") and choose.random() < 0.3
            if kind == "inline":
                function.static = True
                function.always_inline = choose.random() < 0.5
        # Each thread and main begin with one of these.
        self.starts = [self.add("f%d" % len(self.functions), choose.choice(self.files), "plain")
                       for _ in range(self.threads + choose.randint(1, 2))]

    def reachable(self, function, kinds):
        """Functions of these kinds that code in FUNCTION's file can name."""
        return [other for other in self.functions
                if other.kind in kinds
                and (other.file == function.file or not other.static)
                and (not self.in_library(function) or self.in_library(other))
                # Inline functions must not call themselves: it would be for the compiler to say how
                # often they are inlined.
                and
                not (other.kind == function.kind == "inline" and other.number >= function.number)]

    def pick(self, function, *kinds):
        found = self.reachable(function, kinds)
        return self.random.choice(found) if found else None

    def make_body(self, function):
        # Some functions are leaves.
        if self.random.random() < 0.15:
            return [("mix", self.random.randrange(1, 1 << 16))] * self.random.randint(0, 2)
        body = self.make_block(function, self.random.randint(1, 4), 3, set())
        if function.kind == "plain" and self.random.random() < 0.25:
            callee = self.pick(function, "plain")
            # A call of itself would be made a loop.
            if callee and callee is not function and not has(body, ("setjmp", "stack")):
                must = self.random.random() < 0.4
                body.append(("must" if must else "tail", callee, self.random.randrange(1 << 16)))
        return body

    def make_block(self, function, count, depth, inside):
        return [self.make_statement(function, depth, inside) for _ in range(count)]

    def make_statement(self, function, depth, inside):
        choose = self.random
        k = choose.randrange(1, 1 << 16)
        kinds = ["mix"] + ["call"] * 6 + ["table", "table", "sort", "search", "throw"]
        if self.jumps:
            kinds += ["longjmp"]
        if self.signals:
            kinds += ["raise"]
        if self.exits:
            kinds += ["exit"]
        if depth and function.kind != "inline":
            kinds += ["loop", "loop", "if", "if", "stack"]
            # Jumping over a destructor is undefined, and so is a jump out of a handler.
            if self.jumps and not inside & {"guard", "setjmp"}:
                kinds += ["setjmp", "setjmp"]
            if self.is_cxx(function):
                kinds += ["try", "try", "try", "guard", "guard"]
        if self.is_cxx(function):
            kinds += ["virtual", "virtual", "throw"]
        kind = choose.choice(kinds)

        def block(*more):
            return self.make_block(function, choose.randint(1, 3), depth - 1, inside | set(more))

        if kind == "call":
            callee = self.pick(function, "plain", "wide", "real", "record", "variadic", "inline")
            return ("call", callee, k) if callee else ("mix", k)
        if kind == "table":
            found = self.reachable(function, ("plain",))
            return ("table", choose.sample(found, min(len(found), 4)), k) if found else ("mix", k)
        if kind == "virtual":
            found = self.reachable(function, ("method",))
            return ("virtual", choose.sample(found, min(len(found), 3)), k) if found else ("mix", k)
        if kind in ("sort", "search"):
            callee = self.pick(function, "compare")
            if not callee:
                return ("mix", k)
            return ("sort", callee) if kind == "sort" else ("search", callee, choose.randint(1, 20))
        if kind == "loop":
            return ("loop", choose.choice([2, 3, 5]), block())
        if kind == "if":
            return ("if", 1 << choose.randrange(5), block(), block())
        if kind == "try":
            kinds = choose.choice([["any"], ["any"], ["int", "any"], ["base", "any"], ["int"],
                                   ["base"], ["int", "base"]])
            return ("try", block("try"), kinds, block("try"), choose.random() < 0.25)
        if kind == "throw":
            if not self.is_cxx(function):
                return ("mix", k)
            return ("throw", choose.choice(["int", "base", "derived"]))
        if kind == "guard":
            guard = self.pick_guard(function)
            return ("guard", guard, block("guard")) if guard else ("mix", k)
        if kind == "setjmp":
            return ("setjmp", block("setjmp"), block())
        if kind == "stack":
            return ("stack", k)
        if kind == "exit":
            return ("exit", choose.randrange(100))
        return (kind,) if kind in ("longjmp", "raise") else ("mix", k)

    def pick_guard(self, function):
        # Destructors are called even where there is no fuel: they must not go round in circles.
        found = [other for other in self.reachable(function, ("guard",))
                 if function.kind != "guard" or other.number < function.number]
        return self.random.choice(found) if found else None

    def choose_levels(self):
        choose = self.random
        mixed = choose.random() < 0.4
        for function in self.functions:
            if function.kind == "inline":
                function.level = "skip"
            elif mixed and function not in self.special and choose.random() < 0.3:
                # A destructor that unwinding calls in a function without records stands below the
                # function that threw (docs/decisions/0011): such functions have records.
                if has(function.body, ("guard",)):
                    continue
                function.level = choose.choice(["skip", "count",
                                                ("sample", choose.choice([2, 3, 8]))])


def has(body, kinds):
    """Whether there is a statement of these KINDS in BODY."""
    return any(statement[0] in kinds or any(has(part, kinds) for part in statement
                                            if isinstance(part, list) and part
                                            and isinstance(part[0], tuple))
               for statement in body)
