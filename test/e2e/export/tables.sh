#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that the exports to Parquet, CSV and SQLite hold what SQL over the trace gives, value by
# value, on golden traces and on a recorded one of several row groups: Parquet by a reader of our
# own that checks every page, offset and statistic, SQLite by Python's. And what a second export to
# the same place does.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

mkdir -p golden exports
for text in "$root"/test/golden/*/trace.txt; do
	"$TEEPERF" dump --assemble "$text" -o "golden/$(basename "$(dirname "$text")").trace"
done
expect 0 "$TEEPERF" cc -O2 -g -pthread -o app "$lib/query_program.c"
expect 0 "$TEEPERF" record -q --clock tsc -o app.trace -- ./app 3 60
expect 0 "$TEEPERF" record -q --clock tsc -o groups.trace -- ./app 1 9000
python3 "$lib/check_exports.py" "$TEEPERF" exports golden/*.trace app.trace \
	--parquet groups.trace >checked || fail "$(cat checked)"
says '; [2-9] row groups' checked

# ---- several runs in one directory, with names that a directory cannot have as they are
cp app.trace 'a=b c.trace'
expect 0 "$TEEPERF" export --format parquet -o runs app.trace
expect 0 "$TEEPERF" export --format parquet -o runs 'a=b c.trace'
[ -e 'runs/functions/run=app/functions.parquet' ] &&
	[ -e 'runs/calls/run=a%3Db%20c/thread=0/calls.parquet' ] || fail "$(find runs)"
expect 1 "$TEEPERF" export --format parquet -o runs app.trace
says 'run=app.*already exists' err
expect 1 "$TEEPERF" export --format parquet -o - app.trace
says 'name it with -o' err

# ---- SQLite
expect 0 "$TEEPERF" export --format sqlite app.trace
expect 0 "$TEEPERF" export --format sqlite app.trace
[ -s app.trace.sqlite ] || fail "no database"
expect 1 "$TEEPERF" export --format sqlite -o - app.trace
says 'name a file with -o' err
expect 1 "$TEEPERF" export --format sqlite -o nowhere/x app.trace
says "'nowhere/x': cannot write" err
# An existing file is replaced by a complete database or stays as it is; anything but a file is not
# touched at all.
mkfifo pipe
mkdir folder
for path in pipe folder; do
	expect 1 "$TEEPERF" export --format sqlite -o $path app.trace
	says "'$path': exists and is not a regular file" err
done
[ -p pipe ] && [ -d folder ] || fail "removed what it was not to touch"
echo old >kept
if (ulimit -f 8 && "$TEEPERF" export --format sqlite -o kept app.trace) >out 2>err; then
	fail "a database of more than the limit"
fi
[ "$(cat kept)" = old ] || fail "a failed export took the old file"
ln -s kept link
expect 0 "$TEEPERF" export --format sqlite -o link app.trace
[ -L link ] && cmp kept app.trace.sqlite || fail "through a link"
[ -z "$(ls -A | grep '^\.teeperf-')" ] || fail "a temporary file is left"
if [ -e /dev/full ]; then
	expect 1 "$TEEPERF" export --format csv -o /dev/full app.trace
	says 'cannot write' err
fi
if command -v sqlite3 >/dev/null; then
	sqlite3 -csv app.trace.sqlite \
		"SELECT f.function, count(*), sum(c.self_raw_ns) FROM calls c
			JOIN functions f ON f.fn = c.fn
		GROUP BY c.fn ORDER BY c.fn" >by_sqlite3
	"$TEEPERF" query --format csv app.trace \
		"SELECT f.function, count(*), sum(c.self_raw_ns) FROM calls c
		JOIN functions f ON f.fn = c.fn GROUP BY c.fn ORDER BY c.fn" 2>/dev/null |
		tail -n +2 >by_query
	tr -d '\r"' <by_sqlite3 | cmp - by_query || fail "the sqlite3 command reads something else"
fi

# ---- the filters that all commands have
"$TEEPERF" export --format csv --min-time 1us -o part.csv app.trace
"$TEEPERF" query --min-time 1us --format csv app.trace \
	'SELECT count(*) FROM calls' 2>/dev/null >part
[ "$(($(wc -l <part.csv) - 1))" = "$(tail -n 1 part)" ] || fail "--min-time"
