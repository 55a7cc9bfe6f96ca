#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleet_traces.py FOLDER COUNT [CALLS]: text of COUNT traces of three programs in two builds each,
the same each time: FOLDER/N.txt. Functions of the second build have other addresses, and one more
is before them; threads are pools. A tick is a nanosecond."""

import os
import random
import sys

folder, count = sys.argv[1], int(sys.argv[2])
calls = int(sys.argv[3]) if len(sys.argv) > 3 else 400
os.makedirs(folder, exist_ok=True)
for number in range(count):
    rng = random.Random(number)
    program, build = number % 3, number // 3 % 2
    base = 0x401000 + build * 0x230
    names = [f"program{program}_function{i}" for i in range(12)]
    # Two days in November 2023, the later the higher the number.
    created = (1700000000 + number * 20000 // count) * 10**9
    lines = [f"trace created={created}", "clock kind=tsc hz=1000000000", "command", '\tstring "/"',
             f'\tstring "/usr/bin/program{program}"', f'\tstring "--seed={number}"', "symbols"]
    order = list(range(12))
    random.Random(build).shuffle(order)
    address = {i: base + 16 * at for at, i in enumerate(order)}
    for i in order:
        lines.append(f'\tsymbol {address[i]:#x} "{names[i]}" file="source{i % 3}.c" line={i + 1}')
    for thread in range(2):
        time, stack, out = 1000 * thread, [], []
        while len(out) < 2 * calls or stack:
            time += int(rng.expovariate(0.01)) + 1
            if stack and (len(out) + len(stack) >= 2 * calls or len(stack) == 6 or
                          rng.random() < 0.5):
                out.append(f"\t{time} exit {address[stack.pop()]:#x}")
            else:
                # Few paths, so that runs have them in common.
                stack.append(rng.choice((len(stack) * 2, len(stack) * 2 + 1)))
                out.append(f"\t{time} enter {address[stack[-1]]:#x}")
        for at in range(0, len(out), 8000):
            first = out[at].split()[0]
            lines.append(f"chunk thread={thread} tid={100 + thread} sequence={at // 8000} "
                         f"time={first}")
            lines += out[at:at + 8000]
    lines.append("end")
    with open(os.path.join(folder, f"{number}.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
