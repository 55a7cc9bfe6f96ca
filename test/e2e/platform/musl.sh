#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs for musl, static, static PIE and dynamic, with a library that is loaded later: compiled
# by 'teeperf cc' with musl's headers, linked by musl-gcc with the runtime as it is, they are
# recorded exactly.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
needs musl-gcc

cat >app.c <<'EOS'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static unsigned long steps, works;
__attribute__((noinline)) static int step(int x)
{
	steps++;
	return x + 1;
}
static void *work(void *sum)
{
	works++;
	for (int i = 0; i < 1000; i++)
		*(int *)sum = step(*(int *)sum);
	return NULL;
}
int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, work, &sum))
			return 1;
		pthread_join(thread, NULL);
	}
	unsigned long outer_calls = 0;
	for (int i = 0; argc > 1 && i < 10; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		if (!library) {
			puts(dlerror());
			return 1;
		}
		((void (*)(void))dlsym(library, "outer"))();
		outer_calls = *(unsigned long *)dlsym(library, "outer_calls");
		dlclose(library);
	}
	if (outer_calls)
		printf("inner %lu\n", 2 * outer_calls);
	puts("main 1");
	if (outer_calls)
		printf("outer %lu\n", outer_calls);
	printf("step %lu\nwork %lu\n", steps, works);
	return sum != 20000;
}
EOS
cat >library.c <<'EOS'
unsigned long outer_calls;
__attribute__((noinline)) static void inner(void)
{
	__asm__ volatile("");
}
void outer(void)
{
	outer_calls++;
	inner();
	inner();
}
EOS
case $(uname -m) in
x86_64) include=/usr/include/x86_64-linux-musl ;;
*) include=/usr/include/$(uname -m)-linux-musl ;;
esac
compile() {
	"$TEEPERF" cc -O1 -g -c -nostdlibinc -isystem "$include" "$@"
}
runtime=$TEEPERF_BUILD/lib/libteeperf.a
exports=-Wl,--export-dynamic-symbol='__teeperf_*'

# measure ARGUMENTS...: of ./app, with each clock.
measure() {
	for clock in tsc soft none; do
		expect 0 "$TEEPERF" record -q --clock $clock -o run.trace -- ./app "$@"
		tr ' ' , <out >wanted
		"$TEEPERF" analyze run.trace --format csv 2>notes | sed 1d | cut -d, -f1,2 |
			sort >got
		cmp wanted got ||
			fail "$linked: the counts differ: $(cat wanted got notes | tr '\n' ' ')"
		facts run.trace lost=0
	done
}

compile app.c
linked=static
musl-gcc -static app.o "$runtime" -o app
measure
linked=static-pie
compile -fPIE app.c
if musl-gcc -static-pie app.o "$runtime" -o app 2>link.err && ./app >out 2>&1; then
	measure
else
	echo "musl-gcc does not link static PIEs here: not tried"
fi
linked=dynamic
# What the library needs of the runtime, it finds in the program.
compile -fPIC library.c
musl-gcc -shared library.o -o library.so
musl-gcc -pie app.o "$runtime" "$exports" -o app
measure "$PWD/library.so"
