#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a current ClickHouse takes the tables and requests of 'fleet push', each request
# twice, and by the statements of docs/fleet.md says what the Parquet files do, also when it reads
# those in place. It is the npm package chdb, looked for as fleet/duckdb does.
# tier: full
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
modules=${TEEPERF_PARQUET_READERS:-$(npm root -g 2>/dev/null || true)}
command -v node >/dev/null || skip "no node"
[ -d "$modules/chdb" ] || skip "chdb is not there (npm install -g chdb)"

runs=30
python3 "$lib/fleet_traces.py" traces $runs 300
for i in $(seq 0 $((runs - 1))); do
	"$TEEPERF" dump --assemble traces/$i.txt -o traces/$i.trace
done
expect 0 "$TEEPERF" fleet add -q --to fleet --calls traces/1.trace
expect 0 "$TEEPERF" fleet add -q --to fleet traces/*.trace
echo "pass word" >password
python3 "$lib/fleet_push.py" "$TEEPERF" fleet >said || fail "$(cat said)"
"$TEEPERF" fleet schema clickhouse >tables
mkdir questions
for question in top=most=1000 rare=program=program1 skip=most=25 cost=program hosts=least=0 \
	regressions=least=0 p99=function=program0_function3; do
	name=${question%%=*}
	"$TEEPERF" fleet query --show --dialect clickhouse \
		--param "${question#*=}" $name >questions/$name.sql
	"$TEEPERF" fleet query --format json \
		--param "${question#*=}" fleet $name >questions/$name.json
done
node "$lib/fleet_chdb.cjs" "$modules" "$root/docs/fleet.md" tables statements questions >answers
LIB=$lib python3 - >wanted <<'END_'
import glob, json, os, sys
sys.argv = ["", "", "fleet", "", ""]
sys.path.insert(0, os.environ["LIB"])
import fleet_clickhouse
for path in sorted(glob.glob("questions/*.json")):
    with open(path) as file, open(path.replace(".json", ".rows")) as there:
        rows, found = json.load(file), [line.split("\t") for line in there.read().splitlines()]
    assert len(rows) == len(found) and all(len(one) == len(other) and all(map(fleet_clickhouse.same, one, other.values()))
                                           for one, other in zip(found, rows)), (path, found[:2], rows[:2])
answers = fleet_clickhouse.expected_answers()
for name, number in (("", 0), ("", 1), ("", 2), ("file", 0), ("file", 1)):
    for row in answers[number]:
        print(name + str(number + 1), *row, sep="\t")
END_
head -n 1 answers
tail -n +2 answers | diff wanted - || fail "answers"
