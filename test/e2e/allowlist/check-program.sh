#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that `teeperf allowlist check` and `explain` are right about a real C++ program at -O2:
# lines for functions that were inlined, inlined in part, removed, that have the same name in two
# files, or are not there.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
cat >shape.h <<'EOS'
struct Shape {
	virtual ~Shape() {}
	virtual int area(int x) = 0;
};
Shape *make(int kind);
int other(int x);
EOS
cat >shape.cc <<'EOS'
#include "shape.h"
namespace {
int helper(int x) { asm volatile(""); return x * 7 + 3; } // inlined
}
static int never(int x) { return x + 1; } // removed
static __attribute__((noinline)) int init(int x) { asm volatile(""); return x; }
// Inlined where it is called once too often to be small, and exported.
int twice(int x) { return helper(x) * 2; }
struct Square : Shape {
	int area(int x) override { return twice(init(x)); }
};
Shape *make(int kind) { return kind ? new Square : nullptr; }
int without_it() { int zero = 0; return zero ? never(1) : 3; }
EOS
cat >main.cc <<'EOS'
#include "shape.h"
static __attribute__((noinline)) int init(int x) { asm volatile(""); return x + 1; }
int other(int x) { return init(x); }
int main(int argc, char **)
{
	Shape *shape = make(argc);
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += shape->area(i) + other(i);
	delete shape;
	return sum == 12345;
}
EOS
cat >hot.allow <<'EOS'
fun:main
name:Square::area(int)
name:*::helper(*
fun:_Z5twicei
fun:_ZL5neveri
fun:_ZL4initi
fun:_Z4initi
fun:make
name:Sqare::area
EOS
check() {
	"$TEEPERF" allowlist check "$@"
}
for debug in -g ''; do
	"$TEEPERF" c++ --check=off --allowlist hot.allow -O2 $debug shape.cc main.cc \
		-o app$debug 2>warnings
	expect 1 check hot.allow -- ./app$debug
	cp out findings$debug
	says "^hot.allow:3:6: warning: '.*helper\(int\)' was inlined into .* nothing is recorded \[inlined\]$" out
	# Without debug information nothing shows which calls were inlined, and a missing function
	# may have been.
	if [ "$debug" ]; then
		says "^hot.allow:4:5: warning: 'twice\(int\)' was also inlined into 'Square::area\(int\)'.* \[partly-inlined\]$" out
		says "^hot.allow:5:5: warning: 'never\(int\)' was removed by the compiler" out
	else
		says "^hot.allow:5:5: warning: 'never\(int\)' was inlined into 'without_it\(\)' \(probably\)" out
	fi
	says "^hot.allow:6:5: warning: 2 functions are named '_ZL4initi': .*main.cc.*shape.cc|shape.cc.*main.cc" out
	says "^hot.allow:7:5: warning: unknown function '_Z4initi' \[no-match\]$" out
	says "^hot.allow:8:5: note: fun: takes linkage names: 'fun:_Z4makei' is make\(int\)$" out
	says "^hot.allow:9:6: note: did you mean 'name:Square::area\(int\)'" out
	! grep -Eq '^hot.allow:[12]:' out || fail "lines 1 and 2 are as they should be"

	# The messages about inlining are true: the program lacks these symbols, and has the others.
	nm -C app$debug >symbols
	! grep -q 'helper(int)' symbols || fail "helper is there"
	! grep -q 'never(int)' symbols || fail "never is there"
	says ' T twice\(int\)$' symbols
done
says "main.cc:2, .*shape.cc:6|shape.cc:6, .*main.cc:2" findings-g

# What the notes say to write is what mends the list.
cat >good.allow <<'EOS'
fun:main
name:Square::area(int)
name:*::helper(*=force
fun:_Z5twicei=force
fun:_ZL4initi@src:*shape.cc
fun:_Z4makei
EOS
"$TEEPERF" c++ --allowlist good.allow -O2 -g shape.cc main.cc -o good 2>err ||
	fail "it does not link: $(cat err)"
[ ! -s err ] || fail "there is nothing to warn of: $(cat err)"
expect 0 check good.allow -- ./good
says '^6 lines, [0-9]+ functions: 6 recorded, ' out
nm -C good >symbols
says 'helper\(int\)$' symbols

# The same program, explained.
expect 0 "$TEEPERF" allowlist explain twice hot.allow -- ./app-g
says "^  presence    a function of its own, and also inlined into 'Square::area\(int\)'$" out
says '^  list says   allow, by hot.allow:4: fun:_Z5twicei$' out
says '^  compiled as allow, by .*hot.allow:4$' out
expect 0 "$TEEPERF" allowlist explain helper -- ./app-g
says '^  presence    inlined into ' out
