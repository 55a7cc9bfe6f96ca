/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lists as commands name them: a file, "-" for the standard input, or shipped:NAME for one of those
 * that come with TeePerf.
 */
#ifndef TP_LIST_FILE_H
#define TP_LIST_FILE_H

#include "allowlists/convert/convert.h"
#include "common/buf.h"
#include "driver.h"

/* The folder of the shipped lists. 0 or a negative tp_error. */
int tp_shipped_folder(char path[TP_DRIVER_PATH_SIZE], struct tp_err *err);

/*
 * The path that NAME stands for: of shipped:NAME that file's, of all others NAME itself. 0;
 * TP_ERR_NOT_FOUND if no such list is shipped; or another tp_error.
 */
int tp_list_file_path(const char *name, char path[TP_DRIVER_PATH_SIZE], struct tp_err *err);

/*
 * Append to *paths the absolute paths of COUNT NAMES, which are lists as above but not "-", with
 * ':' between them. FROM tells in errors where the names are from. 0 or a negative tp_error.
 */
int tp_list_files_resolve(const char *const *names, uint32_t count, const char *from,
    struct tp_buf *paths, struct tp_err *err);

/* The same of lists with ':' between them, as in TEEPERF_ALLOWLIST. */
int tp_list_files_resolve_joined(
    const char *names, const char *from, struct tp_buf *paths, struct tp_err *err);

/* Append the contents of NAME to *buf. 0 or a negative tp_error. */
int tp_list_file_read(const char *name, struct tp_buf *buf, struct tp_err *err);

/* Write to the file OUT, or to the standard output if it is NULL. 0 or TP_ERR_SYSTEM. */
int tp_list_file_write(const char *out, const struct tp_buf *buf, struct tp_err *err);

/*
 * What import and (write) export do with the only operand: convert it by FORMAT, and write OUT. An
 * exit code.
 */
int tp_list_convert(bool write, const char *format, const char *out, int argc, char **argv);

#endif
