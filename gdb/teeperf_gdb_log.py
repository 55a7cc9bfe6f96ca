# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
The log in the memory of a stopped process or of a core file (docs/format.md), for teeperf-gdb.py.

Whoever writes to the log may be hostile or broken: each number is bounded before it is used, each
loop is over memory that could be read, and what the log does not tell is said, not guessed.
"""
import os
import re
import struct
import tempfile

import gdb

import teeperf_abi as abi
from teeperf_abi import (TEEPERF_CHUNK_DONE as DONE, TEEPERF_CHUNK_FREE as FREE,
    TEEPERF_CHUNK_OWNED as OWNED, TEEPERF_CHUNK_SHIFT_DEFAULT as CHUNK_SHIFT,
    TEEPERF_CONTROL_COUNTS as COUNTS, TEEPERF_CONTROL_FORK as FORK,
    TEEPERF_CONTROL_LOST as LOST, TEEPERF_CONTROL_MODULE as MODULE,
    TEEPERF_CONTROLS as CONTROLS, TEEPERF_KIND_ENTER as ENTER, TEEPERF_KIND_MASK as KIND_MASK,
    TEEPERF_KIND_RESYNC as RESYNC, TEEPERF_KIND_UNTIMED as UNTIMED, TEEPERF_LOG_MAGIC as MAGIC,
    TEEPERF_MODE_FULL as FULL, TEEPERF_MODE_RING as RING, TEEPERF_MODE_STREAM as STREAM,
    TEEPERF_NAME_FIRST as NAME_FIRST, TEEPERF_POSITION_ELSEWHERE as ELSEWHERE,
    TEEPERF_POSITION_LEAVES as LEAVES, TEEPERF_POSITION_OFF as OFF, TEEPERF_SWITCHES as SWITCHES)

CHUNK = 1 << CHUNK_SHIFT
HEADER = abi.teeperf_log_header.size
CHUNK_HEADER = abi.teeperf_chunk.size
MODES = {STREAM: "stream", FULL: "full", RING: "ring"}
CLOCKS = {abi.TEEPERF_CLOCK_NONE: "none", abi.TEEPERF_CLOCK_TSC: "tsc",
          abi.TEEPERF_CLOCK_CNTVCT: "cntvct",
          abi.TEEPERF_CLOCK_RDTIME: "rdtime", abi.TEEPERF_CLOCK_SOFT_TSC: "soft-tsc",
          abi.TEEPERF_CLOCK_SOFT_MONOTONIC: "soft", abi.TEEPERF_CLOCK_SOFT_COUNT: "count",
          abi.TEEPERF_CLOCK_TSC_ORDERED: "tsc-ordered"}
STATES = ["no instrumented module has registered yet", "recording", "switched off at present",
          "not recording: started without 'teeperf record', refused by it, "
          "or a forked child without a log", "outside of teeperf_enter: it has no log now"]
HOW_TO_DUMP = ("cores leave out shared memory unless bit 3 of /proc/PID/coredump_filter is set: "
               "'echo 0x3b >/proc/self/coredump_filter' in the shell that starts 'teeperf record', "
               "or in /proc/PID before gcore")


def harmless(text):
    """Text without anything that steers a terminal or changes the direction of a line."""
    return "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in text)


def printable(data):
    """Bytes of the log as such text."""
    return harmless(data.split(b"\0")[0].decode("utf-8", "backslashreplace"))


def read(address, size):
    """Memory of the program: bytes, or None where there is none."""
    if address < 0 or address + size > 1 << 64:
        return None
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except (gdb.error, gdb.MemoryError, OverflowError):
        return None


def command(text):
    """What GDB prints, also where names in it are not in GDB's character set; "" if it fails."""
    try:
        return gdb.execute(text, to_string=True)
    except gdb.error:
        return ""
    except UnicodeDecodeError: # text that is not UTF-8 does not reach Python, but does reach a
                               # shell
        pass
    with tempfile.NamedTemporaryFile() as file:
        try:
            gdb.execute("pipe %s | cat >'%s'" % (text, file.name))
        except gdb.error:
            return ""
        return file.read().decode("utf-8", "backslashreplace")


