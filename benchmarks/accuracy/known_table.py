# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The times that each tool shows for known.c's functions, and their errors against the known times.

usage: known_table.py [--figures] DATA ROUNDS

With --figures not the tables, but a line "TOOL/FUNCTION PER_CENT" for each error, and "ns/FUNCTION
NS" for the known times.
"""
import csv
import os
import re
import statistics
import sys

DATA, ROUNDS = sys.argv[-2], int(sys.argv[-1])
BARS = {"tsc": 2, "tsc-measured": 2, "tsc-ordered": 2, "soft": 5, "soft-500ns": 5}
# Functions of 2 ns, and callers whose own time is a loop: their true times are not known to 2 %.
UNKNOWN = {"burst_leaf", "deep_caller", "compute_caller", "many_caller"}


def path(name):
    return os.path.join(DATA, name)


def rounds(name):
    return [i for i in range(1, ROUNDS + 1) if os.path.exists(path(f"{name}.{i}"))]


CLOCKS = [clock for clock in BARS if os.path.exists(path(clock + ".1"))]
SHORT = {"tsc-measured": "measured", "tsc-ordered": "ordered", "soft-500ns": "500 ns"}


def phases(name, i):
    """{phase: (calls, ns plain, ns hollow, ns looked at)} of a round, by the program's own clock"""
    found = {}
    with open(path(f"{name}.{i}"), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] == "phase":
                found[words[1]] = tuple(int(word) for word in words[2:])
    return found


def known(runs):
    """{function: (calls, ns of its own)}, of what phases() has: by the copy without any
    instrumentation."""
    truth = {}
    for phase, (calls, plain, hollow, _) in runs.items():
        if phase in ("deep", "compute"):
            truth[phase + "_leaf"] = (calls, plain)
            continue
        own = plain if phase == "burst" else hollow
        truth[phase + "_caller"] = (calls, own)
        truth[phase + "_leaf"] = (calls, plain - own)
    return truth


