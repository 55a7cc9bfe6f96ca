// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with some 87,000 call paths of up to nine calls, each as likely as its siblings: the
// worst that an analyzer can get, since no path is soon called again. call_paths CALLS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH 8

static uint64_t seed = 1;
static long left;

static inline uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static void call(uint32_t number, int depth);

// Each function calls three others, the second and the third one of two.
#define FUNCTION(n)                                                   \
	__attribute__((noinline)) static void f##n(int depth)         \
	{                                                             \
		left--;                                               \
		for (uint32_t i = 0; depth && i < 3 && left > 0; i++) \
			call((n)*5 + i * (1 + pick(2)), depth - 1);   \
	}
#define ADDRESS(n) f##n,
#define EIGHT(what, a) \
	what(a##0) what(a##1) what(a##2) what(a##3) what(a##4) what(a##5) what(a##6) what(a##7)
#define ALL(what) EIGHT(what, 1) EIGHT(what, 2) EIGHT(what, 3) EIGHT(what, 4)

ALL(FUNCTION)

static void (*const functions[])(int) = {ALL(ADDRESS)};

static inline __attribute__((always_inline)) void call(uint32_t number, int depth)
{
	functions[number % (sizeof(functions) / sizeof(functions[0]))](depth);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: call_paths CALLS\n", stderr);
		return 129;
	}
	left = atol(argv[1]);
	while (left > 0)
		f10(DEPTH);
	return 0;
}
