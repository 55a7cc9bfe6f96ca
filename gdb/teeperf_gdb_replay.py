# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which calls of a thread are open, out of its chunks in memory, for teeperf-gdb.py."""
import bisect

from teeperf_gdb_log import (CHUNK_SHIFT, COUNTS, ELSEWHERE, ENTER, FORK, LEAVES, LOST, MODULE, OFF,
                             OWNED, RESYNC)


class Stack:
    """The calls that are open on one stack: (position, time, name), outermost first."""

    def __init__(self, whole):
        self.frames, self.active, self.whole, self.named = [], {}, whole, None

    def push(self, frame):
        self.frames.append(frame)
        self.active[frame[2]] = self.active.get(frame[2], 0) + 1

    def pop(self):
        frame = self.frames.pop()
        self.active[frame[2]] -= 1
        return frame

    def find(self, position):
        return bisect.bisect_left(self.frames, (position, 0, 0))

    def has(self, position):
        at = self.find(position)
        return position == self.named or at < len(self.frames) and self.frames[at][0] == position


class Replay:
    """Replays the chunks of a thread as format.md says. Frames before `doubt` may have ended
    unseen."""

    def __init__(self, thread, run, whole):
        self.thread, self.log = thread, thread.log
        self.now = Stack(whole)
        self.others, self.left = [], False
        self.doubt = self.lost = self.odd = self.last = self.gap = 0
        self.gone, self.was_off, self.holds_events, self.current = False, False, False, False
        self.start = run[-1] << CHUNK_SHIFT if run else 0
        for sequence in reversed(run):
            self.chunk(sequence)
        if self.log.off or self.gap < len(self.log.gaps):  # a gap behind the last record
            self.cut()

    def chunk(self, sequence):
        counts = False
        for position, time, kind, low, value in self.thread.records(sequence):
            if kind is None:
                # The record is damaged or was drained meanwhile: the state before it is unknown.
                self.gone = True
                self.restart()
            elif kind < 0 and kind in (-COUNTS, -MODULE):
                counts = True
            elif kind == -LOST:
                self.lost += value
                self.doubt = position
            elif kind == -FORK:
                self.now.whole = False
            elif kind >= 0:
                counts = False
                self.record(position, time, kind, low, value)
        if not counts and self.thread.chunks[sequence][1] == OWNED:
            self.current = True

    def restart(self):
        self.now, self.others, self.left = Stack(False), [], False

    def cut(self):
        self.was_off = True
        self.restart()

    def record(self, position, time, kind, name, value):
        if time is None:
            time = self.last
        time = self.last = max(time, self.last)
        gaps = self.log.gaps
        while self.gap < len(gaps) and time >= gaps[self.gap][0]:
            self.cut()
            if time < gaps[self.gap][1]:
                return
            self.gap += 1
        if self.left and kind != RESYNC:
            self.left = False
            if kind == ENTER:
                self.go_to(Stack(True))
        if kind == ENTER:
            self.now.push((position, time, name))
        elif kind == RESYNC:
            self.resync(name, value, time)
        elif self.now.active.get(name):
            while self.now.pop()[2] != name:
                self.odd += 1
        elif self.now.frames or self.now.whole:
            self.odd += 1

    def go_to(self, stack):
        if self.now.frames or self.now.named is not None:
            self.others.append(self.now)
        self.now = stack

    def resync(self, name, word, time):
        position = word & ~LEAVES
        if word == ELSEWHERE:
            self.left = False
            self.go_to(Stack(False))
            return
        if position:
            here = self.now.has(position)
            if not here and position != OFF:
                # Not in all of many stacks: a hostile log could make us search them again and
                # again.
                for number in range(len(self.others) - 1, max(len(self.others) - 65, -1), -1):
                    other = self.others[number]
                    if position == other.named or \
                            other.has(position) and other.frames[other.find(position)][2] == name:
                        del self.others[number]
                        self.go_to(other)
                        here, self.left = True, False
                        break
            if self.left and not here:
                self.go_to(Stack(False))
            self.left = False
            frames = self.now.frames
            while frames and frames[-1][0] > position:
                self.now.pop()
            if not frames or frames[-1][0] != position:
                if position == OFF or position < self.start:
                    self.now.whole = False
                elif position % 8 == 0 and self.now.whole:
                    self.odd += 1
            elif frames[-1][2] != name:
                self.odd += 1
            self.now.named = None if position == OFF else position
        if word & LEAVES:
            self.left = True
