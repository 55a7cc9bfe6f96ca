#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare our decisions with Clang's own on generated lists: clang_rules.py CLANG PLUGIN CASES
[SEED].

One compilation decides for every function twice: Clang by -fxray-attr-list or -fprofile-list, which
leaves attributes, and the plugin by TEEPERF_ALLOWLIST, both from the same file. A case is one list
and one function. Exits 1 at the first list that is decided otherwise, and shows it.
"""

import os
import random
import re
import shutil
import subprocess
import sys

clang, plugin, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 20240607)

PARTS = ["a", "b", "ab", "_Z", "N1A", "get", "put", "3fooEv", "_", "E", "x1", "Iter"]
FILES = ["main.c", "inc/a/one.h", "inc/a/two.h", "inc/b/one.h", "inc/b/deep/x.h"]
FUNCTIONS = 256


def make_names():
    names = set()
    while len(names) < FUNCTIONS:
        name = "".join(rng.choice(PARTS) for _ in range(rng.randint(1, 5)))
        # Not a keyword, not only underscores, and nothing that C reserves.
        if re.fullmatch(r"[A-Za-z_]\w*", name) and name.strip("_"):
            names.add(name)
    return sorted(names)


def make_sources(names):
    """Returns the functions of main.c; it includes the others."""
    homes = {name: rng.choice(FILES) for name in names}
    for file in FILES:
        os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
        with open(file, "w") as out:
            if file == "main.c":
                out.writelines("#include <%s>\n" % other[4:] for other in FILES[1:])
            out.writelines("void %s(void) {}\n" % name for name in names if homes[name] == file)
    return {name for name in names if homes[name] == "main.c"}


def glob_from(text):
    """A glob that resembles TEXT, or is meant to match it."""
    out = []
    at = 0
    while at < len(text):
        size = rng.randint(1, 4)
        piece = text[at:at + size]
        at += size
        kind = rng.randint(0, 13)
        if kind <= 1:
            out.append("*")
        elif kind == 2:
            out.append("?" * len(piece))
        elif kind == 3:
            out.append("[%s]" % "".join(sorted(set(piece))))
        elif kind == 4:
            out.append("[^%s]" % rng.choice("qjab_"))
        elif kind == 5:
            out.append(rng.choice(["[a-z]", "[A-Z_]", "[0-9a-f]", "[!x]"]) + piece[1:])
        elif kind == 6:
            out.append("{%s,%s}" % (piece, rng.choice(PARTS)))
        elif kind == 7:
            out.append("{,%s,%s*}" % (piece, rng.choice(PARTS)))
        elif kind == 8:
            out.append("".join("\\" + c for c in piece))
        else:
            out.append(piece)
    if rng.random() < 0.2:
        out.insert(0, "*")
    if rng.random() < 0.3:
        out.append("*")
    # LLVM refuses more than 1024 expansions, as we do.
    return "".join(out[:14])


def line_for(names):
    if rng.random() < 0.25:
        return "src", glob_from(rng.choice(FILES))
    return "fun", glob_from(rng.choice(names))


def xray_list(names):
    """A list of XRay's, and whether functions are chosen that it does not match."""
    by_default = rng.choice(["", "default:allow\n"])
    out = ["# generated\n", by_default]
    for _ in range(rng.randint(1, 5)):
        section = rng.choice(["always", "never", "always", "never", "{always,nothing}", "nev*",
                              "xray_test", "cfi"])
        out.append("[%s]\n" % section)
        for _ in range(rng.randint(0, 8)):
            kind, glob = line_for(names)
            category = "=arg1" if section == "always" and rng.random() < 0.1 else ""
            blanks = rng.choice(["", "", " ", "\t"])
            out.append("%s%s:%s%s%s\n" % (blanks, kind, glob, category, blanks))
        out.append(rng.choice(["", "\n", "# x\n", "type:x\n"]))
    return "".join(out), bool(by_default)


def profile_list(names):
    """Lines of one kind and category: whichever line decides, it decides the same. As above."""
    category, other = rng.choice([("allow", "skip"), ("skip", "allow"), ("allow", "forbid")])
    kind = rng.choice(["function", "source"])
    words = names if kind == "function" else FILES
    lines = ["%s:%s=%s\n" % (kind, glob_from(rng.choice(words)), category)
             for _ in range(rng.randint(1, 8))]
    section = rng.choice(["", "[clang]\n", "[{clang,llvm}]\n"])
    return "%sdefault:%s\n%s" % (section, other, "".join(lines)), other == "allow"


