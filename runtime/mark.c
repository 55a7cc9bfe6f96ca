// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moments and phases that the program names (teeperf.h).
#include "runtime.h"

// As the functions' gates: before anything is known, what comes is counted as lost.
uint32_t __teeperf_mark_gate = 1;

// One byte more than there may be: then a reader knows that it was cut.
static uint32_t length_of(const char *name)
{
	uint32_t length = 0;
	while (name && length <= TEEPERF_MARK_NAME && name[length])
		length++;
	return length;
}

void __teeperf_mark(unsigned int what, const char *name)
{
	const uint32_t state = tp_load32_acquire(&tp_process.state);
	// Switched off, or between teeperf_leave_region and teeperf_enter: it is not wanted.
	if ((state != TP_STATE_START && state != TP_STATE_RECORDING) ||
	    (what != TEEPERF_CONTROL_MARK && what != TEEPERF_CONTROL_PHASE_BEGIN &&
		what != TEEPERF_CONTROL_PHASE_END))
		return;
	tp_thread_mark(what, name, length_of(name));
}
