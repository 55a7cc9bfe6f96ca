/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A tp_buf whose contents go to another one as a gzip file, a piece at a time. Two files of the
 * same contents are the same: there is no time and no name in them.
 */
#ifndef TP_GZIP_H
#define TP_GZIP_H

#include "common/buf.h"
#include "common/err.h"

#include <zlib.h>

struct tp_gzip {
	struct tp_buf buf; /* first: drain finds the rest by it */
	struct tp_buf *out;
	z_stream stream;
	bool open; /* the stream is to be released */
};

/* 0 or TP_ERR_MEMORY. Finish it in any case. */
int tp_gzip_init(struct tp_gzip *gzip, struct tp_buf *out, struct tp_err *err);
/* Write the rest and release it. What failed, so has OUT. */
void tp_gzip_finish(struct tp_gzip *gzip);

#endif
