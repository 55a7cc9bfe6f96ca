#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make a packed chunk of a trace lie, with a checksum that fits.

damage_packed.py IN OUT N zeroes the magic of the names of the N-th packed chunk and prints the offset
of its payload.
"""
import ctypes
import struct
import sys

PACKED = 10
XXH3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
XXH3.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
XXH3.restype = ctypes.c_uint64


def main():
    with open(sys.argv[1], "rb") as file:
        data = bytearray(file.read())
    left = int(sys.argv[3])
    at = struct.unpack_from("<H", data, 14)[0]
    while True:
        _, kind, size = struct.unpack_from("<IIQ", data, at)
        left -= kind == PACKED
        if left == 0:
            break
        at += 24 + (size + 7) // 8 * 8
    payload = at + 24
    data[payload + 80 : payload + 84] = bytes(4)
    checksum = XXH3(bytes(data[payload : payload + size]), size) & 0xffffffff
    struct.pack_into("<I", data, at + 16, checksum)
    with open(sys.argv[2], "wb") as file:
        file.write(data)
    print(payload)


main()
