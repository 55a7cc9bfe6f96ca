// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Switches from one stack to another in the same thread (log.h, TEEPERF_POSITION_LEAVES). Positions mean
// something in the thread only that they come from: a stack may have moved to another one.
#include "runtime.h"

// As in teeperf.h, which would make weak symbols of what we define.
struct teeperf_context {
	uint64_t position, home, name, reserved;
};

uint64_t __teeperf_home(void)
{
	return tp_thread_self()->home;
}

// Whether an activation that began in the thread HOME (0: before it had a number) is this thread's. In a
// forked child those that its thread had begun are, those of the parent's other threads are not.
static bool is_here(uint64_t home)
{
	return !home || home == __teeperf_home();
}

// No position: as for __teeperf_resync, there is nothing to say, or this is no time to say it.
static bool has_none(uint64_t position)
{
	return !position || position >= TP_POSITION_LIMIT;
}

void __teeperf_leave(uint64_t position, uint64_t name, uint64_t home)
{
	if (!has_none(position))
		__teeperf_resync((is_here(home) ? position : 0) | TEEPERF_POSITION_LEAVES, name);
}

void __teeperf_arrive(uint64_t position, uint64_t name, uint64_t home)
{
	if (!has_none(position))
		__teeperf_resync(is_here(home) ? position : TEEPERF_POSITION_ELSEWHERE, name);
}

// The position is that of an activation without a record; the name is where it is.
void __teeperf_context_leave(struct teeperf_context *here)
{
	const struct teeperf_thread_block *block = &__teeperf_thread;
	const bool on = tp_load32_acquire(&tp_process.state) == TP_STATE_RECORDING;
	const uint64_t name = (uint64_t)(uintptr_t)__builtin_return_address(0) & UINT32_MAX;
	uint64_t bias;
	uint64_t cursor;
	do { // a signal handler may change chunks between the two
		bias = tp_load_relaxed(&block->bias);
		tp_barrier_signal();
		cursor = tp_load_relaxed(&block->cursor);
		tp_barrier_signal();
	} while (bias != tp_load_relaxed(&block->bias));
	here->position = on ? cursor + bias - TEEPERF_POSITION_BETWEEN : TEEPERF_POSITION_OFF;
	here->home = __teeperf_home();
	here->name =
	    name < TEEPERF_NAME_FIRST ? TEEPERF_NAME_FIRST : name & ~(uint64_t)TEEPERF_KIND_MASK;
	__teeperf_leave(here->position, here->name, here->home);
}

void __teeperf_context_arrive(const struct teeperf_context *here)
{
	__teeperf_arrive(here->position, here->name, here->home);
}
