#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a fleet of each older version of the schema (test/fleet-samples) is added to, read and
# compacted together with runs of today's.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

samples=$root/test/fleet-samples
cp "$samples/one.trace" "$samples/two.trace" .
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/recursion/trace.txt" -o new.trace
versions=0
for sample in "$samples"/schema-*; do
	cp -r "$sample" fleet
	chmod -R u+w fleet
	# Known by their names, and no files of theirs are written.
	"$TEEPERF" fleet add --to fleet one.trace two.trace >out 2>err || [ $? = 1 ] ||
		fail "$(cat err)"
	[ "$(grep -c 'is already in the fleet' err)" = 2 ] || fail "$(cat err)"
	# Results of experiments are there from version 2 on.
	expect 0 "$TEEPERF" fleet add --to fleet "$samples/results"
	[ "${sample##*-}" = 1 ] || says "task 'sums' is already in the fleet" err
	expect 0 "$TEEPERF" fleet query --format csv --sql \
		"SELECT count(*) > 5 AND min(task) = 'sums' AND min(runs) = 3 AS there
			FROM experiments" fleet
	says '^1$' out
	expect 0 "$TEEPERF" fleet add -q --to fleet new.trace
	python3 "$lib/fleet_check.py" "$TEEPERF" fleet one.trace two.trace new.trace >checked ||
		fail "$sample: $(cat checked)"
	expect 0 "$TEEPERF" fleet compact fleet
	python3 "$lib/fleet_check.py" "$TEEPERF" fleet one.trace two.trace new.trace >checked ||
		fail "$sample: $(cat checked)"
	rm -rf fleet
	versions=$((versions + 1))
done
newest=$("$TEEPERF" fleet schema --version)
[ $versions -ge "$newest" ] || fail "$versions samples, and the schema is $newest"
