// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a forked child does with its copy of the runtime.
#include "runtime.h"

#include "port.h"

/*
 * The log is the parent's. What this thread knows of it is forgotten here; but a signal handler may have
 * forked in the middle of a sequence, which then still writes where it was about to, or adds to a
 * count. That is why the port also puts private memory in the log's place.
 */
static void forget_log(void)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	tp_gates_forked();
	tp_counts_forked();
	block->clock_high = TEEPERF_HIGH_NEVER;
	tp_store_relaxed(&block->cursor, 0);
}

void tp_fork_child(void)
{
	struct teeperf_log_header *header = tp_process.header;
	const uint32_t state = tp_load32_acquire(&tp_process.state);
	tp_process_off();
	forget_log();
	if (state == TP_STATE_RECORDING || state == TP_STATE_PAUSED)
		tp_fetch_add_relaxed(&header->forked, 1);
	tp_port_unmap_log();
}
