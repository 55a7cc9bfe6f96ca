#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# teeperf record --budget: functions that were switched off have estimated totals, the same ones in
# each format; functions that were always on stay exact; and windows change nothing else.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
fake= # the functions are where the trace says

cat >steps.c <<'EOT'
#include <stdio.h>
#include <unistd.h>
#define KEEP __attribute__((noinline, used))
/* Long enough for what an event costs not to be most of a window: of others there is no estimate. */
KEEP int tiny(int n)
{
	for (int i = 0; i < 400; i++)
		__asm__ volatile("" : "+r"(n));
	return n + 1;
}
KEEP int slow(int n)
{
	for (int i = 0; i < 20000; i++)
		__asm__ volatile("" : "+r"(n));
	return n;
}
int main(void)
{
	int n = 0;
	int rounds = 0;
	for (; access("end", F_OK); rounds++) {
		for (int i = 0; i < 1000; i++)
			n = tiny(n);
		n = slow(n);
	}
	printf("%d rounds\n", rounds);
	return 0;
}
EOT
"$TEEPERF" cc -O1 -o steps steps.c

cat >has_estimate.py <<'EOT'
import csv, sys
rows = {row["function"]: row for row in csv.DictReader(open("top.csv"))}
sys.exit(not rows["tiny"]["calls_estimated"])
EOT
# How long it takes until there are windows is the machine's business.
found=
for seconds in 2 4 8 16 32; do
	rm -f end
	begin run "$TEEPERF" record -o steps.trace --size 256M --ready 256M \
		--budget 5% ./steps
	recorder=$begun
	await_true '"$TEEPERF" ctl status "$recorder" >status 2>&1 && grep -q "^functions  all but" status' \
		'a function that is off'
	sleep $seconds
	: >end
	ended 0 run
	expect 0 "$TEEPERF" analyze --strict --format csv steps.trace
	mv out top.csv
	if python3 has_estimate.py; then
		found=yes
		break
	fi
done
[ "$found" ] || fail 'no estimate was made'
rounds=$(sed -n 's/ rounds$//p' run.out)

# What was always on is exact, and has no estimate.
says "^slow,$rounds," top.csv
says '^main,1,' top.csv
expect 0 "$TEEPERF" analyze steps.trace
says '^estimated  all calls of 1 of these functions' out
says '^ *calls +recorded +estimated +\+/-' out
! grep -E '^ *[0-9,]+ +[0-9.]+% .* (slow|main)$' out ||
	fail 'a function that was always on is not exact'
expect 0 "$TEEPERF" analyze --format json steps.trace
mv out top.json
says '"id": *"estimated"' top.json
expect 0 "$TEEPERF" query --format csv steps.trace \
	"SELECT function, calls, calls_estimated, calls_estimated_pm,
	inclusive_estimated_ns, inclusive_estimated_pm_ns FROM functions"
mv out sql.csv
expect 0 "$TEEPERF" export --format sqlite -o steps.sqlite steps.trace
expect 0 "$TEEPERF" export --format parquet -o parquet steps.trace

# The same from text, and without windows, as readers have it that do not know them.
"$TEEPERF" dump steps.trace >dump.txt
says '^windows$' dump.txt
"$TEEPERF" dump --assemble dump.txt -o again.trace
expect 0 "$TEEPERF" analyze --strict --format csv again.trace
cmp out top.csv
grep -v -e '^windows$' -e '^	window [0-9]*$' dump.txt >plain.txt
"$TEEPERF" dump --assemble plain.txt -o plain.trace
expect 0 "$TEEPERF" analyze --strict --format csv plain.trace
mv out plain.csv

cat >agree.py <<'EOT'
import csv, glob, json, sqlite3, sys
sys.path.insert(0, sys.argv[1])
import parquet_read

KEYS = ["calls_estimated", "calls_estimated_pm", "inclusive_estimated_ns", "inclusive_estimated_pm_ns"]


def number(text):
    return None if text in ("", None, -1) else int(text)


top = list(csv.DictReader(open("top.csv")))
wanted = {row["function"]: [number(row[key]) for key in KEYS] for row in top}
assert wanted["slow"] == wanted["main"] == [None] * 4, wanted
tiny = wanted["tiny"]
calls = {row["function"]: int(row["calls"]) for row in top}
assert tiny[0] >= calls["tiny"] and tiny[1] > 0, (tiny, calls)
print(f"called {10000 * int(sys.argv[2])} times, estimated {tiny[0]} +/- {tiny[1]}, recorded {calls['tiny']}")


def same(what, rows):
    got = {row["function"]: [number(row[key]) for key in KEYS] for row in rows}
    assert got == wanted, f"{what}: {got}, and CSV has {wanted}"


same("JSON", json.load(open("top.json"))["functions"])
same("SQL", csv.DictReader(open("sql.csv")))
database = sqlite3.connect("steps.sqlite")
database.row_factory = sqlite3.Row
same("SQLite", database.execute("SELECT * FROM functions"))
(path,) = glob.glob("parquet/functions/*/*.parquet")
columns, _ = parquet_read.read(path)
rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
same("Parquet", [{**row, "function": row["function"].decode()} for row in rows])

plain = list(csv.DictReader(open("plain.csv")))
assert all(row[key] == "" for row in plain for key in KEYS), plain
assert [{**row, **dict.fromkeys(KEYS, "")} for row in top] == plain, "windows change what was recorded"
EOT
python3 agree.py "$lib" "$rounds" || fail 'formats do not agree'
expect 0 "$TEEPERF" report -o steps.html steps.trace
python3 "$lib/report_data.py" steps.html top.json plain
