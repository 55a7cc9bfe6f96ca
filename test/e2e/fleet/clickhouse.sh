#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that 'fleet push' puts each run into ClickHouse once, on two shards, though a shard is
# killed in the middle of an insert, an answer is lost, the command is killed and the fleet
# compacted; and that the statements of docs/fleet.md then say what the Parquet files do.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v clickhouse-server >/dev/null || skip "no clickhouse-server"

[ "${TEEPERF_FULL:-0}" = 1 ] && runs=200 || runs=30
python3 "$lib/fleet_traces.py" traces $runs 300
for i in $(seq 0 $((runs - 1))); do
	"$TEEPERF" dump --assemble traces/$i.txt -o traces/$i.trace
done
# Some with single calls, and one without a clock: its times are NULL.
sed 's/^clock kind=tsc.*/clock kind=tsc hz=0/' traces/0.txt >traces/unknown.txt
"$TEEPERF" dump --assemble traces/unknown.txt -o traces/unknown.trace
expect 0 "$TEEPERF" fleet add -q --to fleet \
	--calls traces/1.trace traces/2.trace traces/unknown.trace
expect 0 "$TEEPERF" fleet add -q --to fleet --label 'text=a	tab, a \ and
a new line' traces/*.trace
expect 0 "$TEEPERF" fleet add -q --to fleet "$root/test/fleet-samples/results"
# Two programs in two builds each, and recordings with costs and with calls that were only counted.
python3 "$lib/fleet_questions.py" make
for text in worse-*.txt same-*.txt "$root/test/golden/compensated/trace.txt" \
	"$root/test/golden/counts/trace.txt"; do
	"$TEEPERF" dump --assemble "$text" \
		-o "$(echo "${text#"$root/test/golden/"}" | tr / -).trace"
done
expect 0 "$TEEPERF" fleet add -q --to questions --host one --git-revision first \
	--label environment=canary --label "it's=\\" worse-0-*.trace same-0-*.trace
expect 0 "$TEEPERF" fleet add -q --to questions --host two \
	--git-revision second worse-1-*.trace same-1-*.trace
"$TEEPERF" fleet add -q --to questions compensated-*.trace counts-*.trace
python3 "$lib/fleet_clickhouse.py" "$TEEPERF" fleet "$root/docs/fleet.md" questions >said ||
	fail "$(cat said; tail -n 3 shard*/log)"
cat said
says "$((runs + 1)) runs, [0-9]{4,} rows, [0-9]+ of them twice" said
