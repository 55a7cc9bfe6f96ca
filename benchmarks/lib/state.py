# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of a state (state.sh), and their values by round."""

import math
import statistics

figures = {}  # (bench, variant) -> {key: {round: value}}
done = {}  # (bench, variant) -> [(round, seconds, load, others)]
skipped = {}  # (bench, variant) -> reason


def read(path):
    """Figures count when their run is whole."""
    waiting = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.rstrip("\n").split("\t")
            if words[0] == "figure" and len(words) == 6:
                waiting.append(words[1:])
            elif words[0] == "skip" and len(words) >= 4:
                skipped[words[1], words[2]] = words[3]
                waiting = []
            elif words[0] == "done" and len(words) == 7:
                whole = words[1:4]
                for bench, variant, number, key, value in waiting:
                    if [bench, variant, number] == whole:
                        figures.setdefault((bench, variant),
                                           {}).setdefault(key, {})[int(number)] = float(value)
                waiting = []
                done.setdefault((whole[0], whole[1]),
                                []).append((int(whole[2]), *map(float, words[4:])))


def by_round(bench, variant, key):
    return figures.get((bench, variant), {}).get(key, {})


class Source:
    """Values by round, and the rows that they are from."""

    def __init__(self, rows, numbers, kind="value"):
        self.rows, self.numbers, self.kind = rows, numbers, kind

    def known(self):
        return bool(self.numbers)

    def values(self):
        return [self.numbers[number] for number in sorted(self.numbers)]

    def reason(self):
        """Why there are no values."""
        for row in self.rows:
            if row in skipped:
                return "not run: " + skipped[row]
        return "not measured yet"

    def loads(self):
        """Load and others' work of the rounds that count."""
        found = [entry for row in self.rows for entry in done.get(row, ())
                 if entry[0] in self.numbers]
        return [entry[2] for entry in found], [entry[3] for entry in found]


def of(bench, variant, key):
    return Source([(bench, variant)], by_round(bench, variant, key),
                  "ratio" if key.endswith("_x") else "value")


def paired(rows, columns, combine, kind):
    """Of rounds that all columns have."""
    common = set(columns[0]).intersection(*columns[1:])
    numbers = {}
    for number in common:
        value = combine(*(column[number] for column in columns))
        if value is not None:
            numbers[number] = value
    return Source(rows, numbers, kind)


def divide(upper, lower):
    return upper / lower if lower else None


def compare(bench, variant, key, base, base_key):
    return paired([(bench, variant), (bench, base)],
        [by_round(bench, variant, key), by_round(bench, base, base_key)], divide, "ratio")


def ratio(bench, variant, base, key):
    return compare(bench, variant, key, base, key)


def over(bench, variant, base, key):
    return paired([(bench, variant), (bench, base)],
        [by_round(bench, variant, key), by_round(bench, base, key)],
        lambda mine, other: mine - other, "difference")


def excess_ratio(bench, variant, other, base, key):
    """What VARIANT costs over BASE, over what OTHER costs over BASE."""
    return paired([(bench, variant), (bench, other), (bench, base)],
        [by_round(bench, name, key) for name in (variant, other, base)],
        lambda mine, theirs, least: divide(mine - least, theirs - least) if theirs > least
        else None, "ratio")


def summed(bench, variant, keys):
    return paired([(bench, variant)], [by_round(bench, variant, key) for key in keys],
                  lambda *all_of: sum(all_of), "value")


def geometric(threads, variant, base, key):
    """Mean over the Phoenix kernels; without one there is none."""
    kernels = ("histogram", "kmeans", "linear_regression", "matrix_multiply", "pca",
        "reverse_index", "string_match", "word_count")
    each = [ratio(f"phoenix-{kernel}-{threads}", variant, base, key) for kernel in kernels]
    rows = [row for source in each for row in source.rows]
    return paired(rows, [source.numbers for source in each],
        lambda *all_of: math.exp(statistics.fmean(map(math.log, all_of))), "ratio")


def accuracy_worst(tool, least_ns, threads=False):
    """Of each function the median of the rounds; of these the one that is farthest off. One value.
    Of threads that work at once or of all others."""
    found = figures.get(("accuracy", "own"), {})
    long_ones = [key[3:] for key, values in found.items()
        if key.startswith("ns/") and key.startswith("ns/thread") == threads and
        statistics.median(values.values()) >= least_ns * 0.98]
    off = [statistics.median(found[f"{tool}/{name}"].values())
           for name in long_ones if f"{tool}/{name}" in found]
    source = Source([("accuracy", "own")], {1: max(map(abs, off))} if off else {})
    source.of_rounds = len(done.get(("accuracy", "own"), ()))
    return source
