#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# many_paths.py PATHS: the text of a trace of four threads, with at least PATHS different call
# paths, the same each time. 40 functions, up to 14 deep, with recursion; a tick is a nanosecond.
import random
import sys

wanted = int(sys.argv[1])
random.seed(1)
print('clock kind=tsc hz=1000000000\ncommand\n\tstring "/"\n\tstring "many"\nsymbols')
for i in range(40):
    print(f'\tsymbol {0x401000 + 16 * i:#x} "function{i}" file="file{i % 7}.c" line={i + 1}')
paths = set()
thread = 0
while len(paths) < wanted:
    if thread % 4 == 0:
        sequence = thread // 4
    out, stack, time = [], [], 10000000 * sequence
    begin = time
    # A chunk has room for 8184 records.
    while len(out) < 8000 or stack:
        time += random.randrange(1, 60)
        if stack and (len(out) >= 8000 or len(stack) == 14 or random.random() < 0.47):
            out.append(f"\t{time} exit {0x401000 + 16 * stack.pop():#x}")
        else:
            stack.append(min(39, int(random.expovariate(0.08))))
            out.append(f"\t{time} enter {0x401000 + 16 * stack[-1]:#x}")
            paths.add((thread % 4, *stack))
    print(f"chunk thread={thread % 4} tid={100 + thread % 4} sequence={sequence} time={begin}")
    print("\n".join(out))
    thread += 1
print("end")
