#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Libraries that are loaded one after the other, as a rule at the same place, by a program that is
# not instrumented: threads end unharmed after they are gone, and no call is shown under a wrong
# name.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >library.c <<'EOF'
__attribute__((noinline)) static int INNER(int x)
{
	return x + 1;
}
int answer(int x)
{
	return INNER(x) * 2;
}
EOF
cat >main.c <<'EOF'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int (*answer)(int);
static pthread_barrier_t barrier;

static void *run(void *sum)
{
	pthread_barrier_wait(&barrier);
	*(int *)sum += answer(3);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}
int main(int argc, char **argv)
{
	int sum = 0;
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		if (!library) {
			puts(dlerror());
			return 1;
		}
		answer = (int (*)(int))dlsym(library, "answer");
		pthread_t thread;
		pthread_create(&thread, NULL, run, &sum);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		dlclose(library);
		pthread_barrier_wait(&barrier);
		pthread_join(thread, NULL);
	}
	return sum != 8 * (argc - 1);
}
EOF
${CC:-cc} -O1 main.c -o main -ldl -lpthread || skip "no C compiler (CC=${CC:-cc})"
for name in first second; do
	"$TEEPERF" cc -O1 -shared -fPIC -DINNER=$name library.c -o $name.so
done

# One library, again and again.
expect 0 "$TEEPERF" record -q -o one.trace -- ./main ./first.so ./first.so ./first.so
"$TEEPERF" analyze one.trace --format csv >top.csv 2>/dev/null
says '^first,3,' top.csv
says '^answer,3,' top.csv

# Two: what stands at an address that both have used has no name.
expect 0 "$TEEPERF" record -q -o two.trace -- ./main ./first.so ./second.so
"$TEEPERF" analyze two.trace --format csv >top.csv 2>/dev/null
! grep -E '^(first|second|answer),2,' top.csv ||
	fail "a function of one library has another's calls"
