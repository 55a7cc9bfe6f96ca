#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions whose calls are only counted: exact in threads that end, in threads that still run when
# the program exits, when it is killed, in a library that is closed, and beside functions with
# events; and all shapes of the recording code see the same calls.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
# Of each thread: more records than a chunk has. In the long form, than five have.
calls=5000
[ "${TEEPERF_FULL:-0}" = 0 ] || calls=20000
all=$((8 * calls))

cat >app.c <<'EOS'
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { THREADS = 8 };
__attribute__((noinline)) static int step(int x)
{
	__asm__ volatile("");
	return x + 1;
}
static pthread_barrier_t done;
static int stays;
static void *work(void *argument)
{
	int x = 0;
	for (int i = 0; i < CALLS; i++)
		x = step(x);
	pthread_barrier_wait(&done);
	while (stays)
		pause();
	return argument;
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	stays = !strcmp(how, "stays") || !strcmp(how, "killed");
	pthread_barrier_init(&done, NULL, THREADS + 1);
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	pthread_barrier_wait(&done);
	for (int i = 0; i < THREADS && !stays; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3 && !strcmp(how, "library"); i++) {
		void *library = dlopen("./library.so", RTLD_NOW);
		if (!library)
			return 2;
		int (*other)(int) = (int (*)(int))dlsym(library, "other");
		for (int k = 0; k < 1000; k++)
			other(k);
		dlclose(library);
	}
	if (!strcmp(how, "killed"))
		kill(getpid(), SIGKILL);
	return 0;
}
EOS
cat >library.c <<'EOS'
__attribute__((noinline)) int other(int x)
{
	__asm__ volatile("");
	return x;
}
EOS
calls() {
	"$TEEPERF" analyze run.trace --view top --format csv 2>notes >top.csv
	awk -F, 'NR > 1 && $2 > 0 { print $1 "=" $2 }' top.csv | sort | tr '\n' ' '
}

# In every table the threads have as many calls as the functions: CALLS.
adds_up() {
	found=$("$TEEPERF" analyze run.trace --view threads --format csv 2>notes |
		awk -F, 'NR > 1 { s += $6 } END { print s + 0 }')
	[ "$found" = "$1" ] || fail "the threads have $found calls, not $1"
	found=$("$TEEPERF" query --format csv run.trace \
		'SELECT (SELECT sum(calls) FROM threads) AS t, (SELECT sum(calls) FROM functions) AS f' 2>notes | tail -n 1)
	[ "$found" = "$1,$1" ] || fail "the tables have '$found' calls, not $1"
}

# holds EVENTS: that many, and none lost.
holds() {
	facts run.trace lost=0
	events=$("$TEEPERF" analyze run.trace --view threads --format csv 2>notes |
		awk -F, 'NR > 1 { s += $4 } END { print s + 0 }')
	[ "$events" = "$1" ] || fail "$events events, not $1"
}

expect 0 "$TEEPERF" cc --level=count -O2 -g -pthread -DCALLS=$calls -o counted app.c -ldl
expect 0 "$TEEPERF" cc --level=count -O2 -g -shared -fPIC -o library.so library.c
for clock in tsc soft none; do
	expect 0 "$TEEPERF" record -q --clock $clock -o run.trace -- ./counted
	[ "$(calls)" = "main=1 step=$all work=8 " ] || {
		cat top.csv notes >&2
		fail "counts ($clock)"
	}
	holds 0
done
expect 0 "$TEEPERF" record -q -o run.trace -- ./counted stays
[ "$(calls)" = "main=1 step=$all work=8 " ] || {
	cat top.csv >&2
	fail "counts of running threads"
}
expect 137 "$TEEPERF" record -q -o run.trace -- ./counted killed
[ "$(calls)" = "main=1 step=$all work=8 " ] || {
	cat top.csv >&2
	fail "counts of a killed program"
}
expect 0 "$TEEPERF" record -q -o run.trace -- ./counted library
[ "$(calls)" = "main=1 other=3000 step=$all work=8 " ] || {
	cat top.csv >&2
	fail "counts in a library"
}
# Counted and with events, in one program.
printf 'fun:*\nfun:step=count\n' >mixed.allow
expect 0 "$TEEPERF" cc --allowlist=mixed.allow -O2 -g -pthread -DCALLS=$calls -o mixed app.c -ldl
expect 0 "$TEEPERF" record -q -o run.trace -- ./mixed
[ "$(calls)" = "main=1 step=$all work=8 " ] || { cat top.csv >&2; fail "counts beside events"; }
holds 18
# Sampled: all calls are counted, one in seven of each thread has times.
expect 0 "$TEEPERF" cc --level=sample/7 -O2 -g -pthread -DCALLS=$calls -o sampled app.c -ldl
for clock in tsc soft none; do
	expect 0 "$TEEPERF" record -q --clock $clock -o run.trace -- ./sampled
	[ "$(calls)" = "main=1 step=$all work=8 " ] || {
		cat top.csv >&2
		fail "calls, sampled ($clock)"
	}
	# One in seven, rounded up, in each of 8 threads.
	sampled=$(((calls + 6) / 7))
	awk -F, -v timed=$((8 * sampled)) '$1 == "step" { exit $12 != timed }' top.csv ||
		fail "one in seven ($clock)"
	holds $((2 + 16 + 16 * sampled))
	adds_up $((all + 9))
