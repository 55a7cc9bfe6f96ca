#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Names with escape sequences, marks of direction, bytes that are not UTF-8, and formulas: nothing that a person or a
# spreadsheet reads has them raw, and lists that are generated for such functions match them.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

expect 0 "$TEEPERF" cc -O1 -g "$lib/odd_symbols.c" -o odd
expect 0 "$TEEPERF" record -q --clock tsc -o odd.trace -- ./odd

# clean COMMAND...: run it; what it prints and warns of is clean.
clean() {
	"$TEEPERF" "$@" >shown 2>&1 || { [ $? -le 2 ] || fail "$*"; }
	python3 "$lib/check_clean.py" "$*" <shown || fail "$*"
}
# table SEPARATOR COMMAND...: the same; no cell of its output is a formula.
table() {
	separator=$1
	shift
	"$TEEPERF" "$@" >shown 2>warnings || { cat warnings >&2; fail "$*"; }
	python3 "$lib/check_clean.py" --cells "$separator" "$*" <shown || fail "$*"
}

for view in top tree threads inverted timeline contention 'histogram --function *' 'function --function *'; do
	set -f # the '*' is ours
	clean analyze odd.trace --view $view
	clean analyze odd.trace --view $view --format json
	table comma analyze odd.trace --view $view --format csv
	set +f
done
for format in folded flamegraph callgrind speedscope "speedscope --calls" chrome firefox; do
	clean export odd.trace --format $format -o /dev/stdout
done
table comma export odd.trace --format csv -o /dev/stdout
select='SELECT function, linkage, file FROM functions'
clean query odd.trace "$select"
clean query odd.trace --format json "$select"
table comma query odd.trace --format csv "$select"
table tab query odd.trace --format tsv "$select"
says "^'=cmd" shown
says 'grüße' shown # letters stay
clean report odd.trace -o /dev/stdout
clean diff odd.trace odd.trace
clean diff odd.trace odd.trace --format json
table comma diff odd.trace odd.trace --format csv
clean dump odd.trace
table comma symbols odd
clean inventory odd
clean inventory odd --format json
table comma inventory odd --format csv

printf 'fun:escape*\nname:overr*\nfun:lati\nfun:escape\033[31m\nfun:nothing\xc2\x9b\nsrc:there\xff.c\n' >some.allow
clean allowlist explain '*' some.allow -- odd
clean allowlist explain --all '*' some.allow -- odd
clean allowlist explain --all --json '*' some.allow -- odd
clean allowlist explain "$(printf 'escape\033[32m')" -- odd
clean allowlist check some.allow -- odd
clean allowlist check --json some.allow -- odd
clean allowlist diff some.allow some.allow -- odd
clean cc --allowlist some.allow -O1 "$lib/odd_symbols.c" -o some
says 'escape.\[31m' shown

# A generated list is clean, and means these functions.
expect 0 "$TEEPERF" allowlist generate -p odd.trace -i odd --budget 100% -o odd.allow
clean allowlist generate -p odd.trace -i odd --budget 100%
[ "$(grep -c '^fun:' odd.allow)" = 10 ] || fail "not each function is in the list"
expect 0 "$TEEPERF" allowlist check odd.allow -- odd
says '10 recorded' out
says 'no findings' out
expect 0 "$TEEPERF" cc --allowlist odd.allow -O1 -g "$lib/odd_symbols.c" -o again
expect 0 "$TEEPERF" record -q --clock tsc -o again.trace -- ./again
"$TEEPERF" query odd.trace --format csv 'SELECT function, calls FROM functions ORDER BY function' >before
"$TEEPERF" query again.trace --format csv 'SELECT function, calls FROM functions ORDER BY function' >after
cmp before after || fail "another list of functions"

# GDB's helper, whose names come from GDB.
if command -v gdb >/dev/null; then
	expect 0 "$TEEPERF" record -q --clock tsc -o gdb.trace -- gdb -q -nx -batch -ex 'source '"$TEEPERF_BUILD/share/teeperf/gdb/teeperf-gdb.py" \
		-ex 'catch syscall exit_group' -ex run -ex 'teeperf events 100' ./odd
	grep -v 'Thread debugging' out >shown
	python3 "$lib/check_clean.py" 'teeperf events' <shown || fail "GDB's helper"
	says 'latin.xe9.xff' shown
	says 'escape.x1b.31mred' shown
fi
