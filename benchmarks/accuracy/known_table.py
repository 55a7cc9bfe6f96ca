# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each tool says of known.c's functions, and how far that is from what they are known to take.

usage: known_table.py DATA ROUNDS
"""
import csv
import os
import re
import statistics
import sys

DATA, ROUNDS = sys.argv[1], int(sys.argv[2])
BARS = {"tsc": 2, "tsc-ordered": 2, "soft": 5}
# Functions of 2 ns, and callers whose own time is a loop: what is known of them is not known to 2 %.
UNKNOWN = {"burst_leaf", "deep_caller", "compute_caller", "many_caller"}


def path(name):
    return os.path.join(DATA, name)


def rounds(name):
    return [i for i in range(1, ROUNDS + 1) if os.path.exists(path(f"{name}.{i}"))]


CLOCKS = [clock for clock in BARS if os.path.exists(path(clock + ".1"))]
SHORT = {"tsc-ordered": "ordered"}


def phases(name):
    """{phase: [(calls, wall ns)]}"""
    found = {}
    for i in rounds(name):
        with open(path(f"{name}.{i}"), encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words[0] == "phase":
                    found.setdefault(words[1], []).append((int(words[2]), int(words[3])))
    return found


def wall(found, phase):
    return statistics.median(ns for _, ns in found[phase])


def known(native, hollow):
    """{function: (calls, ns of its own)} by the program's own clock, without any instrumentation."""
    truth = {}
    for phase, runs in native.items():
        calls = runs[0][0]
        all_ns = wall(native, phase)
        if phase in ("deep", "compute"):
            truth[phase + "_leaf"] = (calls, all_ns)
            continue
        own = wall(hollow, phase)
        if phase == "burst":
            own = all_ns
        truth[phase + "_caller"] = (calls, own)
        truth[phase + "_leaf"] = (calls, all_ns - own)
    return truth


def medians(samples):
    return {name: statistics.median(values) for name, values in samples.items()}


