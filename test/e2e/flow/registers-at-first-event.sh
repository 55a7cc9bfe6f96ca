#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A thread's first event calls into the system; vector, x87 and integer arguments and results of the
# function that brings it about come through unharmed. Each function is the first event of a thread.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
[ "$(uname -m)" = x86_64 ] || skip "the vector types are x86-64's"

cat >registers.c <<'EOF'
#include <pthread.h>
#include <stdarg.h>

typedef double four __attribute__((vector_size(32)));
typedef double eight __attribute__((vector_size(64)));
struct many {
	long at[9];
};

__attribute__((noinline, target("avx2"))) four add4(four a, four b, four c, four d, four e, four f)
{
	return a + b + c + d + e + f;
}
__attribute__((noinline, target("avx512f"))) eight add8(eight a, eight b, eight c)
{
	return a + b + c;
}
__attribute__((noinline)) long double x87(long double a, long double b)
{
	return a * b;
}
__attribute__((noinline)) struct many gather(long a, long b, long c, long d, long e, long f, long g)
{
	return (struct many){{a, b, c, d, e, f, g}};
}
__attribute__((noinline)) double sum(int count, ...)
{
	va_list list;
	va_start(list, count);
	double all = 0;
	for (int i = 0; i < count; i++)
		all += va_arg(list, double);
	va_end(list);
	return all;
}

static void *wrong(int is_wrong)
{
	static char yes;
	return is_wrong ? &yes : (void *)0;
}
__attribute__((target("avx2"))) static void *run_add4(void *unused)
{
	(void)unused;
	const four v = {1, 2, 3, 4};
	const four r = add4(v, v, v, v, v, v);
	return wrong(r[0] != 6 || r[1] != 12 || r[2] != 18 || r[3] != 24);
}
__attribute__((target("avx512f"))) static void *run_add8(void *unused)
{
	(void)unused;
	const eight v = {1, 2, 3, 4, 5, 6, 7, 8};
	const eight r = add8(v, v, v);
	return wrong(r[0] != 3 || r[3] != 12 || r[4] != 15 || r[7] != 24);
}
static void *run_x87(void *unused)
{
	(void)unused;
	return wrong(x87(1.5L, 3.0L) != 4.5L);
}
static void *run_gather(void *unused)
{
	(void)unused;
	const struct many r = gather(1, 2, 3, 4, 5, 6, 7);
	int bad = 0;
	for (int i = 0; i < 7; i++)
		bad |= r.at[i] != i + 1;
	return wrong(bad);
}
static void *run_sum(void *unused)
{
	(void)unused;
	return wrong(sum(10, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.) != 55);
}
int main(void)
{
	void *(*const runs[])(void *) = {run_x87, run_gather, run_sum, run_add4, run_add8};
	const int count = 3 + (__builtin_cpu_supports("avx2") != 0) +
			  (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f"));
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < count; i++) {
			pthread_t thread;
			void *bad;
			pthread_create(&thread, (void *)0, runs[i], (void *)0);
			pthread_join(thread, &bad);
			if (bad)
				return 1 + i;
		}
	return 0;
}
EOF
printf 'fun:add4\nfun:add8\nfun:x87\nfun:gather\nfun:sum\n' >registers.allow
for level in -O0 -O2 '-O3 -ffast-math'; do
	for clock in tsc soft; do
		"$TEEPERF" cc --allowlist registers.allow $level -Wno-psabi registers.c \
			-o registers -lpthread
		expect 0 "$TEEPERF" record --clock $clock -q -o registers.trace -- ./registers
		"$TEEPERF" analyze registers.trace --format csv >top.csv 2>/dev/null
		for name in x87 gather sum; do
			says "^$name,5," top.csv
		done
	done
done

# Nor errno: it is 0 when main begins, and as it was behind a first event, a fork, and a dlopen,
# whether there is a log or none.
cat >errno.c <<'EOF'
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int bad;
static void is(const char *where, int wanted)
{
	if (errno != wanted) {
		printf("%s: errno is %d, not %d\n", where, errno, wanted);
		bad = 1;
	}
}
__attribute__((noinline)) void leaf(void)
{
	__asm__ volatile("");
}
static void *thread(void *unused)
{
	errno = 77;
	leaf();
	is("thread", 77);
	return unused;
}
int main(void)
{
	is("main", 0);
	errno = 78;
	void *library = dlopen("./errno_library.so", RTLD_NOW);
	is("dlopen", 78);
	int (*work)(int) = library ? (int (*)(int))dlsym(library, "work") : NULL;
	if (!work || work(1) != 2)
		return 2;
	is("its first call", 78);
	pthread_t other;
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	fflush(stdout);
	errno = 79;
	const pid_t child = fork();
	is(child ? "parent" : "child", 79);
	leaf();
	is("behind the fork", 79);
	fflush(stdout);
	if (!child)
		_exit(bad);
	int status = 1;
	waitpid(child, &status, 0);
	return bad || status;
}
EOF
echo 'int work(int x) { return x + 1; }' >errno_library.c
"$TEEPERF" cc -O2 -shared -fPIC -o errno_library.so errno_library.c
"$TEEPERF" cc -O2 -pthread -o errno errno.c -ldl
expect 0 ./errno
expect 0 env TEEPERF_LOG="$TEST_TMP/nothing" ./errno
expect 0 "$TEEPERF" record -q -o errno.trace -- ./errno
expect 0 "$TEEPERF" record -q --follow-fork --control=SIGUSR1 -o errno2.trace -- ./errno
# A library alone, in a program that is not instrumented.
${CC:-cc} -O2 -pthread -o errno_plain errno.c -ldl
expect 0 "$TEEPERF" record -q -o errno3.trace -- ./errno_plain
