#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that name: lines mean function templates as people write them, that a wrong name: line gets
# a suggestion, that lines which were silently ignored are reported, and that messages begin with
# their place.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >names.cc <<'EOS'
namespace app {
template <class T> __attribute__((noinline)) T twice(T x)
{
	__asm__ volatile("");
	return x + x;
}
struct Lexer {
	__attribute__((noinline)) int next(int x)
	{
		__asm__ volatile("");
		return x + 1;
	}
};
}
int main(int argc, char **)
{
	app::Lexer lexer;
	return app::twice<int>(argc) + (int)app::twice<long>(argc) + lexer.next(argc) != 6;
}
EOS
"$TEEPERF" c++ -O2 -g names.cc -o plain

# recorded LINE: the functions that are recorded with this line alone.
recorded() {
	printf '%s\n' "$1" >one.allow
	"$TEEPERF" allowlist diff --json none.allow one.allow -- plain >diff.json || [ $? = 1 ]
	python3 -c '
import json
print(" ".join(sorted(c["linkage"] for c in json.load(open("diff.json"))["changes"] if c["effective"])))'
}
: >none.allow
for line in 'name:app::twice<int>' 'name:app::twice<int>(int)' 'name:int app::twice<int>(int)' \
	'name:int app::twice<int>'; do
	[ "$(recorded "$line")" = _ZN3app5twiceIiEET_S1_ ] ||
		fail "'$line' means $(recorded "$line")"
done
[ "$(recorded 'name:app::twice<*')" = '_ZN3app5twiceIiEET_S1_ _ZN3app5twiceIlEET_S1_' ] ||
	fail "a glob"
# The compiler agrees.
printf 'name:app::twice<int>=count\n' >count.allow
"$TEEPERF" c++ --check=off --allowlist count.allow -O2 -g names.cc -o counted
"$TEEPERF" inventory --format csv counted >csv
says '^_ZN3app5twiceIiEET_S1_,emitted,.*,count,.*count.allow:1,' csv
says '^_ZN3app5twiceIlEET_S1_,emitted,.*,skip,,' csv
expect 0 "$TEEPERF" allowlist explain 'app::twice<int>' -- plain
says '^  linkage +_ZN3app5twiceIiEET_S1_$' out

# meant LINE WHAT: the check suggests WHAT.
meant() {
	printf '%s\n' "$1" >wrong.allow
	expect 1 "$TEEPERF" allowlist check --ignore empty wrong.allow -- plain
	says "^wrong.allow:1:[0-9]+: note: .*$2" out
}
next="did you mean 'name:app::Lexer::next\(int\)' \(names.cc:8\)\?"
meant 'name:app::Lexer::nxet' "$next"
meant 'name:app::Lexer::nxet(int)' "$next"
meant 'name:Lexer::next' "$next"
meant 'name:next(int)' "$next"
meant 'name:app::Lexer::next(long)' "$next"
meant 'name:app::twice<itn>' "did you mean 'name:int app::twice<int>\(int\)'"
meant 'name:app::twice' "'name:app::twice<\*' matches 2 functions"
meant 'name:_ZN3app5Lexer4nextEi' "'fun:_ZN3app5Lexer4nextEi' is app::Lexer::next\(int\)"

# placed TEXT MESSAGE: compiler and check say MESSAGE, which begins with the place.
placed() {
	printf "$1" >placed.allow
	"$TEEPERF" c++ --check=off --allowlist placed.allow -c names.cc -o placed.o 2>err || true
	says "^[^ ]*placed.allow:$2" err
	"$TEEPERF" allowlist check placed.allow >out 2>err || true
	says "^placed.allow:$2" err
}
placed 'fun:a\n fun:b[c=skip\n' "2:7: error: '\[' without '\]'"
placed 'fun:a\nfunc:b\n' "2:1: error: unknown prefix 'func:'"
placed 'fun:[[:alpha:]]*\n' '1:5: error: classes such as \[:alpha:\] are not supported'
placed '#!special-case-list-v3\nfun:a\n' \
	"1:22: warning: version '3' of special case lists is not supported"
placed 'fun:main@foo:x\n' "1:9: warning: '@foo:' does not start a part"
placed 'default:force\n' '1:9: warning: default:force keeps every function'

# A correct list gives no message.
printf '#!special-case-list-v2\nfun:memcpy@@GLIBC_2.14\nfun:a\\@foo:x\nsrc:[[]x[a-z:]*\nname:std::a\n' >right.allow
expect 0 "$TEEPERF" allowlist check right.allow
[ ! -s err ] || fail "a list that is right: $(cat err)"
# A warning after the link has its place, too.
printf 'fun:mian\n' >link.allow
"$TEEPERF" c++ --allowlist link.allow -O2 -g names.cc -o linked 2>err ||
	fail "the link fails: $(cat err)"
says "^[^ ]*link.allow:1:5: warning: unknown function 'mian'$" err
says "^[^ ]*link.allow:1:5: note: did you mean 'fun:main'" err
