// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// recursion: Fibonacci numbers as nobody should compute them.
#include "micro.h"

__attribute__((noinline)) static uint32_t fib(uint32_t n)
{
	micro_enter(1);
	uint32_t result = n;
	if (n >= 2) {
		uint32_t a = fib(n - 1);
		uint32_t b = fib(n - 2);
		// Both must be there: else the compiler makes a loop of one of the calls.
		__asm__ volatile("" : "+r"(a), "+r"(b));
		result = a + b;
	}
	micro_exit(1);
	return result;
}

static uint64_t count_calls(uint32_t n)
{
	uint64_t this = 1, next = 1;
	while (n--) {
		const uint64_t sum = this + next + 1;
		this = next;
		next = sum;
	}
	return this;
}

int main(int argc, char **argv)
{
	const struct micro_options options = micro_start(argc, argv, "recursion", 4000000, 1);
	static struct micro_times times = {.name = "recursion"};
	uint32_t n = 0;
	while (count_calls(n + 1) <= options.calls)
		n++;
	volatile uint32_t sink = fib(n > 4 ? n - 4 : 0); // warms up
	for (unsigned round = 0; round < options.rounds; round++) {
		const struct micro_watch start = micro_watch_now();
		sink = fib(n);
		micro_times_add(&times, &start, count_calls(n));
	}
	(void)sink;
	micro_times_print(&times);
	return micro_finish();
}
