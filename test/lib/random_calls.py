#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""random_calls.py SEED EVENTS: a trace as text, of threads with calls of many lengths, losses,
exits that are missing, exits without a time, and unwinding. Times are odd numbers, one tick a
nanosecond."""
import random
import sys

random.seed(int(sys.argv[1]))
EVENTS = int(sys.argv[2])
print("clock kind=tsc hz=1000000000\ncommand\n\tstring \"/\"\n\tstring \"random\"\nsymbols")
for number in range(6):
    print(f"\tsymbol 0x{0x401000 + 16 * number:x} f{number}")
for thread in range(3):
    time, stack, lines = 1, [], []
    while len(lines) < EVENTS:
        time += 2 * random.choice((0, 0, 1, 1, 3, 10, 200))
        what = random.random()
        if what < 0.48 and len(stack) < 30:
            name = f"f{random.randrange(6)}"
            label = f"at{thread}x{len(lines)}"
            stack.append((name, label))
            lines.append(f"{time} enter {name} @{label}")
        elif what < 0.94 and stack:
            name = stack.pop()[0]
            kind = random.random()
            if kind < 0.9:
                lines.append(f"{time} exit {name}")
            elif kind < 0.97:
                lines.append(f"exit {name}")
        elif what < 0.97 and stack:
            del stack[random.randrange(len(stack)) + 1:]
            name, label = stack[-1]
            lines.append(f"{time} resync {name} @{label}")
        elif what < 0.98:
            lines.append(f"lost {random.randrange(1, 9)}")
    for number, first in enumerate(range(0, len(lines), 4000)):
        print(f"chunk thread={thread} sequence={number}")
        for line in lines[first:first + 4000]:
            print("\t" + line)
print("end")