def teeperf(clock, kind):
    found, inclusive = {}, {}
    for i in range(1, ROUNDS + 1):
        with open(path(f"{clock}.{i}{kind}.csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["function"], []).append(int(row["self_ns"] or 0))
                inclusive.setdefault(row["function"], []).append(int(row["inclusive_ns"] or 0))
    return medians(found), medians(inclusive)


def perf(native):
    """Shares of samples, of the CPU time that all phases take."""
    found = {}
    total = sum(wall(native, phase) for phase in native)
    for i in rounds("perf"):
        with open(path(f"perf.{i}"), encoding="utf-8") as file:
            for line in file:
                match = re.match(r"\s*([\d.]+)%\s+\[\.\]\s+(\w+)", line)
                if match:
                    found.setdefault(match[2], []).append(float(match[1]))
    ours = {name: values for name, values in medians(found).items() if re.search("_(leaf|caller)$", name)}
    scale = sum(ours.values())
    return {name: value / scale * total for name, value in ours.items()} if scale else {}


def gprof():
    found = {}
    for i in rounds("gprof"):
        with open(path(f"gprof.{i}"), encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if len(words) >= 4 and re.fullmatch(r"\w+_(leaf|caller)", words[-1]):
                    found.setdefault(words[-1], []).append(float(words[2]) * 1e9)
    return medians(found)


def uftrace():
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9}
    found = {}
    for i in rounds("uftrace"):
        with open(path(f"uftrace.{i}"), encoding="utf-8") as file:
            for line in file:
                match = re.match(r"\s*([\d.]+)\s+(ns|us|ms|s|m)\s+(\d+)\s+(\w+)\s*$", line)
                if match:
                    found.setdefault(match[4], []).append(float(match[1]) * units[match[2]])
    return medians(found)


def error(value, truth):
    return None if value is None or truth <= 0 else (value / truth - 1) * 100


def text(value):
    if value is None:
        return "-"
    return f"{value:+.0f}" if abs(value) >= 99.95 else f"{value:+.1f}"


def main():
    native = phases("native")
    truth = known(native, phases("hollow"))
    columns = []
    for clock in CLOCKS:
        name = SHORT.get(clock, clock)
        columns.append((name + " raw", teeperf(clock, ".raw")[0], truth))
        columns.append((name, teeperf(clock, "")[0], truth))
    columns.append(("perf", perf(native), truth))
    columns.append(("gprof", gprof(), known(phases("native-gcc"), phases("hollow-gcc"))))
    columns.append(("uftrace", uftrace(), known(phases("native-small"), phases("hollow-small"))))

    print("\nOwn time of each function: what it is known to take, and by how many per cent each tool is off.\n")
    print(f"{'function':18}{'calls':>10}{'ns a call':>14}" + "".join(f"{name:>12}" for name, _, _ in columns))
    errors = {name: {} for name, _, _ in columns}
    for function, (calls, own) in truth.items():
        row = f"{function:18}{calls:>10}{own / calls:>14.1f}" if function not in UNKNOWN else ""
        for name, values, base in columns:
            # gprof and uftrace do not name what they never saw.
            off = None
            if values and function in base:
                off = error(values.get(function, 0), base[function][1])
            if function not in UNKNOWN and not (clock_missing(name, function, values)):
                if off is not None:
                    errors[name][function] = off
                row += f"{text(off):>12}"
            elif function not in UNKNOWN:
                row += f"{'-':>12}"
        if row:
            print(row)
    print(f"\n{'worst':42}" + "".join(
        f"{text(max(errors[name].values(), key=abs) if errors[name] else None):>12}" for name, _, _ in columns))
    for bar in (2, 5):
        print(f"{'functions within ' + str(bar) + ' %':42}" + "".join(
            f"{sum(abs(off) <= bar for off in errors[name].values()):>5} of {len(errors[name]):<2}"
            if errors[name] else f"{'-':>12}" for name, _, _ in columns))
    for tool in ("perf", "gprof", "uftrace"):
        if os.path.exists(path(tool + ".reason")):
            with open(path(tool + ".reason"), encoding="utf-8") as file:
                print(f"{tool}: not run: {file.read().strip()}")

    print("\nThe clock: inclusive time as recorded, over what the program saw itself in the same run. Where calls")
    print("slow a clock down, 'many' falls behind 'compute' (the original TEE-Perf: by a factor of 2.7 to 3.7).\n")
    print(f"{'phase':18}" + "".join(f"{SHORT.get(clock, clock):>12}" for clock in CLOCKS))
    for phase in ("compute", "many", "burst", "chain50", "spin50"):
        row = f"{phase:18}"
        for clock in CLOCKS:
            inclusive = teeperf(clock, ".raw")[1]
            runs = phases(clock)
            row += f"{inclusive[phase + '_caller'] / wall(runs, phase):>12.3f}" if phase in runs else f"{'-':>12}"
        print(row)

    print("\nThe program in all, ns: native; recorded; less what recording cost\n")
    for clock in CLOCKS:
        runs = phases(clock)
        common = [phase for phase in runs if not phase.startswith("thread")]
        raw, net = teeperf(clock, ".raw")[1], teeperf(clock, "")[1]
        print(f"{SHORT.get(clock, clock):8}{sum(wall(native, p) for p in common):>16.0f}"
              f"{sum(raw[p + '_caller'] for p in common):>16.0f}{sum(net[p + '_caller'] for p in common):>16.0f}")
        with open(path(f"{clock}.1.head"), encoding="utf-8") as file:
            for line in file:
                if line.startswith(("times", "clock", "lost", "coarse")):
                    print("      " + line.strip())

    print("\nBars: within 2 % with tsc and 5 % with the soft clock, after compensation\n")
    for clock in CLOCKS:
        bar = BARS[clock]
        missed = [f"{name} {text(off)} %" for name, off in errors[SHORT.get(clock, clock)].items() if abs(off) > bar]
        print(f"{clock:12}{'missed: ' + ', '.join(missed) if missed else 'met'}")


def clock_missing(name, function, values):
    """Whether the phase was not run with this tool: threads where there was no core for them."""
    return function.startswith("thread") and not values.get(function)


main()
