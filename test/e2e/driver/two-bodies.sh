#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Functions of two bodies (--shape=dual): however they are compiled and linked, a program computes
# what it computes without TeePerf, with no recorder, before recording is switched on, while it is
# on, off again, and on again. What it calls while it is on is counted exactly, under one name with
# a source line, as with --shape=inline; also where recording is switched while threads call.
# TEEPERF_FULL=1 tries all combinations that are listed.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
full=${TEEPERF_FULL:-0}

cat >app.h <<'EOS'
#include <atomic>
extern std::atomic<long> c_shared, c_deep, c_other, c_catches, c_lands, c_twins;
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
	c_other++;
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
std::atomic<long> c_shared, c_deep, c_other, c_catches, c_lands, c_twins;
static std::atomic<long> *const counts[] = {&c_shared, &c_deep, &c_other, &c_catches, &c_lands, &c_twins};
enum { COUNTS = 6, ROUNDS = 100, THREADS = 3 };

// A linker may make them one.
KEEP int twin(int x)
{
	c_twins++;
	return x * 7 + 1;
}
KEEP int twin_too(int x)
{
	c_twins++;
	return x * 7 + 1;
}
static int (*volatile one)(int) = twin;
static int (*volatile another)(int) = twin_too;

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
KEEP long round_of(int i)
{
	return deep(3, 1, 2, 3, 4, 5, 6, 7, 8, 9) + catches(i) + lands(i) + shared(i) + one(i) + another(i);
}
KEEP void marked()
{
	__asm__ volatile("");
}
static void work(int rounds, long *sum)
{
	for (int i = 0; i < rounds; i++)
		*sum += round_of(i % 6);
}
// In some threads: what they have computed.
static long all_work(int rounds)
{
	std::vector<std::thread> threads;
	long sums[THREADS] = {0};
	for (long &sum : sums)
		threads.emplace_back(work, rounds, &sum);
	for (std::thread &thread : threads)
		thread.join();
	for (long sum : sums)
		if (sum != sums[0])
			abort();
	return sums[0];
}
// Switched while they call.
static int storm()
{
	std::thread worker([] { all_work(6000); });
	for (int i = 0; i < 50; i++) {
		teeperf_off();
		std::this_thread::yield();
		teeperf_on();
		for (int k = 0; k < 100; k++)
			marked();
	}
	worker.join();
	return 0;
}
int main(int argc, char **)
{
	if (argc > 1)
		return storm();
	// Off, on, off, on, off: the odd ones are recorded.
	long begun[COUNTS], on[COUNTS] = {0};
	for (int phase = 0; phase < 5; phase++) {
		if (phase % 2)
			teeperf_on();
		else
			teeperf_off();
		for (int i = 0; i < COUNTS; i++)
			begun[i] = *counts[i];
		printf("phase %d computes %ld\n", phase, all_work(ROUNDS));
		for (int i = 0; i < COUNTS; i++)
			on[i] += phase % 2 ? *counts[i] - begun[i] : 0;
	}
	printf("shared(int) %ld\ndeep %ld\nother %ld\ncatches %ld\nlands %ld\njumps %ld\ntwin %ld\nround_of %d\n", on[0], on[1],
	    on[2], on[3], on[4], on[4], on[5], 2 * THREADS * ROUNDS);
	return 0;
}
EOS
printf 'fun:%s\n' deep other catches lands jumps round_of marked twin twin_too _Z6sharedi \
	left_over >list.allow

# What it prints without TeePerf.
${CXX:-c++} -O1 -I "$root/include" app.cc other.cc -o app -pthread ||
	skip "no C++ compiler (CXX=${CXX:-c++})"
expect 0 ./app
mv out native

# built WHAT COMMAND...: COMMAND makes ./app; false where there is no such linker.
built() {
	what=$1
	shift
	rm -f app
	"$@" 2>cc.err && return
	# An lld of another LLVM, which a clang took that has none of its own, reads no bitcode of
	# this one.
	grep -q 'invalid linker name\|unable to find\|cannot find\|Producer: .* Reader: ' cc.err ||
		fail "$what: $(cat cc.err)"
	echo "not tried, not there: $what"
	return 1
}

# counted WHAT: ./app computes the right results, and functions that are on are counted exactly.
counted() {
	# Nobody records: the first bodies.
	expect 0 ./app
	cmp -s out native || fail "$1: without a recorder it computes $(diff native out)"
	expect 0 "$TEEPERF" record -q --on-start off -o run.trace -- ./app
	cmp -s out native || fail "$1: while it is recorded it computes $(diff native out)"
	"$TEEPERF" analyze run.trace --format csv 2>notes >top.csv
	# Which of the twins' names one has whom a linker has made one is up to the linker.
	sed 1d top.csv | awk -F, \
		'{ sub("_too", "", $1); calls[$1] += $2 } END { for (f in calls) print f, calls[f] }' | sort >got
	grep -v ^phase native | sort | diff - got || fail "$1: the counts differ: $(cat notes)"
	"$TEEPERF" analyze run.trace --view tree --format csv >tree.csv 2>notes
	! grep -Ei 'unmatched|problem|damag' notes || fail "$1: $(cat notes)"
	says '^deep,.*/app.cc,' top.csv
}

