/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Packs chunks of records for the trace, and unpacks them: TEEPERF_SECTION_PACKED of trace.h, as
 * docs/format.md specifies it. Unpacking restores any words exactly; records become small.
 */
#ifndef TP_CHUNK_CODEC_H
#define TP_CHUNK_CODEC_H

#include "common/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/trace.h>

/* Of zstd. Levels above 1 cost more than they save: docs/decisions/0006. */
#define TP_PACKER_LEVEL_DEFAULT 1
#define TP_PACKER_LEVEL_MAX 19

struct tp_packer {
	struct ZSTD_CCtx_s *context;
	int level;
	uint64_t chunk_size; /* of the largest chunk */
	uint32_t *names;     /* of a chunk */
	uint8_t *times;      /* codes of a chunk and the bytes after them */
	uint8_t *packed;     /* the payload */
	uint64_t capacity;   /* bytes of packed */
};

/* False: this command was built without zstd, and packs nothing. */
bool tp_packer_is_there(void);

/* For chunks of at most CHUNK_SIZE bytes. pre: 1 <= level <= TP_PACKER_LEVEL_MAX. */
int tp_packer_init(struct tp_packer *packer, uint64_t chunk_size, int level, struct tp_err *err);
void tp_packer_release(struct tp_packer *packer);

/*
 * Pack CHUNK, its header and its records. Returns the size of packer->packed, the payload
 * of a PACKED section, until the next call; or 0 if that would not be smaller than the chunk.
 * pre: chunk->used is its size: a multiple of 8, header included, at most chunk_size.
 */
uint64_t tp_packer_pack(struct tp_packer *packer, const struct teeperf_chunk *chunk);

struct tp_unpacker {
	struct ZSTD_DCtx_s *context;
	uint64_t chunk_size; /* of the largest chunk */
	uint32_t *names;
	uint8_t *times;
};

/* For chunks of at most CHUNK_SIZE bytes: takes a little over twice that, and never more. */
int tp_unpacker_init(struct tp_unpacker *unpacker, uint64_t chunk_size, struct tp_err *err);
void tp_unpacker_release(struct tp_unpacker *unpacker);

/*
 * Unpack the SIZE bytes at PAYLOAD into RECORDS, which has room for the records of the largest
 * chunk; *COUNT is their number. 0, or TP_ERR_FORMAT with the reason, for the file and offset that
 * the caller names. RECORDS is then of no use.
 */
int tp_unpacker_unpack(struct tp_unpacker *unpacker, const void *payload, uint64_t size,
    uint64_t *records, uint32_t *count, const char *file, uint64_t offset, struct tp_err *err);

#endif
