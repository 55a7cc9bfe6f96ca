# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter: what a plan prints, how it exits, and all of its calls by their paths.

It knows nothing of compilers, records or stacks: a path is handed on from caller to callee.
"""

import collections

MASK = 0xffffffff


class Thrown(Exception):
    def __init__(self, kind, value):
        super().__init__()
        self.kind = kind
        self.value = value


class Jump(Exception):
    def __init__(self, place):
        super().__init__()
        self.place = place


class Exit(Exception):
    def __init__(self, code, path):
        super().__init__()
        self.code = code
        self.path = path


class Frame:
    def __init__(self, path, depth, value):
        self.path = path
        self.depth = depth
        self.value = value


class Thread:
    """The state of a thread, which the program has in `struct ctx`."""

    def __init__(self, run, fuel):
        self.run = run
        self.plan = run.plan
        self.sum = 1
        self.fuel = fuel
        self.tries = 0
        self.jump = None
        self.jump_value = 0
        self.callback_depth = 0
        self.quiet = False
        self.may_exit = False
        self.paths = collections.Counter()
        self.counts = collections.Counter()  # of sampled functions, to know which are recorded

    def enter(self, function, path):
        """Count a call; return the path that the callee's own calls hang on."""
        level = function.level
        if level == "skip":
            return path
        self.run.calls[function.name] += 1
        if level == "count":
            return path
        if level != "event":
            self.counts[function] += 1
            if (self.counts[function] - 1) % level[1]:
                return path
        path = path + (function.name,)
        self.paths[path] += 1
        return path

    def note(self, value):
        self.sum = (self.sum * 33 ^ value) & MASK

    def call(self, function, caller, depth, value):
        """Call FUNCTION with the path CALLER; return its result."""
        frame = Frame(self.enter(function, caller), depth, value & MASK)
        self.note(frame.value + function.number)
        for statement in function.body:
            if statement[0] in ("tail", "must"):
                # A tail call that is one for sure has no caller any more.
                above = caller if statement[0] == "must" else frame.path
                if depth > 0 and self.fuel > 0:
                    self.fuel -= 1
                    return self.call(statement[1], above, depth - 1, frame.value ^ statement[2])
                return frame.value
            self.statement(frame, statement)
        return frame.value

    def block(self, frame, body):
        for statement in body:
            self.statement(frame, statement)

    def take(self, frame, result):
        self.note(result)
        frame.value = (result ^ result >> 3) & MASK

    def statement(self, frame, statement):
        getattr(self, "do_" + statement[0])(frame, *statement[1:])

    def do_mix(self, frame, k):
        frame.value = (frame.value * 2654435761 + k) & MASK
        frame.value ^= frame.value >> 15
        self.note(frame.value)

    def do_call(self, frame, callee, k):
        if frame.depth > 0 and self.fuel > 0:
            self.fuel -= 1
            self.take(frame, self.call(callee, frame.path, frame.depth - 1, frame.value ^ k))

    def do_table(self, frame, callees, k):
        self.do_call(frame, callees[(frame.value >> 4) % len(callees)], k)

    do_virtual = do_table

    def do_loop(self, frame, count, body):
        for _ in range(count):
            self.block(frame, body)

    def do_if(self, frame, mask, body, other):
        self.block(frame, body if frame.value & mask else other)

    def compare(self, frame, callee, value):
        return -1 if self.call(callee, frame.path, self.callback_depth, value) & 2 else 1

    def do_sort(self, frame, callee):
        if frame.depth > 0 and self.fuel > 0:
            self.fuel -= 1
            self.callback_depth = frame.depth - 1
            self.compare(frame, callee, frame.value ^ (frame.value + 1) & MASK)
            self.note(5)

    def do_search(self, frame, callee, count):
        if frame.depth > 0 and self.fuel > 0:
            self.fuel -= 1
            self.callback_depth = frame.depth - 1
            low, high = 0, count
            while low < high:
                middle = (low + high) // 2
                if self.compare(frame, callee, frame.value ^ middle) < 0:
                    high = middle
                else:
                    low = middle + 1
            self.note(7)

    def do_try(self, frame, body, kinds, handler, again):
        tries, jump = self.tries, self.jump
        if "any" in kinds:
            self.tries += 1
        try:
            self.block(frame, body)
        except Thrown as thrown:
            if not ("any" in kinds or thrown.kind in kinds or
                    "base" in kinds and thrown.kind == "derived"):
                raise
            self.tries, self.jump = tries, None
            frame.value = (frame.value ^ caught_value(thrown, kinds)) & MASK
            self.block(frame, handler)
            if again and self.tries > 0:
                raise thrown
        self.tries, self.jump = tries, jump

    def do_throw(self, frame, kind):
        if self.tries > 0:
            raise Thrown(kind, frame.value & 0xffff)

    def do_guard(self, frame, guard, body):
        jump, self.jump = self.jump, None
        try:
            self.block(frame, body)
        except Exit:
            raise
        except BaseException:
            self.destroy(frame, guard)
            raise
        self.destroy(frame, guard)
        self.jump = jump

    def destroy(self, frame, guard):
        tries, jump = self.tries, self.jump
        self.tries, self.jump = 0, None
        self.call(guard, frame.path, max(frame.depth - 1, 0), 77)
        self.tries, self.jump = tries, jump

    def do_setjmp(self, frame, body, after):
        tries, jump = self.tries, self.jump
        place = object()
        self.jump = place
        try:
            self.block(frame, body)
        except Jump as arrived:
            if arrived.place is not place:
                raise
            self.tries, self.jump = tries, jump
            frame.value = (frame.value ^ self.jump_value) & MASK
            self.block(frame, after)
        self.tries, self.jump = tries, jump

    def do_longjmp(self, frame):
        if self.jump is not None:
            self.jump_value = frame.value | 1
            raise Jump(self.jump)

    def do_raise(self, frame):
        if self.quiet or frame.depth <= 0 or self.fuel <= 0:
            return
        self.fuel -= 1
        self.callback_depth = frame.depth - 1
        tries, jump = self.tries, self.jump
        self.tries, self.jump, self.quiet = 0, None, True
        self.call(self.plan.handler, frame.path, self.callback_depth, 99)
        self.tries, self.jump, self.quiet = tries, jump, False

    def do_stack(self, frame, k):
        self.note((frame.value & 63) + (k & 0xff))

    def do_exit(self, frame, code):
        if self.may_exit and not self.quiet and self.fuel < 40:
            raise Exit(code, frame.path)


