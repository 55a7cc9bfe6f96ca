/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A file that takes the place of another only when it is complete: it is written beside it, under a name of
 * its own, and renamed in the end. Whatever goes wrong, the old file is still there.
 */
#ifndef TP_REPLACE_H
#define TP_REPLACE_H

#include "common/err.h"

#include <stdbool.h>

struct tp_replace {
	char *target; /* what the name is in the end: links are followed to a file that is there */
	char *temporary; /* NULL: nothing is begun */
};

/*
 * Make the temporary file for PATH, open for writing at *FD. PATH need not be there, but if it is, it must be
 * a regular file: TP_ERR_LIMIT. TP_ERR_SYSTEM, TP_ERR_MEMORY.
 */
int tp_replace_begin(struct tp_replace *replace, const char *path, int *fd, struct tp_err *err);
/* Rename it; or, if it is not COMPLETE, remove it. */
int tp_replace_end(struct tp_replace *replace, bool complete, struct tp_err *err);

/* For what does not fit into memory. */

/*
 * A new file, open for reading and writing, that is gone when it is closed; or -1, and errno. In the folder
 * TMPDIR, else in /var/tmp, as /tmp may be memory: *FOLDER is it, until the environment changes.
 */
int tp_temporary_open(const char **folder);

#endif
