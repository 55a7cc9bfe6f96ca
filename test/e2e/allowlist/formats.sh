#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that lists for Clang's own tools decide the same there and here, imported and exported: one
# compilation reads both, and each function tells what either has decided. And how the commands
# read, write and fail.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
mkdir -p sub
cat >sub/head.h <<'EOS'
static int in_head(int x) { return x + 1; }
static int hot_head(int x) { return x + 2; }
EOS
cat >app.c <<'EOS'
#include "sub/head.h"
int hot(int x) { return x; }
int hotter(int x) { return x; }
int hottest(int x) { return x; }
int cold(int x) { return x; }
int both(int x) { return x; }
int a1(int x) { return x; }
int a2(int x) { return x; }
int b1(int x) { return x; }
int looped(int x) { for (int i = 0; i < x; i++) x -= 2; return x; }
int main(void) { return hot(hotter(hottest(cold(both(a1(a2(b1(looped(in_head(hot_head(0))))))))))); }
EOS

# decide OPTION...: compile, and write to `decisions` a line "NAME OURS XRAY PROFILE" for each
# function.
decide() {
	"$TEEPERF" cc --shape=inline "$@" -O0 -g -S -emit-llvm -fxray-instrument \
		-fprofile-instr-generate app.c -o app.ll
	python3 - >decisions <<'EOP'
import re
text = open("app.ll").read()
attributes = dict(re.findall(r"^attributes (#\d+) = (.*)$", text, re.M))
for head, body in re.findall(r"^define (.*?) \{\n(.*?)^\}", text, re.M | re.S):
    name = re.search(r"@([\w.]+)\(", head).group(1)
    if name.startswith("__"):
        continue
    said = " ".join(attributes.get(a, "") for a in re.findall(r"#\d+", head))
    xray = re.search(r"xray-(always|never)", said)
    print(name, "in" if "call void asm" in body or "__teeperf_" in body else "out",
          xray.group(1) if xray else "none", "in" if "@__profc_" in body else "out")
EOP
	[ "$(wc -l <decisions)" = 12 ] || fail "not all functions were compiled"
}
same() {
	awk -v column="$1" -v yes="$2" -v no="$3" '
		($column == yes) != ($2 == "in") && ($column == yes || $column == no) { print; bad = 1 }
		$column == yes { in_count++ } $column == no { out_count++ }
		END { exit bad || !in_count || !out_count }' decisions || {
		cat decisions
		fail "$4 decides differently"
	}
}

# compared: whether clang's lists are those of today; those of old have regular expressions, and
# other words.
compared() {
	[ "$(llvm)" -lt 18 ] || return 0
	echo "not compared with clang $(llvm), which reads such lists by other rules: $1"
	return 1
}

# Each tool's precedence, imported.
cat >list.xray <<'EOS'
[always]
fun:hot*
src:*/head.h
[never]
fun:hotter
fun:b*
fun:in_*
src:nowhere.c
[*]
fun:both
EOS
"$TEEPERF" allowlist import --format xray list.xray -o list.allow
if compared "XRay list"; then
	decide --allowlist list.allow -fxray-attr-list=list.xray
	same 3 always never "an imported list for XRay"
	says '^hotter in always' decisions
	says '^in_head in always' decisions
	says '^b1 out never' decisions
	says '^looped in none' decisions
fi

cat >list.profile <<'EOS'
function:hot*=skip
function:hottest=allow
source:*/head.h=skip
function:in_head=allow
function:a?=forbid
!fun:cold
default:allow
EOS
"$TEEPERF" allowlist import --format profile-list list.profile -o list.allow
if compared "profile list"; then
	decide --allowlist list.allow -fprofile-list=list.profile
	same 4 in out "an imported profile list"
	says '^in_head in none in' decisions
	says '^cold out none out' decisions
fi

# And exported, without a warning.
cat >mine.allow <<'EOS'
default:skip
fun:hot*=skip
fun:hot{,test}=allow
fun:[ab]*=allow
src:sub/*.h=allow
EOS
for format in xray profile-list; do
	expect 0 "$TEEPERF" allowlist export --format "$format" -o mine.$format mine.allow
done
says 'fun:\[ab\]\*' mine.xray
if compared "exported XRay list"; then
	decide --allowlist mine.allow -fxray-attr-list=mine.xray -fprofile-list=mine.profile-list
	same 3 always never "an exported list for XRay"
fi

grep -v '^src:' mine.allow >functions.allow
"$TEEPERF" allowlist export --format profile-list -o mine.profile-list functions.allow
if compared "exported profile list"; then
	decide --allowlist functions.allow -fprofile-list=mine.profile-list
	same 4 in out "an exported profile list"
fi

# What comes back is the same list.
cat >canonical.allow <<'EOS'
# head
default:skip

# both of them
fun:a=allow
fun:b=skip
EOS
expect 0 "$TEEPERF" allowlist fmt --check canonical.allow
[ ! -s out ] || fail "the canonical form is not"
"$TEEPERF" allowlist export --format profile-list canonical.allow |
	"$TEEPERF" allowlist import --format profile-list - >back
says '^fun:a=allow$' back
says '^fun:b=skip$' back

# The canonical form: printed, reported, written, with the file's permissions.
printf ' function: a = allow\n\n\n!fun:b\n' >loose.allow
chmod 640 loose.allow
ln -s loose.allow link.allow
expect 1 "$TEEPERF" allowlist fmt --check canonical.allow link.allow
[ "$(cat out)" = link.allow ] || fail "the wrong files would change"
expect 0 "$TEEPERF" allowlist fmt loose.allow
printf 'fun:a=allow\n\nfun:b=skip\n' | cmp - out || fail "the wrong form"
expect 0 "$TEEPERF" allowlist fmt -w link.allow canonical.allow
cmp out loose.allow && fail "it was printed, too"
printf 'fun:a=allow\n\nfun:b=skip\n' | cmp - loose.allow || fail "the wrong form was written"
[ -L link.allow ] || fail "the link was replaced"
[ "$(stat -c %a loose.allow)" = 640 ] || fail "the permissions were lost"
ls >files
! grep -q '\.new$' files || fail "a temporary file is left"

# Errors name the place, and nothing is written.
printf '[always]\nfoo\n' >bad.xray
expect 1 "$TEEPERF" allowlist import --format xray -o none.allow bad.xray
says "^bad.xray:2:1: error: 'foo' has no prefix" err
expect 1 "$TEEPERF" allowlist import --format sancov missing.list
says "'missing.list': cannot open the list: No such file" err
printf 'fun:a\nfum:b\n' >bad.allow
expect 1 "$TEEPERF" allowlist export --format xray -o none.allow bad.allow
says "^bad.allow:2:1: error: unknown prefix 'fum:'" err
cp bad.allow kept.allow
expect 1 "$TEEPERF" allowlist fmt -w bad.allow
cmp bad.allow kept.allow || fail "a list with an error was changed"
[ ! -e none.allow ] || fail "something was written after an error"
expect 129 "$TEEPERF" allowlist import list.xray
says "option '--format' is missing; it is one of profile-list, sancov" err
expect 129 "$TEEPERF" allowlist export --format tau mine.allow
says "cannot write format 'tau', only profile-list" err
expect 129 "$TEEPERF" allowlist fmt
expect 129 "$TEEPERF" allowlist fmt -w --check mine.allow
expect 129 "$TEEPERF" allowlist fmt -w -
expect 1 "$TEEPERF" allowlist import --format xray -o /nonexistent/x list.xray
says "'/nonexistent/x': cannot write" err
