// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ports have in common that have no system below them: one process, no file, no signal.
#include "port.h"

#include "runtime.h"

bool tp_port_own_log(uint64_t alignment, void **base, uint64_t *size, const uint64_t **counter)
{
	(void)alignment;
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

bool tp_port_attached(void)
{
	return true;
}

enum teeperf_listens tp_port_listen(uint32_t *value)
{
	*value = 0;
	return TEEPERF_LISTENS_NOT;
}