def caught_value(thrown, kinds):
    """What the first handler that fits takes for the value."""
    for kind in kinds:
        if kind == "any":
            return 3
        if kind == thrown.kind or kind == "base" and thrown.kind == "derived":
            return thrown.value
    raise AssertionError


class Run:
    """All that PLAN does: lines, code; calls by function; paths of each thread, main's first."""

    def __init__(self, plan):
        self.plan = plan
        self.calls = collections.Counter()
        # What initialises belongs to the thread of main.
        main = Thread(self, plan.fuel)
        early = Thread(self, 20)
        early.paths, early.counts, early.quiet = main.paths, main.counts, True
        early.call(plan.begin, (), 0, 1)
        path = main.enter(plan.main, ())
        threads = []
        for i in range(plan.threads):
            thread = Thread(self, plan.fuel)
            inner = thread.enter(plan.entry, ())
            thread.note(thread.call(plan.starts[i], inner, plan.depth, i))
            threads.append(thread)
        self.code = 0
        end = ()
        try:
            for i, start in enumerate(plan.starts[plan.threads:]):
                main.may_exit = i > 0
                main.note(main.call(start, path, plan.depth, 1000 + i))
            main.may_exit = True
            main.note(main.call(plan.starts[-1], path, plan.depth, 5))
        except Exit as ended:
            self.code = ended.code
            end = ended.path
        main.enter(plan.report, end)
        self.lines = ["early %u" % early.sum] + ["%u %u" % (thread.sum, thread.fuel)
                                                for thread in [main] + threads]
        self.threads = [main.paths] + [thread.paths for thread in threads]
