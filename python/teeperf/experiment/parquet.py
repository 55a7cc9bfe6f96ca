# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a table as a Parquet file: plain values, each column optional, pages in frames of zstd
that compress nothing, as 'teeperf fleet' reads no others. Debian has no library for it."""

import struct
from itertools import groupby

ROWS_MOST = 122880
STATISTICS_MOST = 1024
BLOCK = 1 << 17
I32, I64, BINARY, STRUCT = 5, 6, 8, 12
# Parquet's number, and how values are packed.
TYPES = {"INTEGER": (2, "q"), "REAL": (5, "d"), "TEXT": (6, None)}


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def pack(*fields):
    """A struct of Thrift's compact protocol: (number, type, value), of lists the type of items."""
    def encode(kind, value):
        if kind == BINARY:
            return varint(len(value)) + value
        return value if kind == STRUCT else varint(value << 1)

    out, last = b"", 0
    for number, kind, value in fields:
        if value is None:
            continue
        if isinstance(value, list):
            count = len(value)
            body = bytes([min(count, 15) << 4 | kind]) + (varint(count) if count > 14 else b"")
            body += b"".join(encode(kind, item) for item in value)
            kind = 9
        else:
            body = encode(kind, value)
        out += bytes([number - last << 4 | kind]) + body
        last = number
    return out + b"\0"


def frame(data):
    """Of zstd, of raw blocks (RFC 8878)."""
    out = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    for at in range(0, len(data), BLOCK):
        size = min(BLOCK, len(data) - at)
        out += (size << 3 | (at + size == len(data))).to_bytes(3, "little") + data[at:at + size]
    return out


def chunk(name, kind, column, at):
    """A column of a group: (its bytes, their number unpacked, its ColumnChunk)"""
    number, code = TYPES[kind]
    values = [value for value in column if value is not None]
    levels = b"".join(varint(len(list(run)) << 1) + bytes([there]) for there, run
                      in groupby(value is not None for value in column))
    least = most = None
    if code:
        data = struct.pack("<%d%s" % (len(values), code), *values)
        if code == "q" and values:
            least, most = (struct.pack("<q", of) for of in (min(values), max(values)))
    else:
        values = [value.encode(errors="replace") for value in values]
        data = b"".join(struct.pack("<I", len(value)) + value for value in values)
        if values and max(map(len, values)) <= STATISTICS_MOST:
            least, most = min(values), max(values)
    page = struct.pack("<I", len(levels)) + levels + data
    packed = frame(page)
    head = pack((1, I32, 0), (2, I32, len(page)), (3, I32, len(packed)),
                (5, STRUCT, pack((1, I32, len(column)), (2, I32, 0), (3, I32, 3), (4, I32, 3))))
    plain, page = len(head) + len(page), head + packed
    old = (most, least) if code else (None, None)
    statistics = pack((1, BINARY, old[0]), (2, BINARY, old[1]),
                      (3, I64, len(column) - len(values)), (5, BINARY, most), (6, BINARY, least))
    meta = pack((1, I32, number), (2, I32, [0, 3]), (3, BINARY, [name.encode()]), (4, I32, 6),
                (5, I64, len(column)), (6, I64, plain), (7, I64, len(page)), (9, I64, at),
                (12, STRUCT, statistics))
    return page, plain, pack((2, I64, at), (3, STRUCT, meta))


def encode(columns, rows):
    """The file of COLUMNS, [(name, type)], and ROWS."""
    schema = [pack((4, BINARY, b"schema"), (5, I32, len(columns)))]
    schema += [pack((1, I32, TYPES[kind][0]), (3, I32, 1), (4, BINARY, name.encode()),
                    (6, I32, 0 if kind == "TEXT" else None)) for name, kind in columns]
    out, groups = bytearray(b"PAR1"), []
    for first in range(0, len(rows), ROWS_MOST):
        part = rows[first:first + ROWS_MOST]
        begin, plain, chunks = len(out), 0, []
        for (name, kind), column in zip(columns, zip(*part)):
            page, unpacked, described = chunk(name, kind, column, len(out))
            out += page
            plain += unpacked
            chunks.append(described)
        size = len(out) - begin
        groups.append(pack((1, STRUCT, chunks), (2, I64, plain), (3, I64, len(part)),
                           (5, I64, begin), (6, I64, size)))
    footer = pack((1, I32, 1), (2, STRUCT, schema), (3, I64, len(rows)), (4, STRUCT, groups),
                  (6, BINARY, b"teeperf experiment"),
                  (7, STRUCT, [pack((1, STRUCT, b"\0"))] * len(columns)))
    return bytes(out) + footer + struct.pack("<I", len(footer)) + b"PAR1"
