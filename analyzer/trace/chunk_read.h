/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The records of a trace's chunks, packed or not, one chunk at a time. Each thread that reads has a
 * reader of its own.
 */
#ifndef TP_CHUNK_READ_H
#define TP_CHUNK_READ_H

#include "analyzer/trace/tracefile.h"
#include "common/chunks/chunk_codec.h"

struct tp_chunk_reader {
	const struct tp_tracefile *trace;
	uint64_t *words;             /* of the chunk read last */
	uint8_t *packed;             /* NULL until there is a packed chunk */
	struct tp_unpacker unpacker; /* the same */
};

/* TRACE must outlive the reader. Release it in any case. */
int tp_chunk_reader_init(
    struct tp_chunk_reader *reader, const struct tp_tracefile *trace, struct tp_err *err);
void tp_chunk_reader_release(struct tp_chunk_reader *reader);

/* Read the chunk->word_count records of CHUNK into reader->words. 0, or a negative tp_error. */
int tp_chunk_reader_read(
    struct tp_chunk_reader *reader, const struct tp_chunk *chunk, struct tp_err *err);

#endif
