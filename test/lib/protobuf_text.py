# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What `protoc --decode` prints, as dictionaries of lists: message["field"][i].
import re

ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.S)
LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


def unescape(quoted):
    def one(match):
        what = match.group(1)
        return bytes([int(what, 8)]) if what[:1].isdigit() else LETTERS.get(what, what)
    return ESCAPE.sub(one, quoted.encode()).decode(errors="surrogateescape")


def parse(text):
    """Fields that the .proto does not know have a number for a name: that is an error."""
    root = {}
    open_messages = [root]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            open_messages.pop()
            continue
        name, _, value = line.partition(" ")
        message = value == "{"
        name = name.rstrip(":")
        if name[0].isdigit():
            raise ValueError(f"unknown field: {line}")
        if message:
            value = {}
        elif value.startswith('"'):
            value = unescape(value[1:-1])
        elif re.fullmatch(r"-?\d+", value):
            value = int(value)
        open_messages[-1].setdefault(name, []).append(value)
        if message:
            open_messages.append(value)
    assert len(open_messages) == 1
    return root


def first(message, name, default=0):
    return message.get(name, [default])[0]
