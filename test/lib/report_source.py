#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""report_source.py WITH WITHOUT: the source lines in the reports of report/source, without the
viewer."""
import base64
import json
import re
import sys
import zlib

failures = 0


def check(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print("FAIL %s: %r, not %r" % (what, found, wanted))


def blocks(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return {name: zlib.decompress(base64.b64decode(data)).decode("utf-8", "replace")
            for name, data in re.findall(r'<script type="application/octet-stream" '
                r'id="data-(\w+)">([A-Za-z0-9+/=]*)</script>', text)}


def main():
    shown, plain = blocks(sys.argv[1]), blocks(sys.argv[2])
    check("sources are there only if asked for", ("sources" in shown, "sources" in plain),
          (True, False))
    check("nothing secret", [name for name, text in shown.items()
                             if "secret" in text.replace("../secret.txt", "")], [])
    files = json.loads(shown["sources"])["files"]
    check("files", [(it["file"], it["found"]) for it in files],
          [("/build/app/src/main.c", "src/main.c")])
    parts = files[0]["parts"]
    check("parts", [(it["line"], len(it["text"])) for it in parts], [(3, 7), (12, 7)])
    check("a tab", parts[0]["text"][5][:17], "        return n;")
    print("%d failures" % failures)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
