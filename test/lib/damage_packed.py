#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make a packed chunk of a trace lie, with a checksum that fits.

damage_packed.py IN OUT N zeroes the magic of the names of the N-th packed chunk and prints the
offset of its payload.
"""
import ctypes
import struct
import sys

import teeperf_abi as abi

XXH3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
XXH3.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
XXH3.restype = ctypes.c_uint64


def main():
    with open(sys.argv[1], "rb") as file:
        data = bytearray(file.read())
    left = int(sys.argv[3])
    at = abi.teeperf_trace_header.get("header_size", data)
    while True:
        section = abi.teeperf_section.read(data, at)
        left -= section.type == abi.TEEPERF_SECTION_PACKED
        if left == 0:
            break
        at += abi.teeperf_section.size + (section.size + 7) // 8 * 8
    payload = at + abi.teeperf_section.size
    names = payload + abi.teeperf_packed.size
    data[names : names + 4] = bytes(4)
    checksum = XXH3(bytes(data[payload : payload + section.size]), section.size) & 0xffffffff
    struct.pack_into("<I", data, at + abi.teeperf_section.offset("checksum"), checksum)
    with open(sys.argv[2], "wb") as file:
        file.write(data)
    print(payload)


main()
