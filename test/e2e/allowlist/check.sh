#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves what `teeperf allowlist check` prints and returns, for an inventory that is written by
# hand: as a compiler would, with places, marks and remedies; as JSON; and its exit codes.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
check() {
	"$TEEPERF" allowlist check "$@"
}
printf '%s\n' 'teeperf-inventory	1' \
	'unit	src/parse.c	module=app' 'file	src/parse.c' \
	'fun	parse	external	emitted	file=#0	line=10	start=90	instrs=80' \
	'fun	parse_line	external	partly	file=#0	line=20	start=40	instrs=30' \
	'into	#0' \
	'fun	digit	internal	inlined	file=#0	line=4	start=5' 'into	#0	sites=3' \
	'into	#1' \
	'fun	unused	internal	removed	file=#0	line=5' \
	'fun	init	internal	emitted	file=#0	line=6	instrs=5' \
	'unit	src/lexer.cc	module=app' 'file	src/lexer.cc' \
	'fun	init	internal	emitted	file=#1	line=7	instrs=5' \
	'fun	_ZN5Lexer4nextEi	external	emitted	file=#1	line=30	instrs=44' \
	>app.tpinv

# A list with every kind of finding.
cat >bad.allow <<'EOS'
# what is hot
  fun:pasre
fun:digit
fun:unused=count
fun:parse_line
fun:init
fun:Lexer::next
name:*[abi:cxx11]*=skip
fun:parse=sample/16
src:*/parse.c=skip
src:*/lexer.cc=skip
EOS
cat >wanted <<'EOS'
bad.allow:2:7: warning: unknown function 'pasre' [no-match]
  fun:pasre
      ^~~~~
bad.allow:2:7: note: did you mean 'fun:parse' (src/parse.c:10)?
bad.allow:3:5: warning: this line has no effect: line 10, 'src:*/parse.c=skip', decides about the function that it matches [shadowed]
  fun:digit
      ^~~~~
EOS
expect 1 check --inventory app.tpinv bad.allow
head -7 out | diff -u wanted - || fail "this is not what it should say"
says '^bad.allow:7:5: note: fun: takes linkage names: .fun:_ZN5Lexer4nextEi. is Lexer::next\(int\)$' out
says '^bad.allow:8:6: warning: .*\[suspicious\]$' out
says '^bad.allow:6:5: note: to select one, add its source: .fun:init@src:src/lexer.cc.$' out
says '^warning: nothing is instrumented: .* \[empty\]$' out
says '^10 lines, 7 functions: 5 not instrumented, 1 inlined, 1 removed$' out
[ ! -s err ] || fail "findings are results, not errors: $(cat err)"
! grep -q "$(printf '\033')" out || fail "colours, and this is not a terminal"

# Programs are named behind -- too, several lists are one, and kinds can be ignored.
printf 'fun:digit\n' >one.allow
printf 'fun:parse\nfun:digit=force\n' >two.allow
expect 1 check one.allow -- app.tpinv
says "^one.allow:1:5: warning: 'digit' was inlined into 'parse' \(3 times\) and 'parse_line' .*\[inlined\]$" out
says "note: write 'fun:digit=force' to keep it .*, or list the functions that contain it: 'fun:parse', 'fun:parse_line'" out
expect 1 check one.allow two.allow -- app.tpinv
says '^one.allow:1:5: warning: this line has no effect: two.allow:2, ' out
says '^two.allow:2:5: note: it was compiled without this line' out
expect 0 check --ignore inlined --ignore shadowed one.allow two.allow -- app.tpinv
says '^3 lines, 7 functions: 1 recorded, 4 not' out
says '^no findings$' out

# Notes alone are no reason to fail.
printf 'src:*\n' >all.allow
expect 0 check all.allow -- app.tpinv
says '^all.allow:1:5: note: 1 of the 7 functions .*\[partly-inlined\]$' out
says '^1 note$' out

# Without a program: the lines alone.
expect 0 check two.allow
says '^2 lines, not compared with a program' out
expect 1 check bad.allow
says '^1 warning$' out

# Lists for any program need not match in each; functions that were compiled with another list are
# reported.
expect 0 check shipped:cxx-std -- app.tpinv
! grep -q 'no-match' out || fail "a shipped list is not meant for this program: $(cat out)"
sed '/^fun	parse	/s/$/	did=count/' app.tpinv >compiled.tpinv
expect 0 check all.allow -- compiled.tpinv
says '^5 of them were compiled differently' out
printf 'fun:parse=count\n' >count.allow
expect 0 check count.allow -- compiled.tpinv
! grep -q 'otherwise' out || fail "it was compiled with this list: $(cat out)"

# JSON.
expect 1 check --json bad.allow -- app.tpinv
python3 - out <<'EOS' || fail "this JSON is not right"
import json, sys
report = json.load(open(sys.argv[1]))
first = report["findings"][0]
assert (first["kind"], first["file"], first["line"], first["column"]) == ("no-match", "bad.allow", 2, 7)
assert first["text"] == "fun:pasre" and first["functions"] == []
kinds = [finding["kind"] for finding in report["findings"]]
assert kinds.count("no-match") == 2 and "empty" in kinds and "suspicious" in kinds, kinds
digit = next(f for f in report["findings"] if f["text"] == "fun:digit")["functions"][0]
assert [(i["linkage"], i["copies"]) for i in digit["into"]] == [("parse", 3), ("parse_line", 1)]
assert report["warnings"] == sum(f["severity"] == "warning" for f in report["findings"])
assert report["functions"]["all"] == 7 and report["cost"] is None
EOS
expect 0 check --json two.allow
python3 -m json.tool out >/dev/null || fail "this is no JSON"

# Errors: one each, and 2.
one_error() {
	pattern=$1
	shift
	expect 2 "$@"
	says "$pattern" err
	[ "$(grep -cE '^teeperf allowlist|: error: ' err)" = 1 ] ||
		fail "more than one error: $(cat err)"
	[ ! -s out ] || fail "output in spite of an error"
}
printf 'fun:parse\nfun:[a\n' >broken.allow
one_error 'broken.allow:2:' check broken.allow -- app.tpinv
one_error 'missing.allow' check missing.allow -- app.tpinv
one_error 'missing.tpinv' check two.allow -- missing.tpinv
one_error 'missing.trace' check --counts missing.trace two.allow -- app.tpinv
expect 129 check
says 'which list' err
expect 129 check --budget 5% two.allow -- app.tpinv
says 'needs calls: name a trace with --counts' err
expect 129 check --ignore nonsense two.allow
says 'unknown kind .nonsense.; expected one of: no-match, inlined' err
