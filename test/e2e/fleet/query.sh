#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that answers of 'fleet query' are those of 'analyze' over the traces, of builds whose
# functions have other numbers; that a known regression is found and an unchanged build is not
# reported; that only the tables and folders are opened that a query needs; and that the questions
# are the same in DuckDB if npm has that.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

expect 0 python3 "$lib/fleet_questions.py" make
for text in *.txt; do
	"$TEEPERF" dump --assemble "$text" -o "${text%.txt}.trace"
done
expect 0 "$TEEPERF" fleet add -q --to fleet --host one \
	--git-revision first worse-0-*.trace same-0-*.trace
expect 0 "$TEEPERF" fleet add -q --to fleet --host two \
	--git-revision second worse-1-*.trace same-1-*.trace
expect 0 python3 "$lib/fleet_questions.py" check "$TEEPERF" fleet worse-*.trace same-*.trace
says '^[0-9]* functions of 32 runs$' out

# A file that a query does not need may be no file at all.
cp -R fleet partly
for file in partly/paths/day=*/program=*/run=*/*.parquet \
	partly/functions/day=*/program=worse/run=*/*.parquet \
	partly/functions/day=2023-11-15/program=*/run=*/*.parquet; do
	echo nothing >"$file"
done
expect 0 "$TEEPERF" fleet query --program same --day 2023-11-14 partly top
expect 1 "$TEEPERF" fleet query partly top
says "functions.parquet" err
expect 0 "$TEEPERF" fleet query \
	--sql 'SELECT count(*) FROM histograms; SELECT count(*), count(host) FROM runs' partly

expect 0 "$TEEPERF" fleet compact -q fleet
expect 0 python3 "$lib/fleet_questions.py" check "$TEEPERF" fleet worse-*.trace same-*.trace

expect 0 "$TEEPERF" fleet query
for name in top regressions p99 hosts skip rare cost; do
	says "^$name  *[a-z]" out
	grep -q "^| \`$name\` |" "$root/docs/fleet.md" ||
		fail "docs/fleet.md does not explain $name"
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
expect 0 "$TEEPERF" fleet query --show --dialect clickhouse --database other \
	--param "program=it's" --param most=3 top
says 'WHERE run_id GLOBAL IN \(SELECT run_id FROM other\.runs\)$' out
says "ifNull\('it\\\\'s', program\) = program" out
says 'LIMIT 3;$' out
! grep -q '{[a-z]*:' out || fail "parameters are left: $(cat out)"
for name in top regressions p99 hosts skip rare cost; do
	expect 0 "$TEEPERF" fleet query --show --dialect clickhouse $name
	says '^SELECT ' out
done
for wrong in "--dialect clickhouse fleet top" "--database x fleet top" \
	"--show --dialect clickhouse --param most=x top" \
	"--show --dialect clickhouse --param function=x top" \
	"--show --dialect clickhouse --database a.b top" "--show --dialect other top"; do
	expect 129 "$TEEPERF" fleet query $wrong
done
expect 1 "$TEEPERF" fleet query . top
says 'is not a folder of a fleet' err
expect 1 "$TEEPERF" fleet query --sql 'SELECT * FROM no_such' fleet
says 'fleet schema' err
expect 1 "$TEEPERF" fleet query --sql 'DELETE FROM runs' fleet
expect 1 "$TEEPERF" fleet query --sql 'SELECT nothing FROM runs' fleet
says 'nothing' err

# Labels and builds choose runs, one by one in compacted files, too; the statement that --show
# prints has them, and its answer is that.
expect 0 "$TEEPERF" fleet add -q --to labelled --git-revision first --label environment=canary \
	--label 'team=a "b"' worse-0-*.trace
expect 0 "$TEEPERF" fleet add -q --to labelled --git-revision first \
	--label environment=prod same-0-*.trace
expect 0 "$TEEPERF" fleet add -q --to labelled --git-revision second --label environment=prod \
	--label team=c worse-1-*.trace
expect 0 "$TEEPERF" fleet add -q --to labelled --git-revision second same-1-*.trace
cp -R "$root/test/fleet-samples/schema-2/experiments" labelled/
runs_of() {
	wanted=$1
	shift
	got=$("$TEEPERF" fleet query --format tsv --sql 'SELECT count(*) FROM runs' "$@" labelled |
		tail -n 1)
	[ "$got" = "$wanted" ] || fail "$got runs, not $wanted: $*"
}
same_answer() {
	for name in top cost p99 rare; do
		[ $name = p99 ] && parameter=function=lookup || parameter=program
		"$TEEPERF" fleet query --format csv \
			--param $parameter "$@" labelled $name >reader.csv
		"$TEEPERF" fleet query --show "$@" $name >shown.sql
		set -- "$@" -- --param $parameter
		for each in program function old new least most quantile; do
			if grep -q "\$$each" shown.sql && [ $each != ${parameter%=*} ]; then
				set -- "$@" --param $each
			fi
		done
		chosen=
		while [ "$1" != -- ]; do
			chosen="$chosen '$1'"
			shift
		done
		shift
		"$TEEPERF" fleet query --format csv "$@" --sql "$(cat shown.sql)" labelled \
			>shown.csv || fail "$name: $(cat shown.sql)"
		diff reader.csv shown.csv || fail "$name with $chosen"
		[ "$(wc -l <reader.csv)" -gt 1 ] || fail "$name with $chosen has no rows"
		eval "set -- $chosen"
	done
}
for how in apart compacted; do
	[ $how = apart ] || expect 0 "$TEEPERF" fleet compact -q labelled
	runs_of 8 --label environment=canary
	runs_of 16 --label environment=prod
	runs_of 24 --label environment=prod --label environment=canary
	runs_of 8 --label environment=prod --label team=c
	runs_of 8 --label 'team=a "b"'
	runs_of 0 --label environment=can
	runs_of 16 --build second
	runs_of 8 --build second --label environment=prod --program worse --day 2023-11-15
	same_answer --label environment=prod
	same_answer --label 'team=a "b"' --build first
	same_answer --day 2023-11-14..2023-11-14 --program worse
done
expect 0 "$TEEPERF" fleet query --label environment=canary \
	--sql 'SELECT count(*) FROM experiments' labelled
expect 129 "$TEEPERF" fleet query --label canary labelled top
says "'canary' is not of the form KEY=VALUE" err
expect 0 "$TEEPERF" fleet query --show --dialect clickhouse --label environment=canary \
	--build first top
says 'SELECT run_id FROM \(SELECT \* FROM teeperf.runs WHERE \(build_id IN' out
expect 0 "$TEEPERF" fleet allowlist --label environment=canary -o canary.allow labelled
says '^# fleet +8 runs of 1 program$' canary.allow
expect 1 "$TEEPERF" fleet allowlist --label environment=none labelled

modules=${TEEPERF_PARQUET_READERS:-$(npm root -g 2>/dev/null || true)}
if command -v node >/dev/null && [ -d "$modules/@duckdb/node-api" ]; then
	for name in top regressions hosts skip rare cost p99; do
		[ $name = p99 ] && parameter=function=lookup || parameter=program=worse
		"$TEEPERF" fleet query --show $name >$name.sql
		"$TEEPERF" fleet query --format json --param $parameter fleet $name >$name.json
		node "$lib/fleet_ask.cjs" "$modules" $name.sql $parameter $name.json
	done
	mv fleet all
	mv labelled fleet
	for name in top cost; do
		set -- --label environment=prod --label environment=canary --build first \
			--day 2023-11-14
		"$TEEPERF" fleet query --show "$@" $name >$name.sql
		"$TEEPERF" fleet query --format json "$@" \
			--param program=worse fleet $name >$name.json
		node "$lib/fleet_ask.cjs" "$modules" $name.sql program=worse $name.json
	done
else
	echo "no DuckDB: the questions were run in SQLite alone"
fi
