#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a report with --source knows from which lines a function calls others, by DWARF 4 and
# 5, in functions of one body and of two, with debug information in .dwo files; no line where it is
# not known which code was inlined, and nothing without call sites; and that the browser shows the
# numbers that `teeperf query` has of caller and callee, shared ones as such.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# The text behind "calls" is what the report must say of that line. The code of "pieces" is not in
# one piece.
cat >other.c <<'EOS'
#define KEEP __attribute__((noinline))
KEEP int rare(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 5;
}
static inline __attribute__((always_inline)) int pieces(int x)
{
	if (__builtin_expect(x & 1, 0))
		return rare(x) + 1;
	return x - 5;
}
KEEP int other(int x)
{
	__asm__ volatile("" : "+r"(x));
	x = pieces(x); // calls rare
	__asm__ volatile("" : "+r"(x));
	return x;
}
EOS
cat >main.c <<'EOS'
#define KEEP __attribute__((noinline))
typedef int step_fn(int);
int other(int x);
KEEP int once(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}
static KEEP int often(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 2;
}
KEEP int pointed(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 3;
}
KEEP int deep(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3;
}
static inline __attribute__((always_inline)) int inner(int x)
{
	return deep(x + 1) ^ 1;
}
static inline __attribute__((always_inline)) int outer(int x)
{
	return inner(x) + 7;
}
KEEP int work(int n, step_fn *step)
{
	int sum = once(n); // calls once
	for (int i = 0; i < n; i++) {
		int before = sum;
		sum += often(before + i); // calls often
	}
	sum ^= often(sum); // calls often
	sum += step(sum);
	sum += outer(sum); // calls deep
	sum += other(sum); // calls other
	__asm__ volatile("" : "+r"(sum));
	return sum;
}
int main(void)
{
	step_fn *step = pointed;
	int sum = 0;
	__asm__ volatile("" : "+r"(step));
	for (int i = 0; i < 100; i++)
		sum += work(i % 7, step); // calls work
	return sum == 42;
}
EOS
printf 'fun:%s\n' main work once often pointed deep other rare >list.allow

# try NAME OPTION...: a build, its trace and its report.
try() {
	name=$1
	shift
	"$TEEPERF" cc --allowlist list.allow --check off "$@" main.c other.c -o "$name"
	"$TEEPERF" record -o "$name.trace" "./$name" 2>err || [ $? = 1 ] || {
		cat err >&2
		fail "$name: no trace"
	}
	expect 0 "$TEEPERF" report --raw --source . -o "$name.html" "$name.trace"
}
check() {
	expect 0 python3 "$lib/report_source_calls.py" "$1.html" "$2" main.c other.c
	says '^0 failures' out
}
for shape in dual inline; do
	for version in 4 5; do
		try $shape$version --shape=$shape -O2 -g -gdwarf-$version
		check $shape$version calls
	done
done
try split --shape=dual -O2 -g -gsplit-dwarf
check split calls
try split4 --shape=dual -O2 -g -gdwarf-4 -gsplit-dwarf
check split4 calls
if command -v objcopy >/dev/null; then
	# Where the pieces are is said there.
	objcopy --remove-section=.debug_ranges split4
	expect 0 "$TEEPERF" report --raw --source . -o split4.html split4.trace
	check split4 unclear
fi
try plain --shape=dual -O0 -g
check plain none
try without --shape=dual -O2
check without nothing

[ -x /usr/bin/chromium ] && command -v chromedriver >/dev/null ||
	skip "no browser (packages chromium and chromium-driver); the page's data were looked at"
export HOME="$PWD"
modules=${TEEPERF_AXE:-$(npm root -g 2>/dev/null || true)}
axe=$modules/axe-core/axe.min.js
[ -e "$axe" ] || axe=
expect 0 "$TEEPERF" query --raw --format csv dual5.trace \
	"SELECT callee.function AS callee, sum(child.calls) AS calls,
	sum(child.inclusive_ns) AS inclusive_ns FROM paths child
	JOIN paths above ON child.parent = above.path
	JOIN functions callee ON callee.fn = child.fn JOIN functions caller ON caller.fn = above.fn
	WHERE caller.function = 'work' GROUP BY callee.function"
mv out pairs.csv
expect 0 python3 "$lib/browser_source_calls.py" dual5.html plain.html main.c pairs.csv "$axe"
says '^0 failures' out
