/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the kernel did for a run, added up: of events from BPF programs, or of a trace that has
 * them.
 */
#ifndef TP_MEASURE_SYSTEM_H
#define TP_MEASURE_SYSTEM_H

#include <teeperf/trace.h>

#include "recorder/measure/measure.h"

enum { TP_SYSTEM_DEVICES = 16 };

struct tp_system_moves {
	uint64_t calls;
	uint64_t total_ns;
};

struct tp_system_device {
	uint32_t number;      /* major << 20 | minor */
	uint64_t bytes[2];    /* read, written */
	uint64_t requests[2]; /* random, sequential */
	uint64_t total_ns;
	uint64_t next_sector; /* behind the last request */
};

/* Starts as {0}. */
struct tp_system_sums {
	struct tp_system_moves reads; /* system calls */
	struct tp_system_moves writes;
	struct tp_system_device devices[TP_SYSTEM_DEVICES];
	uint32_t device_count;
	uint64_t other_devices; /* requests of those that there is no room for */
};

void tp_system_sums_add(
    struct tp_system_sums *sums, const struct teeperf_system_event *events, uint64_t count);
/* Add the figures, and a note if events were LOST. */
void tp_system_sums_report(const struct tp_system_sums *sums, uint64_t lost, struct tp_buf *to);

#endif
