/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A file that is written through a tp_buf, a piece at a time; code that adds to `buf` need not
 * know. Errors are sticky and reported when it is closed.
 */
#ifndef TP_OUT_FILE_H
#define TP_OUT_FILE_H

#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

/*
 * A file that replaces another only when it is complete: it is written next to it, under another
 * name, and renamed at the end. If anything fails, the old file still exists.
 */
struct tp_replace {
	char *target; /* what the name is in the end: links are followed to a file that is there */
	char *temporary; /* NULL: nothing has begun */
};

/*
 * Make the temporary file for PATH, open for writing at *FD. PATH need not be there, but if it is,
 * it must be a regular file: TP_ERR_LIMIT. TP_ERR_SYSTEM, TP_ERR_MEMORY.
 */
int tp_replace_begin(struct tp_replace *replace, const char *path, int *fd, struct tp_err *err);
/* Rename it; or, if it is not COMPLETE, remove it. */
int tp_replace_end(struct tp_replace *replace, bool complete, struct tp_err *err);

struct tp_out_file {
	struct tp_buf buf; /* first: drain finds the rest by it */
	int fd;
	int error;                 /* errno of the first write that failed, or 0 */
	uint64_t written;          /* bytes that have left buf */
	struct tp_replace replace; /* in use if an old file is there until this one is complete */
	char name[256];            /* for messages; the tail of a longer one */
};

/*
 * Write to FD, which is closed in the end unless it is a standard one; or to the file PATH, which
 * is made, or emptied.
 */
void tp_out_file_from_fd(struct tp_out_file *out, int fd, const char *name);
int tp_out_file_open(struct tp_out_file *out, const char *path, struct tp_err *err);
/*
 * The file PATH; its old contents exist until this one is closed. (Except for a file with more
 * names or another owner, or if no file can be created next to it: it is emptied now.)
 */
int tp_out_file_replace(struct tp_out_file *out, const char *path, struct tp_err *err);
/* The same of a file that is read meanwhile: without exceptions, or an error. */
int tp_out_file_replace_read(struct tp_out_file *out, const char *path, struct tp_err *err);
/* To the end of the file PATH, which is there. */
int tp_out_file_append(struct tp_out_file *out, const char *path, struct tp_err *err);
/* The file NAME in DIRECTORY. */
int tp_out_file_open_in(
    struct tp_out_file *out, const char *directory, const char *name, struct tp_err *err);
/* Where the next byte goes in the file, from 0 on. */
static inline uint64_t tp_out_file_offset(const struct tp_out_file *out)
{
	return out->written + out->buf.size;
}
/* Write the rest and close. 0; TP_ERR_SYSTEM, TP_ERR_MEMORY: something is missing in the file. */
int tp_out_file_close(struct tp_out_file *out, struct tp_err *err);
/* Close it without the rest; an old file that was to be replaced stays. */
void tp_out_file_drop(struct tp_out_file *out);

/* For output that does not fit into memory. */

/*
 * A new file, open for reading and writing, that is gone when it is closed; or -1, and errno. In
 * the folder TMPDIR, else in /var/tmp, as /tmp may be memory: *FOLDER is it, until the environment
 * changes.
 */
int tp_temporary_open(const char **folder);

#endif
