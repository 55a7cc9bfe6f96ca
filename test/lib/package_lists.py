# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which Debian package has which file: package_lists.py SOURCE STAGE

Holds debian/*.install of SOURCE against STAGE, the folder that 'cmake --install' filled as DESTDIR
with the prefix /usr. Each file is in one package, each line of a list has a file, and no two
packages bring the same path.
"""
import fnmatch
import os
import re
import sys


def packages(source):
    """Names of binary packages, with a mark on those of a build profile."""
    found = {}
    with open(source + "/debian/control", encoding="utf-8") as file:
        for part in file.read().split("\n\n")[1:]:
            name = re.search(r"^Package: (\S+)$", part, re.M).group(1)
            found[name] = re.search(r"^Build-Profiles:", part, re.M) is not None
    return found


def lines(source, package):
    path = "%s/debian/%s.install" % (source, package)
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and not words[0].startswith("#"):
                yield words[0], words[1] if len(words) > 1 else None


def matches(path, pattern):
    """The pattern of dh_install: it means files, or folders with all that is in them."""
    depth = pattern.count("/") + 1
    return fnmatch.fnmatchcase("/".join(path.split("/")[:depth]),
                               pattern) and path.count("/") + 1 >= depth


def target(path, pattern, folder):
    """Where the package has the file."""
    if folder is None:
        return path
    above = pattern.count("/")
    return "/".join([folder] + path.split("/")[above:])


def main(source, stage):
    files = sorted(os.path.relpath(os.path.join(folder, name), stage)
                   for folder, _, names in os.walk(stage) for name in names)
    known = packages(source)
    owners, targets, wrong = {path: [] for path in files}, {}, []
    for name in sorted(os.listdir(source + "/debian")):
        if name.endswith(".install") and name[:-len(".install")] not in known:
            wrong.append("debian/%s: debian/control has no such package" % name)
    for package, profiled in known.items():
        listed = list(lines(source, package))
        if not listed:
            wrong.append("debian/%s.install lists no file" % package)
        for pattern, folder in listed:
            hits = [path for path in files if matches(path, pattern)]
            if not hits and not profiled:
                wrong.append("debian/%s.install: nothing is '%s'" % (package, pattern))
            for path in hits:
                owners[path].append(package)
                targets.setdefault(target(path, pattern, folder), set()).add(package)
    for path, found in owners.items():
        if not found:
            wrong.append("'%s' is installed, but in no package: name it in one debian/*.install" %
                         path)
        elif len(found) > 1:
            wrong.append("'%s' is listed more than once: %s" % (path, ", ".join(found)))
    for path, found in targets.items():
        if len(found) > 1:
            wrong.append("'%s' would be in several packages: %s" % (path, ", ".join(sorted(found))))
    for line in wrong:
        print(line)
    print("%d files in %d packages" %
          (len(files), len({found[0] for found in owners.values() if found})))
    return 1 if wrong or not files else 0


sys.exit(main(*sys.argv[1:]))
