#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves what `teeperf allowlist explain` and `teeperf allowlist diff` print and return, for an
# inventory and a profile that are written by hand.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
explain() {
	"$TEEPERF" allowlist explain "$@"
}
difference() {
	"$TEEPERF" allowlist diff "$@"
}
same() {
	diff -u wanted out || fail "this is not what it should say"
}
printf '%s\n' 'teeperf-inventory	1' \
	'unit	src/parse.c	module=app	level=event' \
	'file	src/parse.c' \
	'fun	parse	external	emitted	file=#0	line=10	start=90	instrs=80	blocks=9	loops=2	depth=2	trips=1	calls=3	indirect=1	did=allow	by=old.allow:3' \
	'call	#1	sites=2	freq=3' 'call	#3' \
	'fun	parse_line	external	partly	file=#0	line=20	start=40	instrs=30	blocks=4' \
	'into	#0' \
	'fun	digit	internal	inlined	file=#0	line=4	start=5' 'into	#0	sites=3' \
	'into	#1' \
	'fun	init	internal	emitted	file=#0	line=6	instrs=5	blocks=1' \
	'unit	src/lexer.cc	module=app' 'file	src/lexer.cc' \
	'fun	init	internal	emitted	file=#1	line=7	instrs=5	blocks=1' \
	'fun	_ZN5Lexer4nextEi	external	emitted	file=#1	line=30	instrs=44	blocks=1' \
	>app.tpinv
cat >counts.txt <<'EOS'
clock kind=tsc hz=1000000000
command
	string "/"
	string "prog"
symbols
	symbol 0x401000 parse file="src/parse.c" line=10
	symbol 0x401010 parse_line
chunk
	1000 enter parse
	2000 enter parse_line
	3000 exit parse_line
	4000 enter parse_line
	5000 exit parse_line
	11000 exit parse
end
EOS
"$TEEPERF" dump --assemble counts.txt -o counts.trace
printf 'src:*\nname:parse*=count\n# remark\nfun:parse=sample/16\nfun:parse=allow\n' >hot.allow

# Everything about one function.
expect 0 explain --counts counts.trace --event-cost 100 --time 10us parse hot.allow -- app.tpinv
cat >wanted <<'EOS'
parse
  defined     src/parse.c:10, external, in src/parse.c (app)
  presence    a function of its own
  size        80 instructions in 9 blocks, 2 loops 2 deep, 1 with a constant number of iterations; 90 before optimisation
  calls       'parse_line' (about 3 for each call), 'init'; 1 indirect
  list says   allow, by hot.allow:5: fun:parse=allow
  overrides   hot.allow:4: fun:parse=sample/16
              hot.allow:2: name:parse*=count
              hot.allow:1: src:*
  compiled as allow, by old.allow:3
EOS
head -10 out >head
diff -u wanted head || fail "this is not what it should say"
says '^  profile     1 call, [0-9.]+ (ns|us) itself' out
says '^  allow       1.00 % of 10.00 us: every call with its times$' out
says '^  count       0.01 % of 10.00 us: calls exactly, no times$' out

expect 0 explain parse_line -- app.tpinv
cat >wanted <<'EOS'
parse_line
  defined     src/parse.c:20, external, in src/parse.c (app)
  presence    a function of its own, and also inlined into 'parse'
  size        30 instructions in 4 blocks; 40 before optimisation
  called by   'parse'
  compiled as skip
  force       'fun:parse_line=force' turns each inlined copy into a recorded call (1)
EOS
same
expect 0 explain digit hot.allow -- app.tpinv
says "^  presence    inlined into 'parse' \(3 times\) and 'parse_line'$" out
says '^  size        5 instructions before optimisation$' out
says "^  force       'fun:digit=force' turns each inlined copy into a recorded call \(4\)$" out

# By name, by several names, by nearly a name.
expect 0 explain Lexer::next -- app.tpinv
says '^  linkage     _ZN5Lexer4nextEi$' out
expect 0 explain init -- app.tpinv
[ "$(grep -c '^  defined' out)" = 2 ] || fail "there are two functions 'init'"
says '^  +other functions have the same name$' out
expect 0 explain 'par*' -- app.tpinv
printf '%s\n' '2 functions match (--all explains each):' '  parse  emitted' \
	'  parse_line  partly inlined' >wanted