# try OPTION...: as a whole, one build.
try() {
	set -- "$TEEPERF" c++ --shape=dual --allowlist list.allow --check off -g \
		-I "$root/include" "$@" app.cc other.cc -o app -pthread
	case "$*" in *-flto*) lto "$@" || return 0 ;; esac
	built "$*" "$@" || return 0
	[ "$(nm app | grep -c ' t .*\.recorded$')" -ge 6 ] ||
		fail "$*: where are the second bodies? $(nm app)"
	nm app | grep -q ' t lands.recorded' &&
		fail "$*: a function that calls setjmp has two bodies"
	counted "$*"
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
# in_line OPTION...: a build in which no function can have two bodies.
in_line() {
	set -- "$TEEPERF" c++ --shape=dual --allowlist list.allow --check off -g \
		-I "$root/include" "$@" app.cc other.cc -o app -pthread
	built "$*" "$@" || return 0
	! nm app | grep '\.recorded$' || fail "$*: these have a second body"
	counted "$*"
	tried=$((tried + 1))
}
# The lld of this LLVM: a clang that is not in its LLVM's folder takes the system's, which reads
# bitcode up to its own.
lld=lld
! command -v "ld.lld-$(llvm)" >/dev/null || lld=lld-$(llvm)
tried=0
"$TEEPERF" c++ --shape=inline --allowlist list.allow --check off -g -O2 \
	-I "$root/include" app.cc other.cc -o app -pthread
counted 'in line'
try -O0 -no-pie
try -O2 -static
try -O2 -fPIC -ffunction-sections -fdata-sections -Wl,--gc-sections -fuse-ld=mold
[ ! -e app ] || ! nm app | grep left_over ||
	fail 'what nobody calls is still there, for the sake of a second body'
try -O2 -flto=thin -fuse-ld=$lld -Wl,--icf=all,--gc-sections -ffunction-sections
try -O1 -fsanitize=address
try -Os -fcf-protection=full -fstack-protector-all -fno-omit-frame-pointer
if [ "$(uname -m)" = x86_64 ]; then
	objdump -d --no-show-raw-insn app |
		awk '/^[0-9a-f]+ <deep>:$/ { left = 3; next } left-- > 0' >begin
	says 'endbr64' begin
	[ "$(awk '{ printf "%s ", $2 }' begin)" = 'endbr64 cmpb jne ' ] ||
		fail "how does a function begin? $(cat begin)"
fi
try -O2 -static-pie
[ $tried -ge 4 ] || fail "only $tried builds"
# all LEVEL: the options that change what code is like or where it goes, each with each linker that
# is there.
all() {
	for linker in bfd gold lld mold; do
		for kind in -no-pie -pie -static -static-pie; do
			# gold has no option that this needs.
			[ "$linker$kind" = gold-static-pie ] || try $1 -fuse-ld=$linker $kind
		done
		try $1 -fuse-ld=$linker -ffunction-sections -fdata-sections -Wl,--gc-sections
		! nm app | grep left_over || fail "$linker $1: what nobody calls is still there"
		try $1 -fuse-ld=$linker -fcf-protection=full
		[ $linker = bfd ] || try $1 -fuse-ld=$linker -Wl,--icf=all -ffunction-sections
	done
	for lto in -flto -flto=thin; do
		for kind in -pie -no-pie -static -static-pie -fcf-protection=full; do
			try $1 $lto $kind -fuse-ld=$lld -Wl,--icf=all,--gc-sections \
				-ffunction-sections
		done
	done
	try $1 -fno-optimize-sibling-calls -fstack-clash-protection
	try $1 -fsanitize=address
	try $1 -fsanitize=thread
	if [ "$(llvm)" -ge 17 ]; then
		try $1 -fsanitize=undefined
	else
		# Its check of calls puts data of its own before each function's code.
		try $1 -fsanitize=undefined -fno-sanitize=function
		in_line $1 -fsanitize=undefined
	fi
}
if [ "$full" = 1 ]; then
	for level in -O0 -O1 -O2 -O3; do
		all $level
	done
fi

# Switched 100 times while three threads call.
"$TEEPERF" c++ --shape=dual --allowlist list.allow --check off -O2 -g \
	-I "$root/include" app.cc other.cc -o app -pthread
expect 0 "$TEEPERF" record -q --mode full --size 128M -o run.trace -- ./app storm
"$TEEPERF" analyze run.trace --format csv 2>notes >top.csv
! grep -Ei 'unmatched|problem|damag' notes || fail "switched: $(cat notes)"
[ "$(awk -F, '$1 == "marked" { print $2 }' top.csv)" = 5000 ] ||
	fail "switched: $(cat top.csv notes)"
echo "$tried builds"
