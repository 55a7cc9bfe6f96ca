// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// leaf: calls of one small function in a tight loop.
#include "micro.h"

__attribute__((noinline)) static uint32_t leaf(uint32_t x)
{
	micro_enter(1);
	const uint32_t result = x * 3 + 1;
	micro_exit(1);
	return result;
}

static uint32_t call_leaf(uint64_t calls)
{
	uint32_t sum = 0;
	for (uint64_t i = 0; i < calls; i++)
		sum += leaf((uint32_t)i + sum);
	return sum;
}

int main(int argc, char **argv)
{
	const struct micro_options options = micro_start(argc, argv, "leaf", 4000000, 1);
	static struct micro_times times = {.name = "leaf"};
	volatile uint32_t sink = call_leaf(options.calls / 8 + 1); // warms up
	for (unsigned round = 0; round < options.rounds; round++) {
		const struct micro_watch start = micro_watch_now();
		sink = call_leaf(options.calls);
		micro_times_add(&times, &start, options.calls);
	}
	(void)sink;
	micro_times_print(&times);
	return micro_finish();
}
