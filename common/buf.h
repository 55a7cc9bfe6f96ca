/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A growing run of bytes. data is never NULL and always has a NUL after size bytes, so that text
 * built here is a C string. A failed allocation sets `failed` and drops the addition; check it
 * once at the end instead of at every call. With `drain`, the contents are written out from time to
 * time, so output of any size needs little memory: see common/out_file.h.
 */
#ifndef TP_BUF_H
#define TP_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct tp_buf {
	char *data;
	size_t size;     /* bytes in use, without the NUL */
	size_t capacity; /* bytes allocated; 0 while data is the shared empty string */
	bool failed;     /* memory ran out, or drain failed; sticky */
	/*
	 * Takes size bytes and forgets them (tp_buf_reset), or fails; called above
	 * TP_BUF_DRAIN_SIZE.
	 */
	bool (*drain)(struct tp_buf *buf);
};

#define TP_BUF_DRAIN_SIZE ((size_t)64 << 10)

/* No allocation yet. */
void tp_buf_init(struct tp_buf *buf);
/* Free the contents; *buf can then be used again. */
void tp_buf_release(struct tp_buf *buf);
/* Forget the contents, keep the memory. */
void tp_buf_reset(struct tp_buf *buf);
void tp_buf_add(struct tp_buf *buf, const void *bytes, size_t size);
void tp_buf_add_string(struct tp_buf *buf, const char *text);
void tp_buf_add_char(struct tp_buf *buf, char c);
void tp_buf_addf(struct tp_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
