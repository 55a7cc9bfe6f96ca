#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Walk through 'teeperf tui' in tmux; hold what it shows against 'teeperf analyze --format csv'.

usage: tui_walk.py walk TRACE FUNCTION   all pages, from FUNCTION on
       tui_walk.py live WHAT PROGRAM     a recording that grows, until the process PROGRAM ends
       tui_walk.py gone TRACE RECORDER PROGRAM   the recorder is killed
       tui_walk.py names TRACE           nothing steers the terminal
       tui_walk.py refused               errors come without a screen

Waits for what must be seen, looking again and again, as await_true of e2e.sh does.
"""
import csv
import io
import os
import re
import signal
import subprocess
import sys
import time

TEEPERF = os.environ["TEEPERF"]
UNITS = {"ns": 1, "us": 1000, "ms": 1000000, "s": 1000000000}
LOOKS = 1200


def fail(why, tui=None):
    if tui:
        print("\n".join(tui.screen()), file=sys.stderr)
        tui.close()
    sys.exit("FAILED: " + why)


class Tui:
    """teeperf tui with ARGUMENTS on a terminal of its own."""

    count = 0

    def __init__(self, *arguments, width=200, height=50, env=None):
        # A server that ends may still have the place of the one before.
        Tui.count += 1
        self.socket = "tmux-%d-%d.sock" % (os.getpid(), Tui.count)
        self.status_file = "tui.status"
        for name in ("tui.status", "tui.err"):
            if os.path.exists(name):
                os.remove(name)
        environment = dict(os.environ, LC_ALL="C.UTF-8", **(env or {}))
        environment.pop("TMUX", None)
        if not env:
            environment.pop("NO_COLOR", None)
        # Ctrl-C is for what runs in the shell.
        script = ('trap : INT; "$@" 2>tui.err; echo $? >tui.tmp; mv tui.tmp tui.status; '
                  'sleep 1000000')
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  "sh", "-c", script, "tui", TEEPERF, "tui", *arguments, env=environment)

    def tmux(self, *arguments, env=None):
        run = subprocess.run(["tmux", "-u", "-S", self.socket, *arguments], env=env,
                             capture_output=True, text=True)
        if run.returncode:
            sys.exit("FAILED: tmux %s: %s" % (arguments, run.stderr))
        return run.stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def screen(self):
        lines = self.tmux("capture-pane", "-p").split("\n")
        return lines if lines[-1] else lines[:-1]

    def wait(self, condition, what):
        for _ in range(LOOKS):
            found = condition(self.screen())
            if found:
                return found
            time.sleep(0.05)
        return fail("waited in vain for " + what, self)

    def shows(self, text):
        return self.wait(lambda lines: any(text in line for line in lines), "'%s'" % text)

    def page(self, name):
        """Wait until this page is shown."""
        self.wait(lambda lines: lines[1].startswith(name), "the page '%s'" % name)

    def status(self):
        for _ in range(LOOKS):
            if os.path.exists(self.status_file):
                with open(self.status_file, encoding="ascii") as file:
                    return int(file.read())
            time.sleep(0.05)
        return fail("it does not end", self)

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True,
                       check=False)

    def quit(self, status=0):
        self.keys("q")
        if self.status() != status:
            with open("tui.err", encoding="utf-8") as file:
                fail("it ended with %d: %s" % (self.status(), file.read()))
        self.close()


# ---- the contents of the screen

def table(lines):
    """The rows of a page: (cells by title, name, depth)."""
    titles = lines[3]
    at = next((titles.index(word) for word in ("function", "name")
               if re.search(r"\b%s\b" % word, titles)), None)
    if at is None:
        return []
    bars = [titles.index(word) for word in ("self, all", "from start to end") if word in titles]
    bar = bars[0] if bars else at
    if lines[1].startswith("threads"):
        bar = titles.rindex("share")
    tree = lines[1].startswith(("call tree", "one call"))
    columns = []
    begin = 0
    for match in re.finditer(r"\S+", titles[:bar]):
        columns.append((match.group().rstrip("▲▼"), begin, match.end()))
        begin = match.end()
    rows = []
    for line in lines[4:-3]:
        if not line.strip():
            break
        name = line[at:].rstrip()
        deep = re.match(r" *\[(\d+)\] ", name)
        indent = len(name) - len(name.lstrip(" "))
        name = name[deep.end():].strip() if deep else name.strip()
        if name[:2] in ("▾ ", "▸ "):
            name = name[2:]
        elif tree:
            indent -= 2  # a leaf has blanks where others have a mark
        depth = int(deep.group(1)) if deep else indent + 1 if tree else indent // 2 + 1
        cells = {title: line[first:end].strip() for title, first, end in columns}
        rows.append((cells, name, depth))
    return rows


def same(shown, number):
    """Whether NUMBER is what the screen shows, within what it rounds."""
    if shown == "":
        return number in ("", None)
    match = re.fullmatch(r"~?([\d,]+)(\.\d+)?( (ns|us|ms|s))?", shown)
    if not match or number in ("", None):
        return False
    value = float(match.group(1).replace(",", "") + (match.group(2) or ""))
    unit = UNITS[match.group(4)] if match.group(4) else 1
    decimals = len(match.group(2)) - 1 if match.group(2) else 0
    if unit == 1:
        return value == float(number)
    return abs(value * unit - float(number)) <= 0.5001 * unit * 10 ** -decimals


def analyze(*arguments):
    run = subprocess.run([TEEPERF, "analyze", "--format", "csv", *arguments], capture_output=True,
                         text=True)
    if run.returncode or not run.stdout:
        sys.exit("FAILED: analyze %s: %s" % (arguments, run.stderr))
    return list(csv.DictReader(io.StringIO(run.stdout)))


def compare(tui, what, rows, expected, titles):
    """Each row of the screen is the one of EXPECTED; TITLES: title -> key."""
    if not rows:
        fail(what + ": no rows", tui)
    for (cells, name, depth), want in zip(rows, expected):
        if want.get("function", want.get("name")) != name:
            fail("%s: '%s' is where '%s' should be" % (what, name, want), tui)
        if "depth" in want and int(want["depth"]) != depth:
            fail("%s: '%s' is at depth %d, not %s" % (what, name, depth, want["depth"]), tui)
        for title, key in titles.items():
            if title in cells and not same(cells[title], want[key]):
                fail("%s: '%s': %s is %s, not %s" % (what, name, title, cells[title], want[key]),
                     tui)
    found = set(rows[0][0])
    missing = [title for title in titles if title not in found]
    if missing:
        fail("%s: no column %s" % (what, missing), tui)
    print("%s: %d rows agree" % (what, min(len(rows), len(expected))))


TOP = {"calls": "calls", "self": "self_ns", "inclusive": "inclusive_ns", "mean": "mean_ns",
       "p50": "p50_ns", "p99": "p99_ns", "max": "max_ns"}


def top(trace, *arguments):
    rows = analyze(trace, *arguments)
    for row in rows:
        timed = int(row["timed_calls"])
        row["mean_ns"] = str(int(row["total_ns"]) // timed) if timed else ""
    return rows


def select(tui, function):
    """Put the cursor on FUNCTION, by searching for all of its name."""
    tui.keys("/")
    tui.shows("search:")
    tui.type("/^%s$/" % re.escape(function))
    tui.keys("Enter")
    tui.wait(lambda lines: lines[-3].startswith(function + "  ") or lines[-3].rstrip() == function,
             "the cursor on " + function)


def walk_functions(tui, trace):
    expected = top(trace)
    compare(tui, "functions", table(tui.screen()), expected, TOP)
    last = expected[-1]["function"]
    tui.keys("End")
    tui.wait(lambda lines: lines[-3].startswith(last), "the last function")
    shown = [row for row in table(tui.screen()) if row[1]]
    compare(tui, "the last functions", shown, expected[-len(shown):], TOP)
    tui.keys("C")
    tui.shows("calls▼")
    by_calls = top(trace, "--sort", "calls")
    tui.keys("Home")
    tui.wait(lambda lines: lines[-3].startswith(by_calls[0]["function"]), "most calls first")
    compare(tui, "by calls", table(tui.screen()), by_calls, TOP)
    tui.keys("<", ">", ">")
    tui.wait(lambda lines: "calls▼" not in lines[3], "another order")
    tui.keys("S")
    tui.shows("self▼")


def walk_neighbours(tui, trace, function):
    tui.keys("Enter")
    tui.page("callers and callees of " + function)
    expected = analyze(trace, "--view", "function", "--function", function, "--limit", "0")
    shown = table(tui.screen())
    if len(shown) != len(expected):
        fail("callers and callees: %d rows, not %d" % (len(shown), len(expected)), tui)
    # Callers, the function, callees; those that take as long as others may be in any order.
    own = next(i for i, row in enumerate(expected) if row["relation"] == "function")
    groups = [range(own), range(own, own + 1), range(own + 1, len(expected))]
    for group in groups:
        rows = sorted((shown[i] for i in group), key=lambda row: row[1])
        wanted = [{**expected[i], "function": expected[i]["name"]} for i in group]
        wanted.sort(key=lambda row: row["function"])
        if rows:
            compare(tui, "callers and callees", [(cells, name, 1) for cells, name, _ in rows],
                    wanted, {"calls": "calls", "inclusive": "inclusive_ns", "self": "self_ns",
                             "mean": "mean_ns"})


def walk_tree(tui, trace, function):
    tui.keys("t")
    tui.page("call tree")
    tui.wait(lambda lines: lines[-3].startswith(function), "the tree at " + function)
    tui.keys("Escape")
    tui.page("callers and callees of " + function)


def walk_calls(tui, trace, function):
    tui.keys("l")
    tui.page("slowest calls of " + function)
    tui.shows("Enter shows what one did")
    timeline = ("--view", "timeline", "--function", function, "--limit", "0")
    rows = analyze(trace, *timeline)
    # By processor time, if that is known.
    by = "cpu_ns" if all(row["cpu_ns"] for row in rows) else "duration_ns"
    times = sorted((int(row[by]) for row in rows), reverse=True)
    compare(tui, "slowest calls", table(tui.screen()),
            [{"function": function, by: str(ns)} for ns in times],
            {"inclusive_cpu" if by == "cpu_ns" else "duration": by})
    tui.keys("Enter")
    tui.page("one call of " + function)
    tui.shows("from start to end")
    tui.keys("*")
    slowest = analyze(trace, *timeline, "--around-slowest", "1")
    inside = [row for row in slowest if row["kind"] == "call"]
    first = int(inside[0]["depth"])
    for row in inside:
        row["depth"] = str(int(row["depth"]) - first + 1)
    least = min(len(inside), 43)
    tui.wait(lambda lines: len(table(lines)) >= least, "%d rows" % least)
    compare(tui, "one call", table(tui.screen()), inside,
            {"start": "start_ns", "duration": "duration_ns", "self": "self_ns"})


def by_path(rows):
    """(name, depth, what) as a dictionary by the names of all callers and its own."""
    path = []
    found = {}
    for name, depth, what in rows:
        path[depth - 1:] = [name]
        found["/".join(path)] = what
    return found


def walk_thread(tui, trace):
    tui.keys("T")
    tui.page("threads")
    threads = analyze(trace, "--view", "threads")
    compare(tui, "threads", table(tui.screen()),
            [{**row, "name": row["name"] or "thread"} for row in threads],
            {"thread": "thread", "tid": "tid", "events": "events", "calls": "calls",
             "busy": "busy_ns"})
    # The tree of the thread that has most of it.
    rows = analyze(trace, "--view", "tree", "--limit", "0")
    sizes = [sum(row["thread"] == thread["thread"] for row in rows) for thread in threads]
    at = sizes.index(max(sizes))
    thread = threads[at]["thread"]
    if at:
        tui.keys(*["j"] * at)
    tui.keys("Enter")
    tui.page("call tree of thread %s " % thread)
    tui.keys("g", "*")
    wanted = by_path((row["function"], int(row["depth"]), row) for row in rows
                     if row["thread"] == thread)
    least = min(len(wanted), 43)
    tui.wait(lambda lines: len(table(lines)) >= least, "%d rows" % least)
    shown = by_path((name, depth, (cells, name, depth))
                    for cells, name, depth in table(tui.screen()))
    missing = [path for path in shown if path not in wanted]
    if missing:
        fail("tree of a thread: %s" % missing, tui)
    compare(tui, "tree of a thread", list(shown.values()), [wanted[path] for path in shown],
            {"calls": "calls", "inclusive": "inclusive_ns", "self": "self_ns"})
    tui.keys("Escape")
    tui.page("threads")
    tui.keys("Escape")


def walk_filter(tui, trace, function):
    tui.keys("&")
    tui.shows("show only:")
    tui.type("/^%s$/" % re.escape(function))
    tui.keys("Enter")
    tui.wait(lambda lines: "only: " in lines[1], "the filter")
    rows = table(tui.screen())
    if [row[1] for row in rows] != [function]:
        fail("the filter leaves %s" % [row[1] for row in rows], tui)
    tui.keys("Escape")
    tui.wait(lambda lines: "only: " not in lines[1], "all functions")


def walk_size(tui):
    tui.tmux("resize-window", "-x", "60", "-y", "20")
    tui.shows("60x20 is too small: 80x24")
    tui.tmux("resize-window", "-x", "80", "-y", "24")
    tui.wait(lambda lines: len(lines) >= 24 and lines[23].startswith("Enter open"), "24 lines")
    if any(len(line) > 80 for line in tui.screen()):
        fail("a line is wider than the screen", tui)
    rows = table(tui.screen())
    if not rows or not {"calls", "self"} <= set(rows[0][0]):
        fail("calls and self time are not on a small screen", tui)
    tui.keys("?")
    tui.page("help")
    tui.shows("Esc, Backspace")
    tui.keys("BSpace")
    tui.page("functions")
    tui.keys("o")
    tui.page("notes")
    tui.keys("Escape")
    tui.page("functions")


def walk(trace, function):
    tui = Tui(trace)
    tui.page("functions")
    tui.wait(table, "functions")
    walk_functions(tui, trace)
    select(tui, function)
    walk_neighbours(tui, trace, function)
    walk_tree(tui, trace, function)
    walk_calls(tui, trace, function)
    for name in ("slowest calls of " + function, "callers and callees of " + function, "functions"):
        tui.keys("Escape")
        tui.page(name)
    walk_thread(tui, trace)
    tui.page("functions")
    walk_filter(tui, trace, function)
    walk_size(tui)
    if "\x1b[3" not in tui.tmux("capture-pane", "-e", "-p"):
        fail("there is no colour", tui)
    tui.quit()
    tui = Tui(trace, env={"NO_COLOR": "1"})
    tui.wait(table, "functions")
    if re.search(r"\x1b\[[0-9;]*[34][0-7]m", tui.tmux("capture-pane", "-e", "-p")):
        fail("NO_COLOR, and there is colour", tui)
    # Ctrl-C ends it well, too.
    tui.keys("C-c")
    if tui.status() != 0:
        fail("Ctrl-C: it ended with %d" % tui.status(), tui)
    tui.close()


def calls_of(lines, function):
    for cells, name, _ in table(lines):
        if name == function:
            return int(cells["calls"].replace(",", ""))
    return 0


def live(what, program):
    tui = Tui("--watch", "--interval", "50ms", what)
    tui.wait(lambda lines: calls_of(lines, "leaf"), "leaf")
    tui.shows("live, ")
    # It grows on each page, and the cursor stays where it is.
    before = calls_of(tui.screen(), "leaf")
    tui.wait(lambda lines: calls_of(lines, "leaf") > before, "more calls")
    select(tui, "leaf")
    tui.keys("Enter")
    tui.page("callers and callees of leaf")
    before = calls_of(tui.screen(), "leaf")
    tui.wait(lambda lines: calls_of(lines, "leaf") > before, "more calls by main")
    tui.keys("t")
    tui.page("call tree")
    tui.wait(lambda lines: lines[-3].startswith("leaf"), "the tree at leaf")
    before = calls_of(tui.screen(), "leaf")
    tui.wait(lambda lines: calls_of(lines, "leaf") > before and lines[-3].startswith("leaf"),
             "more calls in the tree")
    tui.keys("l")
    tui.shows("Enter shows what one did")
    tui.keys("w")
    tui.shows("still being recorded: w follows it")
    tui.keys("w")
    tui.shows("live, ")
    tui.keys("f")
    tui.page("functions")
    # The last interval alone, and all again.
    all_so_far = calls_of(tui.screen(), "leaf")
    tui.keys("s")
    tui.shows("from the next look on: the last interval")
    tui.wait(lambda lines: 0 < calls_of(lines, "leaf") < all_so_far, "the last interval")
    tui.keys("s")
    tui.shows("all since the start")
    tui.wait(lambda lines: calls_of(lines, "leaf") > all_so_far, "all since the start")
    os.kill(int(program), signal.SIGTERM)
    tui.wait(lambda lines: "live, " not in lines[0] and "recorded" not in lines[0], "the end")
    # All of it.
    trace = what if os.path.exists(what) else "live.trace"
    compare(tui, "after the end", table(tui.screen()), top(trace), TOP)
    tui.quit()


def gone(trace, recorder, program):
    tui = Tui("--watch", "--interval", "50ms", trace)
    tui.shows("live, ")
    os.kill(int(recorder), signal.SIGKILL)
    os.kill(int(program), signal.SIGKILL)
    tui.shows("the recorder is gone")
    # The trace has no end, of which is warned when the screen is closed.
    tui.quit(1)
    with open("tui.err", encoding="utf-8") as file:
        if "the recorder was killed" not in file.read():
            fail("no warning")


def names(trace):
    tui = Tui(trace)
    tui.wait(table, "functions")
    here = os.path.dirname(os.path.abspath(__file__))
    for key, page in (("t", "call tree"), ("T", "threads"), ("o", "notes")):
        shown = tui.tmux("capture-pane", "-p")
        check = subprocess.run([sys.executable, here + "/check_clean.py", "tui"], input=shown,
                               text=True)
        if check.returncode:
            fail("unclean", tui)
        tui.keys(key)
        tui.page(page)
    if "title" in tui.tmux("display-message", "-p", "#{pane_title}"):
        fail("a name has become the terminal's title", tui)
    tui.keys("f")
    tui.page("functions")
    tui.shows("grüße")
    tui.quit()


def refused():
    for status, words, arguments in (
            (1, "nothing.trace", ["nothing.trace"]),
            (129, "--time-range", ["--time-range", "x", "nothing.trace"]),
            (129, "--interval", ["--interval", "0", "nothing.trace"])):
        tui = Tui(*arguments)
        if tui.status() != status:
            fail("%s: it ended with %d" % (arguments, tui.status()), tui)
        with open("tui.err", encoding="utf-8") as file:
            text = file.read()
        if words not in text:
            fail("%s: it says '%s'" % (arguments, text), tui)
        tui.close()
    # One that cannot place text, also while a trace is still read.
    here = os.path.dirname(os.path.abspath(__file__))
    for trace in "program.trace", "long.trace":
        dumb = subprocess.run([sys.executable, here + "/terminal.py", "80x24",
                               os.environ["TEEPERF"], "tui", trace],
                              env=dict(os.environ, TERM="dumb"), stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, stdout=subprocess.PIPE)
        if dumb.returncode != 1 or "'dumb' cannot place text" not in dumb.stderr:
            sys.exit("a dumb terminal: %d, %s" % (dumb.returncode, dumb.stdout + dumb.stderr))


def main():
    commands = {"walk": walk, "live": live, "gone": gone, "names": names, "refused": refused}
    commands[sys.argv[1]](*sys.argv[2:])


main()
