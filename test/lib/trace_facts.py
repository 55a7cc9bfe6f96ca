#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Read a trace file independently of the analyzer, check its structure, print what it holds.

trace_facts.py FILE prints key=value lines. Exits with 1 if a section is damaged, if a thread's
chunks do not follow one another, or (with --fake) if the records are not those of fake_program.
"""
import ctypes
import struct
import sys

XXH3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
XXH3.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
XXH3.restype = ctypes.c_uint64
UNZSTD = ctypes.CDLL("libzstd.so.1").ZSTD_decompress
UNZSTD.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
UNZSTD.restype = ctypes.c_size_t
SECTION = struct.Struct("<IIQII")
CHUNK = struct.Struct("<IIQQQQ24x")
THREAD = struct.Struct("<QQQQ16s16x")
END = struct.Struct("<IIQQQQQQQQIIQQ32x")
NAMES = {1: "chunks", 2: "modules", 3: "threads", 4: "clock", 5: "command", 6: "host", 8: "end",
         10: "packed", 11: "log"}


def fail(text):
    print("error=" + text)
    sys.exit(1)


def sections(data):
    at = struct.unpack_from("<H", data, 14)[0]
    while at + SECTION.size <= len(data):
        magic, kind, size, checksum, _ = SECTION.unpack_from(data, at)
        if magic != 0x43535054:
            fail("no section at %d" % at)
        start = at + SECTION.size
        if start + size > len(data):
            break
        payload = data[start : start + size]
        if XXH3(payload, size) & 0xffffffff != checksum:
            fail("checksum of section at %d" % at)
        yield kind, payload
        at = start + (size + 7) // 8 * 8
    if at != len(data):
        print("trailing=%d" % (len(data) - at))


def unzstd(data, most):
    to = ctypes.create_string_buffer(most)
    size = UNZSTD(to, most, data, len(data))
    if size > most:
        fail("zstd frame of %d bytes does not unpack" % len(data))
    return to.raw[:size]


def unpack(payload):
    """The CHUNK that a PACKED section stands for, as docs/format.md says."""
    used = CHUNK.unpack_from(payload)[5]
    names_size, times_size = struct.unpack_from("<II", payload, 64)
    if used <= len(payload) or 80 + names_size + times_size != len(payload):
        fail("sizes of a packed chunk")
    count = (used - 64) // 8
    names = unzstd(payload[80:80 + names_size], 4 * count)
    times = unzstd(payload[80 + names_size:], 5 * count)
    if len(names) != 4 * count:
        fail("a packed chunk has %d bytes of names" % len(names))
    at = count
    last = CHUNK.unpack_from(payload)[4] & 0xffffffff
    records = []
    for name, code in zip(struct.unpack("<%dI" % count, names), times):
        more = 4 if code == 255 else 1 if code >= 240 else 0
        tail = int.from_bytes(times[at:at + more], "little")
        at += more
        step = tail if code == 255 else 240 + (code - 240) * 256 + tail if code >= 240 else code
        if name & 3 == 2:
            time = step
        else:
            time = last = (last + step) & 0xffffffff
        records.append(name << 32 | time)
    if at != len(times):
        fail("a packed chunk has %d bytes of times, not %d" % (len(times), at))
    return payload[:64] + struct.pack("<%dQ" % count, *records)


def main():
    path = sys.argv[1]
    fake = "--fake" in sys.argv
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"TPTRACE1":
        fail("magic")
    counts = {}
    last = {}
    chunks = []
    for kind, payload in sections(data):
        counts[kind] = counts.get(kind, 0) + 1
        last[kind] = payload
        if kind == 10:
            kind, payload = 1, unpack(payload)
        if kind == 1:
            thread, _, sequence, _, _, used = CHUNK.unpack_from(payload)
            if used != len(payload):
                fail("chunk says %d bytes, section %d" % (used, len(payload)))
            chunks.append((thread, sequence, payload[64:]))
    chunks.sort(key=lambda chunk: chunk[:2])
    words = {}
    for thread, sequence, records in chunks:
        known = words.setdefault(thread, [0, 0, []])
        if sequence != known[0] and fake:
            fail("thread %d lacks chunk %d" % (thread, known[0]))
        known[0] = sequence + 1
        known[1] += len(records) // 8
        if fake:
            known[2] += struct.unpack("<%dQ" % (len(records) // 8), records)
    if fake:
        for thread, known in words.items():
            for i, word in enumerate(known[2], 1):
                if word != i | (0x401000 + (i & 1)) << 32:
                    fail("record %d of thread %d is %x" % (i, thread, word))
    print("machine=%d" % struct.unpack_from("<I", data, 28)[0])
    for kind, name in NAMES.items():
        print("%s_sections=%d" % (name, counts.get(kind, 0)))
    print("records=%d" % sum(known[1] for known in words.values()))
    if 3 in last:
        threads = [t for t in THREAD.iter_unpack(last[3])]
        print("threads=%d" % len(threads))
        print("lost=%d" % sum(t[1] for t in threads))
        names = (t[4].split(b"\0")[0].decode(errors="replace") for t in threads)
        print("names=%s" % ",".join(names))
        if fake and any(t[4].split(b"\0", 1)[-1].strip(b"\0") for t in threads):
            fail("rubbish behind a thread's name")
    if 2 in last:
        print("modules=%d" % (len(last[2]) // 512))
    if 4 in last:
        kind, points, hz, stores, max_gap, _, period = struct.unpack_from("<IIQQQQQ", last[4])
        print("clock=%d\npoints=%d\nstored=%d\nperiod=%d" % (kind, points, stores > 0, period))
        # A counter that had no processor has no rate.
        wrong_rate = kind == 0 and hz != 0 or kind not in (0, 6) and hz == 0
        if len(last[4]) != 48 + 16 * points or wrong_rate:
            fail("clock section")
        values = list(struct.iter_unpack("<QQ", last[4][48:]))
        if any(a > b for a, b in zip(values, values[1:])):
            fail("clock points go back")
    if 5 in last:
        print("command=%s" % "|".join(last[5].decode().split("\0")[1:-1]))
        gaps = [b[1] - a[1] for a, b in zip(values, values[1:])]
        print("longest_between_points=%d" % max(gaps, default=0))
    if 9 in last:
        switches = ("%s" % ("on" if word & 1 else "off")
                    for (word,) in struct.iter_unpack("<Q", last[9]))
        print("switches=%s" % ",".join(switches))
    if 6 in last:
        for line in last[6].decode().splitlines():
            print("host." + line)
    if 8 in last:
        end = END.unpack(last[8])
        print("exit=%d/%d\nstart_ns=%d\nend_ns=%d" % end[:4])
        print("end_chunks=%d\ndraws=%d\nmode=%d\nattach=%d" % (end[4], end[5], end[10], end[11]))
        if end[4] != counts.get(1, 0) + counts.get(10, 0) or end[3] < end[2]:
            fail("end section")


main()
