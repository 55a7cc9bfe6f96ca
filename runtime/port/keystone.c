// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An application of Keystone in U-mode: one hart, linked to where it runs, and no memory that the
// host sees. Frames go out by an edge call, which the program makes: teeperf_keystone_send.
#include "runtime/port.h"
#include "runtime/runtime.h"

#include <teeperf/keystone.h>

extern const char __ehdr_start __attribute__((weak, visibility("hidden")));

bool tp_port_map_log(void **base, uint64_t *size)
{
	const bool timeless = tp_process.first_compiled == TEEPERF_COMPILED_SOFT;
	tp_private_log_make(timeless ? TEEPERF_CLOCK_NONE : TP_HARDWARE_CLOCK,
	    teeperf_keystone_clock_hz, base, size);
	return true;
}

bool tp_port_is_outside(const void *base, uint64_t size)
{
	(void)base;
	(void)size;
	return true; // it is the private one
}

bool tp_port_find_module(const void *anchor, struct teeperf_module *module)
{
	(void)anchor;
	tp_elf_image_path(module);
	if (&__ehdr_start && tp_elf_image_describe(&__ehdr_start, module))
		return true;
	module->start = 0;
	module->end = UINT32_MAX;
	return true;
}

// One call for each frame, so that a frame is sent whole or not: the parts are next to each other
// for it.
bool tp_port_flush(const void *head, uint64_t head_size, const void *body, uint64_t body_size)
{
	return teeperf_keystone_send(head, head_size, body, body_size) == 0;
}

// One hart, and no signals.
uint64_t tp_port_flush_begin(void)
{
	return 0;
}

void tp_port_flush_end(uint64_t mask)
{
	(void)mask;
}

bool tp_port_flush_nap(void)
{
	return false;
}

uint64_t tp_port_flush_time_ns(void)
{
	return 0;
}
