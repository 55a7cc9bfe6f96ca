/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The sections COUNTERS and ENERGY (docs/format.md, Meters): what each meter showed in the whole
 * run, and in each phase between two switches or marks.
 */
#ifndef TP_TRACE_METERS_H
#define TP_TRACE_METERS_H

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/trace.h>

#include "common/arena.h"

/* A meter in a phase. */
struct tp_meter_row {
	const struct teeperf_trace_meter *meter; /* its texts are clean, and end */
	uint32_t phase;                          /* 0: the whole run */
	bool known;                              /* value and raw are */
	uint64_t start_ns;                       /* CLOCK_MONOTONIC_RAW */
	uint64_t end_ns;
	/* TOTAL: what came in the phase; GAUGE: the greatest reading; FINAL: the last one. */
	uint64_t value;
	uint64_t raw;        /* before it was scaled up for the time without hardware */
	uint64_t enabled_ns; /* in the phase */
	uint64_t running_ns;
};

struct tp_meter_reading {
	const struct teeperf_trace_meter *meter;
	const struct teeperf_trace_reading *reading;
};

/* All zero: there is no such section. */
struct tp_meter_table {
	struct teeperf_trace_meters head;
	const struct tp_meter_row *rows; /* by meter, then by phase */
	uint64_t row_count;
	const struct tp_meter_reading *readings;
	uint64_t reading_count;
	uint64_t made; /* rows of all sections that were read so far */
};

/*
 * Read the section. NULL, or why it is not used, and *TABLE is as before then; *MEMORY: there was
 * enough. What *TABLE points to is in ARENA.
 */
const char *tp_meter_table_read(struct tp_meter_table *table, struct tp_arena *arena,
    const void *payload, uint64_t size, bool *memory);

/* "events", "ns", "bytes", "uJ" */
const char *tp_meter_unit_name(uint32_t unit);
/* "start", "interval", "switch", "mark", "end" */
const char *tp_meter_cause_name(uint32_t cause);

#endif
