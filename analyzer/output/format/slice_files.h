/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files that slices (slices.h) are written to: one, or one for each stretch of time. */
#ifndef TP_SLICE_FILES_H
#define TP_SLICE_FILES_H

#include "analyzer/output/format/slices.h"
#include "common/out_file.h"

/* More than this are hardly meant, and no one looks at them. */
#define TP_SLICE_FILES_MAX 9999

struct tp_slice_files {
	struct tp_slices slices; /* of the current file */
	const struct tp_slice_format *format;
	const char
	    *path; /* of several files; NULL: slices.out or slices.directory is the only one */
	struct tp_marks marks; /* what slices.marks is */
	uint64_t start_ns;
	bool entered;            /* a thread is being written to the current file */
	uint8_t *made;           /* for each file */
	uint32_t *tids;          /* what slices.tids is */
	struct tp_out_file file; /* the current one, if entered */
	struct tp_buf name;      /* its path */
};

/* Which file has what begins at NS. */
uint32_t tp_slice_files_of(const struct tp_slice_files *files, uint64_t ns);
/* Make that number the current one. */
void tp_slice_files_go(struct tp_slice_files *files, uint32_t number);
/* THREAD goes on in the current file, which is made if need be. */
int tp_slice_files_begin(
    struct tp_slice_files *files, const struct tp_thread_result *thread, struct tp_err *err);
static inline int tp_slice_files_enter(
    struct tp_slice_files *files, const struct tp_thread_result *thread, struct tp_err *err)
{
	return files->entered ? 0 : tp_slice_files_begin(files, thread, err);
}
/* It does not go on here. */
int tp_slice_files_leave(struct tp_slice_files *files, struct tp_err *err);

/* Feed all threads' calls to the format. */
int tp_slices_feed(
    struct tp_slice_files *files, const struct tp_slice_format *format, struct tp_err *err);

#endif
