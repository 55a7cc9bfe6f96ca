# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of teeperf-gdb.py."""
import gdb

import teeperf_abi as abi
import teeperf_gdb_clock as clock
from teeperf_gdb_log import CONTROLS, COUNTS, LEAVES, RESYNC, RING, STATES, UNTIMED, find_log
from teeperf_gdb_replay import Replay

CHUNKS_READ = 64  # of a thread, by default: half a million records
FRAMES_SHOWN = 100
EVENTS_SHOWN = 20


def choose(log, wanted):
    if wanted is None:
        return [log.threads[i] for i in sorted(log.threads)]
    if wanted == ".":
        wanted = gdb.selected_thread().ptid[1]
        found = [t for t in log.threads.values() if t.tid == wanted and not t.ended]
    else:
        found = ([log.threads[wanted]] if wanted in log.threads
                 else [t for t in log.threads.values() if t.tid == wanted])
    if not found:
        raise gdb.GdbError("thread %d is not in the log: 'teeperf status' lists those that are" %
                           wanted)
    return found


def arguments(text, options, positional):
    """-NAME VALUE of OPTIONS, and up to that many numbers or '.'."""
    values, rest = {}, []
    words = gdb.string_to_argv(text)
    while words:
        word = words.pop(0)
        if word in ("-all",) and "all" in options:
            values["all"] = True
        elif word.startswith("-") and word[1:] in options and words and words[0].isdecimal():
            values[word[1:]] = int(words.pop(0))
        elif (word.isdecimal() or word == ".") and len(rest) < positional:
            rest.append(word if word == "." else int(word))
        else:
            raise gdb.GdbError("'%s' is not understood: see 'help teeperf'" % word)
    return values, rest


def say(text=""):
    gdb.write(text + "\n")


def heading(log, state):
    say(log.title())
    if state is None:
        say("  found by its first word, as the program has no symbol 'tp_process'")
    for problem in log.problems[:10]:
        say("  " + problem)
    if len(log.problems) > 10:
        say("  and %d more problems" % (len(log.problems) - 10))


class Teeperf(gdb.Command):
    """What TeePerf has recorded of this process or core file.
teeperf status: the log, and the threads in it.
teeperf stacks [THREAD]: the open calls of each thread.
teeperf events [N] [THREAD]: the last records of each thread."""

    def __init__(self):
        super().__init__("teeperf", gdb.COMMAND_STACK, prefix=True)


class Status(gdb.Command):
    """The log that this process records to: clock, chunks, losses, threads."""

    def __init__(self):
        super().__init__("teeperf status", gdb.COMMAND_STATUS)

    def invoke(self, text, from_tty):
        arguments(text, (), 0)
        log, state = find_log()
        heading(log, state)
        attach = {abi.TEEPERF_ATTACH_NONE: "no program", abi.TEEPERF_ATTACH_DONE: "yes",
                  abi.TEEPERF_ATTACH_BAD_CLOCK: "no: compiled for another clock",
                  abi.TEEPERF_ATTACH_BAD_MODULE: "no: another version"}
        say("  attached: %s" % attach.get(log.attach, "?") +
            ("" if state is None else "; " + STATES[state]))
        if log.switched:
            say("  recording was switched %d time%s" %
                (log.switch_count, "" if log.switch_count == 1 else "s"))
        if log.off:
            say("  recording is switched off")
        say("  chunks of 64 KiB: %d, being written %d, complete %d" %
            (log.count, log.owned, log.done))
        if log.mode == RING:
            say("  each thread keeps its last %d chunks, or fewer if there are many threads" %
                log.keeps if log.keeps
                else "  the runtime of the program is too old for rings: they hold the beginning")
        say("  lost: %d before the log was attached, %d by threads without an entry" %
            (log.lost_early, log.lost_overflow))
        if log.ended:
            say("  the program has ended")
        for module in log.modules:
            say("  module %#x-%#x %s%s" %
                (module[1], module[2], module[5], " (unloaded)" if module[4] else ""))
        for thread in choose(log, None):
            lost = "" if thread.lost is None else ", lost %d" % thread.lost
            taken = "?" if thread.taken is None else "%d" % thread.taken
            say("%s: chunks %s, in memory %d%s" % (thread.title(), taken, len(thread.chunks), lost))