def form_of(word):
    """What the time field of a record is, and how many raw words follow it; as
    common/chunks/records.h, whose table of control records this is."""
    tagged = word >> 32
    if tagged >= NAME_FIRST:
        kind = tagged & KIND_MASK
        return "NOTHING" if kind == UNTIMED else "TIME", int(kind == RESYNC)
    form = CONTROLS.get(tagged, ("NUMBER", ""))[0]
    return form, 2 * (word & 0xFFFFFFFF) if form == "PAIRS" else 0


class Log:
    """A log whose header makes sense, at BASE. Sizes and offsets in it lie within region_size."""

    def __init__(self, base, limit=None):
        self.base = base
        self.problems = []
        data = read(base, HEADER)
        if data is None:
            raise gdb.GdbError("the log at %#x is not in memory; %s" % (base, HOW_TO_DUMP))
        if data == bytes(HEADER) and core_segments():
            raise gdb.GdbError("the log at %#x reads as zeroes: it is not in this core file; %s" %
                               (base, HOW_TO_DUMP))
        header = abi.teeperf_log_header.read(data)
        if header.magic != MAGIC:
            raise gdb.GdbError("the memory that the runtime has mapped at %#x is not a log: "
                               "it begins with %#x" % (base, header.magic))
        self.count, self.size = header.chunk_count, header.region_size
        if (header.major, header.header_size,
            header.chunk_shift) != (abi.TEEPERF_LOG_MAJOR, HEADER, CHUNK_SHIFT):
            raise gdb.GdbError("the log at %#x has version %d.%d, with chunks of 2^%d bytes: "
                               "this script knows version %d, of 2^%d" %
                               (base, header.major, header.minor, header.chunk_shift,
                                abi.TEEPERF_LOG_MAJOR, CHUNK_SHIFT))
        if not 0 < self.count <= 1 << 24 or self.count & (self.count - 1) or self.size >> 48:
            self.damaged("chunk_count %d, region_size %#x" % (self.count, self.size))
        if limit is not None and self.size > limit:
            self.damaged("region_size %#x, of which %#x are mapped" % (self.size, limit))
        self.clock, self.mode, self.hz = header.clock, header.mode, header.clock_hz
        self.states = self.area("state_offset", header.state_offset, 8 * self.count)
        self.chunks = self.area("chunks_offset", header.chunks_offset, CHUNK * self.count)
        for field in ("counter", "pid", "attach", "module_count", "lost_early", "lost_overflow",
                      "switch_count", "forked", "ended", "keeps", "switches"):
            setattr(self, field, getattr(header, field))
        self.modules = self.read_modules(header.modules_offset,
                                         min(header.module_capacity, self.module_count))
        self.threads = self.read_threads(header.threads_offset, header.thread_capacity)
        self.read_chunks()
        self.read_gaps()
        self.names = {}
        segments = core_segments()
        if segments and not any(start <= base < end and held for start, end, held in segments):
            # Then gdb reads the file that was mapped, if that is still there.
            self.problems.append("? the core file does not hold the log; this is from the log's "
                                 "present file, and wrong if the program has run on; " +
                                 HOW_TO_DUMP)

    def damaged(self, what):
        raise gdb.GdbError("the log at %#x is damaged: %s" % (self.base, what))

    def area(self, field, offset, size):
        if offset % 8 or offset > self.size or size > self.size - offset:
            self.damaged("%s is %#x, in a region of %#x bytes" % (field, offset, self.size))
        return self.base + offset

    def table(self, field, offset, count, size):
        if count > 1 << 16:
            self.damaged("%s leads to a table of %d entries" % (field, count))
        data = read(self.area(field, offset, count * size), count * size) if count else b""
        if data is None:
            self.problems.append("the table at %s cannot be read; %s" % (field, HOW_TO_DUMP))
        return data or b""

    def read_modules(self, offset, count):
        modules = []
        size = abi.teeperf_module.size
        data = self.table("modules_offset", offset, count, size)
        for at in range(0, len(data), size):
            module = abi.teeperf_module.read(data, at)
            if module.start < module.end and not module.flags & abi.TEEPERF_MODULE_COLLIDES:
                modules.append((module.loaded, module.start, module.end, module.bias,
                                module.unloaded, printable(module.path)))
        return sorted(modules)

    def read_threads(self, offset, count):
        threads = {}
        size = abi.teeperf_thread.size
        data = self.table("threads_offset", offset, count, size)
        for index in range(len(data) // size):
            thread = abi.teeperf_thread.read(data, index * size)
            if thread.os_tid:
                threads[index] = Thread(self, index, thread.os_tid, printable(thread.name),
                                        thread.lost, thread.chunks, thread.ended, thread.first)
        return threads

    def state(self, number):
        data = read(self.states + 8 * number, 8)
        return struct.unpack("<Q", data)[0] if data else None

    def read_chunks(self):
        """
        Give each thread those of its chunks that are whole: OWNED and DONE ones. In mode full
        nobody clears a chunk that the recorder has taken; in mode stream it may just do so. In mode
        ring nobody takes any.
        """
        data = read(self.states, 8 * self.count)
        if data is None:
            raise gdb.GdbError("the states of the log's chunks cannot be read; %s" % HOW_TO_DUMP)
        states = struct.unpack("<%dQ" % self.count, data)
        self.owned, self.done = states.count(OWNED), states.count(DONE)
        odd = self.count - self.owned - self.done - states.count(FREE)
        if odd:
            self.problems.append("damage: %d chunks have a state that does not exist" % odd)
        unread = 0
        for number, state in enumerate(states):
            if state not in (OWNED, DONE) and not (state == FREE and self.mode == FULL):
                continue
            data = read(self.chunks + number * CHUNK, CHUNK_HEADER)
            if data is None:
                unread += 1
                continue
            if state == DONE and self.state(number) != state:
                continue  # just taken by the recorder
            chunk = abi.teeperf_chunk.read(data)
            index, sequence, used = chunk.thread, chunk.sequence, chunk.used
            if state == FREE and not used:
                continue
            if used > CHUNK or used % 8 or 0 < used < CHUNK_HEADER or sequence >> 46:
                self.problems.append("damage: chunk %d has %d bytes in use, sequence %d" %
                                     (number, used, sequence))
                continue
            if index not in self.threads:
                self.threads[index] = Thread(self, index, chunk.os_tid, "", None, None, 0, 0)
            thread = self.threads[index]
            if sequence in thread.chunks:
                self.problems.append("damage: two chunks are number %d of thread %d" %
                                     (sequence, index))
                thread.doubtful = True
            thread.chunks[sequence] = (number, state, chunk.first_time, used)
        if unread:
            self.problems.append("%d chunks cannot be read; %s" % (unread, HOW_TO_DUMP))

    def read_gaps(self):
        """Times [from, to) in which recording was off; `off` if it is now."""
        count = self.switch_count
        kept = min(count, SWITCHES)
        words = [self.switches[i % SWITCHES] for i in range(count - kept, count)]
        self.gaps, self.switched = [], count > 0
        self.off = bool(words) and not words[-1] & 1
        for a, b in zip(words, words[1:]):
            if a & 1 == b & 1 or a >> 1 > b >> 1:
                self.problems.append("damage: the times of switches contradict each other")
                self.gaps = [(0, 1 << 64)]
                return
        start = 0 if words and (kept < count or words[0] & 1) else None
        for word in words:
            if word & 1:
                self.gaps.append((start or 0, word >> 1))
                start = None
            elif start is None:
                start = word >> 1
        if start is not None:
            self.gaps.append((start, 1 << 64))
        if not self.clock:
            self.gaps = []  # nothing tells where they are

    def name(self, low, time):
        """The function whose address has this low half, as the module that was there at TIME has
        it."""
        found = None
        for module in self.modules:
            address = module[1] & ~0xFFFFFFFF | low
            address += (1 << 32) if address < module[1] else 0
            if address < module[2] and (module[0] <= time or not found):
                found = (address, module)
        if not found:
            return "%#x, of no module" % low
        address, (_, _, _, bias, unloaded, path) = found
        if unloaded:
            # At the end of the program all are; otherwise something else may be there now.
            there = gdb.solib_name(address) or gdb.current_progspace().filename or ""
            if os.path.basename(there) != os.path.basename(path):
                return "%s+%#x, which was unloaded" % (path, address - bias)
        if address not in self.names:
            text = command("info symbol %#x" % address)
            match = re.match(r"(.+) in section \S+", text, re.DOTALL)
            self.names[address] = (harmless(match.group(1)) if match else "%s+%#x" %
                                   (path or "?", address - bias))
        return self.names[address]

    def duration(self, ticks):
        if not self.clock:
            return ""
        if not self.hz:
            return "%d ticks" % ticks
        ns = ticks * 1000000000 // self.hz
        for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
            if ns >= size:
                return "%.3f %s" % (ns / size, unit)
        return "%d ns" % ns

    def gone(self, what):
        """Why some of a thread's chunks are not in memory any more."""
        if self.mode != RING:
            return "the recorder has taken " + what
        verb = "was" if what == "it" else "were"
        return "%s %s overwritten" % ("they" if what == "them" else what, verb)

    def title(self):
        rate = ", %.3f MHz" % (self.hz / 1e6) if self.hz else ""
        return "log at %#x of process %d: clock %s%s, mode %s" % (
            self.base, self.pid, CLOCKS.get(self.clock, "?"), rate, MODES.get(self.mode, "?"))


class Thread:
    """A thread of the log and its chunks in memory: {sequence: (number, state, first_time,
    used)}."""

    def __init__(self, log, index, tid, name, lost, taken, ended, first):
        self.log, self.index, self.tid, self.name = log, index, tid, name
        self.lost, self.taken, self.ended, self.first = lost, taken, ended, first
        self.chunks, self.doubtful = {}, False

    def title(self):
        text = ("thread %d" % self.index + (" '%s'" % self.name if self.name else "") + ", LWP %d" %
                self.tid)
        there = [t for t in gdb.selected_inferior().threads() if self.tid in t.ptid[1:]]
        if self.ended:
            return text + ", which has ended"
        return text + (", thread %d of gdb" % there[0].num if there else ", which gdb does not see")

    def tail(self):
        """Numbers of the newest chunks that follow one another, newest first; [] if the newest is
        missing."""
        newest = max(self.chunks, default=None)
        if newest is None or self.taken is not None and newest + 1 < self.taken:
            return []
        run = [newest]
        while run[-1] - 1 in self.chunks:
            run.append(run[-1] - 1)
        return run

    def words(self, sequence):
        """The chunk's words up to the last that was written, or None if it is gone meanwhile."""
        number, state, _, used = self.chunks[sequence]
        data = read(self.log.chunks + number * CHUNK, CHUNK)
        if data is None or self.log.state(number) != state:
            return None
        if used:
            return struct.unpack_from("<%dQ" % ((used - CHUNK_HEADER) // 8), data, CHUNK_HEADER)
        words = struct.unpack_from("<%dQ" % ((CHUNK - CHUNK_HEADER) // 8), data, CHUNK_HEADER)
        end = len(words)
        # A signal handler may have recorded behind the place of a record that is still to be
        # written.
        while end and not words[end - 1]:
            end -= 1
        at = 0
        while at < end:  # the last pairs of counts may be 0, and belong to them
            at += 1 + form_of(words[at])[1]
        return words[:max(at, end)]

    def records(self, sequence):
        """(position, time or None, kind, low half of the name, value); controls have a kind of
        -number."""
        words = self.words(sequence)
        if words is None:
            yield 0, None, None, 0, 0
            return
        high = self.chunks[sequence][2] >> 32 << 32
        base = (sequence << CHUNK_SHIFT) + CHUNK_HEADER
        at = 0
        while at < len(words):
            word, place = words[at], base + 8 * at
            at += 1
            tagged, low = word >> 32, word & 0xFFFFFFFF
            form, more = form_of(word)
            raw = words[at:at + more]
            at += more
            if at > len(words):
                yield place, None, None, 0, 0
                return
            if form == "HIGH":
                high = low << 32
            time = high | low if form in ("TIME", "NAMED", "BORDER") else None
            if tagged >= NAME_FIRST:
                yield place, time, tagged & KIND_MASK, tagged & ~KIND_MASK, raw[0] if raw else 0
            elif form == "PAIRS":
                yield place, time, -tagged, low, raw
            elif tagged:
                yield place, time, -tagged, tagged, low


def core_segments():
    """[(start, end, whether the core holds it)]; [] of a process."""
    text = command("maintenance info sections").partition("Core file:")[2]
    lines = re.findall(r"(0x[0-9a-f]+)->(0x[0-9a-f]+) at 0x[0-9a-f]+: load\S*(.*)", text)
    return [(int(start, 16), int(end, 16), "HAS_CONTENTS" in flags) for start, end, flags in lines]


def mappings():
    """(start, end, file) of what the process or the core has mapped, as far as gdb tells."""
    places = {}
    for line in command("info proc mappings").splitlines():
        match = re.match(
            r"\s*(0x[0-9a-f]+)\s+(0x[0-9a-f]+)\s+0x\S+\s+0x\S+\s*(?:[-r][-w]\S*\s+)?(.*)", line)
        if match:
            places[int(match.group(1), 16)] = (int(match.group(2), 16), match.group(3).strip())
    for start, end, _ in core_segments():
        places.setdefault(start, (end, ""))
    return [(start, end, file) for start, (end, file) in sorted(places.items())]


def find_log():
    """The log and the runtime's state, None if the symbol of that is not there."""
    if gdb.selected_thread() is None:
        raise gdb.GdbError("no process and no core file: 'run', 'attach' or 'core-file' first")
    state = None
    try:
        place = int(gdb.parse_and_eval("(unsigned long)&tp_process"))
    except gdb.error:
        place = None
    data = place and read(place, 40)
    if data:
        # runtime.h, struct tp_process: state, clock, counter, header, region_size. No debug
        # information is needed.
        state, _, _, base, size, _ = struct.unpack("<2I4Q", data)
        if state not in (1, 2):
            log = None
            if base and state == 3:  # also at the very end of a program that did record
                try:
                    log = Log(base, size)
                except gdb.GdbError:
                    pass
            if log is None or log.pid != gdb.selected_inferior().pid:
                what = (STATES[state] if state < len(STATES)
                        else "the runtime's state is %d, which does not exist" % state)
                raise gdb.GdbError("no log: " + what)
            return log, state
        log = Log(base, size)
        log.off = log.off or state == 2
        return log, state
    files = []
    for start, end, file in mappings():
        data = read(start, 8)
        if data and struct.unpack("<Q", data)[0] == MAGIC:
            return Log(start, end - start), None
        if re.search(r"/teeperf-\d+-[0-9a-f]{16}( \(deleted\))?$", file):
            files.append((start, file))
    if files:
        raise gdb.GdbError("the log %s at %#x is not in this core file; %s" %
                           (files[0][1], files[0][0], HOW_TO_DUMP))
    raise gdb.GdbError("no log, and no runtime of TeePerf: is the program compiled with 'teeperf "
                       "cc', and was it started by 'teeperf record'?")
