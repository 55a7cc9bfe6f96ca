#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_paths.py PATHS: a trace with at least PATHS call paths, as text for teeperf dump
--assemble."""
import random
import sys

FUNCTIONS = 60
CHUNK = 4000  # records


def main():
    wanted = int(sys.argv[1])
    rng = random.Random(3)
    out = ['clock kind=tsc hz=1000000000\ncommand\n\tstring "/"\n\tstring "many-paths"\nsymbols\n']
    for i in range(FUNCTIONS):
        out.append('\tsymbol 0x%x function_%d file="src/part%d.c" line=%d\n'
                   % (0x401000 + 16 * i, i, i % 17, i + 1))
    paths = {}
    stack, names = [0], []
    time = records = 0
    while len(paths) < wanted or len(stack) > 1:
        if records % CHUNK == 0:
            out.append("chunk sequence=%d tid=1 time=%d\n" % (records // CHUNK, time))
        records += 1
        time += rng.randrange(1, 200)
        if len(paths) < wanted and (len(stack) == 1 or (len(stack) < 40 and rng.random() < 0.5)):
            function = min(int(rng.expovariate(5 / FUNCTIONS)), FUNCTIONS - 1)
            stack.append(paths.setdefault((stack[-1], function), len(paths) + 1))
            names.append(function)
            out.append("\t%d enter function_%d\n" % (time, function))
        else:
            stack.pop()
            out.append("\t%d exit function_%d\n" % (time, names.pop()))
    sys.stdout.write("".join(out) + "end\n")


if __name__ == "__main__":
    main()
