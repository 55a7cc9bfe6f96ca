/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A growing run of bytes. data is never NULL and always has a NUL after size bytes, so that text
 * built here is a C string. A failed allocation sets `failed` and drops what was to be added; check
 * it once at the end instead of at every call.
 */
#ifndef TP_BUF_H
#define TP_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct tp_buf {
	char *data;
	size_t size;     /* bytes in use, without the NUL */
	size_t capacity; /* bytes allocated; 0 while data is the shared empty string */
	bool failed;     /* memory ran out; sticky */
};

/* No allocation yet. */
void tp_buf_init(struct tp_buf *buf);
/* Free the contents; *buf is then as after tp_buf_init. */
void tp_buf_release(struct tp_buf *buf);
/* Forget the contents, keep the memory. */
void tp_buf_reset(struct tp_buf *buf);
void tp_buf_add(struct tp_buf *buf, const void *bytes, size_t size);
void tp_buf_add_string(struct tp_buf *buf, const char *text);
void tp_buf_add_char(struct tp_buf *buf, char c);
void tp_buf_addf(struct tp_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
