/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where the bytes of a trace come from: a file or memory. A file is read with pread, never mapped:
 * another process may cut it while we read, and that must be an error, not a signal.
 */
#ifndef TP_SOURCE_H
#define TP_SOURCE_H

#include "common/err.h"

#include <stddef.h>
#include <stdint.h>

struct tp_source {
	const char *name;    /* for messages; the caller's, must outlive the source */
	uint64_t size;       /* bytes when it was opened */
	int fd;              /* -1: memory */
	const uint8_t *data; /* memory: the caller's */
	const uint8_t *more; /* more bytes, which begin at TP_SOURCE_MORE; the caller's */
	uint64_t more_size;
};

/* Behind the end of any file. */
#define TP_SOURCE_MORE (UINT64_C(1) << 62)

/* Open the file NAME. 0, or a negative tp_error. */
int tp_source_open(struct tp_source *source, const char *name, struct tp_err *err);
/* Use SIZE bytes at DATA, which must outlive the source. */
void tp_source_from_memory(
    struct tp_source *source, const char *name, const void *data, size_t size);
void tp_source_close(struct tp_source *source);

/*
 * Copy SIZE bytes from OFFSET on to TO. 0, TP_ERR_TRUNCATED if the source has not as many (any
 * more), or TP_ERR_SYSTEM. Several threads may read at the same time.
 */
int tp_source_read(
    const struct tp_source *source, uint64_t offset, void *to, size_t size, struct tp_err *err);

#endif
