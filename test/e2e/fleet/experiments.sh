#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that results of 'teeperf experiment' come into a fleet, a set for each task: the rows are
# those of its tables summary and measurements, whatever factors the plan has; the same results are
# there once, and more of them are another set; that sets are no runs, for questions and when old
# ones go; and that folders without results, or with damaged ones, are refused.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >plan.toml <<'END'
[globals]
output_directory = "results"
sample_size = 3
energy = false
[factors]
size = [1, 20]
[variants.other]
kind = "native"
executable = "true"
[[tasks]]
name = "first task"
executable = "true"
variants = ["native", "other"]
factors = { mode = ["a \"b\"", "plain"] }
[[tasks]]
name = "second"
executable = "sh"
args = ["-c", "exit {{ size }}"]
sample_size = 2
factors = { size = [0, 3] }
END
"$TEEPERF" experiment plan.toml >out 2>err || [ $? = 1 ] || fail "$(cat err)"
expect 0 "$TEEPERF" fleet add --to fleet --label environment=test --git-revision abcd results
says "added 'results', task 'first task' as run [0-9]{8}-[0-9]{6}-[0-9a-f]{16}: [0-9]+ figures, [0-9]+ bytes$" err
says "added 'results', task 'second' as run " err
expect 0 python3 "$lib/fleet_results.py" "$TEEPERF" results fleet
cat out

# Once; from another program's folder; with a trace beside it.
find fleet -type f | sort | xargs cksum >was
expect 0 "$TEEPERF" fleet add --to fleet results
[ "$(grep -c 'is already in the fleet, as run ' err)" = 2 ] || fail "$(cat err)"
find fleet -type f | sort | xargs cksum | cmp - was || fail "a second time changes files"
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/recursion/trace.txt" -o one.trace
expect 0 "$TEEPERF" fleet add -q --to fleet one.trace results
expect 0 python3 "$lib/fleet_results.py" "$TEEPERF" results fleet

# They are no runs.
expect 0 "$TEEPERF" fleet query --format csv --sql 'SELECT count(*) FROM runs' fleet
says '^1$' out
expect 0 "$TEEPERF" fleet query --format csv fleet cost
[ "$(wc -l <out)" = 2 ] || fail "$(cat out)"
sets() {
	"$TEEPERF" fleet query --format csv --sql \
		'SELECT count(DISTINCT run_id), (SELECT count(*) FROM runs) FROM experiments' "$1" |
		tail -n 1
}
[ "$(sets fleet)" = 2,1 ] || fail "$(sets fleet)"

# More results are another set; compacted it is the same.
sed -i 's/sample_size = 3/sample_size = 4/' plan.toml
"$TEEPERF" experiment plan.toml >out 2>err || [ $? = 1 ] || fail "$(cat err)"
cp -r fleet more
expect 0 "$TEEPERF" fleet add -q --to more results
[ "$(sets more)" = 4,1 ] || fail "$(sets more)"
"$TEEPERF" fleet query --format csv \
	--sql 'SELECT * FROM experiments ORDER BY run_id, experiment, metric' more >before
expect 0 "$TEEPERF" fleet compact -q more
[ "$(find more/experiments -name '*.parquet' | wc -l)" = 2 ] || fail "$(find more/experiments)"
"$TEEPERF" fleet query --format csv \
	--sql 'SELECT * FROM experiments ORDER BY run_id, experiment, metric' more | cmp - before ||
	fail "compacted they are others"
# Of each task the newest; the run is the newest of its program.
expect 0 "$TEEPERF" fleet expire --keep-last 1 more
says 'removed 2 runs' err
[ "$(sets more)" = 2,1 ] || fail "$(sets more)"
[ "$(ls more/manifest)" = "$(ls fleet/manifest)" ] || fail "$(ls more/manifest)"

# Folders without results.
mkdir nothing
expect 1 "$TEEPERF" fleet add --to fleet nothing
says "'nothing': is a folder without results of 'teeperf experiment'" err
cp -r results damaged
printf x | dd of=damaged/measurements.parquet bs=1 \
	seek=$(($(stat -c %s damaged/measurements.parquet) - 20)) conv=notrunc 2>/dev/null
expect 1 "$TEEPERF" fleet add --to fleet damaged
says 'damaged/measurements.parquet' err
cp -r results mixed
cp mixed/runs.parquet mixed/summary.parquet
expect 1 "$TEEPERF" fleet add --to fleet mixed
says "is not a table 'summary' of 'teeperf experiment'" err
find fleet -name '.add-*' >left
[ ! -s left ] || fail "$(cat left)"
