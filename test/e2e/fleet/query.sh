#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that answers of 'fleet query' are those of 'analyze' over the traces, of builds whose functions have other numbers; that a known
# regression is found and an unchanged build is not reported; that only the tables and folders are opened that a query needs; and that
# the questions are the same in DuckDB if npm has that.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

expect 0 python3 "$lib/fleet_questions.py" make
for text in *.txt; do
	"$TEEPERF" dump --assemble "$text" -o "${text%.txt}.trace"
done
expect 0 "$TEEPERF" fleet add -q --to fleet --host one --git-revision first worse-0-*.trace same-0-*.trace
expect 0 "$TEEPERF" fleet add -q --to fleet --host two --git-revision second worse-1-*.trace same-1-*.trace
expect 0 python3 "$lib/fleet_questions.py" check "$TEEPERF" fleet worse-*.trace same-*.trace
says '^[0-9]* functions of 32 runs$' out

# A file that a query does not need may be no file at all.
cp -R fleet partly
for file in partly/paths/day=*/program=*/run=*/*.parquet partly/functions/day=*/program=worse/run=*/*.parquet \
	partly/functions/day=2023-11-15/program=*/run=*/*.parquet; do
	echo nothing >"$file"
done
expect 0 "$TEEPERF" fleet query --program same --day 2023-11-14 partly top
expect 1 "$TEEPERF" fleet query partly top
says "functions.parquet" err
expect 0 "$TEEPERF" fleet query --sql 'SELECT count(*) FROM histograms; SELECT count(*), count(host) FROM runs' partly

expect 0 "$TEEPERF" fleet compact -q fleet
expect 0 python3 "$lib/fleet_questions.py" check "$TEEPERF" fleet worse-*.trace same-*.trace

expect 0 "$TEEPERF" fleet query
for name in top regressions p99 hosts skip rare cost; do
	says "^$name  *[a-z]" out
	grep -q "^| \`$name\` |" "$root/docs/fleet.md" || fail "docs/fleet.md does not explain $name"
done
[ "$(wc -l <out)" = 7 ] || fail "$(cat out)"
cp out listed
expect 0 "$TEEPERF" fleet query fleet
cmp out listed || fail "the list is another with a folder"
expect 0 "$TEEPERF" fleet query --show top
says '^WITH sums' out
expect 0 "$TEEPERF" fleet query --format csv fleet cost
says '^program,runs,' out
expect 129 "$TEEPERF" fleet query fleet no-such-question
expect 129 "$TEEPERF" fleet query --param no_such=1 fleet top
expect 129 "$TEEPERF" fleet query --day yesterday fleet top
expect 129 "$TEEPERF" fleet query --show
# For ClickHouse, with the values of parameters: fleet/clickhouse runs them there.
expect 0 "$TEEPERF" fleet query --show --dialect clickhouse --database other --param "program=it's" --param most=3 top
says 'WHERE run_id GLOBAL IN \(SELECT run_id FROM other\.runs\)$' out
says "ifNull\('it\\\\'s', program\) = program" out
says 'LIMIT 3;$' out
! grep -q '{[a-z]*:' out || fail "parameters are left: $(cat out)"
for name in top regressions p99 hosts skip rare cost; do
	expect 0 "$TEEPERF" fleet query --show --dialect clickhouse $name
	says '^SELECT ' out
done
for wrong in "--dialect clickhouse fleet top" "--database x fleet top" "--show --dialect clickhouse --param most=x top" \
	"--show --dialect clickhouse --param function=x top" "--show --dialect clickhouse --database a.b top" \
	"--show --dialect other top"; do
	expect 129 "$TEEPERF" fleet query $wrong
done
expect 1 "$TEEPERF" fleet query . top
says 'is no folder of a fleet' err
expect 1 "$TEEPERF" fleet query --sql 'SELECT * FROM no_such' fleet
says 'fleet schema' err
expect 1 "$TEEPERF" fleet query --sql 'DELETE FROM runs' fleet
expect 1 "$TEEPERF" fleet query --sql 'SELECT nothing FROM runs' fleet
says 'nothing' err

modules=${TEEPERF_PARQUET_READERS:-$(npm root -g 2>/dev/null || true)}
if command -v node >/dev/null && [ -d "$modules/@duckdb/node-api" ]; then
	for name in top regressions hosts skip rare cost p99; do
		[ $name = p99 ] && parameter=function=lookup || parameter=program=worse
		"$TEEPERF" fleet query --show $name >$name.sql
		"$TEEPERF" fleet query --format json --param $parameter fleet $name >$name.json
		node "$lib/fleet_ask.cjs" "$modules" $name.sql $parameter $name.json
	done
else
	echo "no DuckDB: the questions were run in SQLite alone"
fi
