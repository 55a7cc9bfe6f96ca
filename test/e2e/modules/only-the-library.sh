#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# An instrumented library that a program without instrumentation loads while it runs: the runtime
# comes with it, in threads that were there before and in later ones, whatever shape the code has.
# Its thread-local storage is that of programs (initial exec), of which the C library keeps some for
# this.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >lib.c <<'EOS'
__attribute__((noinline)) static int inner(int x)
{
	__asm__ volatile("");
	return x + 1;
}
int entry(int x)
{
	int sum = 0;
	for (int i = 0; i < 1000; i++)
		sum += inner(x);
	return sum;
}
EOS
cat >host.c <<'EOS'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static int (*entry)(int);
static pthread_barrier_t loaded;
static void *work(void *argument)
{
	pthread_barrier_wait(&loaded);
	return entry(1) == 2000 ? argument : NULL;
}
int main(void)
{
	pthread_t threads[2];
	int here;
	pthread_barrier_init(&loaded, NULL, 3);
	pthread_create(&threads[0], NULL, work, &here);
	void *library = dlopen("./lib.so", RTLD_NOW);
	if (!library) {
		puts(dlerror());
		return 1;
	}
	entry = (int (*)(int))dlsym(library, "entry");
	pthread_create(&threads[1], NULL, work, &here);
	pthread_barrier_wait(&loaded);
	for (int i = 0; i < 2; i++) {
		void *result;
		pthread_join(threads[i], &result);
		if (!result)
			return 2;
	}
	return 0;
}
EOS
expect 0 cc -O2 host.c -o host -ldl -lpthread
for options in '' --shape=call --exits=untimed --level=count --clock=soft; do
	# shellcheck disable=SC2086
	expect 0 "$TEEPERF" cc $options -O2 -g -shared -fPIC -o lib.so lib.c
	clock=auto
	[ "$options" != --clock=soft ] || clock=soft
	expect 0 "$TEEPERF" record -q --clock $clock -o run.trace -- ./host
	"$TEEPERF" analyze run.trace --view top --format csv 2>notes >top.csv
	[ "$(awk -F, 'NR > 1 { print $1 "=" $2 }' top.csv | sort |
		tr '\n' ' ')" = "entry=2 inner=2000 " ] || {
		cat top.csv notes >&2
		fail "calls in a loaded library ($options)"
	}
done
# The runtime's share of what the C library keeps (512 bytes by default beside its own needs).
bytes=$(readelf -lW "$(dirname "$TEEPERF")/../lib/libteeperf.so" | awk '$1 == "TLS" { print $6 }')
[ "$((bytes))" -gt 0 ] && [ "$((bytes))" -le 448 ] ||
	fail "the runtime takes $((bytes)) bytes of static thread-local storage"