same
expect 0 explain --all 'par*' -- app.tpinv
[ "$(grep -c '^  defined' out)" = 2 ] || fail "two functions match"
expect 1 explain pasre -- app.tpinv
says "the inventory has no function 'pasre'; did you mean 'parse'\?" err
expect 0 explain --json --counts counts.trace parse hot.allow --inventory app.tpinv
python3 - out <<'EOS' || fail "this JSON is not right"
import json, sys
(parse,) = json.load(open(sys.argv[1]))
assert parse["linkage"] == "parse" and parse["presence"] == "emitted" and parse["loops"] == 2
assert parse["calls"][1] == {"linkage": "parse_line", "sites": 2, "frequency": 3, "guessed": False}
assert parse["decision"] == {"level": "allow", "file": "hot.allow", "line": 5, "text": "fun:parse=allow"}
assert [line["line"] for line in parse["overrides"]] == [4, 2, 1]
assert parse["compiled_as"] == {"level": "allow", "file": "old.allow", "line": 3}
assert parse["profile"]["calls"] == 1 and parse["costs_ns"]["allow"] > 0
EOS
expect 129 explain parse
says 'of which program' err
expect 2 explain parse missing.allow -- app.tpinv

# Two lists.
printf 'fun:parse\nfun:digit\nfun:init=count\n' >a.allow
printf 'fun:parse=sample/16\nfun:parse_line\nfun:init=count\n' >b.allow
expect 1 difference a.allow b.allow -- app.tpinv
cat >wanted <<'EOS'
   function    from   to         by
~  parse       allow  sample/16  b.allow:1
+  parse_line  skip   allow      b.allow:2

1 added, 0 removed, 1 recorded in another way
1 more without effect: inlined or removed (--all shows them)
EOS
sed 's/ *$//' out >trimmed
diff -u wanted trimmed || fail "this is not what it should say"
expect 1 difference --all a.allow b.allow -- app.tpinv
says '^-  digit  .* inlined *$' out
expect 1 difference --counts counts.trace --event-cost 100 --time 10us a.allow b.allow -- app.tpinv
says '^\+  parse_line .* 2 +\+200 ns$' out
says '^calls       1 -> 3$' out
says '^events      1 -> 2$' out
says '^overhead    1.00 % of 10.00 us -> 2.0[0-9] % of 10.00 us \(events at 100.0 ns, given\)$' out
says '^named time  ' out
expect 0 difference a.allow a.allow -- app.tpinv
says '^0 added, 0 removed, 0 recorded in another way$' out
printf 'fun:digit=count\nfun:parse\nfun:init=count\n' >c.allow
expect 0 difference a.allow c.allow -- app.tpinv
says '^1 more without effect' out
expect 1 difference --json --counts counts.trace a.allow b.allow -- app.tpinv
python3 - out <<'EOS' || fail "this JSON is not right"
import json, sys
report = json.load(open(sys.argv[1]))
changes = {change["linkage"]: change for change in report["changes"]}
assert changes["parse"]["kind"] == "changed" and changes["parse"]["to"]["level"] == "sample/16"
assert changes["parse_line"]["kind"] == "added" and changes["parse_line"]["calls"] == 2
assert changes["parse_line"]["from"] == {"level": "skip", "file": None, "line": None}
assert changes["digit"]["effective"] is False
assert (report["added"], report["removed"], report["changed"], report["without_effect"]) == (1, 0, 1, 1)
assert report["from"]["calls"] == 1 and report["to"]["calls"] == 3
EOS
expect 129 difference a.allow -- app.tpinv
says 'which two lists' err
expect 129 difference a.allow b.allow
says 'for which functions' err
expect 2 difference a.allow missing.allow -- app.tpinv
expect 129 difference --event-cost 5 a.allow b.allow -- app.tpinv
says 'costs need calls' err

# The check's prediction, and its budget.
expect 2 "$TEEPERF" allowlist check --counts counts.trace --event-cost 100 --time 10us --budget 5% \
	--ignore ambiguous --ignore partly-inlined all.allow b.allow -- app.tpinv
says 'all.allow' err
check() {
	"$TEEPERF" allowlist check --counts counts.trace --event-cost 100 \
		--time 10us "$@" b.allow -- app.tpinv
}
expect 1 check --budget 5%
says '^predicted overhead: 3 calls, 2.0[0-9] % of 10.00 us \(events at 100.0 ns, given\)$' out
expect 2 check --budget 2%
says '^error: the predicted overhead, 2.0[0-9] %, is above the budget of 2 % \[budget\]$' out
says '^1 error, ' out
