#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that the drivers' own options work where they may stand, that what they cannot do is said
# in one sentence, and that settings come from the environment too.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
echo 'int a(int x) { return x + 1; } int b(int x) { return x + 2; }' >ab.c

# counts FILE: how many functions log, counted by the jumps to the cold path.
counts() {
	objdump -dr "$1" | awk '/^[0-9a-f]+ </ { f = $2 } /__teeperf_slow/ { print f }' | sort -u |
		wc -l
}

mkdir -p sub
echo 'fun:a' >sub/list.allow
expect 0 "$TEEPERF" cc -O1 -c ab.c
[ "$(counts ab.o)" = 2 ] || fail "$(counts ab.o) functions log, not 2"
for spelling in '--allowlist sub/list.allow' '--allowlist=sub/list.allow' \
	'--clock=auto --allowlist sub/list.allow' '-O1 --allowlist=sub/list.allow'; do
	# shellcheck disable=SC2086 # words are meant
	expect 0 "$TEEPERF" cc $spelling -O1 -c ab.c
	[ "$(counts ab.o)" = 1 ] || fail "$spelling: $(counts ab.o) functions log, not 1"
done
TEEPERF_ALLOWLIST=sub/list.allow expect 0 "$TEEPERF" cc -O1 -c ab.c
[ "$(counts ab.o)" = 1 ] || fail "TEEPERF_ALLOWLIST is not heeded"
# Several lists: the last line that matches counts, of the last list. shipped:NAME is one, too.
echo 'fun:a=skip' >sub/less.allow
for lists in '--allowlist sub/list.allow --allowlist=sub/less.allow' \
	'--allowlist=sub/less.allow --allowlist sub/list.allow'; do
	# shellcheck disable=SC2086 # words are meant
	expect 0 "$TEEPERF" cc $lists -O1 -c ab.c
	[ "$lists" = "${lists%list.allow}" ] && number=0 || number=1
	[ "$(counts ab.o)" = $number ] || fail "$lists: $(counts ab.o) functions log, not $number"
done
# (That one has 'default:allow'.)
for lists in sub/list.allow::shipped:cxx-std=2 shipped:cxx-std:sub/less.allow=1; do
	TEEPERF_ALLOWLIST=${lists%=*} expect 0 "$TEEPERF" cc -O1 -c ab.c
	[ "$(counts ab.o)" = "${lists#*=}" ] ||
		fail "TEEPERF_ALLOWLIST=$lists: $(counts ab.o) functions log"
done
printf 'src:*\n  fun:a[b=skip\n' >sub/wrong.allow
expect 1 "$TEEPERF" cc --allowlist sub/wrong.allow -O1 -c ab.c
says "^/.*/sub/wrong.allow:2:8: error: '\[' without '\]'" err
says '^( +2 \|)? +fun:a\[b=skip$' err
says '^( +\|)? +\^$' err
mkdir -p a:b
cp sub/list.allow a:b/
expect 1 "$TEEPERF" cc --allowlist a:b/list.allow -O1 -c ab.c
says "a list whose path contains ':'" err

# An option of clang's that looks like ours, behind the first of clang's arguments, is clang's.
expect 1 "$TEEPERF" cc -c ab.c --allowlist sub/list.allow
says "(argument|option).*'--allowlist'" err

# one_line STATUS PATTERN ARGS...: refused with one sentence that matches (usage adds a hint).
one_line() {
	wanted_status=$1
	pattern=$2
	shift 2
	expect "$wanted_status" "$TEEPERF" cc "$@" -c ab.c
	says "$pattern" err
	[ "$wanted_status" = 129 ] || [ "$(wc -l <err)" = 1 ] || fail "more than a line: $(cat err)"
}
one_line 1 "'no.allow': cannot read the allowlist \(from option --allowlist\): No such" \
	--allowlist no.allow
one_line 1 'clang of LLVM 39 was not found: install clang-39 .*usable here: ' --llvm 39
one_line 129 "'--llvm' takes an LLVM major" --llvm newest
one_line 129 "'--clock' takes auto, soft or tsc, not 'sundial'" --clock=sundial
one_line 129 "'--tail-calls' takes auto" --tail-calls=drop
one_line 1 '-femulated-tls cannot be instrumented' -femulated-tls
expect 0 "$TEEPERF" cc --level off -femulated-tls -c ab.c
expect 0 "$TEEPERF" cc -femulated-tls -fno-emulated-tls -c ab.c
expect 129 "$TEEPERF" cc --allowlist
TEEPERF_CLOCK=sundial expect 129 "$TEEPERF" cc -c ab.c
says "TEEPERF_CLOCK takes auto" err

# Headers are precompiled, not linked, and serve programs that are recorded.
echo 'static int plus(int x) { return x + 1; }' >plus.h
echo 'int main(void) { return plus(-1); }' >main.c
expect 0 "$TEEPERF" cc -x c-header plus.h -o plus.pch
expect 0 "$TEEPERF" cc -include-pch plus.pch main.c -o plus
expect 0 ./plus
rm -f a.out
expect 0 "$TEEPERF" cc plus.h
[ ! -e a.out ] || fail "a header was linked"

expect 0 "$TEEPERF" cc --help
says '--allowlist FILE' out
expect 0 "$TEEPERF" doctor
says '^ok +runtime' out
# A wrong setting is not a fault of the plugin.
for variable in ALLOWLIST CLOCK EXITS INVENTORY LEVEL SHAPE TAIL_CALLS THREADS; do
	export TEEPERF_$variable=/nowhere/nonsense
	expect 0 "$TEEPERF" doctor
	unset TEEPERF_$variable
done
