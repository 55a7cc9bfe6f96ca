// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of a trace's chunks, packed or not; and the checks that were left for when these are
// read.
#include "tracefile.h"

#include "common/chunks/checksum.h"

#include <stdatomic.h>
#include <stdlib.h>

// Several threads may read chunks, even the same ones.
struct tp_chunk_checks {
	atomic_bool failed;  // some chunk is damaged, or could not be read
	atomic_uchar done[]; // for each chunk of the trace
};

int tp_chunk_checks_make(struct tp_tracefile *trace, struct tp_err *err)
{
	trace->checks = calloc(1, sizeof(*trace->checks) + trace->chunk_count);
	return trace->checks ? 0 : tp_err_memory(err, trace->source.name);
}

static uint64_t chunk_size(const struct tp_chunk_reader *reader)
{
	return UINT64_C(1) << reader->trace->header.chunk_shift;
}

static int no_memory(const struct tp_chunk_reader *reader, struct tp_err *err)
{
	return tp_err_memory(err, reader->trace->source.name);
}

int tp_chunk_reader_init(
    struct tp_chunk_reader *reader, const struct tp_tracefile *trace, struct tp_err *err)
{
	*reader = (struct tp_chunk_reader){.trace = trace};
	reader->words = reader->block = malloc(chunk_size(reader));
	return reader->block ? 0 : no_memory(reader, err);
}

void tp_chunk_reader_release(struct tp_chunk_reader *reader)
{
	tp_unpacker_release(&reader->unpacker);
	free(reader->packed);
	free(reader->block);
	*reader = (struct tp_chunk_reader){0};
}

// Whether the chunk has still to be compared with its checksum. What was added in memory is ours.
static bool is_unchecked(const struct tp_tracefile *trace, const struct tp_chunk *chunk)
{
	return trace->checks && chunk->offset < TP_SOURCE_MORE &&
	       !atomic_load_explicit(
		   &trace->checks->done[chunk - trace->chunks], memory_order_relaxed);
}

// Read the SIZE bytes of the chunk's section at OFFSET, and check them if that is still to be done.
static int read_section(const struct tp_tracefile *trace, const struct tp_chunk *chunk,
    uint64_t offset, void *to, size_t size, struct tp_err *err)
{
	const bool unchecked = is_unchecked(trace, chunk);
	int code = tp_source_read(&trace->source, offset, to, size, err);
	if (!unchecked)
		return code;
	if (!code && tp_checksum(to, size) != chunk->checksum)
		code = tp_err_set_at(err, TP_ERR_FORMAT, trace->source.name, offset,
		    "a chunk is damaged: its checksum does not match its bytes");
	if (code)
		atomic_store_explicit(&trace->checks->failed, true, memory_order_relaxed);
	else
		atomic_store_explicit(
		    &trace->checks->done[chunk - trace->chunks], 1, memory_order_relaxed);
	return code;
}

static int read_packed(
    struct tp_chunk_reader *reader, const struct tp_chunk *chunk, struct tp_err *err)
{
	const struct tp_source *source = &reader->trace->source;
	if (!reader->packed) {
		reader->packed = malloc(chunk_size(reader));
		if (!reader->packed)
			return no_memory(reader, err);
		const int code = tp_unpacker_init(&reader->unpacker, chunk_size(reader), err);
		if (code)
			return code;
	}
	int code = read_section(
	    reader->trace, chunk, chunk->offset, reader->packed, chunk->packed_size, err);
	uint32_t count = 0;
	reader->words = reader->block;
	if (!code)
		code = tp_unpacker_unpack(&reader->unpacker, reader->packed, chunk->packed_size,
		    reader->words, &count, source->name, chunk->offset, err);
	if (!code && count != chunk->word_count)
		code = tp_err_set_at(err, TP_ERR_FORMAT, source->name, chunk->offset,
		    "the chunk changed while the file was read");
	return code;
}

int tp_chunk_reader_read(
    struct tp_chunk_reader *reader, const struct tp_chunk *chunk, struct tp_err *err)
{
	if (chunk->packed_size)
		return read_packed(reader, chunk, err);
	// The checksum is that of the chunk's header, too.
	const size_t header = is_unchecked(reader->trace, chunk) ? sizeof(struct teeperf_chunk) : 0;
	reader->words = reader->block + header / 8;
	return read_section(reader->trace, chunk, chunk->offset - header, reader->block,
	    header + (size_t)chunk->word_count * 8, err);
}

bool tp_tracefile_is_whole(const struct tp_tracefile *trace)
{
	const struct tp_chunk_checks *checks = trace->checks;
	struct tp_err err;
	if (!trace->defers)
		return true;
	bool whole = checks && !trace->problems.count && !checks->failed;
	void *block = whole ? malloc(UINT64_C(1) << trace->header.chunk_shift) : NULL;
	for (uint64_t i = 0; whole && i < trace->chunk_count; i++) {
		const struct tp_chunk *chunk = &trace->chunks[i];
		const size_t header = chunk->packed_size ? 0 : sizeof(struct teeperf_chunk);
		const size_t size = chunk->packed_size ? chunk->packed_size
						       : header + (size_t)chunk->word_count * 8;
		if (is_unchecked(trace, chunk))
			whole = block && !read_section(trace, chunk, chunk->offset - header, block,
					     size, &err);
	}
	free(block);
	return whole;
}
