// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform interface where there is nothing but what the program itself says: see bare.h.
#include "runtime/port.h"

#include <teeperf/bare.h>

bool tp_port_map_log(void **base, uint64_t *size)
{
	*size = 0;
	*base = teeperf_bare_region(size);
	return *base && *size;
}

bool tp_port_is_outside(const void *base, uint64_t size)
{
	return teeperf_bare_is_outside(base, size) != 0;
}

// There is one process. The log is claimed with the number, so that a second program finds it
// taken.
uint64_t tp_port_process_id(void)
{
	return 1;
}

void tp_port_thread_start(uint64_t *os_tid, uint64_t name[2])
{
	*os_tid = teeperf_bare_thread();
	name[0] = name[1] = 0;
}

bool tp_port_find_module(const void *anchor, struct teeperf_module *module)
{
	teeperf_bare_module(anchor, module);
	return module->end > module->start;
}
