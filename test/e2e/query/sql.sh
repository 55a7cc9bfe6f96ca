#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that SQL over traces gives what analyze gives, to the nanosecond, and what a sort gives, on
# golden traces and a recorded one; that conditions which are looked at early change nothing; that
# SQL cannot write; that errors name their place; that Ctrl-C ends a query; and what each format
# looks like.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

query() {
	"$TEEPERF" query "$@" 2>>notes
}

# ---- the same numbers
mkdir -p golden
for text in "$root"/test/golden/*/trace.txt; do
	"$TEEPERF" dump --assemble "$text" -o "golden/$(basename "$(dirname "$text")").trace"
done
expect 0 "$TEEPERF" cc -O2 -g -pthread -o app "$lib/query_program.c"
expect 0 "$TEEPERF" record -q --clock tsc -o app.trace -- ./app 3 400
expect 0 "$TEEPERF" record -q --clock soft --compress -o soft.trace -- ./app 2 100
python3 "$lib/query_agrees.py" "$TEEPERF" golden/*.trace app.trace soft.trace
for range in --time-range=1us..2ms --min-time=2us --thread=1 --depth=4 --focus=recurse \
	--ignore=recurse; do
	query "$range" --raw --format csv app.trace \
		'SELECT count(*), sum(self_raw_ticks) AS "sum(self_ticks)" FROM calls' >part.calls
	query "$range" --raw --format csv app.trace \
		'SELECT sum(calls) AS "count(*)", sum(self_ticks) FROM thread_paths' >part.paths
	tail -n +2 part.calls >a && tail -n +2 part.paths >b && cmp a b ||
		fail "$range: $(cat part.calls part.paths)"
	# And for each function; times of single calls are rounded to nanoseconds, each by itself.
	query "$range" --raw --format csv app.trace \
		'SELECT f.function, f.calls, count(c.id) AS single, f.self_ns, sum(c.self_raw_ns)
		FROM functions f LEFT JOIN calls c ON c.fn = f.fn GROUP BY f.fn
		HAVING single <> f.calls
		OR abs(coalesce(sum(c.self_raw_ns), 0) - f.self_ns) > single + 1' >differ
	[ "$(wc -l <differ)" = 1 ] || fail "$range: $(cat differ)"
done

# ---- beyond the memory limit, the same from a file
query app.trace --format csv 'SELECT * FROM calls' >memory.csv
TMPDIR=$PWD query app.trace --memory 64K --format csv 'SELECT * FROM calls' >file.csv
cmp memory.csv file.csv || fail "calls in a file are others"
if ls teeperf-calls.* >/dev/null 2>&1; then
	fail "the file of calls was left"
fi
expect 1 env TMPDIR=/nonexistent "$TEEPERF" query app.trace --memory 1K \
	'SELECT max(duration_ns) FROM calls'
says "nonexistent.*TMPDIR" err

# ---- formats
t=golden/two-threads.trace
sql="SELECT 1 AS one, NULL AS none, 'a\"b,c' AS text, 2.5 AS real, x'00ff' AS blob"
[ "$(query --format csv $t "$sql")" = 'one,none,text,real,blob
1,,"a""b,c",2.5,00ff' ] || fail csv
[ "$(query --format json $t "$sql")" = '[
{"one":1,"none":null,"text":"a\"b,c","real":2.5,"blob":"00ff"}
]' ] || fail json
[ "$(query --format tsv $t "SELECT 'a' || char(9) || 'b\\c' AS t, 1 AS n")" = "t	n
a\\tb\\\\c	1" ] || fail tsv
[ "$(query $t "SELECT function, calls FROM functions ORDER BY fn")" = 'function  calls
main          2
a             1' ] || fail table
[ "$(query $t "SELECT char(27) || '[1m' AS c")" = 'c
?[1m' ] || fail "an escape sequence came through"
[ "$(query --format json $t 'SELECT 1 WHERE 0')" = '[]' ] || fail "no rows"

# ---- ticks as nanoseconds, also of differences
[ "$(query --format csv app.trace \
	'SELECT ns(0) = 0 AND ns(3000000) > 0, ns(-3000000) = -ns(3000000), ns(NULL),
	ns(-9223372036854775807 - 1) <= -ns(9223372036854775807)' | tail -n 1)" = '1,1,,1' ] ||
	fail "ns() of a negative number"

# ---- standard output that takes no more, at once or at the end
for format in table csv json tsv; do
	for sql in 'SELECT 1' 'SELECT * FROM calls'; do
		expect 1 sh -c '"$TEEPERF" query --format $1 app.trace "$2" >/dev/full' sh $format \
			"$sql"
		says "'standard output': cannot write: No space left on device" err
	done
done

# ---- standard input, parameters, several traces
printf 'SELECT count(*) AS n\nFROM calls;\n.param who=a\n.format csv\nSELECT calls FROM functions WHERE function = :who' |
	query $t >out
[ "$(cat out)" = 'n
3
calls
1' ] || fail "standard input: $(cat out)"

# ---- lines that begin with a dot
printf '.format csv\n.tables\n' | expect 0 "$TEEPERF" query --attach b=$t $t
mv out tables
for table in calls events functions latencies meta modules paths thread_paths threads; do
	says "^main,$table,virtual$" tables
	says "^b,$table,virtual$" tables
	printf '.schema %s\n' $table | expect 0 "$TEEPERF" query $t
	says "$table: " out
done
for line in .help .schema .example '.show inside' '.example inside' '.param a=b' .quit; do
	printf '%s\n' "$line" | expect 0 "$TEEPERF" query $t
done
# On a terminal, too: no prompt, but a word about where one is, and an error is not the end.
expect 0 python3 - "$TEEPERF" $t <<'EOF'
import os, pty, sys
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "query", "--format", "csv", sys.argv[2]])
os.write(master, b".nosuch\nSELECT 6 *\n7 AS product;\n.quit\n")
text = b""
try:
    while True:
        part = os.read(master, 4096)
        if not part:
            break
        text += part
except OSError:  # its other end is closed
    pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.write(text.decode())
sys.exit(code if code or b"product\r\n42" in text else 1)
EOF
says 'rlwrap.*sqlite3' out
! grep -q '>' out || fail "a prompt: $(cat out)"
for line in .nosuch '.schema nosuch' '.show nosuch' '.format nosuch'; do
	printf '%s\n' "$line" | expect 1 "$TEEPERF" query $t
done
[ "$(query --format csv $t -p n=5 -p t=5x -p u 'SELECT typeof(:n) a, typeof(:t) b, :u IS NULL c')" \
	= 'a,b,c
integer,text,1' ] || fail parameters
[ "$(query --format csv --attach other=golden/recursion.trace $t \
	'SELECT (SELECT count(*) FROM calls) a, (SELECT count(*) FROM other.calls) b')" = 'a,b
3,5' ] || fail attach
for name in slice thread_track perf_calls perf_call_paths; do
	expect 0 "$TEEPERF" query --attach b=golden/recursion.trace app.trace \
		"SELECT * FROM $name; SELECT * FROM b.$name"
done

# ---- wrong, and forbidden
wrong() {
	expect 1 "$TEEPERF" query $t "$1"
	says "$2" err
}
wrong 'SELECT foo FROM calls' 'SQL:1:8: no such column: foo; --schema'
grep -q '^         ^$' err || fail "no caret below the column"
wrong 'SELECT 1;
SELEC 2' 'SQL:2:1: near "SELEC": syntax error'
wrong 'SELECT * FROM absent' 'SQL:1:15: no such table: absent'
wrong 'SELECT (1' 'SQL:1:10: incomplete input'
wrong 'SELECT 1; SELECT :x' 'SQL:1:18: the parameter :x has no value'
wrong 'SELECT ?' 'SQL:1:8: a parameter without a name'
expect 129 "$TEEPERF" query $t -p xy=1 'SELECT :x'
says 'the SQL has no :xy' err
expect 129 "$TEEPERF" query --example=inside -p bogus=1 $t
says 'no parameter :bogus' err
expect 1 "$TEEPERF" query --example=inside -p function=nosuch $t
says "named 'nosuch'" err
expect 0 "$TEEPERF" query --example=inside -p function=a $t
# The message names the refused statement, at its place.
refused() {
	wrong "$1" "SQL:1:$2: traces are read-only: $3 is not possible"
}
refused 'INSERT INTO calls VALUES (1)' 1 INSERT
refused 'REPLACE INTO calls VALUES (1)' 1 REPLACE
refused 'DELETE FROM calls' 1 DELETE
refused 'UPDATE calls SET dur = 0' 1 UPDATE
refused 'WITH x AS (SELECT 1) UPDATE calls SET dur = 0' 22 UPDATE
refused 'EXPLAIN DELETE FROM calls' 9 DELETE
refused 'SELECT 1; UPDATE sqlite_master SET sql = 1' 11 UPDATE
refused 'CREATE TABLE x(y)' 1 'CREATE TABLE'
refused 'CREATE TEMP TABLE x(y)' 1 'CREATE TABLE'
refused 'CREATE VIEW x AS SELECT 1' 1 'CREATE VIEW'
refused 'CREATE INDEX x ON calls(fn)' 1 'CREATE INDEX'
refused 'CREATE TRIGGER x AFTER INSERT ON calls BEGIN SELECT 1; END' 1 'CREATE TRIGGER'
refused 'CREATE VIRTUAL TABLE x USING teeperf_calls(0, 0)' 1 'CREATE TABLE'
refused 'DROP TABLE calls' 1 'DROP TABLE'
refused 'ALTER TABLE calls RENAME TO x' 1 'ALTER TABLE'
refused 'DETACH main' 1 DETACH
refused VACUUM 1 VACUUM
refused "VACUUM INTO 'x.db'" 1 VACUUM
refused ANALYZE 1 ANALYZE
refused REINDEX 1 REINDEX
refused BEGIN 1 BEGIN
refused 'ROLLBACK' 1 ROLLBACK
refused 'SAVEPOINT x' 1 SAVEPOINT
wrong "ATTACH 'x.db' AS x" 'read-only: ATTACH is not possible; --attach NAME=FILE'
wrong 'PRAGMA temp_store = file' 'read-only: PRAGMA temp_store is'
wrong 'SELECT * FROM pragma_journal_mode' 'read-only: PRAGMA journal_mode is'
wrong 'PRAGMA writable_schema = 1' 'read-only: PRAGMA writable_schema is'
wrong "SELECT load_extension('x')" 'SQL:1:8: .*read-only: load_extension\(\) is'
# SQL may be somebody else's: functions that write memory are refused, modules of SQLite are not
# there but json_each and json_tree. Without that, this would jump to the address AAAAAAAA.
tokenizer="SELECT fts3_tokenizer('simple', x'4141414141414141')"
wrong "$tokenizer; SELECT * FROM fts3tokenize WHERE input='a'" \
	'SQL:1:8: .*read-only: fts3_tokenizer\(\) is'
wrong "$tokenizer LIMIT 0" 'SQL:1:8: .*read-only: fts3_tokenizer\(\) is'
wrong "SELECT hex(fts3_tokenizer('simple'))" 'SQL:1:12: .*read-only: fts3_tokenizer\(\) is'
wrong "WITH x AS ($tokenizer) SELECT * FROM x" 'read-only: fts3_tokenizer\(\) is'
for module in fts3tokenize dbstat sqlite_stmt sqlite_dbpage fts5vocab; do
	wrong "SELECT count(*) FROM $module" "SQL:1:22: no such table: $module"
done
# What SQLite declares when it is first read, is read.
[ "$(query --format csv $t "SELECT value FROM json_each('[7]')")" = 'value
7' ] || fail json_each
[ "$(query --format csv $t "SELECT name FROM pragma_table_info('calls') LIMIT 1")" = 'name
id' ] || fail pragma_table_info
wrong 'SELECT pctl(duration_ns, 2) FROM calls' 'p must be from 0 to 1'
[ ! -e x.db ] || fail "SQL wrote a file"
# SQL before the trace is not SQL about teeperf.trace.
cp app.trace teeperf.trace
expect 129 "$TEEPERF" query 'SELECT count(*) FROM calls' $t
says "name the trace first: teeperf query '$t' SQL" err
rm teeperf.trace
expect 1 "$TEEPERF" query --attach 1x=$t $t SELECT
expect 129 "$TEEPERF" query --example=none $t
expect 129 "$TEEPERF" query

# ---- the examples and the schema
"$TEEPERF" query --example >examples
[ "$(wc -l <examples)" -ge 12 ] || fail "$(cat examples)"
while read -r name what; do
	expect 0 "$TEEPERF" query --example="$name" --attach b=soft.trace app.trace
	# Whether two threads met, and whether callees are redundant, is a matter of luck.
	[ "$(wc -l <out)" -gt 1 ] || [ "$name" = contention ] || fail "example $name gives nothing"
	"$TEEPERF" query --example="$name" --show >sql
	set --
	for parameter in function depth bucket; do
		grep -q ":$parameter" sql && set -- "$@" -p $parameter
	done
	"$TEEPERF" query --attach b=soft.trace "$@" app.trace "$(cat sql)" 2>/dev/null |
		cmp - out || fail "example $name is not what it shows"
done <examples
# ---- columns with a special measurement are explained once, when a query uses them
"$TEEPERF" query app.trace \
	"SELECT max(duration_ns) FROM calls; SELECT max(time_ns) FROM events" >out 2>err
if [ "$("$TEEPERF" query --format csv app.trace "SELECT value FROM meta
	WHERE key = 'times'" 2>/dev/null |
	tail -n 1)" = compensated ]; then
	[ "$(grep -c 'times of events, are as recorded' err)" = 1 ] ||
		fail "no note, or two: $(cat err)"
else
	fail "a recorded trace without known costs"
fi
for sql in 'SELECT count(*) FROM functions' 'SELECT max(self_ns), max(inclusive_ns) FROM calls' \
	'--raw SELECT max(duration_ns) FROM calls'; do
	case $sql in
	--raw*) "$TEEPERF" query --raw app.trace "${sql#--raw }" >out 2>err ;;
	*) "$TEEPERF" query app.trace "$sql" >out 2>err ;;
	esac
	! grep 'are as recorded' err || fail "$sql: a note"
done
mkdir -p truth
(cd truth && python3 "$lib/query_examples.py" "$TEEPERF")
"$TEEPERF" query --schema >schema
for table in threads modules functions paths thread_paths calls latencies events meta slice; do
	grep -q "$table: " schema || fail "$table is not explained"
	expect 0 "$TEEPERF" query --schema=$table
done

# ---- Ctrl-C
sql='WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT sum(x) FROM r'
begin endless "$TEEPERF" query $t "SELECT 1; $sql"
await endless.out 1
kill -INT $begun
ended 1 endless
says interrupted endless.err
