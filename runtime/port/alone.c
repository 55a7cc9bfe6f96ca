// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ports have in common that have no system below them: one process, no file, no signal.
#include "runtime/port.h"
#include "runtime/runtime.h"

/*
 * The log comes by a call (teeperf.h). A port may replace this and the weak functions below: its
 * file is linked for the function that each port must have, tp_port_find_module.
 */
__attribute__((weak)) bool tp_port_map_log(void **base, uint64_t *size)
{
	(void)base;
	(void)size;
	return false;
}

__attribute__((weak)) uint64_t tp_port_process_id(void)
{
	return 1; // there is one
}

// Where a thread's descriptor is in memory is nobody's business: they are numbered.
__attribute__((weak)) void tp_port_thread_start(uint64_t *os_tid, uint64_t name[2])
{
	static uint64_t last;
	*os_tid = tp_fetch_add_relaxed(&last, 1) + 1;
	name[0] = name[1] = 0;
}

bool tp_port_own_log(void **base, uint64_t *size, const uint64_t **counter)
{
	(void)base;
	(void)size;
	(void)counter;
	return false;
}

// Whoever gave it to us has it still.
void tp_port_unmap_log(void *log, uint64_t size)
{
	(void)log;
	(void)size;
}

void tp_port_hide_counter(void)
{
}

void tp_port_thread_name(uint64_t name[2])
{
	name[0] = name[1] = 0;
}

uint64_t tp_port_thread_cpu(void)
{
	return 0;
}

bool tp_port_attached(void)
{
	return true;
}

enum teeperf_listens tp_port_listen(uint32_t *value)
{
	*value = 0;
	return TEEPERF_LISTENS_NOT;
}
