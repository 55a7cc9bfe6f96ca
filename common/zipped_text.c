// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs and unpacks texts with zstd.
#include "zipped_text.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 9 };

void tp_zipped_add(struct tp_buf *out, const char *text, size_t size)
{
	const size_t room = ZSTD_compressBound(size);
	char *frame = malloc(room);
	const size_t packed = frame ? ZSTD_compress(frame, room, text, size, LEVEL) : 0;
	if (!frame || ZSTD_isError(packed))
		out->failed = true;
	else
		tp_buf_add(out, frame, packed);
	free(frame);
}

bool tp_zipped_begins(const void *data, size_t size)
{
	static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	return size >= sizeof(magic) && !memcmp(data, magic, sizeof(magic));
}

bool tp_zipped_size(const void *data, size_t size, size_t *packed, size_t *unpacked)
{
	const size_t found = ZSTD_findFrameCompressedSize(data, size);
	if (ZSTD_isError(found) || found > size)
		return false;
	const unsigned long long content = ZSTD_getFrameContentSize(data, found);
	if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR ||
	    content > TP_ZIPPED_BYTES_MAX || content > found * (uint64_t)TP_ZIPPED_RATIO_MAX)
		return false;
	*packed = found;
	*unpacked = (size_t)content;
	return true;
}

bool tp_zipped_unpack(const void *data, size_t packed, char *to, size_t unpacked)
{
	return ZSTD_decompress(to, unpacked, data, packed) == unpacked;
}
