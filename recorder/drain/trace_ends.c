// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the trace of each process begins and ends with, besides its tables.
#include "trace_ends.h"

#include <string.h>
#include <unistd.h>

void tp_trace_add_host(struct tp_trace_writer *writer, const struct tp_host_facts *facts)
{
	struct tp_buf host;
	tp_buf_init(&host);
	tp_host_facts_text(&host, facts);
	if (!host.failed)
		tp_trace_writer_add(writer, TEEPERF_SECTION_HOST, host.data, host.size);
	tp_buf_release(&host);
}

int tp_trace_add_log(struct tp_trace_writer *writer, struct tp_region *region, int compress,
    bool start_off, const char *path, struct tp_err *err)
{
	struct teeperf_trace_log log = {
	    .id = region->id,
	    .recorder_pid = (uint32_t)getpid(),
	    .level = (uint32_t)compress,
	    .start_off = start_off,
	};
	if (!writer->regular || !region->path[0])
		return 0;
	memcpy(log.constants, region->header, sizeof(log.constants));
	log.constants[0] = TEEPERF_LOG_MAGIC; // it may not be there yet
	tp_trace_writer_add(writer, TEEPERF_SECTION_LOG, &log, sizeof(log));
	if (writer->failed) {
		if (err)
			*err = writer->error;
		return writer->error.code;
	}
	tp_region_note_trace(region, path);
	return 0;
}

void tp_trace_add_end(struct tp_trace_writer *writer, const struct tp_region *region,
    const struct teeperf_trace_end *known)
{
	const struct teeperf_log_header *header = region->header;
	const uint64_t told = tp_count_acquire(&header->thread_count);
	const uint64_t filled = tp_region_thread_count(region);
	struct teeperf_trace_end end = *known;
	end.chunk_count = writer->chunks;
	end.chunk_draws = tp_load_relaxed(&header->tail);
	end.lost_early = tp_count_acquire(&header->lost_early);
	end.lost_overflow = tp_count_acquire(&header->lost_overflow);
	end.refused = tp_count_acquire(&header->refused);
	end.forked = tp_count_acquire(&header->forked);
	end.log_bytes = (uint64_t)region->committed * TP_REGION_CHUNK_SIZE;
	end.mode = region->mode;
	end.attach = tp_load32_acquire(&header->attach);
	end.module_count = tp_count_acquire(&header->module_count);
	end.thread_count = told > filled ? told : filled;
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
