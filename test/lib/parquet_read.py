# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parquet files as teeperf writes them, read byte by byte: any deviation from the rules is an
error, and so are statistics, sizes, offsets and orders that do not fit the values. zstd comes from
the system's library."""

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


def hybrid(data, width, count):
    """count numbers of width bits, of runs and packed groups."""
    values = []
    runs = Thrift(data)
    while runs.at < len(data):
        head = runs.varint()
        need(head >> 1, "an empty run")
        size = (head >> 1) * width if head & 1 else (width + 7) // 8
        bits = int.from_bytes(data[runs.at:runs.at + size], "little")
        need(runs.at + size <= len(data), "a run runs out of its page")
        runs.at += size
        if head & 1:
            values += [bits >> (i * width) & ((1 << width) - 1) for i in range(8 * (head >> 1))]
        else:
            values += [bits] * (head >> 1)
    need(count <= len(values) < count + 8, len(values), "numbers of", count)
    return values[:count]


def delta(data, bits, count):
    """count numbers with a sign, of the differences between them."""
    page = Thrift(data)
    need([page.varint(), page.varint(), page.varint()] == [128, 4, count], "head of differences")
    value = page.zigzag()
    values = [value] if count else []
    while len(values) < count:
        least = page.zigzag()
        widths = [page.byte() for _ in range(4)]
        for width in widths:
            if len(values) == count:
                need(width == 0, "a width of no values")
                continue
            need(width <= bits, "a difference of", width, "bits")
            packed = int.from_bytes(page.data[page.at:page.at + 4 * width], "little")
            page.at += 4 * width
            for i in range(min(32, count - len(values))):
                value = (value + least + (packed >> (i * width) & ((1 << width) - 1))) % 2**bits
                value -= 2**bits if value >> (bits - 1) else 0
                values.append(value)
    need(page.at == len(data), "differences have", len(data) - page.at, "bytes too many")
    return values


def definition_levels(data, count):
    """(whether each of count values is there, the rest of the page), of the runs of one bit that an
    optional column has."""
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
    need(statistics[3] == missing, "statistics say that so many are missing:", statistics[3], "not",
         missing)
    if kind == DOUBLE or not values:
        need(list(statistics) == [3], "statistics of nothing that has any", statistics)
    elif kind == BYTE_ARRAY:
        if 5 in statistics:
            need(statistics[5] == max(values) and statistics[6] == min(values), "statistics",
                 statistics)
        else:
            need(max(len(value) for value in values) > 1024, "no statistics")
    else:
        code = "<i" if kind == INT32 else "<q"
        for field, value in ((1, max(values)), (2, min(values)), (5, max(values)),
                             (6, min(values))):
            need(struct.unpack(code, statistics[field])[0] == value, "statistics", field, value)


def unpacked_page(data, at):
    """(header, its size, the page unpacked)"""
    page = Thrift(data, at)
    header = page.struct()
    packed = data[page.at:page.at + header[3]]
    plain = ctypes.create_string_buffer(header[2] + 1)
    got = zstd.ZSTD_decompress(plain, header[2], packed, len(packed))
    need(got == header[2], "unpacks to", got)
    return header, page.at - at, plain.raw[:got]


def page_values(kind, encoding, data, count, dictionary):
    if encoding == 8:
        return [dictionary[code] for code in hybrid(data[1:], data[0], count)]
    need(dictionary is None, "a dictionary of nothing")
    if encoding == 5:
        return delta(data, 32 if kind == INT32 else 64, count)
    need(encoding == 0, "encoding", encoding)
    return decode(kind, data, count)


def facts(path):
    """What a file says of itself: {key: value}"""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack("<I", data[-8:-4])
    return {fact[1].decode(): fact[2].decode()
            for fact in Thrift(data, len(data) - 8 - size).struct().get(5, [])}


def read(path, full_groups=True):
    """(columns: {name: [values]}, row counts of groups); texts are bytes, missing values are None.
    """
    with open(path, "rb") as file:
        data = file.read()
    need(data[:4] == b"PAR1" and data[-4:] == b"PAR1", path, "has no magic")
    size, = struct.unpack("<I", data[-8:-4])
    thrift = Thrift(data, len(data) - 8 - size)
    footer = thrift.struct()
    need(thrift.at == len(data) - 8, path, "footer has", len(data) - 8 - thrift.at,
         "bytes too many")
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
            need(meta[1] == element[1] and meta[3] == [element[4]] and meta[4] == 6 and
                 3 in meta[2], name, meta)
            need(meta[5] == rows and meta.get(11, meta[9]) == at and chunk[2] == at, name,
                 "is not at", at)
            sizes_here = [0, 0]
            dictionary = None
            if 11 in meta:
                header, head, plain = unpacked_page(data, at)
                need(header[1] == 2 and header[7][2] == 0, name, header)
                dictionary = decode(element[1], plain, header[7][1])
                need(len(set(dictionary)) == len(dictionary), name,
                     "a dictionary with something twice")
                sizes_here = [head + header[2], head + header[3]]
            need(meta[9] == at + sizes_here[1], name, "values are at", meta[9])
            header, head, plain = unpacked_page(data, meta[9])
            encoding = header[5][2]
            need(header[1] == 0 and header[5] == {1: rows, 2: encoding, 3: 3, 4: 3}, name, header)
            need(sorted(meta[2]) == sorted({0, 3, 8} if encoding == 8 else {encoding, 3}), name,
                 meta)
            sizes_here = [sizes_here[0] + head + header[2], sizes_here[1] + head + header[3]]
            need([meta[6], meta[7]] == sizes_here, name, "sizes")
            at += meta[7]
            sizes[0] += meta[6]
            sizes[1] += meta[7]
            levels = [True] * rows
            if element[3] == 1:
                levels, plain = definition_levels(plain, rows)
            values = page_values(element[1], encoding, plain, sum(levels), dictionary)
            check_statistics(element[1], meta[12], values, rows - sum(levels))
            rest = iter(values)
            columns[name] += [next(rest) if level else None for level in levels]
        need(group[2] == sizes[0] and group[6] == sizes[1], path, "sizes of a group")
        for order in group.get(4, []):
            values = columns[schema[order[1]][4].decode()]
            need(values == sorted(values) and order[2] is False, path, "is not sorted")
        groups.append(rows)
    need(at == len(data) - 8 - size, path, "has", len(data) - 8 - size - at,
         "bytes that belong to nothing")
    need(footer[3] == sum(groups), path, "rows", footer[3])
    need(all(len(values) == footer[3] for values in columns.values()), path,
         "columns of different length")
    need(not full_groups or all(rows == 122880 for rows in groups[:-1]), path,
         "groups that are not full", groups)
    return columns, groups
