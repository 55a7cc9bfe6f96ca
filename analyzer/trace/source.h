/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where the bytes of a trace come from: a file or memory. A file is read with pread, never mapped:
 * another process may cut it while we read, and that must be an error, not a signal.
 */
#ifndef TP_SOURCE_H
#define TP_SOURCE_H

#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a reader has read of a file that only grows: the next one, who opens it when it is longer,
 * reads only the new part. All zeroes is an empty one. For one reader at a time.
 */
struct tp_source_memo {
	struct tp_source_kept *kept; /* in the order in which they were read, by offset */
	uint64_t count;
	uint64_t room;
	uint64_t at; /* of them, the next one */
	struct tp_buf bytes;
	uint64_t device; /* which file it is */
	uint64_t inode;
	uint64_t size; /* of it, at the last look */
};

struct tp_source {
	const char *name;    /* for messages; the caller's, must outlive the source */
	uint64_t size;       /* bytes when it was opened */
	int fd;              /* -1: memory */
	const uint8_t *data; /* memory: the caller's */
	const uint8_t *more; /* more bytes, which begin at TP_SOURCE_MORE; the caller's */
	uint64_t more_size;
	struct tp_source_memo *memo;  /* of the file, the caller's; or NULL */
	_Atomic uint64_t *read_bytes; /* from the file in all, the caller's; or NULL */
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

/*
 * Have the source remember in MEMO what tp_source_read_again reads. False: MEMO was empty, or of
 * another file, which may also be this one when it was longer; it is empty now.
 */
bool tp_source_remember(struct tp_source *source, struct tp_source_memo *memo);
/*
 * As tp_source_read; what was read so before, from the same file, comes from memory. For one
 * thread, with growing offsets.
 */
int tp_source_read_again(
    const struct tp_source *source, uint64_t offset, void *to, size_t size, struct tp_err *err);
/* Forget what was read from OFFSET on: it may change. */
void tp_source_forget(const struct tp_source *source, uint64_t offset);
void tp_source_memo_release(struct tp_source_memo *memo);

#endif
