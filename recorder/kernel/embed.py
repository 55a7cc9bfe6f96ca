#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""embed.py OUTPUT.c OBJECT: the compiled BPF programs as an array of bytes (bpf.c)."""

import sys


def main():
    output, path = sys.argv[1:]
    with open(path, "rb") as file:
        data = file.read()
    lines = ["\t" + "".join("%d," % byte for byte in data[at:at + 24])
             for at in range(0, len(data), 24)]
    with open(output, "w", encoding="ascii") as file:
        file.write('/* Generated from recorder/kernel/events.bpf.c by embed.py. */\n'
                   '#include "recorder/kernel/bpf.h"\n\n'
                   "_Alignas(8) const unsigned char tp_bpf_object[] = {\n%s\n};\n"
                   "const size_t tp_bpf_object_size = sizeof(tp_bpf_object);\n" % "\n".join(lines))


if __name__ == "__main__":
    main()
