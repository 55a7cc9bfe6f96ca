#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs that rely on sibling calls, which clang makes jumps at -O2: a machine of three states
# takes as many steps as it likes, recorded or not, in each shape; by default where its states call
# one another by name, with --tail-calls=keep also through a table. With 'call' it needs a stack.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
# A frame for each step needs more.
little='ulimit -s 256; exec ./app'

cat >machine.c <<'EOS'
#include <stdio.h>
#include <stdlib.h>
enum { STEPS = 30000 };
typedef int state(int left, int sum);
state first, second, third;
#ifdef TABLE
static state *const volatile table[] = {first, second, third};
#define NEXT(number, name) table[number]
#else
#define NEXT(number, name) name
#endif
#define STATE(name, number, next)                                                                  \
	__attribute__((noinline)) int name(int left, int sum)                                      \
	{                                                                                          \
		if (!left)                                                                         \
			return sum;                                                                \
		return NEXT(number, next)(left - 1, (sum ^ left) + number);                        \
	}
STATE(first, 1, second)
STATE(second, 2, third)
STATE(third, 0, first)
int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : STEPS;
	printf("%d\n", first(steps, 0));
	return 0;
}
EOS

# counts STEPS: all calls were recorded, of three states that take turns.
counts() {
	third=$(($1 / 3))
	"$TEEPERF" analyze --format csv run.trace 2>notes | sed 1d | cut -d, -f1,2 | sort >got
	printf 'first,%d\nmain,1\nsecond,%d\nthird,%d\n' $((third + 1)) $third $third | cmp - got ||
		fail "$what: $(cat got notes)"
	facts run.trace lost=0
}

for what in "-DNAMES" "-DNAMES --tail-calls=keep" "-DTABLE --tail-calls=keep"; do
	cc -O2 ${what%% *} machine.c -o plain
	./plain >wanted
	for shape in dual inline call; do
		"$TEEPERF" cc -O2 $what --shape=$shape machine.c -o app
		expect 0 sh -c "$little"
		cmp out wanted || fail "$what, $shape: another result"
		expect 0 "$TEEPERF" record -q -o run.trace -- sh -c "$little"
		cmp out wanted || fail "$what, $shape: another result while it was recorded"
		counts 30000
	done
done
# As calls: exact nesting, and a frame for each.
what=call
"$TEEPERF" cc -O2 -DNAMES --tail-calls=call machine.c -o app
expect 0 "$TEEPERF" record -q -o run.trace -- ./app 30
counts 30
"$TEEPERF" analyze --view tree --min-share 0 --limit 1000 run.trace >tree 2>notes
[ "$(grep -c second tree)" = 10 ] || fail "calls are not below their callers: $(cat tree)"
