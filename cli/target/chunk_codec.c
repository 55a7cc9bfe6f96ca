// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chunks as they are, where there is no zstd for the target. In place of
// common/chunks/chunk_codec.c.
#include "common/chunks/chunk_codec.h"

bool tp_packer_is_there(void)
{
	return false;
}

int tp_packer_init(struct tp_packer *packer, uint64_t chunk_size, int level, struct tp_err *err)
{
	(void)err;
	*packer = (struct tp_packer){.level = level, .chunk_size = chunk_size};
	return 0;
}

void tp_packer_release(struct tp_packer *packer)
{
	*packer = (struct tp_packer){0};
}

uint64_t tp_packer_pack(struct tp_packer *packer, const struct teeperf_chunk *chunk)
{
	(void)packer;
	(void)chunk;
	return 0;
}

int tp_unpacker_init(struct tp_unpacker *unpacker, uint64_t chunk_size, struct tp_err *err)
{
	(void)err;
	*unpacker = (struct tp_unpacker){.chunk_size = chunk_size};
	return 0;
}

void tp_unpacker_release(struct tp_unpacker *unpacker)
{
	*unpacker = (struct tp_unpacker){0};
}

int tp_unpacker_unpack(struct tp_unpacker *unpacker, const void *payload, uint64_t size,
    uint64_t *records, uint32_t *count, const char *file, uint64_t offset, struct tp_err *err)
{
	(void)unpacker;
	(void)payload;
	(void)size;
	(void)records;
	*count = 0;
	return tp_err_set_at(err, TP_ERR_VERSION, file, offset,
	    "packed chunk, but this teeperf is built without zstd");
}
