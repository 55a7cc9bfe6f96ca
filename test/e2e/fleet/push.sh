#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that 'fleet push' sends the rows of the Parquet files over HTTP and TLS, a run's row in
# runs last; that temporary failures are tried again and others are reported; and the names of the
# tables for ClickHouse. The server is one of ours: fleet/clickhouse has the real one.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

"$TEEPERF" fleet push --to http://127.0.0.1:1 --retries 0 . >out 2>err &&
	fail "this folder is a fleet"
runs=8
python3 "$lib/fleet_traces.py" traces $runs 60
for i in $(seq 0 $((runs - 1))); do
	"$TEEPERF" dump --assemble traces/$i.txt -o traces/$i.trace
done
sed 's/^clock kind=tsc.*/clock kind=tsc hz=0/; s/\/usr\/bin\/program0/\/usr\/bin\/odd name%/' \
	traces/0.txt >traces/unknown.txt
"$TEEPERF" dump --assemble traces/unknown.txt -o traces/unknown.trace
expect 0 "$TEEPERF" fleet add -q --to fleet \
	--calls traces/1.trace traces/2.trace traces/unknown.trace
expect 0 "$TEEPERF" fleet add -q --to fleet --git-revision 'a	tab, a \ and
a new line' traces/*.trace
# Results of experiments, of two tasks, larger than a request.
cp -r "$root/test/fleet-samples/results" .
expect 0 "$TEEPERF" fleet add -q --to fleet results
printf 'pass word\nwhatever\n' >password
tls=
if command -v openssl >/dev/null; then
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 \
		-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
		-keyout key.pem -out certificate.pem 2>/dev/null && tls="certificate.pem key.pem"
fi
python3 "$lib/fleet_push.py" "$TEEPERF" fleet $tls >said || fail "$(cat said)"
cat said
# Compacted it is the same.
expect 0 "$TEEPERF" fleet compact fleet
cp statements before
python3 "$lib/fleet_push.py" "$TEEPERF" fleet >said || fail "$(cat said)"
# While somebody compacts it is not pushed.
if command -v flock >/dev/null; then
	flock fleet/.compact.lock "$TEEPERF" fleet push --to http://127.0.0.1:1 \
		--retries 0 fleet >out 2>err && fail "it is compacted"
	says 'is compacting or expiring it' err
fi

# The tables have the columns of the schema, and each a key.
"$TEEPERF" fleet schema | tail -n +2 | cut -f 1,2 | sort >columns
expect 0 "$TEEPERF" fleet schema clickhouse
awk '/^CREATE TABLE/ { sub(/^.*teeperf\./, ""); table = $1 } /^    / && $1 != "day" && $1 != "program" && $1 != "call_number" { print table "\t" $1 }' \
	out | sort | diff columns - || fail "columns"
[ "$(grep -c '^ENGINE = ReplacingMergeTree()$' out)" = "$(cut -f 1 columns | uniq | wc -l)" ] ||
	fail "engines"
expect 0 "$TEEPERF" fleet schema clickhouse --replicated --cluster all --database other
says "^ENGINE = ReplicatedReplacingMergeTree\('/clickhouse/tables/\{shard\}/other/runs', '\{replica\}'\)$" out
says '^ENGINE = Distributed\(all, other, runs_local, cityHash64\(run_id\)\);$' out

for wrong in "fleet schema clickhouse --database a-b" "fleet schema clickhouse --cluster a'b" \
	"fleet schema --replicated" "fleet push fleet" "fleet push --to http://127.0.0.1" \
	"fleet push --to ftp://127.0.0.1 fleet" "fleet push --to http://127.0.0.1@localhost fleet" \
	"fleet push --to http://127.0.0.1 --password-file password fleet" \
	"fleet push --to http://127.0.0.1 --retries x fleet"; do
	expect 129 "$TEEPERF" $wrong
done
expect 1 "$TEEPERF" fleet push --to http://127.0.0.1:1 --user me --password-file nowhere fleet
says 'nowhere' err
