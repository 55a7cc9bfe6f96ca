#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a fleet has what analyze and SQL say of all golden traces, with losses, rings, several
# stacks, counted and sampled functions, clocks that are not known and none, before and after it is
# compacted; and that names which builds make longer have the keys of the names.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

mkdir golden
for text in "$root"/test/golden/*/trace.txt; do
	"$TEEPERF" dump --assemble "$text" -o "golden/$(basename "$(dirname "$text")").trace"
done
# Exit status 1 is that of damaged ones.
"$TEEPERF" fleet add --to fleet -q golden/*.trace >out 2>err || [ $? = 1 ] || fail "$(cat err)"
python3 "$lib/fleet_check.py" "$TEEPERF" fleet golden/*.trace >checked || fail "$(cat checked)"
before=$(find fleet -name '*.parquet' | wc -l)
expect 0 "$TEEPERF" fleet compact fleet
says "^teeperf fleet compact: [0-9]+ files of [0-9]+ bytes became [0-9]+ of" err
after=$(find fleet -name '*.parquet' | wc -l)
[ "$after" -lt $((before / 3)) ] || fail "$before files became $after"
python3 "$lib/fleet_check.py" "$TEEPERF" fleet golden/*.trace >compacted || fail "$(cat compacted)"
cmp checked compacted || fail "$(cat compacted)"
cat checked

names() {
	cat <<END
clock kind=tsc hz=1000000000
symbols
	symbol 0x401000 "promoted$1" file="a.c" line=1
	symbol 0x401010 "_ZN4rust4name17h$2E" file="a.rs" line=2
	symbol 0x401020 "kept.llvm.x" file="a.c" line=3
chunk
	0 enter 0x401000
	1 enter 0x401010
	2 enter 0x401020
	3 exit 0x401020
	4 exit 0x401010
	5 exit 0x401000
end
END
}
names .llvm.123 0123456789abcdef >one.txt
names .__uniq.77.llvm.9 fedcba9876543210 >two.txt
for i in one two; do
	expect 0 "$TEEPERF" dump --assemble $i.txt -o $i.trace
	"$TEEPERF" query --format tsv $i.trace \
		'SELECT fn_key FROM functions ORDER BY address' >$i.keys
done
cmp one.keys two.keys || fail "$(paste one.keys two.keys)"
expect 0 "$TEEPERF" fleet add --to names -q one.trace two.trace
python3 "$lib/fleet_check.py" "$TEEPERF" names one.trace two.trace || fail "keys of names"
