#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""embed.py OUTPUT.c FOLDER: script, style and page of the report as C strings, with hashes.

The parts are joined in the order of PARTS, without comments and indentation. Lines stay lines: a report can be read, and
its errors name functions.
"""

import base64
import hashlib
import os
import re
import sys

PARTS = ["format", "data", "state", "theme", "model", "canvas", "flame", "detail", "timeline", "table",
         "sandwich", "treegrid", "keys", "main"]


def squeeze(text, comment):
    """Without comments that have lines of their own, indentation and empty lines."""
    lines = (line.strip() for line in re.sub(comment, "", text, flags=re.M).split("\n"))
    return "".join(line + "\n" for line in lines if line)


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
    out = ["/* Generated from report/ by analyzer/output/report/viewer/embed.py. */\n#include \"analyzer/output/report/report.h\"\n"]
    add_string(out, "script", "'use strict';\n" + squeeze(script, r"^\s*(?://.*|/\*(?:.|\n)*?\*/)$"))
    add_string(out, "style", squeeze(style, r"^\s*/\*(?:.|\n)*?\*/$"))
    with open(os.path.join(folder, "page.html"), encoding="utf-8") as file:
        before, behind = file.read().split("<!--OVERVIEW-->")
    for name, text in (("before", before), ("behind", behind)):
        add_string(out, name, re.sub(r"<!--.*?-->\n", "", re.sub(r"\n\t+", "\n", text)), False)
    with open(output, "w", encoding="ascii") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    main()
