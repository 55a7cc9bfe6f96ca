#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write damaged copies of a stream: damage_stream.py STREAM OUT NUMBER.

By NUMBER: cut off somewhere, bytes changed anywhere or in a frame's header, frames left out,
repeated, swapped. The same number gives the same copy.
"""
import random
import struct
import sys

import teeperf_abi as abi

FRAME = abi.teeperf_frame


def frames(data):
    at, found = 0, []
    while at < len(data):
        length = FRAME.get("length", data, at)
        end = at + FRAME.size + (length + 7) // 8 * 8
        found.append(bytearray(data[at:end]))
        at = end
    return found


def main():
    with open(sys.argv[1], "rb") as file:
        parts = frames(file.read())
    number = int(sys.argv[3])
    chance = random.Random(number)
    pick = chance.randrange(len(parts))
    how = number % 7
    if how == 1:
        for _ in range(chance.randrange(1, 20)):
            part = parts[chance.randrange(len(parts))]
            part[chance.randrange(len(part))] = chance.randrange(256)
    elif how == 2:
        parts[pick][chance.randrange(FRAME.size)] ^= 1 << chance.randrange(8)
    elif how == 3:
        del parts[pick]
    elif how == 4:
        parts[pick:pick] = [parts[chance.randrange(len(parts))]] * chance.randrange(1, 50)
    elif how == 5:
        other = chance.randrange(len(parts))
        parts[pick], parts[other] = parts[other], parts[pick]
    elif how == 6:
        # START's numbers, which say where the rest is.
        for _ in range(4):
            struct.pack_into("<Q", parts[0], FRAME.size + 8 * chance.randrange(16),
                             chance.choice((0, 1, 2**63, 2**64 - 1, 2**32, 4096, 65536)))
    data = b"".join(parts)
    if how == 0:
        data = data[: chance.randrange(len(data))]
    with open(sys.argv[2], "wb") as file:
        file.write(data)


main()
