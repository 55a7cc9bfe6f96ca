// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Switches from one stack to another in the same thread (log.h, TEEPERF_POSITION_LEAVES). Positions
// mean something in the thread only that they come from: a stack may have moved to another one.
#include "runtime.h"

// As in teeperf.h, which would make weak symbols of what we define.
struct teeperf_context {
	uint64_t position, home, name, reserved;
};

uint64_t __teeperf_home(void)
{
	return tp_thread.home;
}

// What leave tells arrive: the departure (log.h), and whether the activation's position is one of
// that thread.
#define POSITION_IS_ITS (UINT64_C(1) << 63)

// Whether an activation that began in the thread HOME (0: before it had a number) is this thread's.
// In a forked child those that its thread had begun are, those of the parent's other threads are
// not.
static bool is_here(uint64_t home)
{
	return !home || home == __teeperf_home();
}

// No position: as for __teeperf_resync, there is nothing to say, or this is no time to say it.
static bool has_none(uint64_t position)
{
	return !position || position >= TP_POSITION_LIMIT;
}

uint64_t __teeperf_leave(uint64_t position, uint64_t name, uint64_t home)
{
	if (has_none(position))
		return 0;
	const bool here = is_here(home);
	const uint64_t at =
	    tp_resync((here ? position : 0) | TEEPERF_POSITION_LEAVES, name, TP_NO_DEPARTURE);
	return TEEPERF_DEPARTURE(__teeperf_home(), at) | (here ? POSITION_IS_ITS : 0);
}

void __teeperf_arrive(uint64_t position, uint64_t name, uint64_t left)
{
	// Nothing was left: the code is shared with a way on which nothing is.
	if (!left || has_none(position))
		return;
	const uint64_t departure = left & ~POSITION_IS_ITS;
	const bool same =
	    departure >> TEEPERF_DEPARTURE_SHIFT == (__teeperf_home() & TEEPERF_DEPARTURE_HOMES);
	if (same && left & POSITION_IS_ITS)
		tp_resync(position, name, TP_NO_DEPARTURE);
	else
		tp_resync(TEEPERF_POSITION_ELSEWHERE, name, departure);
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
	// From here on it is what arrive wants to know.
	here->home = __teeperf_leave(here->position, here->name, here->home);
}

void __teeperf_context_arrive(const struct teeperf_context *here)
{
	__teeperf_arrive(here->position, here->name, here->home);
}
