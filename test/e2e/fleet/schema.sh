#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the tables of docs/fleet.md are those of the program.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

expect 0 "$TEEPERF" fleet schema
tail -n +2 out | LC_ALL=C sort >program
awk -F ' *[|] *' '/^### /{ table = substr($0, 5) } /^## /{ table = "" }
	table && /^\| `/ { gsub("`", "", $2); null = sub(", NULL", "", $3); print table "\t" $2 "\t" $3 "\t" null "\t" $4 }' \
	"$root/docs/fleet.md" | LC_ALL=C sort >documented
diff documented program || fail "docs/fleet.md and 'teeperf fleet schema' differ"
[ "$(wc -l <program)" -gt 100 ] || fail "few columns"
expect 129 "$TEEPERF" fleet schema something
