#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a report has what analyze has: its data, read by an independent reader, agree with
# each other and with the sums of analyze, for all traces of the golden tests, folded or not; and
# that its page may run nothing but its own script, whatever names there are.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# Of each trace, for report_data.py. The graph of calls, which dot lays out for each report, is that
# of report/graph.
expect 0 env PATH=/nonexistent "$(command -v python3)" - "$root" "$lib" <<'EOS'
import os, sys
root, lib = sys.argv[1:]
sys.path.insert(0, lib)
from many import run

pairs = open("pairs", "w", encoding="utf-8")
count = 0


def save(name, *words):
    """The trace's analysis as JSON, and whether it is damaged."""
    done = run("analyze", *words, "--format", "json", "case.trace")
    with open(name, "wb") as file:
        file.write(done.stdout)
    return done


def report(status, how, page, json, *words):
    done = run("report", *words, "-o", page, "case.trace")
    if done.returncode != status:
        sys.exit("report %s: exit status %d, not %d: %s" %
                 (page, done.returncode, status, done.stderr.decode()))
    print(page, json, how, file=pairs)


for name in sorted(os.listdir(root + "/test/golden")):
    text = "%s/test/golden/%s/trace.txt" % (root, name)
    if not os.path.exists(text):
        continue
    if run("dump", "--assemble", text, "-o", "case.trace").returncode:
        sys.exit(name + " cannot be made")
    status = save(name + ".raw.json", "--raw").returncode
    report(status, "whole", name + ".raw.html", name + ".raw.json", "--raw")
    report(status, "folded", name + ".few.html", name + ".raw.json", "--raw", "--paths", "2",
           "--calls", "9")
    for limit in (["--depth=2"], ["--min-time=40ns", "--depth=9"]):
        part = name + "." + limit[0].partition("=")[0]
        done = save(part + ".json", "--raw", *limit)
        if done.returncode != status:
            if b"recorded without a clock" not in done.stderr:
                sys.exit("%s: %s" % (part, done.stderr.decode()))
            continue
        report(status, "whole", part + ".html", part + ".json", "--raw", *limit)
    save(name + ".json")
    report(status, "plain", name + ".html", name + ".json")
    count += 1
print(count)
EOS
count=$(cat out)
# shellcheck disable=SC2046 # words are meant
expect 0 python3 "$lib/report_data.py" $(cat pairs)
[ "$(grep -c ' 0 contradictions$' out)" -gt $((4 * count)) ] ||
	fail "only $(wc -l <out) reports were compared"
# The recorded times decide which calls are short.
"$TEEPERF" report --min-time 1us -o case.html case.trace 2>err || [ $? = 1 ]
says 'with --min-time, times are as recorded' err
[ $count -gt 20 ] || fail "only $count traces"

# ---- a call that is too short, on a path where others are long enough, begins another: all of it
# is its caller's
cat >short.txt <<'EOS'
clock kind=tsc hz=1000000000
command
	string "/"
	string "short"
symbols
	symbol 0x401000 "main" file="a.c" line=1
	symbol 0x401010 "f" file="a.c" line=2
	symbol 0x401020 "g" file="a.c" line=3
chunk thread=0 tid=100 sequence=0 time=0
	0 enter 0x401000
	1000 enter 0x401010
	1400 enter 0x401020
	2900 exit 0x401020
	3000 exit 0x401010
	4000 enter 0x401010
	4800 enter 0x401020
	4850 exit 0x401020
	4900 exit 0x401010
	6000 exit 0x401000
end
EOS
expect 0 "$TEEPERF" dump --assemble short.txt -o short.trace
expect 0 "$TEEPERF" analyze --raw --min-time 1us --format json short.trace
mv out short.json
expect 0 "$TEEPERF" report --raw --min-time 1us -o short.html short.trace
expect 0 python3 "$lib/report_data.py" short.html short.json whole
