#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""embed.py OUTPUT.c FOLDER: script, style and page of the report as C strings, with hashes.

The parts are joined in the order of PARTS, without comments and without spaces that mean nothing. Names
stay as they are: a report can be read, and its errors name functions.
"""

import base64
import hashlib
import os
import re
import sys

PARTS = ["format", "data", "state", "theme", "model", "canvas", "flame", "detail", "timeline", "table",
         "sandwich", "treegrid", "keys", "main"]

# What is kept as it is, what vanishes, and the rest: words, and single characters.
TOKEN = re.compile(
    r"""(?P<keep>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`]*`"""
    r"""|(?<=[=(,:])\s*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*)"""
    r"""|(?P<gone>//[^\n]*|/\*.*?\*/)|(?P<space>\s+)|(?P<word>[\w$#]+)|(?P<other>.)""", re.S)


def squeeze_script(text):
    """Statements end in semicolons, so that line ends mean nothing but the end of a word."""
    out = ["'use strict';\n"]
    space = ""
    for match in TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group()
        if kind == "gone":
            continue
        if kind == "space":
            space = "\n" if token.endswith("\n") else space or " "
            continue
        if kind == "keep":
            token = token.strip()
        last = out[-1][-1]
        if token == "}" and out[-1] == ";":
            out.pop()
        elif space == "\n" and token in ("function", "class", "const", "async"):
            out.append("\n")  # a line for each function
        elif space and (is_word(last) and is_word(token) or last in "+-" and token[0] == last):
            out.append(" ")
        out.append(token)
        space = ""
    return "".join(out) + "\n"


def is_word(text):
    return re.match(r"[\w$#]", text) is not None


def squeeze_style(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" ?([{};,>]) ?", r"\1", text)
    return re.sub(r"([\w-]): ", r"\1:", text).replace(";}", "}").strip() + "\n"


def add_string(out, name, text, hashed=True):
    lines = []
    for line in text.encode().decode("latin-1").splitlines(keepends=True):
        for at in range(0, len(line), 90):
            part = "".join(c if " " <= c <= "~" and c not in "\"\\?" else "\\%03o" % ord(c)
                           for c in line[at:at + 90])
            lines.append('\t"%s"' % part)
    out.append("const char tp_report_%s[] =\n%s;\n" % (name, "\n".join(lines)))
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    if hashed:
        out.append('const char tp_report_%s_hash[] = "sha256-%s";\n' % (name, digest))


def main():
    output, folder = sys.argv[1:]
    script = ""
    for part in PARTS:
        with open(os.path.join(folder, part + ".js"), encoding="utf-8") as file:
            script += file.read()
    with open(os.path.join(folder, "report.css"), encoding="utf-8") as file:
        style = file.read()
    out = ["/* Generated from report/ by report/embed.py. */\n#include \"analyzer/report_page.h\"\n"]
    add_string(out, "script", squeeze_script(script))
    add_string(out, "style", squeeze_style(style))
    with open(os.path.join(folder, "page.html"), encoding="utf-8") as file:
        before, behind = file.read().split("<!--OVERVIEW-->")
    for name, text in (("before", before), ("behind", behind)):
        add_string(out, name, re.sub(r"<!--.*?-->\n", "", re.sub(r"\n\t+", "\n", text)), False)
    with open(output, "w", encoding="ascii") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    main()