def compile_with(text, option):
    """The attributes of each function, as two sets: what Clang left and what the plugin left."""
    with open("list", "w") as out:
        out.write(text)
    environment = dict(os.environ, TEEPERF_ALLOWLIST="list")
    command = [clang, "-O0", "-gline-tables-only", "-Iinc", "-S", "-emit-llvm", "-o", "-", "main.c",
               "-fpass-plugin=" + plugin, "-Wno-source-mgr"] + option
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode:
        sys.exit("the list does not load:\n%s\n%s" % (text, run.stderr))
    groups = dict(re.findall(r"^attributes (#\d+) = \{(.*)\}$", run.stdout, re.M))
    return {name: groups[group] for name, group in
            re.findall(r"^define [^@]*@(\w+)\(\) (#\d+)", run.stdout, re.M)
            if not name.startswith("__teeperf")}


def ours(attributes):
    return '"teeperf"="done"' in attributes


def xray(attributes, by_default):
    if '"function-instrument"="xray-always"' in attributes:
        return True
    return by_default and '"function-instrument"="xray-never"' not in attributes


def profiled(attributes):
    return not re.search(r"\b(noprofile|skipprofile)\b", attributes)


XRAY = ["-fxray-instrument", "-fxray-attr-list=list"]
PROFILE = ["-fprofile-instr-generate", "-fprofile-list=list"]

# What docs/allowlists.md lists as different: the list, the option, Clang's decision, and ours,
# about the function `get`, which is in main.c.
DIFFERENCES = [
    ("[always]\nfun: get\n", XRAY, False, True),
    ("[always]\nsrc:./main.c\n", XRAY, False, True),
    ("fun:get\n[never]\nfun:get\n", XRAY, True, False),
    ("function:get=skip\nfunction:get=allow\nfunction:get=skip\ndefault:skip\n",
     PROFILE, True, False),
    ("source:main.c=skip\nfunction:get=allow\nsource:*=skip\ndefault:skip\n", PROFILE, True, False),
    ("function:get=forbid\nfunction:get=allow\ndefault:skip\n", PROFILE, True, False),
    ("function:put=skip\n", PROFILE, True, False),
    ("default:skip\n[teeperf]\nname:get\n", PROFILE, False, True),
]


def compare(text, option, decide, keep=None):
    """Complain of what the two decide differently about. Returns how many are not chosen, and
    are."""
    functions = compile_with(text, option)
    counts = [0, 0]
    if keep:
        functions = keep(functions)
    for name, attributes in sorted(functions.items()):
        expected = decide(attributes)
        counts[expected] += 1
        if ours(attributes) != expected:
            sys.exit("'%s': Clang says %s, we say %s:%s\n%s" %
                     (name, expected, ours(attributes), attributes, text))
    return counts


def comparable(functions, in_main, by_default, by_source):
    """Where no line matches a function's own file, Clang asks about the compiled one: not for
    us."""
    if not by_source or all(profiled(functions[name]) == by_default for name in in_main):
        return functions
    return {name: functions[name] for name in in_main}


def main():
    shutil.rmtree("clang_rules", ignore_errors=True)
    os.mkdir("clang_rules")
    os.chdir("clang_rules")
    names = make_names()
    in_main = make_sources(names)
    cases = [0, 0]
    index = 0
    while sum(cases) < wanted:
        index += 1
        if index % 4 == 0:
            text, by_default = profile_list(names)

            counts = compare(text, PROFILE, profiled, lambda functions: comparable(
                functions, in_main, by_default, "source:" in text))
        else:
            text, by_default = xray_list(names)
            counts = compare(text, XRAY, lambda attributes: xray(attributes, by_default))
        cases = [cases[0] + counts[0], cases[1] + counts[1]]
    with open("main.c", "w") as out:
        out.write("void get(void) {}\n")
    for text, option, theirs, mine in DIFFERENCES:
        found = compile_with(text, option)["get"]
        decided = xray(found, False) if option is XRAY else profiled(found)
        if decided != theirs or ours(found) != mine:
            sys.exit("no longer a difference as documented: Clang says %s, we say %s:%s\n%s" %
                     (decided, ours(found), found, text))
    print("%d lists, %d functions each: %d chosen, %d not; %d differences as documented" %
          (index, FUNCTIONS, cases[1], cases[0], len(DIFFERENCES)))
    if min(cases) < sum(cases) // 5:
        sys.exit("the lists are too much alike to show anything")


main()
