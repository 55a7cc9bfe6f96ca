#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Read a trace file independently of the analyzer, check its structure, print what it holds.

trace_facts.py FILE prints key=value lines. Exits with 1 if a section is damaged, if a thread's
chunks do not follow one another, or (with --fake) if the records are not those of fake_program.
"""
import ctypes
import struct
import sys

import teeperf_abi as abi

XXH3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
XXH3.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
XXH3.restype = ctypes.c_uint64
UNZSTD = ctypes.CDLL("libzstd.so.1").ZSTD_decompress
UNZSTD.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
UNZSTD.restype = ctypes.c_size_t
SECTION = abi.teeperf_section
CHUNK = abi.teeperf_chunk
NAMES = {abi.TEEPERF_SECTION_CHUNK: "chunks", abi.TEEPERF_SECTION_MODULES: "modules",
         abi.TEEPERF_SECTION_THREADS: "threads", abi.TEEPERF_SECTION_CLOCK: "clock",
         abi.TEEPERF_SECTION_COMMAND: "command",
         abi.TEEPERF_SECTION_HOST: "host", abi.TEEPERF_SECTION_END: "end",
         abi.TEEPERF_SECTION_PACKED: "packed", abi.TEEPERF_SECTION_LOG: "log"}


def fail(text):
    print("error=" + text)
    sys.exit(1)


def sections(data):
    at = abi.teeperf_trace_header.get("header_size", data)
    while at + SECTION.size <= len(data):
        section = SECTION.read(data, at)
        size = section.size
        if section.magic != abi.TEEPERF_SECTION_MAGIC:
            fail("no section at %d" % at)
        start = at + SECTION.size
        if start + size > len(data):
            break
        payload = data[start : start + size]
        if XXH3(payload, size) & 0xffffffff != section.checksum:
            fail("checksum of section at %d" % at)
        yield section.type, payload
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
    chunk, packed = CHUNK.read(payload), abi.teeperf_packed.read(payload)
    first = abi.teeperf_packed.size
    behind = first + packed.names_size
    if chunk.used <= len(payload) or behind + packed.times_size != len(payload):
        fail("sizes of a packed chunk")
    count = (chunk.used - CHUNK.size) // 8
    names = unzstd(payload[first:behind], 4 * count)
    times = unzstd(payload[behind:], 5 * count)
    if len(names) != 4 * count:
        fail("a packed chunk has %d bytes of names" % len(names))
    at = count
    last = chunk.first_time & 0xffffffff
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
    return payload[:CHUNK.size] + struct.pack("<%dQ" % count, *records)


def count_events(records):
    """Begins and ends of calls: no control records (when the clock's upper half changed, ...)."""
    count, raw = 0, False
    for (name,) in struct.iter_unpack("<4xI", records):
        if not raw and name >= abi.TEEPERF_NAME_FIRST:
            count += name & abi.TEEPERF_KIND_MASK != abi.TEEPERF_KIND_RESYNC
            raw = name & abi.TEEPERF_KIND_MASK == abi.TEEPERF_KIND_RESYNC
        else:
            raw = False
    return count


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
        if kind == abi.TEEPERF_SECTION_PACKED:
            kind, payload = abi.TEEPERF_SECTION_CHUNK, unpack(payload)
        if kind == abi.TEEPERF_SECTION_CHUNK:
            chunk = CHUNK.read(payload)
            if chunk.used != len(payload):
                fail("chunk says %d bytes, section %d" % (chunk.used, len(payload)))
            chunks.append((chunk.thread, chunk.sequence, payload[CHUNK.size:]))
    chunks.sort(key=lambda chunk: chunk[:2])
    words = {}
    events = 0
    for thread, sequence, records in chunks:
        known = words.setdefault(thread, [0, 0, []])
        if sequence != known[0] and fake:
            fail("thread %d lacks chunk %d" % (thread, known[0]))
        known[0] = sequence + 1
        known[1] += len(records) // 8
        events += count_events(records)
        if fake:
            known[2] += struct.unpack("<%dQ" % (len(records) // 8), records)
    if fake:
        for thread, known in words.items():
            for i, word in enumerate(known[2], 1):
                if word != i | (0x401000 + (i & 1)) << 32:
                    fail("record %d of thread %d is %x" % (i, thread, word))
    print("machine=%d" % abi.teeperf_trace_header.get("machine", data))
    for kind, name in NAMES.items():
        print("%s_sections=%d" % (name, counts.get(kind, 0)))
    print("records=%d" % sum(known[1] for known in words.values()))
    print("events=%d" % events)
    if abi.TEEPERF_SECTION_THREADS in last:
        data, size = last[abi.TEEPERF_SECTION_THREADS], abi.teeperf_thread.size
        threads = [abi.teeperf_thread.read(data, at) for at in range(0, len(data), size)]
        print("threads=%d" % len(threads))
        print("lost=%d" % sum(t.lost for t in threads))
        names = (t.name.split(b"\0")[0].decode(errors="replace") for t in threads)
        print("names=%s" % ",".join(names))
        if fake and any(t.name.split(b"\0", 1)[-1].strip(b"\0") for t in threads):
            fail("rubbish behind a thread's name")
    if abi.TEEPERF_SECTION_MODULES in last:
        print("modules=%d" % (len(last[abi.TEEPERF_SECTION_MODULES]) // abi.teeperf_module.size))
    if abi.TEEPERF_SECTION_CLOCK in last:
        data = last[abi.TEEPERF_SECTION_CLOCK]
        clock = abi.teeperf_trace_clock.read(data)
        print("clock=%d\npoints=%d\nstored=%d\nperiod=%d" % (
            clock.kind, clock.point_count, clock.stores > 0, clock.period_ns))
        none = abi.TEEPERF_CLOCK_NONE
        # A counter that had no processor has no rate.
        wrong_rate = (clock.kind == none and clock.hz != 0 or
                      clock.kind not in (none, abi.TEEPERF_CLOCK_SOFT_COUNT) and clock.hz == 0)
        size = abi.teeperf_trace_clock.size
        if len(data) != size + abi.teeperf_trace_point.size * clock.point_count or wrong_rate:
            fail("clock section")
        values = list(struct.iter_unpack("<QQ", data[size:]))
        if any(a > b for a, b in zip(values, values[1:])):
            fail("clock points go back")
    if abi.TEEPERF_SECTION_COMMAND in last:
        print("command=%s" % "|".join(last[abi.TEEPERF_SECTION_COMMAND].decode().split("\0")[1:-1]))
        gaps = [b[1] - a[1] for a, b in zip(values, values[1:])]
        print("longest_between_points=%d" % max(gaps, default=0))
    if abi.TEEPERF_SECTION_SWITCHES in last:
        switches = ("%s" % ("on" if word & 1 else "off")
                    for (word,) in struct.iter_unpack("<Q", last[abi.TEEPERF_SECTION_SWITCHES]))
        print("switches=%s" % ",".join(switches))
    if abi.TEEPERF_SECTION_HOST in last:
        for line in last[abi.TEEPERF_SECTION_HOST].decode().splitlines():
            print("host." + line)
    if abi.TEEPERF_SECTION_END in last:
        end = abi.teeperf_trace_end.read(last[abi.TEEPERF_SECTION_END])
        print("exit=%d/%d\nstart_ns=%d\nend_ns=%d" %
              (end.exit_kind, end.exit_value, end.start_ns, end.end_ns))
        print("end_chunks=%d\ndraws=%d\nmode=%d\nattach=%d" % (
            end.chunk_count, end.chunk_draws, end.mode, end.attach))
        chunks = counts.get(abi.TEEPERF_SECTION_CHUNK,
                            0) + counts.get(abi.TEEPERF_SECTION_PACKED, 0)
        if end.chunk_count != chunks or end.end_ns < end.start_ns:
            fail("end section")


main()
