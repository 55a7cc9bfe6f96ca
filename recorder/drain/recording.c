// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process that is recorded beside the program: a log and a trace of its own.
#include "recording.h"

#include <string.h>

#include "recorder/region/log_guard.h"

int tp_recording_create(struct tp_recording *recording, const struct tp_region_options *region,
    const char *path, int compress, struct tp_err *err)
{
	memset(recording, 0, sizeof(*recording));
	int r = tp_region_create(&recording->region, region, err);
	if (r)
		return r;
	r = tp_trace_writer_open(&recording->writer, path, true, compress, err);
	if (r)
		tp_region_release(&recording->region);
	return r;
}

void tp_recording_prepare(
    struct tp_recording *recording, const struct tp_recording_options *options)
{
	const bool counts = options->clock == TEEPERF_CLOCK_SOFT_COUNT;
	struct tp_drain *drain = &recording->drain;
	tp_clock_log_init(
	    &recording->clock_log, options->clock, counts ? &options->counter->stores : NULL);
	// The rate comes from the whole recording: most children are too short to tell it.
	recording->clock_log.points[0] = options->origin;
	drain->region = &recording->region;
	drain->writer = &recording->writer;
	drain->clock_log = &recording->clock_log;
	drain->counter = options->counter;
	drain->policy = options->policy;
	drain->start_off = options->start_off;
}

int tp_recording_start(struct tp_recording *recording, struct tp_err *err)
{
	const int r = tp_trace_add_log(&recording->drain, err);
	return r ? r : tp_drain_start(&recording->drain, err);
}

void tp_recording_finish(struct tp_recording *recording, const struct tp_host_facts *facts,
    const struct teeperf_trace_end *known, struct tp_recording_result *result)
{
	const struct tp_region *region = &recording->region;
	struct tp_drain *drain = &recording->drain;
	tp_drain_finish(drain);
	tp_trace_add_host(drain, facts, true);
	tp_trace_add_end(drain, known);
	*result = (struct tp_recording_result){
	    .attach = tp_load32_acquire(&region->header->attach),
	    .records = drain->record_bytes / 8,
	    .lost = tp_region_lost(region),
	    .forked = tp_count_acquire(&region->header->forked),
	    .refused = tp_count_acquire(&region->header->refused),
	    .modules_refused = drain->modules_refused,
	    .log_gone_bytes = tp_log_guard_lost_bytes(region->map),
	    .stunted = region->stunted,
	};
}

int tp_recording_close(struct tp_recording *recording)
{
	const int r = tp_trace_writer_close(&recording->writer, NULL);
	tp_region_release(&recording->region);
	return r;
}

void tp_recording_discard(struct tp_recording *recording)
{
	tp_trace_writer_discard(&recording->writer);
	tp_region_release(&recording->region);
}