class Stacks(gdb.Command):
    """The open calls of each thread, innermost first, with the time since each began.
teeperf stacks [-frames N] [-chunks N] [-all] [THREAD]
THREAD is a number of 'teeperf status', an LWP, or '.' for the selected thread. Only functions that
record are shown. -chunks: how many of a thread's last chunks are read (64); -frames: how many calls
are shown (100); -all: also threads that have ended."""

    def __init__(self):
        super().__init__("teeperf stacks", gdb.COMMAND_STACK)

    def invoke(self, text, from_tty):
        options, rest = arguments(text, ("frames", "chunks", "all"), 1)
        log, state = find_log()
        limit = max(options.get("chunks", CHUNKS_READ), 1)
        replays = []
        for thread in choose(log, rest[0] if rest else None):
            if thread.ended and not rest and not options.get("all"):
                continue
            run = thread.tail()
            cut = len(run) > limit
            whole = bool(run) and not cut and run[-1] == thread.first == 0 and not log.lost_early
            replays.append((thread, run[:limit], cut, Replay(thread, run[:limit], whole)))
        last = max((r.last for _, _, _, r in replays), default=0)
        now, since = clock.now(log), "now"
        known = now is not None and now >= last
        if not known:
            now, since = last, "the last record of all threads; its age is unknown"
        heading(log, state)
        if log.clock:
            say("  times are from the beginning of a call to " + since)
        if log.off:
            say("  recording is switched off: open calls are unknown")
        if not replays:
            say("  no thread has recorded anything" if not log.threads
                else "  all threads have ended: try -all")
        for thread, run, cut, replay in replays:
            self.show(log, thread, run, cut, replay, now, known,
                      options.get("frames", FRAMES_SHOWN))

    def age(self, log, replay, now, known):
        """How long ago the thread wrote its last record: one that hangs has written none since."""
        if not log.clock or not replay.last:
            return ""
        if not known and replay.last == now:
            return ", last record: the newest of all"
        return ", last record %s %s" % (log.duration(now - replay.last),
                                        "ago" if known else "before the newest of all")

    def show(self, log, thread, run, cut, replay, now, known, limit):
        frames = replay.now.frames
        if not run:
            say("%s: unknown: its last chunk is not in memory, %s" %
                (thread.title(), log.gone("it")))
            return
        if replay.left:
            say("%s: it is switching stacks; the open calls of the stack that it leaves:" %
                thread.title())
        else:
            say("%s: %d open call%s%s" % (thread.title(), len(frames), "" if len(frames) == 1
                                         else "s", self.age(log, replay, now, known)))
        # Losses that no record tells of come behind the last one, if there is no chunk to tell them
        # in.
        untold = thread.lost is not None and thread.lost > replay.lost and not replay.current
        for number, (position, time, name) in enumerate(reversed(frames[-limit:] if limit else [])):
            doubt = " ?" if untold or position < replay.doubt else ""
            least = "" if known or not log.clock else "at least "
            say("  #%-3d %s  %s%s%s" %
                (number, log.name(name, time), least, log.duration(max(now - time, 0)), doubt))
        if len(frames) > limit:
            say("  ... and %d calls further out: -frames %d" % (len(frames) - limit, len(frames)))
        if not replay.now.whole:
            if replay.was_off:
                why = "recording was off"
            elif cut:
                why = "only the last %d chunks were read: -chunks" % len(run)
            elif replay.gone:
                why = "a chunk is damaged, or was taken by the recorder meanwhile"
            elif run[-1] != thread.first:
                why = log.gone("the first %d chunks" % run[-1])
            else:
                why = "the log does not have the thread from its beginning"
            say("  and the calls that began before the records in memory (%s)" % why)
        if log.switched and not log.clock:
            say("  ? recording was off at times, and without a clock it is unknown when: "
                "calls may be wrong")
        elif thread.doubtful:
            say("  ? chunks contradict each other: calls may be wrong")
        elif untold or any(frame[0] < replay.doubt for frame in frames):
            say("  ? events were lost after these calls began: they may have ended, "
                "and others may be missing")
        if replay.odd:
            say("  ? %d records do not match others: calls may be wrong" % replay.odd)
        if replay.others:
            say("  and %d calls on %d other stacks of the thread" % (
                sum(len(s.frames) for s in replay.others), len(replay.others)))


class Events(gdb.Command):
    """The last N records (20) of each thread, or of one, oldest first.
teeperf events [N] [THREAD]
Each has its time in ticks, what it is, the low half of the function's address, as in 'teeperf
dump', and the function. An exit without a time was recorded without one."""

    def __init__(self):
        super().__init__("teeperf events", gdb.COMMAND_STACK)

    def invoke(self, text, from_tty):
        _, rest = arguments(text, (), 2)
        count = rest[0] if rest else EVENTS_SHOWN
        if count == "." or not 0 < count <= 1000000:
            raise gdb.GdbError("how many events? from 1 to 1000000, and then the thread")
        log, state = find_log()
        heading(log, state)
        for thread in choose(log, rest[1] if len(rest) > 1 else None):
            self.show(log, thread, count)

    def show(self, log, thread, count):
        run = thread.tail()
        lines = []
        whole = bool(run) and run[-1] == thread.first
        for sequence in run:
            lines = [(sequence, record) for record in thread.records(sequence)] + lines
            if len(lines) > count:
                break
        whole = whole and len(lines) <= count
        say("%s: %s %d record%s" %
            (thread.title(), "all its" if whole else "the last", min(len(lines), count),
                                       "" if min(len(lines), count) == 1 else "s"))
        if not run and thread.chunks:
            say("  its last chunk is not in memory: " + log.gone("it"))
        elif not whole and len(lines) <= count:
            say("  those before are not in memory: " + log.gone("them"))
        last = 0
        for sequence, (_, time, kind, low, value) in lines[-count:]:
            last = max(last, time or thread.chunks[sequence][2])
            self.line(log, last, time, kind, low, value)

    def line(self, log, last, time, kind, low, value):
        if kind is None:
            say("  from here on the chunk is damaged, or was taken by the recorder meanwhile")
        elif kind == RESYNC:
            what = "leave" if value & LEAVES else "resync"
            say("  %d %s %#x %d  %s" % (time, what, low, value & ~LEAVES, log.name(low, last)))
        elif kind == UNTIMED:
            say("  exit %#x  %s" % (low, log.name(low, last)))
        elif kind >= 0:
            say("  %d %s %#x  %s" % (time, ("enter", "exit")[kind], low, log.name(low, last)))
        elif kind == -COUNTS:
            say("  counts %d" % low)
            for address, calls in zip(value[::2], value[1::2]):
                if address:
                    what = "sampled" if address & 1 else "count"
                    say("    %s %#x %d  %s" %
                        (what, address & ~1, calls, log.name(address & 0xFFFFFFFE, last)))
        else:
            form, word = CONTROLS.get(-kind, ("NOTHING", "control %d" % -kind))
            say("  " + (word if form == "NOTHING" else "%d %s" % (time, word) if time is not None
                        else "%s %d" % (word, value)))


Teeperf()
Status()
Stacks()
Events()
