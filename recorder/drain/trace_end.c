// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes what a trace ends with: sums of the log and of what could not be written.
#include "recording.h"

void tp_trace_end_count(
    struct teeperf_trace_end *end, const struct teeperf_log_header *header, uint64_t filled)
{
	const uint64_t threads = tp_count_acquire(&header->thread_count);
	end->chunk_draws = tp_load_relaxed(&header->tail);
	end->lost_early = tp_count_acquire(&header->lost_early);
	end->lost_overflow = tp_count_acquire(&header->lost_overflow);
	end->refused = tp_count_acquire(&header->refused);
	end->forked = tp_count_acquire(&header->forked);
	end->attach = tp_load32_acquire(&header->attach);
	end->module_count = tp_count_acquire(&header->module_count);
	end->thread_count = threads > filled ? threads : filled;
}

void tp_trace_add_end(const struct tp_drain *drain, const struct teeperf_trace_end *known)
{
	struct tp_trace_writer *writer = drain->writer;
	const struct tp_region *region = drain->region;
	struct teeperf_trace_end end = *known;
	end.chunk_count = writer->chunks;
	tp_trace_end_count(&end, region->header, tp_region_thread_count(region));
	end.log_bytes = (uint64_t)region->committed * TP_REGION_CHUNK_SIZE;
	end.mode = region->mode;
	const struct tp_missing *missing = &writer->missing;
	const uint64_t before = writer->offset;
	if (missing->count)
		tp_trace_writer_add(writer, TEEPERF_SECTION_MISSING, missing->threads,
		    missing->count * sizeof(*missing->threads));
	end.missing_chunks = missing->chunks < UINT32_MAX ? (uint32_t)missing->chunks : UINT32_MAX;
	end.missing_events = missing->events;
	end.missing_calls = missing->calls;
	end.unwritten = writer->unwritten;
	const uint64_t at = writer->offset;
	tp_trace_writer_add(writer, TEEPERF_SECTION_END, &end, sizeof(end));
	if (writer->offset != at || at == before)
		return;
	// The sums matter more than what each thread lacks.
	writer->unwritten |= UINT32_C(1) << TEEPERF_SECTION_MISSING;
	end.unwritten = writer->unwritten;
	if (tp_trace_writer_cut(writer, before))
		tp_trace_writer_add(writer, TEEPERF_SECTION_END, &end, sizeof(end));
}
