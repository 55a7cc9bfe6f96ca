// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace without END, as far as that is needed to go on with it.
#define _GNU_SOURCE
#include "recover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/trace/reader.h"
#include "common/array.h"

static int open_source(
    struct tp_unfinished *trace, const char *path, bool follow, struct tp_err *err)
{
	struct tp_source *source = &trace->source;
	// O_NONBLOCK: a named pipe must be refused below, not waited for here.
	source->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
	source->name = path;
	struct stat info;
	if (source->fd < 0 || fstat(source->fd, &info))
		return tp_err_system(err, errno, path, "cannot open the trace for writing");
	if (!S_ISREG(info.st_mode))
		return tp_err_set(err, TP_ERR_FORMAT, path, "not a regular file");
	source->size = (uint64_t)info.st_size;
	return 0;
}

static int add_key(
    struct tp_unfinished *trace, const struct tp_section *section, struct tp_err *err)
{
	struct teeperf_chunk chunk;
	trace->chunk_count++;
	if (section->damaged || section->header.size < sizeof(chunk))
		return 0;
	memcpy(&chunk, section->payload, sizeof(chunk));
	if (!TP_GROW(trace->keys, trace->key_room, trace->key_count + 1))
		return tp_err_memory(err, trace->source.name);
	trace->keys[trace->key_count++] =
	    (struct tp_chunk_key){.thread = chunk.thread, .sequence = chunk.sequence};
	return 0;
}

static int add_section(
    struct tp_unfinished *trace, const struct tp_section *section, struct tp_err *err)
{
	const uint32_t type = section->header.type;
	if (type == TEEPERF_SECTION_CHUNK || type == TEEPERF_SECTION_PACKED)
		return add_key(trace, section, err);
	if (section->damaged || !tp_section_kind(type))
		return 0;
	struct tp_buf *kept = &trace->kept[type];
	trace->has_end |= type == TEEPERF_SECTION_END;
	tp_buf_reset(kept);
	tp_buf_add(kept, section->payload, section->header.size);
	return kept->failed ? tp_err_memory(err, trace->source.name) : 0;
}

// Where sections end, the file should end, or a section should begin that is not all there.
static int check_rest(struct tp_unfinished *trace, struct tp_err *err)
{
	const uint64_t at = trace->good;
	struct teeperf_section section;
	if (at >= trace->source.size || trace->source.size - at < sizeof(section))
		return 0;
	const int r = tp_source_read(&trace->source, at, &section, sizeof(section), err);
	if (r)
		return r;
	if (section.magic != TEEPERF_SECTION_MAGIC)
		return tp_err_set_at(err, TP_ERR_FORMAT, trace->source.name, at,
		    "no section begins here, and %" PRIu64
		    " bytes follow: the trace is damaged and was left unchanged",
		    trace->source.size - at);
	return 0;
}

int tp_unfinished_read(
    struct tp_unfinished *trace, const char *path, bool follow, struct tp_err *err)
{
	*trace = (struct tp_unfinished){.source.fd = -1};
	for (uint32_t i = 0; i < TP_SECTION_TYPES; i++)
		tp_buf_init(&trace->kept[i]);
	struct tp_problems *problems = calloc(1, sizeof(*problems));
	if (!problems)
		return tp_err_memory(err, path);
	struct tp_reader reader = {0};
	int r = open_source(trace, path, follow, err);
	if (!r)
		r = tp_reader_init(&reader, &trace->source, problems, err);
	struct tp_section section;
	while (!r && (r = tp_reader_next(&reader, &section, err)) > 0)
		r = add_section(trace, &section, err);
	const struct tp_buf *log = &trace->kept[TEEPERF_SECTION_LOG];
	trace->has_log = log->size >= sizeof(trace->log);
	if (trace->has_log)
		memcpy(&trace->log, log->data, sizeof(trace->log));
	trace->header = reader.header;
	trace->good = reader.at;
	if (!r && reader.unread.code) {
		*err = reader.unread;
		r = err->code;
	}
	if (!r)
		r = check_rest(trace, err);
	if (!r && trace->key_count)
		qsort(trace->keys, trace->key_count, sizeof(*trace->keys), tp_chunk_key_compare);
	tp_reader_release(&reader);
	free(problems);
	return r;
}

void tp_unfinished_release(struct tp_unfinished *trace)
{
	tp_source_close(&trace->source);
	free(trace->keys);
	trace->keys = NULL;
	for (uint32_t i = 0; i < TP_SECTION_TYPES; i++)
		tp_buf_release(&trace->kept[i]);
}

bool tp_unfinished_has_chunk(const struct tp_unfinished *trace, uint32_t thread, uint64_t sequence)
{
	const struct tp_chunk_key key = {.thread = thread, .sequence = sequence};
	return trace->key_count && bsearch(&key, trace->keys, trace->key_count,
				       sizeof(*trace->keys), tp_chunk_key_compare);
}
