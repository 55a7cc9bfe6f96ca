// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instrumented part of the tests of platforms: it calls nothing but itself, and each number of
// calls is known (see work.h).
#include "work.h"

static volatile uint64_t sink;

__attribute__((noinline)) static void leaf(uint64_t n)
{
	sink += n;
}

__attribute__((noinline)) static void middle(uint64_t n)
{
	leaf(n);
	leaf(n + 1);
}

__attribute__((noinline)) static uint64_t deep(uint64_t n)
{
	uint64_t below = n ? deep(n - 1) + 1 : 0;
	__asm__ volatile("" : "+r"(below)); // or it becomes a loop
	return below;
}

uint64_t work(uint64_t rounds)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < rounds; i++) {
		middle(i);
		if (i % 100 == 0)
			sum += deep(WORK_DEPTH);
	}
	return sum;
}
