/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What counters.h, energy.h and cgroup.h have in common: a set of meters, as the trace describes
 * them, which is opened, read as often as is wanted, and closed. Nothing here knows of a session,
 * so an experiment can use it around any child.
 *
 * A meter without TEEPERF_METER_COUNTED has no value: its note says why. Absence is never a zero.
 */
#ifndef TP_METER_H
#define TP_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <teeperf/trace.h>

/* What a meter shows at one moment; units are those of the meter. */
struct tp_meter_value {
	uint64_t value;
	uint64_t enabled_ns; /* 0 without TEEPERF_METER_TIMED */
	uint64_t running_ns;
	bool known; /* false: it was not read */
};

static inline void tp_meter_init(
    struct teeperf_trace_meter *meter, const char *name, uint32_t unit, uint32_t kind)
{
	*meter = (struct teeperf_trace_meter){.unit = unit, .kind = kind};
	snprintf(meter->name, sizeof(meter->name), "%s", name);
}

/* It has no value, or none from here on, because of what FORMAT says. */
#define TP_METER_NOTE(meter, ...) snprintf((meter)->note, sizeof((meter)->note), __VA_ARGS__)

#endif
