// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the time of two switches, there and back, in ns: the mean of many pairs.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

void other_swap(ucontext_t *from, ucontext_t *to);
static ucontext_t here, there;
static char stack[64 * 1024];

static void body(void)
{
	for (;;)
		other_swap(&there, &here);
}

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1000000;
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, body, 0);
	other_swap(&here, &there);
	const double start = now_ns();
	for (int i = 0; i < count; i++)
		other_swap(&here, &there);
	printf("%.0f\n", (now_ns() - start) / count);
	return 0;
}
