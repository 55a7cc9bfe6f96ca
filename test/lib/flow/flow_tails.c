// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tail calls that the language promises leave before the next begins; others are calls. And a
// recursion of two functions, deep.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "flow.h"

KEEP int work(int n)
{
	DONE;
	return n;
}
KEEP int hop(int n, int sum);
KEEP int skip(int n, int sum)
{
	if (n == 0)
		return work(sum);
	__attribute__((musttail)) return hop(n - 1, sum + 1);
}
KEEP int hop(int n, int sum)
{
	if (n == 0)
		return work(sum);
	__attribute__((musttail)) return skip(n - 1, sum + 1);
}
KEEP int usual(int n)
{
	return work(n);
}
KEEP int odd(int n);
KEEP int even(int n)
{
	if (n == 0)
		return 1;
	const int is = odd(n - 1);
	DONE;
	return is;
}
KEEP int odd(int n)
{
	if (n == 0)
		return 0;
	const int is = even(n - 1);
	DONE;
	return is;
}
static int depth;
KEEP void *deep(void *arg)
{
	return even(depth) ? arg : NULL;
}
int main(int argc, char **argv)
{
	int sum = 0;
	depth = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 0; i < 10; i++)
		sum += hop(100, 0) + usual(1);
	// Room for a million frames.
	const size_t size = (size_t)1 << 30;
	void *stack = mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	void *result = NULL;
	pthread_attr_init(&attributes);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, size) ||
	    pthread_create(&thread, &attributes, deep, &depth) || pthread_join(thread, &result))
		return 2;
	return !(sum == 1010 && result == &depth);
}

// In deep: one call of even. The script asks for more.
// want: deep 1
// want: deep;even 1
// want: main 1
// want: main;hop 510
// want: main;hop;work 10
// want: main;skip 500
// want: main;usual 10
// want: main;usual;work 10
