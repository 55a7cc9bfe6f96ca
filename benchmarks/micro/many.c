// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// many: calls of a thousand different small functions in pseudo-random order. Unlike one function
// in a loop, these do not fit the first-level instruction cache, and the predictors have to work.
#include "micro.h"

enum {
	FUNCTIONS = 1000,
	ORDER = 8192, // calls until the order repeats
};

typedef uint32_t function(uint32_t x);

// The number makes each function's code another, so that the linker cannot fold any two.
static inline __attribute__((always_inline)) uint32_t body(uint32_t x, const uint32_t number)
{
	x = x * (2 * number + 1) + number;
	if (number % 2 && x & 1U << number % 29)
		x ^= x >> (number % 13 + 3);
	if (number % 3 == 0)
		x = (x << number % 31 | x >> (32 - number % 31) % 32) + number;
	if (number % 5 == 0) {
		for (uint32_t i = x % 4; i; i--)
			x += x >> 7 ^ number;
	}
	return x;
}

// Numbers are from 1000 on: none must begin with a zero, which C takes for octal.
#define FUNCTION(number)                                                       \
	__attribute__((noinline)) static uint32_t function##number(uint32_t x) \
	{                                                                      \
		micro_enter(number);                                           \
		x = body(x, number);                                           \
		micro_exit(number);                                            \
		return x;                                                      \
	}
#define POINTER(number) function##number,

#define TEN(make, tens)                                                                     \
	make(tens##0) make(tens##1) make(tens##2) make(tens##3) make(tens##4) make(tens##5) \
	    make(tens##6) make(tens##7) make(tens##8) make(tens##9)
#define HUNDRED(make, hundreds) \
	TEN(make, hundreds##0)  \
	TEN(make, hundreds##1)  \
	TEN(make, hundreds##2)  \
	TEN(make, hundreds##3)  \
	TEN(make, hundreds##4)  \
	TEN(make, hundreds##5)  \
	TEN(make, hundreds##6)  \
	TEN(make, hundreds##7)  \
	TEN(make, hundreds##8)  \
	TEN(make, hundreds##9)
#define THOUSAND(make)    \
	HUNDRED(make, 10) \
	HUNDRED(make, 11) \
	HUNDRED(make, 12) \
	HUNDRED(make, 13) \
	HUNDRED(make, 14) \
	HUNDRED(make, 15) \
	HUNDRED(make, 16) \
	HUNDRED(make, 17) \
	HUNDRED(make, 18) \
	HUNDRED(make, 19)

THOUSAND(FUNCTION)

static function *const functions[] = {THOUSAND(POINTER)};
_Static_assert(sizeof(functions) / sizeof(functions[0]) == FUNCTIONS, "a thousand");

static function *order[ORDER];

// Each function about equally often.
static void shuffle(void)
{
	for (uint32_t i = 0; i < ORDER; i++)
		order[i] = functions[i % FUNCTIONS];
	uint32_t random = 2463534242;
	for (uint32_t i = ORDER - 1; i; i--) {
		random ^= random << 13;
		random ^= random >> 17;
		random ^= random << 5;
		const uint32_t other = random % (i + 1);
		function *const swapped = order[i];
		order[i] = order[other];
		order[other] = swapped;
	}
}

static uint32_t call_many(uint64_t calls)
{
	uint32_t x = 0;
	for (uint64_t i = 0; i < calls; i++)
		x = order[i % ORDER](x);
	return x;
}

int main(int argc, char **argv)
{
	const struct micro_options options = micro_start(argc, argv, "many", 4000000, 1);
	static struct micro_times times = {.name = "many"};
	shuffle();
	volatile uint32_t sink = call_many(options.calls / 8 + 1); // warms up
	for (unsigned round = 0; round < options.rounds; round++) {
		const struct micro_watch start = micro_watch_now();
		sink = call_many(options.calls);
		micro_times_add(&times, &start, options.calls);
	}
	(void)sink;
	micro_times_print(&times);
	return micro_finish();
}
