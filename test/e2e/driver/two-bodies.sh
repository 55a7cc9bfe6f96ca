#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions of two bodies (--shape=dual): however they are built, a program computes the same in both, its calls are
# counted exactly, under one name with a source line, also where recording is switched while threads call.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >app.h <<'EOS'
#include <atomic>
extern std::atomic<long> c_shared, c_deep, c_throws, c_catches, c_lands;
// In both files, and linked once.
__attribute__((noinline)) inline int shared(int x)
{
	c_shared++;
	return x * 2;
}
extern "C" int other(int x);
EOS
cat >other.cc <<'EOS'
#include "app.h"
extern "C" __attribute__((noinline)) int other(int x)
{
	c_throws++;
	if (x % 3 == 0)
		throw x;
	return shared(x);
}
extern "C" int left_over(int x)
{
	return shared(x) + other(x);
}
EOS
cat >app.cc <<'EOS'
#include "app.h"
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
#include <teeperf/teeperf.h>
#define KEEP extern "C" __attribute__((noinline, used))
std::atomic<long> c_shared, c_deep, c_throws, c_catches, c_lands;

KEEP int deep(int n, double a, long b, char c, float d, int e, int f, int g, int h, long i)
{
	c_deep++;
	if (!n)
		return (int)(a + b + c + d + e + f + g + h + i);
	const int rest = deep(n - 1, a, b, c, d, e, f, g, h, i);
	__asm__ volatile("" ::: "memory"); // or it becomes a loop
	return rest + 1;
}
KEEP int catches(int x)
{
	c_catches++;
	try {
		std::string text(40, 'x');
		return other(x) + (int)text.size();
	} catch (int y) {
		return y;
	}
}
KEEP void jumps(jmp_buf place, int x)
{
	if (x % 2)
		longjmp(place, 1);
}
KEEP int lands(int x)
{
	jmp_buf place;
	c_lands++;
	if (setjmp(place))
		return 1;
	jumps(place, x);
	return 0;
}
KEEP long round(int i)
{
	return deep(3, 1, 2, 3, 4, 5, 6, 7, 8, 9) + catches(i) + lands(i) + shared(i);
}
KEEP void marked()
{
	__asm__ volatile("");
}
static void work(int rounds, long *sum)
{
	for (int i = 0; i < rounds; i++)
		*sum += round(i % 6) - i % 6;
}
int main(int argc, char **argv)
{
	const bool storm = argc > 1;
	const int rounds = storm ? 6000 : 300;
	std::vector<std::thread> threads;
	long sums[3] = {0};
	for (long &sum : sums)
		threads.emplace_back(work, rounds, &sum);
	for (int i = 0; storm && i < 50; i++) {
		teeperf_off();
		std::this_thread::yield();
		teeperf_on();
		for (int k = 0; k < 100; k++)
			marked();
	}
	for (std::thread &thread : threads)
		thread.join();
	if (storm)
		return 0;
	for (long sum : sums)
		if (sum != sums[0] || sum != 24650)
			return fprintf(stderr, "sum %ld\n", sum), 1;
	printf("shared(int) %ld\ndeep %ld\nother %ld\ncatches %ld\nlands %ld\njumps %ld\nround 900\n", (long)c_shared,
	    (long)c_deep, (long)c_throws, (long)c_catches, (long)c_lands, (long)c_lands);
	return 0;
}
EOS
printf 'fun:%s\n' deep other catches lands jumps round marked _Z6sharedi left_over >list.allow

# try OPTION...: as a whole, one build.
try() {
	set -- "$TEEPERF" c++ --shape=dual --allowlist list.allow --check off -g -I "$root/include" "$@" app.cc other.cc \
		-o app -pthread
	case "$*" in *-flto*) lto "$@" || return 0 ;; esac
	"$@" 2>cc.err || {
		grep -q 'invalid linker name\|unable to find\|cannot find\|Producer: .* Reader: ' cc.err && {
			echo "not tried, not there: $*"
			return 0
		}
		fail "$*: $(cat cc.err)"
	}
	[ "$(nm app | grep -c ' t .*\.recorded$')" -ge 6 ] || fail "$*: where are the second bodies? $(nm app)"
	nm app | grep -q ' t lands.recorded' && fail "$*: a function that calls setjmp has two bodies"
	# Nobody records: the first bodies.
	expect 0 ./app
	expect 0 "$TEEPERF" record -q -o run.trace -- ./app
	sort out >wanted
	"$TEEPERF" analyze run.trace --format csv 2>notes >top.csv
	sed 1d top.csv | awk -F, '{ print $1, $2 }' | sort >got
	diff wanted got || fail "$*: the counts differ: $(cat notes)"
	"$TEEPERF" analyze run.trace --view tree --format csv >tree.csv 2>notes
	! grep -Ei 'unmatched|problem|damag' notes || fail "$*: $(cat notes)"
	says '^deep,.*/app.cc,' top.csv
	# Both bodies are the function for a debugger, and its own address has its line.
	if command -v gdb >/dev/null && command -v addr2line >/dev/null; then
		gdb -q -batch -nx -ex 'break deep' app >gdb.out 2>&1
		says '(2 locations)' gdb.out
		addr2line -e app "$(nm app | awk '$3 == "deep" { print $1 }')" >line
		# Of its opening brace.
		says "/app.cc:$(awk '/^KEEP int deep/ { print NR + 1 }' app.cc)\$" line
	fi
	tried=$((tried + 1))
}
tried=0
try -O0
try -O2 -static
try -O2 -fPIC -ffunction-sections -fdata-sections -Wl,--gc-sections
nm app | grep left_over && fail 'what nobody calls is still there, for the sake of a second body'
try -O2 -flto -fuse-ld=lld -Wl,--icf=all,--gc-sections -ffunction-sections
try -Os -fcf-protection=full -fstack-protector-all -fno-omit-frame-pointer
if [ "$(uname -m)" = x86_64 ]; then
	objdump -d --no-show-raw-insn app | awk '/^[0-9a-f]+ <deep>:$/ { left = 3; next } left-- > 0' >begin
	says 'endbr64' begin
	[ "$(awk '{ printf "%s ", $2 }' begin)" = 'endbr64 cmpb jne ' ] || fail "how does a function begin? $(cat begin)"
fi
try -O2 -static-pie
[ $tried -ge 4 ] || fail "only $tried builds"
if [ "${TEEPERF_FULL:-0}" = 1 ]; then
	for level in -O0 -O1 -O2 -O3; do
		for linker in bfd gold lld mold; do
			try $level -fuse-ld=$linker -ffunction-sections -Wl,--gc-sections
			try $level -fuse-ld=$linker -static
		done
		for lto in -flto -flto=thin; do
			try $level $lto -fuse-ld=lld -Wl,--icf=all
		done
		try $level -fno-optimize-sibling-calls -fstack-clash-protection
		try $level -fsanitize=address
		try $level -fsanitize=thread
	done
fi

# Switched 100 times while three threads call.
"$TEEPERF" c++ --shape=dual --allowlist list.allow --check off -O2 -g -I "$root/include" app.cc other.cc -o app -pthread
expect 0 "$TEEPERF" record -q --mode full --size 128M -o run.trace -- ./app storm
"$TEEPERF" analyze run.trace --format csv 2>notes >top.csv
! grep -Ei 'unmatched|problem|damag' notes || fail "switched: $(cat notes)"
[ "$(awk -F, '$1 == "marked" { print $2 }' top.csv)" = 5000 ] || fail "switched: $(cat top.csv notes)"
echo "$tried builds"
