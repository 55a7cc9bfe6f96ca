#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that DuckDB and hyparquet read our Parquet files, and find in them what SQL over the trace
# gives. Neither is a package of Debian's: they are looked for among npm's global packages, or in
# the node_modules of TEEPERF_PARQUET_READERS.
# tier: full
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
modules=${TEEPERF_PARQUET_READERS:-$(npm root -g 2>/dev/null || true)}
command -v node >/dev/null || skip "no node"
[ -d "$modules/@duckdb/node-api" ] || [ -d "$modules/hyparquet-compressors" ] ||
	skip "neither DuckDB nor hyparquet is there (npm install -g @duckdb/node-api hyparquet" \
	"hyparquet-compressors)"

expect 0 "$TEEPERF" cc -O2 -g -pthread -o app "$lib/query_program.c"
expect 0 "$TEEPERF" record -q --clock tsc -o app.trace -- ./app 2 9000
expect 0 "$TEEPERF" export --format parquet -o files app.trace
node "$lib/parquet_readers.cjs" "$modules" files >read
"$TEEPERF" query --format tsv app.trace \
	'SELECT fn, count(*), sum(self_raw_ns), sum(start_ns) FROM calls GROUP BY fn ORDER BY fn' \
	2>/dev/null | tail -n +2 | tr '\t' ' ' >wanted
for reader in duckdb hyparquet; do
	sed -n "s/^$reader \([0-9]\)/\1/p" read >$reader
	[ ! -s $reader ] || cmp $reader wanted || fail "$reader reads something else"
done
[ -s duckdb ] || [ -s hyparquet ] || fail "nothing was read"
if [ -s duckdb ]; then
	returned=$("$TEEPERF" query --format tsv app.trace \
		"SELECT count(*) FROM calls WHERE how = 'returned'" 2>/dev/null | tail -n 1)
	says "^duckdb joined $returned\$" read
fi
