// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the log of a recording has, and its trace does not have yet.
#include "recover.h"

#include <stdlib.h>
#include <unistd.h>

#include "analyzer/trace/section.h"
#include "recorder/recover/log_file.h"

// Chunks that wait to be written; whoever looks reads them all.
enum { COMPLETE_MOST = 1024 };

static bool is_readable(const struct tp_log_file *log)
{
	uint32_t complete = 0;
	for (uint32_t i = 0; i < log->chunk_count; i++)
		complete += log->chunks[i].whole;
	return complete <= COMPLETE_MOST && log->constants.mode != TEEPERF_MODE_RING;
}

static bool add_chunks(const struct tp_log_file *log, struct tp_buf *out)
{
	struct teeperf_chunk *chunk = malloc(TP_REGION_CHUNK_SIZE);
	for (uint32_t i = 0; chunk && i < log->chunk_count; i++)
		if (tp_log_file_chunk_now(log, &log->chunks[i], chunk))
			tp_trace_section_add(out, TEEPERF_SECTION_CHUNK, chunk, chunk->used);
	free(chunk);
	return chunk != NULL;
}

bool tp_live_add(const struct teeperf_trace_log *section, struct tp_buf *out)
{
	char name[TP_REGION_NAME_SIZE];
	struct tp_log_file log;
	struct tp_err err;
	tp_region_name(name, section->recorder_pid, section->id);
	if (!tp_log_file_open_live(&log, name))
		return false;
	const bool done = tp_log_file_read(&log, section, &err) == 0 && is_readable(&log) &&
			  add_chunks(&log, out);
	// Behind the chunks: all that they refer to was there before them.
	if (done) {
		struct tp_log_file tables = log;
		tables.header = NULL;
		tables.modules = NULL;
		tables.threads = NULL;
		tables.chunks = NULL;
		tables.chunk_count = 0;
		if (tp_log_file_read(&tables, section, &err) == 0) {
			tp_trace_section_add(out, TEEPERF_SECTION_MODULES, tables.modules,
			    tables.module_count * sizeof(*tables.modules));
			tp_trace_section_add(out, TEEPERF_SECTION_THREADS, tables.threads,
			    tables.thread_count * sizeof(*tables.threads));
		}
		tp_log_file_release(&tables);
	}
	tp_log_file_release(&log);
	close(log.fd);
	return done && !out->failed;
}
