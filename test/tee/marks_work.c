// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place of work.c, for tests of marks on other platforms: a mark says how many calls of step
// came before it. No libc. test/lib/check_marks.py knows the marks.
#include "work.h"

#include <teeperf/teeperf.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void step(uint64_t n)
{
	sink += n;
}

// "N steps"
static __attribute__((noinline)) void mark_steps(uint64_t n)
{
	static const char unit[] = " steps";
	char name[32];
	uint64_t power = 1;
	uint32_t length = 0;
	while (n / power >= 10)
		power *= 10;
	for (; power; power /= 10)
		name[length++] = (char)('0' + n / power % 10);
	for (uint32_t i = 0; i < sizeof(unit); i++)
		name[length + i] = unit[i];
	teeperf_mark(name);
}

uint64_t work(uint64_t rounds)
{
	uint64_t steps = 0;
	teeperf_mark("work begins");
	for (uint64_t i = 0; i < rounds / 100; i++) {
		mark_steps(steps);
		teeperf_phase_begin("hundred");
		step(steps++);
		teeperf_phase_begin("inner");
		step(steps++);
		teeperf_phase_end("inner");
		teeperf_phase_end("hundred");
	}
	teeperf_phase_begin("");
	teeperf_phase_end("");
	teeperf_mark("0123456789012345678901234567890123456789012345678901234567890123");
	teeperf_mark("01234567890123456789012345678901234567890123456789012345678901234567890");
	teeperf_mark("gr\xc3\xbc\xc3\x9f"
		     "e");
	teeperf_phase_begin("never ends");
	mark_steps(steps);
	return WORK_SUM(rounds);
}
