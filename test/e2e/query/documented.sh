#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs docs/queries.md: its commands, whose columns are as shown, its Python (that with pandas and
# pyarrow if these are there), and its SQL for DuckDB if npm has that.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

expect 0 "$TEEPERF" cc -O2 -g -pthread -o app "$lib/query_program.c"
expect 0 "$TEEPERF" record -q --clock tsc -o teeperf.trace -- ./app 3 300
expect 0 "$TEEPERF" record -q --clock tsc -o before.trace -- ./app 2 250
status=0
# The one of Debian has Debian's pandas; another may come first.
python=python3
"$python" -c 'import pandas' 2>log || [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
"$python" "$lib/run_queries_doc.py" "$root/docs/queries.md" "$TEEPERF" >ran || status=$?
cat ran
[ $status = 0 ] || [ $status = 77 ] || fail "docs/queries.md"
modules=${TEEPERF_PARQUET_READERS:-$(npm root -g 2>/dev/null || true)}
if [ -d "$modules/@duckdb/node-api" ]; then
	[ -s duckdb.sql ] || fail "no SQL for DuckDB"
	node "$lib/duckdb_run.cjs" "$modules" duckdb.sql
fi
exit $status
