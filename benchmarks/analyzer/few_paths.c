// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with seven call paths: only the work for each event counts. few_paths CALLS
#include <stdio.h>
#include <stdlib.h>

static volatile long sum;

__attribute__((noinline)) static void leaf(void)
{
	sum++;
}

__attribute__((noinline)) static void middle(void)
{
	sum += 2;
	leaf();
}

__attribute__((noinline)) static void work(int count)
{
	for (int i = 0; i < count; i++) {
		leaf();
		middle();
	}
}

__attribute__((noinline)) static void outer(void)
{
	work(10);
	sum++;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: few_paths CALLS\n", stderr);
		return 129;
	}
	for (long calls = atol(argv[1]); calls > 0; calls -= 32)
		outer();
	return 0;
}
