#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_queries_doc.py DOC TEEPERF: run what docs/queries.md shows, in this folder, in its order:
commands ("$ teeperf ..."), whose titles must be those that are shown, and Python, all of it in one
interpreter. Blocks that ask for a module which is not there are left out, and said so; DuckDB's SQL
goes to the file duckdb.sql. Exit 77 if that is for want of pandas; Debian has no pyarrow."""

import re
import subprocess
import sys

doc, teeperf = sys.argv[1:3]
blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", open(doc, encoding="utf-8").read(), re.M | re.S)
done = {"console": 0, "python": 0}
left_out = []
missing = set()
names = {"__name__": "__doc__"}
for kind, text in blocks:
    words = kind.split()
    if words[:1] == ["console"]:
        lines = text.split("\n")
        for i, line in enumerate(lines):
            if not line.startswith("$ teeperf "):
                continue
            command = "'%s' %s" % (teeperf, line[len("$ teeperf "):])
            ran = subprocess.run(command, shell=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            if ran.returncode:
                sys.exit("%s: exit %d: %s" % (line, ran.returncode, ran.stderr.decode()))
            got = ran.stdout.decode().split("\n")[0].split()
            shown = (lines[i + 1].split() if i + 1 < len(lines) and
                     not lines[i + 1].startswith("$") else [])
            if got != shown:
                sys.exit("%s: prints the columns %s, and shown are %s" % (line, got, shown))
            done["console"] += 1
    elif words[:1] == ["python"]:
        for module in words[1:]:
            try:
                __import__(module)
            except ImportError:
                missing.add(module)
        # What needs a module may use what another one has left behind.
        if missing:
            left_out.append(kind)
            continue
        try:
            exec(compile(text, kind, "exec"), names)
        except Exception as error:
            sys.exit("%s\n%s: %s" % (text, type(error).__name__, error))
        done["python"] += 1
    elif words == ["sql", "duckdb"]:
        with open("duckdb.sql", "w", encoding="utf-8") as file:
            file.write(text)
print("%d commands and %d pieces of Python ran" % (done["console"], done["python"]))
if not done["console"] or not done["python"]:
    sys.exit("nothing was found in %s" % doc)
if left_out:
    print("skipped: no module %s, so %d pieces were not run" %
          (", ".join(sorted(missing)), len(left_out)))
    sys.exit(77 if "pandas" in missing else 0)
