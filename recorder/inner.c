// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The TEE's side of a recording of a host program and its TEE: a log and a trace of its own.
#include "inner.h"

#include <stdlib.h>
#include <string.h>

#include "recorder/region/log_guard.h"
#include "recorder/drain/trace_ends.h"

static void write_host(struct tp_inner *inner, const struct tp_host_facts *known, bool ended)
{
	const struct teeperf_log_header *header = inner->region.header;
	struct tp_host_facts facts = *known;
	facts.log_bytes = (uint64_t)inner->region.chunk_count * TP_REGION_CHUNK_SIZE;
	facts.transport = "host";
	facts.has_cost = false;
	facts.ended = ended;
	facts.switches_missed = inner->drain.switches.missed;
	facts.log_gone_bytes = tp_log_guard_lost_bytes(inner->region.map);
	facts.functions = tp_load_relaxed(&header->function_count);
	facts.functions_left_out = tp_load_relaxed(&header->functions_left_out);
	tp_trace_add_host(&inner->writer, &facts);
}

int tp_inner_create(struct tp_inner *inner, const struct tp_region_options *region,
    const char *path, int compress, struct tp_err *err)
{
	memset(inner, 0, sizeof(*inner));
	int r = tp_region_create(&inner->region, region, err);
	if (r)
		return r;
	inner->region.header->border = 1;
	r = tp_trace_writer_create(&inner->writer, path, err);
	if (r)
		goto fail_region;
	if (compress)
		r = tp_trace_writer_pack(&inner->writer, compress, err);
	if (!r)
		r = tp_trace_add_log(&inner->writer, &inner->region, compress, false, path, err);
	if (!r)
		return 0;
	tp_trace_writer_discard(&inner->writer);
fail_region:
	tp_region_release(&inner->region);
	return r;
}

int tp_inner_start(struct tp_inner *inner, uint32_t clock, const struct teeperf_trace_point *origin,
    const struct tp_counter_thread *counter, enum tp_drain_policy policy, bool start_off,
    const struct tp_host_facts *facts, struct tp_err *err)
{
	tp_clock_log_init(
	    &inner->clock_log, clock, clock == TEEPERF_CLOCK_SOFT_COUNT ? &counter->stores : NULL);
	inner->clock_log.points[0] = *origin;
	inner->drain = (struct tp_drain){
	    .region = &inner->region,
	    .writer = &inner->writer,
	    .clock_log = &inner->clock_log,
	    .counter = counter,
	    .policy = policy,
	    .start_off = start_off,
	    .foreign = true,
	};
	write_host(inner, facts, false);
	return tp_drain_start(&inner->drain, err);
}

void tp_inner_discard(struct tp_inner *inner)
{
	tp_trace_writer_discard(&inner->writer);
	tp_region_release(&inner->region);
}

void tp_inner_finish(struct tp_inner *inner, const struct tp_host_facts *facts,
    const struct teeperf_trace_end *known, struct tp_inner_result *result)
{
	tp_drain_finish(&inner->drain);
	write_host(inner, facts, true);
	tp_trace_add_end(&inner->writer, &inner->region, known);
	*result = (struct tp_inner_result){
	    .attach = tp_load32_acquire(&inner->region.header->attach),
	    .records = inner->drain.record_bytes / 8,
	    .lost = tp_region_lost(&inner->region),
	    .modules_refused = inner->drain.modules_refused,
	    .log_gone_bytes = tp_log_guard_lost_bytes(inner->region.map),
	    .stunted = inner->region.stunted,
	};
	result->failed = tp_trace_writer_close(&inner->writer, NULL) != 0;
	tp_region_release(&inner->region);
}
