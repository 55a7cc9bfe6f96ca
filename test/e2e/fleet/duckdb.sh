#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that DuckDB, by the statements of docs/fleet.md, gets of a fleet what SQL over the traces
# gives, before and after it is compacted. DuckDB is no package of Debian's: it is looked for among
# npm's global packages, or in the node_modules of TEEPERF_PARQUET_READERS.
# tier: full
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
modules=${TEEPERF_PARQUET_READERS:-$(npm root -g 2>/dev/null || true)}
command -v node >/dev/null || skip "no node"
[ -d "$modules/@duckdb/node-api" ] || skip "DuckDB is not there (npm install -g @duckdb/node-api)"

runs=30
python3 "$lib/fleet_traces.py" traces $runs 300
for i in $(seq 0 $((runs - 1))); do
	"$TEEPERF" dump --assemble traces/$i.txt -o traces/$i.trace
done
expect 0 "$TEEPERF" fleet add -q --to fleet traces/*.trace
node "$lib/fleet_duckdb.cjs" "$modules" "$root/docs/fleet.md" >before
expect 0 "$TEEPERF" fleet compact fleet
node "$lib/fleet_duckdb.cjs" "$modules" "$root/docs/fleet.md" >after
cmp before after || fail "$(diff before after)"
for i in $(seq 0 $((runs - 1))); do
	"$TEEPERF" query --format tsv traces/$i.trace \
		'SELECT fn_key, function, calls, self_ns FROM functions' 2>/dev/null | tail -n +2
done | awk -F '\t' '{ name[$1] = $2; runs[$1]++; calls[$1] += $3; self[$1] += $4 }
	END { for (key in name) printf "1\t%s\t%s\t%d\t%d\t%.0f\n", key, name[key], runs[key], calls[key], self[key] }' |
	sort >wanted
grep '^1' before | sort | cmp - wanted ||
	fail "functions: $(grep '^1' before | sort | diff - wanted)"
# The exact percentiles, of all single calls without what recording cost: these traces have no
# costs.
for i in $(seq 0 $((runs - 1))); do
	"$TEEPERF" query --format tsv traces/$i.trace \
		'SELECT f.fn_key, c.duration_ns FROM calls c JOIN functions f USING (fn)' \
		2>/dev/null | tail -n +2
done | sort -k1,1 -k2,2n >durations
python3 - <<'END'
import collections, math
exact = collections.defaultdict(list)
for line in open("durations"):
    key, duration = line.split()
    exact[key].append(int(duration))
near = dict(line.split()[1:] for line in open("before") if line.startswith("2\t"))
assert set(near) == set(exact), (near, list(exact))
worst = 0
for key, durations in exact.items():
    p99 = sorted(durations)[math.ceil(0.99 * len(durations)) - 1]
    worst = max(worst, abs(int(near[key]) - p99) / p99)
assert worst <= 1 / 64, worst
print("p99 of %d functions, at most %.2f %% off" % (len(near), 100 * worst))
END
says "^runs	$runs	$runs	2023-11-14	3$" before
says '^schema	2$' before
