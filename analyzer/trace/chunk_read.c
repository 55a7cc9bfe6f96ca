// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of a trace's chunks, packed or not.
#include "tracefile.h"

#include <stdlib.h>

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
	reader->words = malloc(chunk_size(reader));
	return reader->words ? 0 : no_memory(reader, err);
}

void tp_chunk_reader_release(struct tp_chunk_reader *reader)
{
	tp_unpacker_release(&reader->unpacker);
	free(reader->packed);
	free(reader->words);
	*reader = (struct tp_chunk_reader){0};
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
	int code = tp_source_read(source, chunk->offset, reader->packed, chunk->packed_size, err);
	uint32_t count = 0;
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
	return tp_source_read(&reader->trace->source, chunk->offset, reader->words,
	    (size_t)chunk->word_count * 8, err);
}
