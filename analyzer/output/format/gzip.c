// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the bytes that are added to a buffer.
#include "gzip.h"

#include <limits.h>

#define GZIP_WINDOW (15 + 16) // bits; the 16 asks for gzip's header

static bool pack(struct tp_gzip *gzip, int flush)
{
	unsigned char packed[32768];
	z_stream *stream = &gzip->stream;
	size_t left = gzip->buf.size;
	stream->next_in = (unsigned char *)gzip->buf.data;
	do {
		stream->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
		left -= stream->avail_in;
		do {
			stream->next_out = packed;
			stream->avail_out = sizeof(packed);
			if (deflate(stream, left ? Z_NO_FLUSH : flush) == Z_STREAM_ERROR)
				return false;
			tp_buf_add(gzip->out, packed, sizeof(packed) - stream->avail_out);
		} while (stream->avail_out == 0);
	} while (left);
	tp_buf_reset(&gzip->buf);
	return !gzip->out->failed;
}

static bool drain(struct tp_buf *buf)
{
	return pack((struct tp_gzip *)(void *)buf, Z_NO_FLUSH);
}

int tp_gzip_init(struct tp_gzip *gzip, struct tp_buf *out, struct tp_err *err)
{
	*gzip = (struct tp_gzip){.out = out};
	tp_buf_init(&gzip->buf);
	if (deflateInit2(&gzip->stream, 6, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return tp_err_memory(err, NULL);
	gzip->open = true;
	gzip->buf.drain = drain;
	return 0;
}

void tp_gzip_finish(struct tp_gzip *gzip)
{
	if (gzip->open && (gzip->buf.failed || !pack(gzip, Z_FINISH)))
		gzip->out->failed = true;
	if (gzip->open)
		deflateEnd(&gzip->stream);
	gzip->open = false;
	tp_buf_release(&gzip->buf);
}
