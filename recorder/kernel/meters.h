/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The meters of a recording: counters.h, cgroup.h and energy.h, read at its start and end, where a
 * phase begins, and in intervals, by a thread of its own; and the sections COUNTERS and ENERGY of
 * the trace.
 */
#ifndef TP_METERS_H
#define TP_METERS_H

#include <pthread.h>

#include "recorder/kernel/cgroup.h"
#include "recorder/kernel/counters.h"
#include "recorder/kernel/energy.h"
#include "recorder/kernel/gramine.h"
#include "recorder/region/doorbell.h"

struct tp_meters_options {
	const char *counters;          /* a list as in tp_counters_open; NULL: none */
	uint64_t counters_interval_ns; /* 0: only where phases begin and end */
	bool energy;
	uint64_t energy_interval_ns;
};

enum { TP_METERS_MOMENTS = 4096 };

/* What one section has. */
struct tp_meter_series {
	uint64_t interval_ns;
	uint64_t next_ns; /* when the interval is over */
	uint64_t moments;
	uint64_t intervals; /* of these, those of cause INTERVAL */
	uint64_t left_out;
	struct teeperf_trace_reading *readings;
	uint32_t count;
	uint32_t room;
};

struct tp_meters {
	bool has_counters;
	bool has_energy;
	struct tp_counters counters;
	struct tp_cgroup cgroup;
	struct teeperf_trace_meter gramine[TP_GRAMINE_METERS];
	struct tp_energy energy;
	struct tp_meter_series of_counters;
	struct tp_meter_series of_energy;
	const uint64_t *switch_count; /* in the log, whose program writes it */
	uint64_t switches_seen;
	uint64_t energy_read_ns; /* when it was read last */
	pthread_mutex_t lock;
	struct tp_worker worker;
	bool runs;  /* worker is in use */
	bool ended; /* END was read */
};

/*
 * Open what OPTIONS ask for, read it a first time, and go on. PID: as in tp_counters_open.
 * SWITCH_COUNT outlives it. Without anything asked for it does nothing. 0 or a negative tp_error;
 * on success stop and release it.
 */
int tp_meters_start(struct tp_meters *meters, const struct tp_meters_options *options, pid_t pid,
    const uint64_t *switch_count, struct tp_err *err);

/*
 * Read all now, because of CAUSE; behind END nothing is read any more. Any thread may. False:
 * nothing was asked for.
 */
bool tp_meters_read(struct tp_meters *meters, enum teeperf_reading_cause cause);

/* End the thread. Does nothing a second time. */
void tp_meters_stop(struct tp_meters *meters);

/*
 * pre: stopped, and counters were to have them. What Gramine printed; NULL: nothing that was
 * listened to.
 */
void tp_meters_set_gramine(struct tp_meters *meters, const struct tp_gramine *gramine);

/* pre: stopped. Add the payload of the section, nothing if it was not asked for. */
void tp_meters_add_counters(const struct tp_meters *meters, struct tp_buf *out);
void tp_meters_add_energy(const struct tp_meters *meters, struct tp_buf *out);

/* Also of what was never started, if it is all zero. */
void tp_meters_release(struct tp_meters *meters);

#endif
