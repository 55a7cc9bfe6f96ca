// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data in the page of a report, packed.
#include "block.h"

#include <stdlib.h>
#include <zlib.h>

static void add_base64(struct tp_buf *page, const unsigned char *bytes, size_t size)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[4096];
	size_t used = 0;
	for (size_t i = 0; i < size; i += 3) {
		const size_t left = size - i;
		const uint32_t group = (uint32_t)bytes[i] << 16 |
				       (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				       (left > 2 ? bytes[i + 2] : 0);
		text[used++] = letters[group >> 18];
		text[used++] = letters[group >> 12 & 63];
		text[used++] = left > 1 ? letters[group >> 6 & 63] : '=';
		text[used++] = left > 2 ? letters[group & 63] : '=';
		if (used == sizeof(text)) {
			tp_buf_add(page, text, used);
			used = 0;
		}
	}
	tp_buf_add(page, text, used);
}

int tp_report_block_add(
    struct tp_buf *page, const char *name, const struct tp_buf *data, struct tp_err *err)
{
	uLongf size = compressBound(data->size);
	unsigned char *packed = data->failed ? NULL : malloc(size);
	const bool ok = packed && compress2(packed, &size, (const unsigned char *)data->data,
				      data->size, 6) == Z_OK;
	if (ok) {
		tp_buf_addf(
		    page, "<script type=\"application/octet-stream\" id=\"data-%s\">", name);
		add_base64(page, packed, size);
		tp_buf_add_string(page, "</script>\n");
	}
	free(packed);
	return ok ? 0
		  : tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET,
			"no memory for the data of the report");
}
