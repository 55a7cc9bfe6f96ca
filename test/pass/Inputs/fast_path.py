#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fast_path.py [--hardware] FUNCTION MOST BINARY...: walk the fast path of an instrumented leaf
function.

From the entry, every conditional jump into a cold block (one that leads to __teeperf_slow before it
comes back) is not taken; all other code up to the return is the fast path. Where the clock is
chosen at run time it is the one of the counter word or, with --hardware, on x86-64, the one of
rdtsc. Fails on a call, a locked or exclusive instruction, a store past the caches, or a jump to
another function on it, on more than MOST instructions, and unless there are exactly two stores of
records and two of the cursor.
"""

import re
import subprocess
import sys

FORBIDDEN = re.compile(r"^(call|lock|xchg|cmpxchg|xadd|bl$|blr|ldadd|ldx|stx|ldax|stlx|cas|swp|dmb|"
    r"jal|lr\.|sc\.|amo|fence|mfence|lfence|movnt|stnp)")


def disassemble(binary, function):
    text = subprocess.run(
        ["llvm-objdump", "-d", "--no-show-raw-insn", "--disassemble-symbols=" + function, binary],
        check=True, capture_output=True, text=True).stdout
    code = []
    for line in text.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if match:
            code.append((int(match[1], 16), match[2], match[3].split("//")[0].strip()))
    return code


def target(operands):
    match = re.search(r"0x([0-9a-f]+)\s*<", operands)
    return int(match[1], 16) if match else None


def main():
    hardware = sys.argv[1] == "--hardware"
    function, most, *binaries = sys.argv[1 + hardware:]
    most = int(most)
    for binary in binaries:
        code = disassemble(binary, function)
        if not code:
            sys.exit(f"{binary}: no function {function}")
        index = {address: i for i, (address, _, _) in enumerate(code)}

        def is_cold(start):
            # The way to the runtime, perhaps behind the other clock.
            for _, name, operands in code[start:start + 8]:
                if "__teeperf_slow" in operands or (name == "br" and "x17" in operands) or \
                        (name == "jalr" and "t0, t2" in operands):
                    return True
                if name.startswith("ret"):
                    return False
            return False

        def reads_clock(start):
            # Before anything that is rare.
            return any(name == "rdtsc" for _, name, _ in code[start:start + 5])

        at, seen, path = 0, set(), []
        while True:
            if at in seen:
                sys.exit(f"{binary}: the fast path of {function} has a loop")
            seen.add(at)
            address, name, operands = code[at]
            path.append((name, operands))
            if FORBIDDEN.match(name):
                sys.exit(f"{binary}: {name} {operands} on the fast path at {address:#x}")
            if name.startswith("ret"):
                break
            there = target(operands) if name[0] in "jb" or name.startswith(("cb", "tb")) else None
            if name in ("jmp", "b", "j"):
                if there not in index:
                    sys.exit(f"{binary}: jump out of {function} on the fast path at {address:#x}")
                at = index[there]
            elif hardware and there in index and (name == "jnp" or reads_clock(index[there])):
                at = index[there]
            elif there in index and not is_cold(index[there]) and is_cold(at + 1):
                at = index[there]
            else:
                at += 1
        if len(path) > most:
            sys.exit(f"{binary}: {len(path)} instructions on the fast path of {function}")
        stores = [o for n, o in path if n.startswith("str") or n == "sd" or
                  (n.startswith("mov") and re.search(r",\s*(%fs:|-(0x)?8)?\(%\w+\)$", o))]
        if len(stores) != 4:
            sys.exit(f"{binary}: {len(stores)} stores on the fast path, expected 4: {stores}")
        print(f"{binary}: {len(path)} instructions")


main()
