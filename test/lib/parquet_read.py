# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parquet files as teeperf writes them, read byte by byte: what is not as it must be is an error, and so are statistics,
sizes, offsets and orders that do not fit the values. zstd comes from the system's library."""

import ctypes
import ctypes.util
import struct

zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

INT32, INT64, DOUBLE, BYTE_ARRAY = 1, 2, 5, 6


def need(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(word) for word in what))


class Thrift:
    """A struct of the compact protocol: dictionary of field numbers."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            size = self.varint()
            self.at += size
            return self.data[self.at - size:self.at]
        if kind == 9:
            head = self.byte()
            count = head >> 4
            if count == 15:
                count = self.varint()
            return [self.value(head & 15) for _ in range(count)]
        need(kind == 12, "unknown type", kind)
        return self.struct()

    def struct(self):
        fields = {}
        last = 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            need(head >> 4, "a field without a delta")
            last += head >> 4
            fields[last] = self.value(head & 15)


def decode(kind, data, count):
    if kind == INT32:
        need(len(data) == 4 * count, "INT32 page of", len(data), "bytes")
        return list(struct.unpack("<%di" % count, data))
    if kind == INT64:
        need(len(data) == 8 * count, "INT64 page of", len(data), "bytes")
        return list(struct.unpack("<%dq" % count, data))
    if kind == DOUBLE:
        need(len(data) == 8 * count, "DOUBLE page of", len(data), "bytes")
        return list(struct.unpack("<%dd" % count, data))
    values = []
    at = 0
    for _ in range(count):
        size, = struct.unpack_from("<I", data, at)
        need(at + 4 + size <= len(data), "text runs out of its page")
        values.append(data[at + 4:at + 4 + size])
        at += 4 + size
    need(at == len(data), "text page has", len(data) - at, "bytes too many")
    return values


def definition_levels(data, count):
    """(whether each of count values is there, the rest of the page), of the runs of one bit that an optional column has."""
    size, = struct.unpack_from("<I", data)
    levels = []
    runs = Thrift(data[:4 + size], 4)
    while runs.at < 4 + size:
        head = runs.varint()
        need(head & 1 == 0 and head, "a run that is packed, or empty")
        level = runs.byte()
        need(level in (0, 1), "level", level)
        levels += [level == 1] * (head >> 1)
    need(len(levels) == count, "levels of", len(levels), "values")
    return levels, data[4 + size:]


def check_statistics(kind, statistics, values, missing):
    need(statistics[3] == missing, "statistics say that so many are missing:", statistics[3], "not", missing)
    if kind == DOUBLE or not values:
        need(list(statistics) == [3], "statistics of nothing that has any", statistics)
    elif kind == BYTE_ARRAY:
        if 5 in statistics:
            need(statistics[5] == max(values) and statistics[6] == min(values), "statistics", statistics)
        else:
            need(max(len(value) for value in values) > 1024, "no statistics")
    else:
        code = "<i" if kind == INT32 else "<q"
        for field, value in ((1, max(values)), (2, min(values)), (5, max(values)), (6, min(values))):
            need(struct.unpack(code, statistics[field])[0] == value, "statistics", field, value)


def read(path):
    """(columns: {name: [values]}, row counts of groups); texts are bytes, what is missing is None."""
    with open(path, "rb") as file:
        data = file.read()
    need(data[:4] == b"PAR1" and data[-4:] == b"PAR1", path, "has no magic")
    size, = struct.unpack("<I", data[-8:-4])
    thrift = Thrift(data, len(data) - 8 - size)
    footer = thrift.struct()
    need(thrift.at == len(data) - 8, path, "footer has", len(data) - 8 - thrift.at, "bytes too many")
    root, schema = footer[2][0], footer[2][1:]
    need(root[5] == len(schema) and len(footer[7]) == len(schema), path, "schema")
    need(all(order == {1: {}} for order in footer[7]), path, "column orders")
    columns = {}
    for element in schema:
        need(element[3] in (0, 1), path, "neither required nor optional:", element)
        need((element[1] == BYTE_ARRAY) == (element.get(6) == 0), path, "text is UTF8:", element)
        columns[element[4].decode()] = []
    groups = []
    at = 4
    for group in footer[4]:
        rows = group[3]
        need(0 < rows <= 122880, path, "group of", rows)
        need(len(group[1]) == len(schema), path, "columns of a group")
        need(group[5] == at, path, "group begins at", group[5])
        sizes = [0, 0]
        for chunk, element in zip(group[1], schema):
            name = element[4].decode()
            meta = chunk[3]
            need(meta[1] == element[1] and meta[3] == [element[4]] and meta[4] == 6 and 0 in meta[2], name, meta)
            need(meta[5] == rows and meta[9] == at and chunk[2] == at, name, "is not at", at)
            page = Thrift(data, at)
            header = page.struct()
            need(header[1] == 0 and header[5] == {1: rows, 2: 0, 3: 3, 4: 3}, name, header)
            packed = data[page.at:page.at + header[3]]
            plain = ctypes.create_string_buffer(header[2] + 1)
            got = zstd.ZSTD_decompress(plain, header[2], packed, len(packed))
            need(got == header[2], name, "unpacks to", got)
            need(meta[7] == page.at - at + header[3] and meta[6] == page.at - at + header[2], name, "sizes")
            at += meta[7]
            sizes[0] += meta[6]
            sizes[1] += meta[7]
            plain = plain.raw[:got]
            levels = [True] * rows
            if element[3] == 1:
                levels, plain = definition_levels(plain, rows)
            values = decode(element[1], plain, sum(levels))
            check_statistics(element[1], meta[12], values, rows - sum(levels))
            rest = iter(values)
            columns[name] += [next(rest) if level else None for level in levels]
        need(group[2] == sizes[0] and group[6] == sizes[1], path, "sizes of a group")
        for order in group.get(4, []):
            values = columns[schema[order[1]][4].decode()]
            need(values == sorted(values) and order[2] is False, path, "is not sorted")
        groups.append(rows)
    need(at == len(data) - 8 - size, path, "has", len(data) - 8 - size - at, "bytes that belong to nothing")
    need(footer[3] == sum(groups), path, "rows", footer[3])
    need(all(len(values) == footer[3] for values in columns.values()), path, "columns of different length")
    need(all(rows == 122880 for rows in groups[:-1]), path, "groups that are not full", groups)
    return columns, groups
