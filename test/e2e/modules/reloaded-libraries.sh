#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Libraries that come, go, and come back: at the same place, elsewhere, and one in the place of
# another. Each call is counted under its own function's name, whatever its address has been before:
# the calls that the program counts itself are the calls that the profile has.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

# Two libraries of the same shape: the kernel puts one where the other was.
cat >library.c <<'EOS'
unsigned long NAME(calls_of_, inner), NAME(calls_of_, outer);
__attribute__((noinline)) static int INNER(int x)
{
	calls_of_inner++;
	return x + 1;
}
int outer(int x)
{
	calls_of_outer++;
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += INNER(i);
	return sum;
}
EOS
sed -i 's/NAME(calls_of_, \([a-z]*\))/calls_of_\1/g' library.c
cat >host.c <<'EOS'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static unsigned long counts[512][2];
static unsigned long places;
static int (*outer)(int);

static void *call(void *times)
{
	outer(*(int *)times);
	return NULL;
}

// Load, call on this thread or another, and unload; then, if asked to, block the place.
static void round_of(const char *path, int index, int times, int flags)
{
	static void *before;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		puts(dlerror());
		exit(1);
	}
	outer = (int (*)(int))dlsym(library, "outer");
	struct link_map *map;
	dlinfo(library, RTLD_DI_LINKMAP, &map);
	places += (void *)map->l_addr != before;
	before = (void *)map->l_addr;
	if (flags & 1) {
		pthread_t thread;
		pthread_create(&thread, NULL, call, &times);
		pthread_join(thread, NULL);
	} else {
		call(&times);
	}
	counts[index][0] += *(unsigned long *)dlsym(library, "calls_of_inner");
	counts[index][1] += *(unsigned long *)dlsym(library, "calls_of_outer");
	if (flags & 4)
		return;
	dlclose(library);
	if (flags & 2)
		mmap(before, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}
// host ROUNDS FLAGS LIBRARY...
int main(int argc, char **argv)
{
	const int rounds = atoi(argv[1]);
	const int flags = atoi(argv[2]);
	for (int i = 0; i < rounds; i++)
		for (int j = 3; j < argc; j++)
			round_of(argv[j], j - 3, 1 + (i + j) % 7, flags);
	for (int j = 3; j < argc; j++) {
		const char *name = strrchr(argv[j], '/') + 1;
		printf("%s inner %lu\n%s outer %lu\n", name, counts[j - 3][0], name, counts[j - 3][1]);
	}
	fprintf(stderr, "%lu places\n", places);
	return 0;
}
EOS
# libraries OPTIONS...: first.so and second.so, compiled with them.
libraries() {
	for name in first second; do
		"$TEEPERF" cc -O1 -g -shared -fPIC "-DINNER=inner_of_$name" "$@" library.c \
			-o $name.so
	done
}
"$TEEPERF" cc -O1 -g host.c -o host -ldl -lpthread

# run RECORD-OPTIONS... -- HOST-ARGUMENTS...: the counts of the program are the counts of the
# profile.
run() {
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	# By chance a library's addresses have the low halves of the program's, and the remedy is to
	# run it again.
	tries=1
	expect 0 "$TEEPERF" record -q $options -o run.trace -- ./host "$@"
	while ! "$TEEPERF" analyze run.trace >/dev/null 2>notes &&
		grep -q 'low halves.*run it again' notes; do
		[ $tries -lt 5 ] ||
			fail "libraries collide with the program in $tries runs: $(cat notes)"
		tries=$((tries + 1))
		expect 0 "$TEEPERF" record -q $options -o run.trace -- ./host "$@"
	done
	# inner_of_first of first.so is "first.so inner".
	mv err places
	awk '{ print $1, $2, $3 }' out | sort >wanted
	"$TEEPERF" analyze run.trace --format csv >top.csv 2>notes || fail "analyze: $(cat notes)"
	awk -F, 'NR > 1 && $7 != "host" { sub(/^inner_of_.*/, "inner", $1); print $7, $1, $2 }' \
		top.csv | sort >got
	cmp -s wanted got || {
		diff wanted got >&2 || :
		cat notes >&2
		fail "the counts differ ($options -- $*)"
	}
	! grep -Eq '^inner_of_first,.*,second.so,|^inner_of_second,.*,first.so,' top.csv ||
		fail "a function of one library is told as the other's"
	[ "$(grep -c '^inner_of_.*/library.c,2,' top.csv)" = "$(grep -c ' inner ' wanted)" ] ||
		fail "the source of a function is not told"
	! grep -Eq 'by address|not recorded|problem' notes || {
		cat notes >&2
		fail "something is said to be unknown ($options -- $*)"
	}
	facts run.trace lost=0
}

# places CONDITION: how often a library was not where the one before it was.
places() {
	count=$(sed -n 's/ places$//p' places)
	test "$count" $1 || fail "$count places: not $1"
}

# modules NAME: how many entries NAME has in the trace's last table of modules.
modules() {
	"$TEEPERF" dump run.trace | awk -v name="$1" \
		'/^modules/ { n = 0 } /^\tmodule / && index($0, name) { n++ } END { print n }'
}

here=$PWD
libraries
for clock in tsc soft none; do
	# The same library, again and again, at the same place; two that take turns there.
	run --clock $clock -- 20 0 "$here/first.so"
	places '-eq 1'
	run --clock $clock -- 20 0 "$here/first.so" "$here/second.so"
	places '-eq 1'
	# Each time elsewhere; threads that end before and after.
	run --clock $clock -- 10 3 "$here/first.so" "$here/second.so"
	places '-ge 10'
	run --clock $clock -- 20 1 "$here/first.so" "$here/second.so"
