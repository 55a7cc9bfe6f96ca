#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Names of functions and of the program's marks with escape sequences, marks of direction, bytes
# that are not UTF-8, formulas and HTML: nothing that a person, a spreadsheet or a browser reads has
# them raw, and lists that are generated for such functions match them.
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

for view in top tree threads inverted timeline contention 'histogram --function *' \
	'function --function *'; do
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

# Names of marks, as a host or a program may have written them: control characters, bytes that are
# not text, the beginning of a formula or a page.
cat >marks.txt <<'END'
trace machine=62
clock kind=tsc hz=1000000000
	point 0 5000
	point 100000 105000
threads
	thread tid=100 chunks=1 name="prog"
chunk
	text 1633771873
	1000 enter 0x401000
	1100 mark "=cmd|'/c calc'!A1"
	1200 mark "red\x1b[31mred\x1b]0;title\x07"
	1300 phase-begin "</script><script>alert(1)</script>"
	1400 mark "\"'\\<img src=x onerror=alert(1)>&amp;"
	1500 mark "two\x0alines;\x09and a tab\x0d"
	1600 mark "latin\xe9\xff\xfe"
	1700 mark "c1\xc2\x9b31m over\xe2\x80\xaeride"
	1800 mark "cut within a letter, of which there are as many as fit, that is \xe2\x82\xac"
	1900 mark
	2000 mark "gr\xc3\xbc\xc3\x9fe"
	2100 phase-end "</script><script>alert(1)</script>"
	2200 phase-end "-1+2"
	2400 mark "@sum"
	3000 exit 0x401000
	text 1633771873
marks
	marked 7500 name="+ctl\x1b[31m"
end start=4000 end=16000
END
expect 0 "$TEEPERF" dump --assemble marks.txt -o marks.trace
for view in timeline 'timeline --limit 0'; do
	# shellcheck disable=SC2086 # words are meant
	clean analyze marks.trace --view $view
	clean analyze marks.trace --view $view --format json
	table comma analyze marks.trace --view $view --format csv
done
says "'=cmd" shown
for format in chrome firefox; do
	clean export marks.trace --format $format -o "marks.$format"
	clean export marks.trace --format $format -o /dev/stdout
	python3 -m json.tool "marks.$format" >/dev/null || fail "$format is no JSON"
done
for format in perfetto uftrace; do
	expect 0 "$TEEPERF" export marks.trace --format $format -o "marks.$format"
	! grep -aqr "$(printf '\033\\[31m')" "marks.$format" ||
		fail "$format has names as they were written"
	grep -aqr 'red?.31mred' "marks.$format" || fail "$format has no marks"
done
[ "$(grep -vc '^EVENT: ' marks.uftrace/events.txt)" = 0 ] ||
	fail "uftrace: a name has several lines"
select='SELECT kind, name FROM marks'
clean query marks.trace "$select"
clean query marks.trace --format json "$select"
table comma query marks.trace --format csv "$select"
table tab query marks.trace --format tsv "$select"
says 'grüße' shown
says '^mark.unnamed' shown
says 'as fit, that is $' shown # not with half a letter
[ "$(grep -c . shown)" = 14 ] || fail "not one line a mark: $(cat shown)"
clean query marks.trace 'SELECT * FROM events'
clean dump marks.trace
clean report marks.trace -o /dev/stdout
[ "$(grep -c '<script>alert' shown)" = 0 ] || fail "the report has a script of a mark"
clean analyze marks.trace --time-range 'mark:nowhere..'
says "no mark .*'nowhere'; .*'red.\[31mred" shown
clean analyze marks.trace --time-range "mark:$(printf 'no\033[31m')"
expect 0 "$TEEPERF" analyze marks.trace --time-range 'mark:</script><script>alert(1)</script>'
expect 0 "$TEEPERF" analyze marks.trace --time-range "mark:=cmd|'/c calc'!A1..grüße"

# A generated list is clean, and means these functions.
expect 0 "$TEEPERF" allowlist generate -p odd.trace -i odd --budget 100% -o odd.allow
clean allowlist generate -p odd.trace -i odd --budget 100%
[ "$(grep -c '^fun:' odd.allow)" = 10 ] || fail "not each function is in the list"
expect 0 "$TEEPERF" allowlist check odd.allow -- odd
says '10 recorded' out
says 'no findings' out
expect 0 "$TEEPERF" cc --allowlist odd.allow -O1 -g "$lib/odd_symbols.c" -o again
expect 0 "$TEEPERF" record -q --clock tsc -o again.trace -- ./again
"$TEEPERF" query odd.trace --format csv \
	'SELECT function, calls FROM functions ORDER BY function' >before
"$TEEPERF" query again.trace --format csv \
	'SELECT function, calls FROM functions ORDER BY function' >after
cmp before after || fail "another list of functions"

# GDB's helper, whose names come from GDB.
needs gdb
expect 0 "$TEEPERF" record -q --clock tsc -o gdb.trace -- gdb -q -nx -batch \
	-ex 'source '"$TEEPERF_BUILD/share/teeperf/gdb/teeperf-gdb.py" \
	-ex 'catch syscall exit_group' -ex run -ex 'teeperf events 100' ./odd
grep -v 'Thread debugging' out >shown
python3 "$lib/check_clean.py" 'teeperf events' <shown || fail "GDB's helper"
says 'latin.xe9.xff' shown
says 'escape.x1b.31mred' shown
