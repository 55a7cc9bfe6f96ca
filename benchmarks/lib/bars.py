# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bars: what was promised, topic by topic, and of which figures it is. A row without a limit
stands there for comparison.

Sources of a row's values, one a round (state.py):
  of(bench, variant, key)                    a figure
  ratio(bench, variant, base, key)           over that of another variant in the same round
  over(bench, variant, base, key)            less that of another variant in the same round
"""


from state import accuracy_worst, compare, excess_ratio, geometric, of, over, ratio, summed

PROGRAMS = (("sqlite", "SQLite"), ("lua", "Lua"), ("leveldb", "LevelDB"), ("zlib", "zlib"))
LEAF = "micro/leaf/wall"
MILLION = 1e6


def close(bench, variant, base, part):
    """Processor time over that of BASE: of many short rounds (NAME-idle, NAME-on) where these were
    measured."""
    short = ratio(f"{bench}-{part}", variant, base, "program_cpu")
    return short if short.known() else ratio(bench, variant, base, "program_cpu")


class Bar:
    """what, its limit (None: no bar), unit, source of values, and whether they are to be at least
    that."""

    def __init__(self, what, limit, unit, source, least=False, scale=1.0):
        self.what, self.limit, self.unit, self.source, self.least, self.scale = (what, limit, unit,
                                                                                 source, least,
                                                                                 scale)


def no_recorder():
    for bench, name in PROGRAMS:
        yield Bar(f"{name}, no recorder, processor time", 1.01, "x",
                  close(bench, "dual-plain", "native", "idle"))
        yield Bar(f"{name}, no recorder, over XRay's dormant sleds", 1.0, "x",
            close(bench, "dual-plain", "xray-off", "idle"))
        yield Bar(f"{name}, XRay's dormant sleds", None, "x",
                  close(bench, "xray-off", "native", "idle"))
        yield Bar(f"{name}, no recorder, shape in line", None, "x",
                  close(bench, "plain", "native", "idle"))
        if bench != "leveldb":
            yield Bar(f"{name}, no recorder, instructions", 1.01, "x",
                ratio(bench, "cachegrind-dual", "cachegrind", "instructions"))
    for variant, what in (("closed", "gate closed by --only"),
            ("dual-off", "recording switched off"), ("dual-plain", "no recorder")):
        yield Bar(f"leaf, {what}, over native", 0.3, " ns",
                  over("micro-leaf", variant, "native", LEAF))
    yield Bar("leaf, XRay's dormant sleds, over native", None, " ns",
              over("micro-leaf", "xray-off", "native", LEAF))


def ten():
    yield Bar("SQLite, ten functions by --only over the same ten by list", 1.01, "x",
        ratio("sqlite", "ten-only-dual", "ten-listed", "program_cpu"))
    yield Bar("SQLite, the same, all compiled in line", None, "x",
              ratio("sqlite", "ten-only", "ten-listed", "program_cpu"))


def everything():
    clocks = (("tsc", "tsc", 1.85), ("soft", "soft clock", 1.3), ("none", "no clock", 1.2))
    for clock, name, limit in clocks:
        yield Bar(f"SQLite, everything on, {name}, over native, processor time", limit, "x",
            close("sqlite", f"dual-{clock}", "native", "on"))
    for bench, program in PROGRAMS:
        for clock, name, _ in clocks:
            if bench != "sqlite":
                yield Bar(f"{program}, everything on, {name}, over native, processor time", None,
                    "x", close(bench, f"dual-{clock}", "native", "on"))
            yield Bar(f"{program}, everything on, {name}, two bodies over in line",
                1.0 if bench in ("sqlite", "lua") else None, "x",
                close(bench, f"dual-{clock}", clock, "on"))


def text():
    for bench, name in PROGRAMS:
        yield Bar(f"{name}, text", 2.1, "x", ratio(bench, "build/tp-dual", "build/native", "text"))
        yield Bar(f"{name}, hot text", 1.05, "x",
                  ratio(bench, "build/tp-dual", "build/native", "hot_text"))
        yield Bar(f"{name}, text, shape in line", None, "x",
                  ratio(bench, "build/tp", "build/native", "text"))


def cache():
    for bench, name in PROGRAMS:
        if bench == "leveldb":
            continue
        yield Bar(f"{name}, instruction cache misses when off", 1.5, "x",
            ratio(bench, "cachegrind-dual", "cachegrind", "i1_misses"))
        yield Bar(f"{name}, the same, shape in line", None, "x",
                  ratio(bench, "cachegrind-plain", "cachegrind", "i1_misses"))
        yield Bar(f"{name}, the same, XRay dormant", None, "x",
                  ratio(bench, "cachegrind-xray", "cachegrind", "i1_misses"))


def budget():
    for name in ("sqlite", "lua", "leveldb", "cppcheck", "redis", "string_match"):
        bench = "budget-" + name
        behind = of(bench, "own", "budget_rest_x")
        yield Bar(f"{name}, --budget 5%, over native, processor time, behind the first seconds",
            1.05 if behind.known() else None, "x", behind)
        yield Bar(f"{name}, the same, from the start on", None if behind.known() else 1.05, "x",
                  of(bench, "own", "budget_x"))
        yield Bar(f"{name}, the same, over the build without a recorder", None, "x",
                  of(bench, "own", "budget_over_plain_x"))
    for name in ("sqlite", "lua", "leveldb", "cppcheck", "redis", "string_match"):
        bench = "budget-" + name
        mine = summed(bench, "own", ("named_by_events", "estimated"))
        yield Bar(f"{name}, own time named under --budget 5%", None, " %", mine)
        yield Bar(f"{name}, of that by events", None, " %", of(bench, "own", "named_by_events"))
    for name in ("sqlite", "lua"):
        yield Bar(f"{name}, intervals of estimates that hold the truth", 95, " %",
            of("estimates-" + name, "own", "hold"), least=True)


def attach():
    yield Bar("Redis, 500 connections: times that attaching did not work", 0, "",
              of("attach", "own", "refused"))
    yield Bar("Redis, the same: crashes", 0, "", of("attach", "own", "died"))
    yield Bar("Redis, the same: errors of clients", 0, "", of("attach", "own", "client_errors"))
    yield Bar("Redis, the same: longest pause", 20, " ms", of("attach", "own", "pause_longest_ms"))
    yield Bar("Redis, the same: median pause", None, " ms", of("attach", "own", "pause_median_ms"))


def accuracy():
    for tool, name, limit in (("tsc", "tsc", 2),
            ("measured", "tsc, costs measured in the program", 2), ("ordered", "tsc-ordered", 2),
            ("soft", "soft clock", 5), ("perf", "perf record", None), ("gprof", "gprof", None),
            ("uftrace", "uftrace", None)):
        yield Bar(f"{name}: worst own time of functions from 100 ns a call", limit, " %",
                  accuracy_worst(tool, 100))
    yield Bar("tsc: the same of two threads at once", None, " %",
              accuracy_worst("tsc", 100, threads=True))
    yield Bar("tsc, costs measured: intervals that hold the truth, below 1 us a call", 95, " %",
        of("accuracy", "own", "interval/measured"), least=True)


def lost():
    for clock, name in (("tsc", "tsc"), ("soft", "soft clock"), ("none", "no clock")):
        yield Bar(f"leaf, {name}, a lost event over a recorded one", 0.5, "x",
            excess_ratio("micro-leaf", f"lost-{clock}", f"dual-{clock}", "native", LEAF))


def startup():
    for variant, name, limit in (("dual-tsc", "tsc", 15), ("dual-none", "no clock", 15),
            ("dual-soft", "soft clock", 30), ("xray", "XRay", None)):
        yield Bar(f"hello, {name}, over native", limit, " ms",
            over("startup", variant, "native", "whole_wall"), scale=MILLION)
    yield Bar("a program of one second, everything off, over native, wall time", 1.02, "x",
        ratio("second", "dual-off", "native", "whole_wall"))


def soft():
    yield Bar("SQLite, soft clock, wall over processor time", 1.1, "x",
        compare("sqlite", "dual-soft", "program_wall", "dual-soft", "program_cpu"))
    yield Bar("string_match, soft clock, wall over processor time", 1.1, "x",
        compare("phoenix-string_match-1", "dual-soft", "program_wall", "dual-soft", "program_cpu"))
    for threads in (1, 2):
        yield Bar("string_match, every call, soft clock, over perf record, "
            f"{threads} thread{'s' if threads > 1 else ''}", 2.0,
            "x", ratio(f"phoenix-string_match_calls-{threads}", "dual-soft", "perf", "kernel_wall"))


def analyzer():
    for name, what, limit in (("few_paths", "7 call paths", 150), ("lua", "Lua", 100),
            ("sqlite", "SQLite", 100), ("call_paths", "87,000 random call paths", 40)):
        yield Bar(f"{what}, million events a second, one core", limit, "",
            of("analyzer-" + name, "own", "one_core_m"), least=True)
    yield Bar("a trace of one thread, two cores over one", 1.8, "x",
              of("analyzer-few_paths", "own", "cores_x"), least=True)
    yield Bar("1 G events with 87,000 call paths, memory", 150, " MB",
              of("analyzer-huge", "own", "mb"))
    yield Bar("GROUP BY fn over 136 M events", 30, " s",
              of("analyzer-few_paths", "own", "group_by_s_of_136_m"))
    for name, what in (("few_paths", "7 call paths"), ("lua", "Lua"), ("sqlite", "SQLite")):
        yield Bar(f"{what}, speed of a compressed trace over that of a raw one", 0.9, "x",
            of("analyzer-" + name, "own", "compressed_x"), least=True)


def drain():
    yield Bar("one drain thread, million events a second", 80, "", of("drain", "own", "rate_m"),
              least=True)
    yield Bar("--compress, events lost at 40 M a second", 0, "",
              of("drain", "own", "packed,offered_40_m_events/s,lost,events"))
    for bench, name in (("sqlite", "SQLite"), ("lua", "Lua")):
        # An event is 8 bytes; a hundredth more is for the heads of chunks and files.
        yield Bar(f"{name}, bytes an event, raw", 8.08, "",
                  compare(bench, "tsc", "bytes", "tsc", "events"))
        yield Bar(f"{name}, bytes an event, compressed", 3, "",
                  compare(bench, "compressed", "bytes", "compressed", "events"))


def fleet():
    yield Bar("1,000 runs, 10^9 calls: fleet add over analyze", 3.0, "x",
              of("fleet", "own", "add_x"))
    for table in ("profile", "paths"):
        yield Bar(f"the same, bytes a row of {table}", 12.0, "",
                  of("fleet", "own", f"{table}_bytes"))
    yield Bar("the same, top functions of all runs, DuckDB with two threads", 2.0, " s",
              of("fleet", "own", "query_s"))
    yield Bar("p99 of a function from histograms, off the exact one at most", 1.5625, " %",
              of("fleet", "own", "p99_off_percent"))


def fast_path():
    yield Bar("leaf, tsc, over the limit written by hand", 1.03, "x",
              excess_ratio("micro-leaf", "tsc", "limit", "native", LEAF))
    yield Bar("leaf, soft clock, over native", 2, " ns", over("micro-leaf", "soft", "native", LEAF))
    yield Bar("leaf, count only, over native", 0.3, " ns",
              over("micro-leaf", "count", "native", LEAF))
    yield Bar("two threads, tsc, processor time a call, over the limit written by hand", 1.1, "x",
        excess_ratio("micro-threads2", "tsc", "limit", "native", "micro/threads2.two/cpu"))
    for bench, name in (("sqlite", "SQLite"), ("lua", "Lua")):
        yield Bar(f"{name}, compile time, shape in line", 1.12, "x",
                  ratio(bench, "build/tp", "build/native", "compile_cpu"))
        yield Bar(f"{name}, compile time, two bodies", None, "x",
            ratio(bench, "build/tp-dual", "build/native", "compile_cpu"))


def phoenix():
    for variant, name in (("dual-soft", "soft clock"), ("dual-tsc", "tsc")):
        for threads in (1, 2):
            yield Bar(f"Phoenix, {name}, {threads} thread{'s' if threads > 1 else ''}, "
                "over perf record, geometric mean", 1.15,
                "x", geometric(threads, variant, "perf", "kernel_wall"))


TOPICS = (
    ("No recorder", no_recorder),
    ("Ten functions", ten),
    ("Everything on", everything),
    ("Size of the text", text),
    ("Instruction cache misses while nobody records (cachegrind)", cache),
    ("A budget", budget),
    ("Attaching", attach),
    ("Accuracy", accuracy),
    ("A lost event", lost),
    ("Start-up", startup),
    ("The soft clock on two cores", soft),
    ("The analyzer", analyzer),
    ("Streams and sizes of traces", drain),
    ("Fleets", fleet),
    ("The fast path and the compiler", fast_path),
    ("Phoenix beside perf", phoenix),
)