done
[ "$(modules .so)" = 40 ] || fail "$(modules .so) modules: not two that took turns 20 times"

# Exits without a time; calls that are only counted, or sampled.
for options in --exits=untimed --level=count --level=sample/3; do
	libraries $options
	run -- 12 1 "$here/first.so" "$here/second.so"
	run --clock none -- 12 3 "$here/first.so" "$here/second.so"
done

# A thousand times one library is one module; and functions are reported once.
libraries
run -- 1000 0 "$here/first.so"
[ "$(modules first.so)" = 1 ] || fail "one library is $(modules first.so) modules"
# record --only: however often they are loaded, functions that are left out are reported once.
printf 'fun:outer\n' >only.allow
for rounds in 1 50; do
	expect 0 "$TEEPERF" record -q --only only.allow -o run.trace -- ./host $rounds 2 \
		"$here/first.so" "$here/second.so"
	"$TEEPERF" analyze run.trace --format csv 2>&1 >top.csv | grep 'left out' >left-out.$rounds
	[ "$(sed 1d top.csv | cut -d, -f1,2,7 | sort | tr '\n' ' ')" = \
		"outer,$rounds,first.so outer,$rounds,second.so " ] || fail "$(cat top.csv)"
done
cmp left-out.1 left-out.50 || fail "$(cat left-out.1 left-out.50)"

# Hundreds of modules at once, and hundreds in turn in a few places.
i=0
set --
while [ $i -lt 300 ]; do
	cp first.so "many$i.so"
	set -- "$@" "$here/many$i.so"
	i=$((i + 1))
done
run -- 1 4 "$@"
[ "$(modules many)" = 300 ] || fail "$(modules many) modules of 300"
run -- 2 0 "$@"

# The same library twice, the second with a C library and a runtime of its own: the first is exact,
# and that the second is not recorded is said.
cat >twice.c <<'EOS'
#define _GNU_SOURCE
#include <dlfcn.h>

int main(int argc, char **argv)
{
	(void)argc;
	void *first = dlopen(argv[1], RTLD_NOW);
	void *second = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
	if (!first || !second)
		return 1;
	int sum = 0;
	for (int i = 0; i < 10; i++) {
		sum += ((int (*)(int))dlsym(first, "outer"))(3);
		sum += ((int (*)(int))dlsym(second, "outer"))(3);
	}
	return sum != 120;
}
EOS
"$TEEPERF" cc -O1 -g twice.c -o twice -ldl
expect 0 "$TEEPERF" record -q -o run.trace -- ./twice "$here/first.so"
says '1 more process .*dlmopen' err
"$TEEPERF" analyze run.trace --format csv 2>notes | sed 1d | cut -d, -f1,2 | sort >got
[ "$(tr '\n' ' ' <got)" = 'inner_of_first,30 main,1 outer,10 ' ] || fail "$(cat got)"
says 'not recorded' notes

# With --follow-fork each of the two has a trace, in the first process and in the next, and the
# second one does not end that of the first.
cat >both.sh <<'EOS'
./twice "$1" && ./twice "$1"
EOS
rm -f run.trace*
expect 0 "$TEEPERF" record -f -o run.trace -- sh both.sh "$here/first.so"
! grep -E 'became another program|not recorded' err ||
	fail "a second runtime ended the first: $(cat err)"
for trace in run.trace*; do
	"$TEEPERF" analyze "$trace" --format csv 2>notes | sed 1d | cut -d, -f1,2 | sort |
		tr '\n' ' '
	echo
done | sort | uniq -c | tr -s ' ' >got
[ "$(cat got)" = ' 2 inner_of_first,30 main,1 outer,10 
 2 inner_of_first,30 outer,10 ' ] || fail "$(ls run.trace*; cat got err)"
rm -f run.trace*

# Two libraries 4 GiB apart: records cannot tell them apart, so the second one has none, and that is
# said.
cat >far.c <<'EOS'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	(void)argc;
	struct link_map *maps[2];
	int sum = 0;
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return 1;
		dlinfo(library, RTLD_DI_LINKMAP, &maps[i]);
		// The place for the next is just below this.
		const unsigned long above = maps[0]->l_addr - (1ul << 32) + (80ul << 20);
		if (i == 0 && mmap((void *)above, (1ul << 32) - (80ul << 20), PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) ==
				  MAP_FAILED)
			return 77;
		int (*outer)(int) = (int (*)(int))dlsym(library, "outer");
		sum += outer(3);
	}
	const unsigned long apart = maps[0]->l_addr - maps[1]->l_addr;
	fprintf(stderr, "%#lx\n", apart);
	return apart + (64ul << 20) < 1ul << 32 || apart > (1ul << 32) + (64ul << 20) ? 77 : sum != 12;
}
EOS
for name in first second; do
	"$TEEPERF" cc -O1 -g -shared -fPIC "-DINNER=inner_of_$name" library.c -x c - \
		-o far_$name.so <<-'EOS'
		char much[64 << 20];
	EOS
done
"$TEEPERF" cc -O1 -g far.c -o far -ldl
status=0
"$TEEPERF" record -o far.trace -- ./far "$here/far_first.so" "$here/far_second.so" 2>err ||
	status=$?
if [ $status = 77 ]; then
	echo "the kernel did not put the libraries where they collide: not tested"
else
	[ $status = 0 ] || fail "$(cat err)"
	says '1 module.* not recorded' err
	"$TEEPERF" analyze far.trace --format csv >top.csv 2>notes || :
	says '^inner_of_first,3,' top.csv
	! grep second top.csv || fail "calls of a library that collides"
	says 'far_second.so.* its calls were not recorded' notes
fi