done
expect 137 "$TEEPERF" record -q -o run.trace -- ./sampled killed
[ "$(calls)" = "main=1 step=$all work=8 " ] || {
	cat top.csv >&2
	fail "samples of a killed program"
}
# By a list, and in one program with events and counts.
printf 'fun:step=sample/100\nfun:work=count\nfun:main\n' >mixed.allow
expect 0 "$TEEPERF" cc --allowlist=mixed.allow -O2 -g -pthread -DCALLS=$calls -o mixed app.c -ldl
expect 0 "$TEEPERF" record -q -o run.trace -- ./mixed
[ "$(calls)" = "main=1 step=$all work=8 " ] || { cat top.csv >&2; fail "samples beside events"; }
holds $((2 + 16 * (calls / 100)))
adds_up $((all + 9))
# What a filter leaves stands for as many calls as before; what was only counted goes, and that is
# said.
"$TEEPERF" analyze run.trace --ignore main >table
grep -q '^counted  *1 function left out' table || fail "nothing tells of counts that are left out"
"$TEEPERF" analyze run.trace --ignore main --format csv >top.csv 2>notes
awk -F, -v all=$all '$1 == "step" { exit !($2 == all && $12 == all / 100) } $1 == "work" { exit 1 }' top.csv || {
	cat top.csv >&2
	fail "filtered samples"
}
"$TEEPERF" analyze run.trace --time-range 0..1000s >table
grep -q '^sampled  *1 function with the recorded calls only' table ||
	fail "nothing tells that samples are not scaled"
# More than one object file, more functions than one record holds.
awk 'BEGIN {
	for (i = 0; i < 2500; i++)
		printf "__attribute__((noinline)) int f%d(int x) { __asm__ volatile(\"\"); return x; }\n", i
	print "static int (*const all[])(int) = {"
	for (i = 0; i < 2500; i++)
		printf "f%d,\n", i
	print "};\nint main(void) { int s = 0;"
	print "for (int i = 0; i < 2500; i++) for (int k = 0; k < i % 7; k++) s += all[i](0);"
	print "return s; }" }' >many.c
awk 'BEGIN {
	print "int f0(int x); __attribute__((noinline)) int elsewhere(int x) { return f0(x); }"
	print "__attribute__((constructor)) static void early(void) { elsewhere(1); elsewhere(2); }" }' >more.c
expect 0 "$TEEPERF" cc --level=count -O1 -o many many.c more.c
expect 0 "$TEEPERF" record -q -o run.trace -- ./many
calls >many.calls
[ "$("$TEEPERF" analyze run.trace --view top --format csv 2>/dev/null |
	awk -F, 'NR > 1 { s += $2 } END { print s }')" = \
	"$(awk 'BEGIN { for (i = 0; i < 2500; i++) s += i % 7; print s + 1 + 5 }')" ] ||
	fail "the sum of many counts"
tr ' ' '\n' <many.calls | awk -F= '/^f[0-9]/ && $1 != "f0" && $2 != substr($1, 2) % 7 { exit 1 }' ||
	fail "one of many counts"

# What initialises a static member of a template is in both object files, and the linker keeps one.
cat >member.h <<'EOS'
#include <string>
template <class T> struct Last {
	static std::string text;
};
template <class T> std::string Last<T>::text = std::string(100, 'x');
EOS
cat >member.cpp <<'EOS'
#include "member.h"
std::size_t length() { return Last<int>::text.size(); }
EOS
cat >members.cpp <<'EOS'
#include "member.h"
std::size_t length();
int main() { return length() != Last<int>::text.size(); }
EOS
for level in count sample/2; do
	expect 0 "$TEEPERF" c++ --level=$level -O1 -o members members.cpp member.cpp
	expect 0 "$TEEPERF" record -q -o run.trace -- ./members
	calls | grep -q 'length()=1 ' || fail "calls beside a static member ($level)"
done

# The same calls whatever the code looks like.
for options in '--level=sample/1' '--shape=inline' '--shape=call' \
	'--exits=untimed' '--shape=call --exits=untimed' \
	'--shape=call --clock=tsc' '--clock=soft' '--clock=soft --shape=call'; do
	# shellcheck disable=SC2086
	expect 0 "$TEEPERF" cc $options -O2 -g -pthread -DCALLS=$calls -o events app.c -ldl
	for clock in tsc soft none; do
		case $options:$clock in
		*=tsc:soft | *=tsc:none | *=soft*:tsc) continue ;;
		# The clock is in the sequence: each one with each shape, once.
		*soft*:none | *untimed:soft | *untimed:none | *sample*:soft)
			[ "${TEEPERF_FULL:-0}" != 0 ] || continue
			;;
		esac
		expect 0 "$TEEPERF" record -q --clock $clock -o run.trace -- ./events
		[ "$(calls)" = "main=1 step=$all work=8 " ] || {
			cat top.csv >&2
			fail "calls with $options, $clock"
		}
		holds $((2 * all + 18))
	done
done
