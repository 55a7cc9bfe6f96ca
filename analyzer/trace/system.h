/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the kernel did for the program, as the trace has it: the events of all SYSTEM sections. */
#ifndef TP_TRACE_SYSTEM_H
#define TP_TRACE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/trace.h>

struct tp_system {
	bool has;                         /* there is such a section */
	struct teeperf_trace_system head; /* of the last one */
	struct teeperf_system_event *events;
	uint64_t count;
	uint64_t room;
	uint64_t unknown; /* events of kinds that a newer writer knows */
};

/*
 * Add the SIZE bytes of a section. NULL; or why nothing of it is used, a text that is never freed;
 * *memory is false if there is none. Of an event that is kept, the times do not overflow, and
 * nothing else is believed.
 */
const char *tp_system_add(
    struct tp_system *system, const void *payload, uint64_t size, bool *memory);
void tp_system_release(struct tp_system *system);

#endif