def teeperf(clock, kind, i):
    """{function: ns of its own}, {function: ns with what it called}"""
    own, inclusive = {}, {}
    with open(path(f"{clock}.{i}{kind}.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            own[row["function"]] = int(row["self_ns"] or 0)
            inclusive[row["function"]] = int(row["inclusive_ns"] or 0)
    return own, inclusive


def stated(clock, i):
    """{function: ns by which teeperf says that its own time may be off}"""
    with open(path(f"{clock}.{i}.csv"), encoding="utf-8") as file:
        return {row["function"]: int(row["self_uncertainty_ns"]) for row in csv.DictReader(file)
                if row["self_uncertainty_ns"]}


def perf(i, runs):
    """{function: ns}: shares of the samples, of the time that all phases of the plain copy take."""
    found = {}
    with open(path(f"perf.{i}"), encoding="utf-8") as file:
        for line in file:
            match = re.match(r"\s*([\d.]+)%\s+\[\.\]\s+plain_(\w+_(?:leaf|caller))\s*$", line)
            if match:
                found[match[2]] = float(match[1])
    total = sum(plain for _, plain, _, _ in runs.values())
    samples = sum(found.values())
    return {name: value / samples * total for name, value in found.items()} if samples else {}


def gprof(i):
    found = {}
    with open(path(f"gprof.{i}"), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) >= 4 and re.fullmatch(r"\w+_(leaf|caller)", words[-1]):
                found[words[-1]] = float(words[2]) * 1e9
    return found


def uftrace(i):
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9}
    found = {}
    with open(path(f"uftrace.{i}"), encoding="utf-8") as file:
        for line in file:
            match = re.match(r"\s*([\d.]+)\s+(ns|us|ms|s|m)\s+(\d+)\s+(\w+)\s*$", line)
            if match:
                found[match[4]] = float(match[1]) * units[match[2]]
    return found


def error(value, truth):
    return None if value is None or truth <= 0 else (value / truth - 1) * 100


def text(value):
    if value is None:
        return "-"
    return f"{value:+.0f}" if abs(value) >= 99.95 else f"{value:+.1f}"


def columns():
    """[(name, [(the tool's times, the known times)] by round)]"""
    found = []
    for clock in CLOCKS:
        runs = {i: known(phases(clock, i)) for i in rounds(clock)}
        name = SHORT.get(clock, clock)
        for kind, title in (".raw", name + " raw"), ("", name):
            if kind and clock == "tsc-measured":
                continue  # that of tsc
            found.append((title, [(teeperf(clock, kind, i)[0], runs[i]) for i in runs]))
    of_perf = [(phases("tsc", i), i) for i in rounds("perf")]
    found.append(("perf", [(perf(i, runs), known(runs)) for runs, i in of_perf]))
    for name, read in ("gprof", gprof), ("uftrace", uftrace):
        found.append((name, [(read(i), known(phases(name + "-phases", i))) for i in rounds(name)]))
    return found


def errors_of(samples):
    """{function: [per cent by round]}; of a tool that says nothing of a function, as if it said
    0"""
    found = {}
    for values, truth in samples:
        for function, (_, own) in truth.items():
            off = error(values.get(function, 0), own) if values else None
            if off is not None and function not in UNKNOWN:
                found.setdefault(function, []).append(off)
    return found


def median_phase(clock, phase, index):
    return statistics.median(phases(clock, i)[phase][index] for i in rounds(clock))


def main():
    tools = [(name, errors_of(samples)) for name, samples in columns()]
    errors = {name: {function: statistics.median(off) for function, off in found.items()}
              for name, found in tools}
    truths = [known(phases("tsc", i)) for i in rounds("tsc")]
    if sys.argv[1] == "--figures":
        print_figures(truths[0], errors)
        return

    print("\nOwn time of each function: what it is known to take (in the runs with tsc), "
          "and by how many per cent each")
    print("tool is off from what is known of the same run; medians of the rounds.\n")
    print(f"{'function':18}{'calls':>10}{'ns a call':>14}" +
          "".join(f"{name:>12}" for name in errors))
    for function in truths[0]:
        if function in UNKNOWN:
            continue
        calls = truths[0][function][0]
        own = statistics.median(truth[function][1] for truth in truths)
        print(f"{function:18}{calls:>10}{own / calls:>14.1f}" +
              "".join(f"{text(errors[name].get(function)):>12}" for name in errors))
    print(f"\n{'worst':42}" + "".join(
        f"{text(max(off.values(), key=abs) if off else None):>12}" for off in errors.values()))
    for bar in (2, 5):
        print(f"{'functions within ' + str(bar) + ' %':42}" +
              "".join(f"{sum(abs(one) <= bar for one in off.values()):>5} of {len(off):<2}" if off
                  else f"{'-':>12}" for off in errors.values()))
    # Of the longer ones a nanosecond a call is nothing, and the machine's own unrest shows.
    short = {function: truths[0][function] for function in truths[0]
             if function not in UNKNOWN and truths[0][function][1] / truths[0][function][0] < 1000}
    print(f"{'worst below 1 us, ns a call':42}" + "".join(
        f"{text(worst_ns(off, short)):>12}" for off in errors.values()))
    # How far the rounds are apart: half of them lie in a range of this width.
    print(f"{'half of the rounds within, points':42}" + "".join(
        f"{text(spread(found)):>12}" for _, found in tools))
    for tool in ("perf", "gprof", "uftrace"):
        if os.path.exists(path(tool + ".reason")):
            with open(path(tool + ".reason"), encoding="utf-8") as file:
                print(f"{tool}: not run: {file.read().strip()}")

    print_stated(truths[0])
    print("\nThe clock: inclusive time as recorded, over what the program saw itself in the same "
          "run. Where calls")
    print("slow a clock down, 'many' falls behind 'compute' (the original TEE-Perf: "
          "by a factor of 2.7 to 3.7).\n")
    print(f"{'phase':18}" + "".join(f"{SHORT.get(clock, clock):>12}" for clock in CLOCKS))
    for phase in ("compute", "many", "burst", "chain50", "spin50"):
        row = f"{phase:18}"
        for clock in CLOCKS:
            ratios = [teeperf(clock, ".raw", i)[1][phase + "_caller"] / phases(clock, i)[phase][3]
                      for i in rounds(clock)]
            row += f"{statistics.median(ratios):>12.3f}"
        print(row)

    print("\nThe program in all, ns: the plain copy; the recorded one; less what recording cost\n")
    for clock in CLOCKS:
        common = [phase for phase in phases(clock, 1) if not phase.startswith("thread")]
        net = [sum(teeperf(clock, "", i)[1][phase + "_caller"] for phase in common)
               for i in rounds(clock)]
        print(f"{SHORT.get(clock, clock):8}"
              f"{sum(median_phase(clock, phase, 1) for phase in common):>16.0f}"
              f"{sum(median_phase(clock, phase, 3) for phase in common):>16.0f}"
              f"{statistics.median(net):>16.0f}")
        with open(path(f"{clock}.1.head"), encoding="utf-8") as file:
            for line in file:
                if line.startswith(("times", "clock", "lost", "coarse")):
                    print("      " + line.strip())

    print("\nBars: within 2 % with tsc and 5 % with the soft clock, after compensation\n")
    for clock in CLOCKS:
        bar = BARS[clock]
        missed = [f"{name} {text(off)} %" for name, off in errors[SHORT.get(clock, clock)].items()
                  if abs(off) > bar]
        print(f"{clock:12}{'missed: ' + ', '.join(missed) if missed else 'met'}")


def print_figures(truth, errors):
    for function, (calls, own) in truth.items():
        if function not in UNKNOWN:
            print(f"ns/{function} {own / calls:.1f}")
    for tool, off in errors.items():
        for function, value in off.items():
            print(f"{tool.replace(' ', '_')}/{function} {value:.3f}")
    for clock in CLOCKS:
        inside = of = 0
        for i in rounds(clock):
            says = stated(clock, i)
            for function, (calls, own) in known(phases(clock, i)).items():
                if function in says and function not in UNKNOWN and 0 < own / calls < 1000:
                    of += 1
                    inside += abs(teeperf(clock, "", i)[0].get(function, 0) - own) <= says[function]
        if of:
            print(f"interval/{SHORT.get(clock, clock)} {100 * inside / of:.1f}")


def print_stated(functions):
    """By how much a report says that it may be off (its column +/-), beside by how much it is; in
    all rounds."""
    print("\nHow far off a report says that the own time may be (column +/-), "
          "in per cent of what is known, beside how far")
    print("it is; medians. Inside: in so many of the rounds the known time is not farther off "
          "than that.\n")
    print(f"{'function':18}" +
          "".join(f"{SHORT.get(clock, clock):>12}{'+/-':>8}{'inside':>9}" for clock in CLOCKS))
    groups = ("below 1 us a call", "longer calls")
    inside = {(group, clock): 0 for group in groups for clock in CLOCKS}
    pairs = dict(inside)
    for function in functions:
        if function in UNKNOWN:
            continue
        row = f"{function:18}"
        group = groups[functions[function][1] / functions[function][0] >= 1000]
        for clock in CLOCKS:
            offs, bounds = [], []
            for i in rounds(clock):
                own = known(phases(clock, i)).get(function, (0, 0))[1]
                if own > 0 and function in stated(clock, i):
                    offs.append(error(teeperf(clock, "", i)[0].get(function, 0), own))
                    bounds.append(stated(clock, i)[function] / own * 100)
            if not offs:
                row += f"{'-':>12}{'-':>8}{'-':>9}"
                continue
            within = sum(abs(off) <= bound for off, bound in zip(offs, bounds))
            inside[group, clock] += within
            pairs[group, clock] += len(offs)
            row += (f"{text(statistics.median(offs)):>12}{statistics.median(bounds):>8.1f}"
                    f"{within:>4} of {len(offs):<2}")
        print(row)
    for group in groups:
        print(f"{group:18}" + "".join(
            f"{inside[group, clock]:>21} of {pairs[group, clock]:<4}" for clock in CLOCKS))


def worst_ns(off, truth):
    """By how many ns a call a tool is off, for the function that it is most off for."""
    each = [off[function] / 100 * own / calls for function, (calls, own) in truth.items()
            if function in off]
    return max(each, key=abs) if each else None


def spread(found):
    """The median, over functions, of the distance between the quartiles of the rounds."""
    widths = []
    for off in found.values():
        if len(off) > 3:
            low, _, high = statistics.quantiles(off, n=4)
            widths.append(high - low)
    return statistics.median(widths) if widths else None


main()
