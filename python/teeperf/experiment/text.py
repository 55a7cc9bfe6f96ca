# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts and numbers as the command shows them, words that are spelled alike, hashes, and errors."""

import difflib
import re

HASH_START = 0xcbf29ce484222325


class Failure(Exception):
    """What went wrong: in FILE, perhaps at PLACE (line, column), whose line is EXCERPT."""

    def __init__(self, what, file=None, place=None, excerpt=""):
        super().__init__(what)
        self.file, self.place, self.excerpt = file, place, excerpt

    def __str__(self):
        what = clean(self.args[0])
        if self.place:
            what = "%s:%d:%d: error: %s" % (clean(self.file), *self.place, what)
            if self.excerpt:
                what += "\n  %s\n  %s^" % (clean(self.excerpt.replace("\t", " ")),
                                           " " * (self.place[1] - 1))
            return what
        return "teeperf experiment: %s%s" % ("'%s': " % clean(self.file) if self.file else "", what)


# Characters that would steer a terminal or change the order of a line, and bytes that are no text.
UNFIT = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
                   "\ufffe\uffff\ud800-\udfff]")


def clean(text):
    return UNFIT.sub(lambda match: "?" * len(match[0].encode(errors="replace")), str(text))


def escape(text):
    """Of HTML."""
    return (UNFIT.sub("?", text).replace("&", "&amp;").replace("<", "&lt;")
            .replace(">", "&gt;").replace('"', "&quot;"))


def words(line):
    """A command line as it is typed."""
    out = []
    for word in line:
        dashes, rest = re.fullmatch("(-*)(.*)", word, re.S).groups()
        if re.search(r"[^A-Za-z0-9_./\-+:,@%=\x80-\U0010ffff]", rest) or not word:
            rest = "'" + rest.replace("'", "'\\''") + "'"
        out.append(clean(dashes + rest))
    return " ".join(out)


def plural(count, noun):
    return "%d %s%s" % (count, noun, "" if count == 1 else "s")


def seconds(value):
    ns = value * 1e9
    for least, form in ((1e9, "%.3f s"), (1e6, "%.2f ms"), (1e3, "%.2f us")):
        if ns >= least:
            return form % (ns / least)
    return "%.1f ns" % ns


def size(value):
    unit = 0
    while value >= 1023.5 and unit < 4:
        value /= 1024
        unit += 1
    return ("%.1f %s" if unit and value < 99.95 else "%.0f %s") % (
        value, ("B", "KiB", "MiB", "GiB", "TiB")[unit])


def number(value):
    """As few digits as give the same number again."""
    short = "%.15g" % value
    return short if float(short) == value else "%.17g" % value


def hash_bytes(state, data):
    """FNV-1a of 64 bits, which may never change: keys of results are made of it."""
    for byte in data:
        state = (state ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return state


def hash_text(state, text):
    return hash_bytes(state, text.encode(errors="surrogateescape") + b"\0")


def meant(name, names, shown="'%s'"):
    """A question after the one of NAMES that was perhaps meant, or nothing."""
    near = difflib.get_close_matches(name, names, 1, 0.75)
    return "; did you mean %s?" % (shown % near[0]) if near else ""
