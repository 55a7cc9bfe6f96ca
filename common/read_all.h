/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads all that is left of a descriptor, up to a limit; writes all bytes to one. */
#ifndef TP_READ_ALL_H
#define TP_READ_ALL_H

#include "buf.h"
#include "err.h"

/*
 * Add all that is left to read from fd to buf. `name` is the file's in errors, `what` is its kind
 * ("the list"). TP_ERR_SYSTEM if it cannot be read, TP_ERR_LIMIT beyond `most` bytes,
 * TP_ERR_MEMORY; buf then has the bytes before.
 */
int tp_read_all(struct tp_buf *buf, int fd, const char *name, const char *what, uint64_t most,
    struct tp_err *err);

/*
 * Read SIZE bytes from OFFSET of the file FD on. How many there were, less if it ends before; -1
 * and errno: it cannot be read.
 */
int64_t tp_read_at(int fd, void *to, uint64_t size, uint64_t offset);

/* Write all SIZE bytes to FD; false, and errno, if that cannot be done. */
bool tp_write_all(int fd, const void *data, size_t size);

/*
 * Write all SIZE bytes at OFFSET of the file FD, whose position does not change; false, and errno,
 * if that fails.
 */
bool tp_write_at(int fd, const void *data, size_t size, uint64_t offset);

#endif
