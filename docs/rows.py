#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write what documents take from the tables of rows, runtime/ports.def and the like.

rows.py SOURCE man OUTPUT        fill @WORDS@ in the manual pages of docs/man/, and write them to OUTPUT
rows.py SOURCE ports [--update]  compare the table in docs/platforms/README.md with the rows, or write it
"""

import os
import re
import sys

TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\]|\\.)*\"|[(){},]|[^\s\"(){},/]+|/|\s+", re.S)
TABLE = re.compile(r"(?<=<!-- ports: written by docs/rows.py -->\n).*?(?=<!-- end -->)", re.S)
CLOCKS = {"AUTO": "any", "SOFT": "soft", "HARDWARE": "the processor's"}


def text_of(tokens):
    """What an argument says: its strings as one, without quotes, and the names of macros among them."""
    if tokens and tokens[0][0] == '"':
        escapes = {"n": "\n"}
        return "".join(re.sub(r"\\(.)", lambda match: escapes.get(match.group(1), match.group(1)), token[1:-1])
                       if token[0] == '"' else token for token in tokens)
    return " ".join(tokens)


def rows(path, macro):
    """The arguments of each MACRO(...) of a file."""
    with open(path, encoding="utf-8") as file:
        tokens = [token for token in TOKEN.findall(file.read())
                  if not token.isspace() and not token.startswith(("/*", "//"))]
    found, depth = [], 0
    for before, token in zip([""] + tokens, tokens):
        if token in "({":
            if depth == 0 and before == macro:
                found.append([[]])
            depth += 1
            if depth == 1:
                continue
        elif token in ")}":
            depth -= 1
        if depth == 1 and token == ",":
            found[-1].append([])
        elif depth:
            found[-1][-1].append(token)
    if not found:
        sys.exit("%s: there is no row of %s" % (path, macro))
    return [[text_of(argument) for argument in row] for row in found]


class Port:
    def __init__(self, row):
        self.name, self.runtime = row[:2]
        self.fields = {}
        for field in row[4:]:
            name, _, value = field.partition(" = ")
            self.fields[name.lstrip(".")] = text_of(re.findall(r'"(?:[^"\\]|\\.)*"', value)) or value

    def line(self):
        """Its line in the table of docs/platforms/README.md."""
        use, _, log = self.fields["summary"].partition(": ")
        pages = self.fields.get("pages", "").split()
        clock = self.fields["clock"].replace("TP_CLOCK_CHOICE_", "")
        return "| `%s` | %s | %s | %s | %s |\n" % (
            self.name, use, log, CLOCKS[clock],
            ", ".join("[%s](%s.md)" % (page, page) for page in pages) or "[clocks](../clocks.md)")


def sentence(names, last):
    return ", ".join(names[:-1]) + last + names[-1]


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def option_text(row, ports):
    """An option of cc in a manual page: a sentence as in --help, and what the row has more of it."""
    _, name, _, _, _, argument, _, text, more = row[:9]
    text = text[0].upper() + text[1:].replace("TP_PORT_NAMES", ports) + "."
    lines = [".TP", "\\fB%s\\fR \\fI%s\\fR" % (roff("--" + name), argument), text.replace("--", "\\-\\-")]
    return "\n".join(lines + [more] if more else lines)


def words(source):
    """What stands for each @WORD@ in a manual page."""
    options = [row for row in rows(source + "/cli/driver/cc_options.def", "TP_CC_OPTION") if row[2] != "PLUGIN"]
    ports = [Port(row) for row in rows(source + "/runtime/ports.def", "TP_PORT")]
    lines = [".RS"]
    for port in ports:
        lines += [".TP", "\\fB%s\\fR" % port.name, roff(port.fields["summary"])]
    names = sentence([port.name for port in ports], " or ")
    return {
        "CC_OPTIONS": "\n".join(option_text(row, names) for row in options),
        "CC_VARIABLES": ", ".join(row[4] for row in options),
        "PORTS": names,
        "PORT_LIST": "\n".join(lines + [".RE"]),
        "PORTS_WITH_LIBRARIES": sentence(
            [port.name for port in ports if port.runtime in ("SYSTEM", "STREAM")], " and "),
    }


def write_pages(source, output):
    known = words(source)

    def fill(match):
        if match.group(1) not in known:
            sys.exit("%s: there is nothing for '%s'" % (path, match.group()))
        return known[match.group(1)]

    os.makedirs(output, exist_ok=True)
    names = [name for name in os.listdir(source + "/docs/man") if name.endswith(".1")]
    for name in set(os.listdir(output)) - set(names):
        os.remove(os.path.join(output, name))
    for name in names:
        path = os.path.join(source, "docs/man", name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        while re.search(r"@[A-Z_]+@", text):
            text = re.sub(r"@([A-Z_]+)@", fill, text)
        with open(os.path.join(output, name), "w", encoding="utf-8") as file:
            file.write(text)
    return 0


def check_ports(source, update):
    path = source + "/docs/platforms/README.md"
    ports = [Port(row) for row in rows(source + "/runtime/ports.def", "TP_PORT")]
    table = "| port | for | the log | `--clock auto` | page |\n|---|---|---|---|---|\n"
    table += "".join(port.line() for port in ports)
    missing = [page for port in ports for page in port.fields.get("pages", "").split()
               if not os.path.exists("%s/docs/platforms/%s.md" % (source, page))]
    for page in missing:
        print("docs/platforms/%s.md, which runtime/ports.def names, is not there" % page)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not TABLE.search(text):
        print("docs/platforms/README.md has no place for the table of ports")
        return 1
    wanted = TABLE.sub(lambda _: table, text)
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
    elif text != wanted:
        print("docs/platforms/README.md is not what runtime/ports.def says; to write it: docs/rows.py . ports --update")
        return 1
    print("%d ports" % len(ports))
    return 1 if missing else 0


def main(arguments):
    if len(arguments) == 3 and arguments[1] == "man":
        return write_pages(arguments[0], arguments[2])
    if arguments[1:] in (["ports"], ["ports", "--update"]):
        return check_ports(arguments[0], len(arguments) == 3)
    sys.exit(__doc__)


sys.exit(main(sys.argv[1:]))
