// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that works for about ARGUMENT ms, in calls of about one.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 650000 };

// Each step waits for the one before: some four cycles.
__attribute__((noinline)) static uint64_t work(uint64_t x)
{
	for (int i = 0; i < STEPS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x)); // or compilers make one step of many
	}
	return x;
}

int main(int argc, char **argv)
{
	const long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	uint64_t x = 1;
	for (long i = 0; i < calls; i++)
		x = work(x);
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
