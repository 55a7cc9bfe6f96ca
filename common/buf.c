// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A growing run of bytes.
#include "buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char empty[1];

void tp_buf_init(struct tp_buf *buf)
{
	*buf = (struct tp_buf){.data = empty};
}

void tp_buf_release(struct tp_buf *buf)
{
	if (buf->capacity)
		free(buf->data);
	*buf = (struct tp_buf){.data = empty, .drain = buf->drain};
}

void tp_buf_reset(struct tp_buf *buf)
{
	buf->size = 0;
	if (buf->capacity)
		buf->data[0] = '\0';
}

static bool enlarge(struct tp_buf *buf, size_t more)
{
	if (buf->failed || more > SIZE_MAX / 2 - buf->size) {
		buf->failed = true;
		return false;
	}
	const size_t need = buf->size + more + 1;
	size_t capacity = buf->capacity ? buf->capacity : 64;
	while (capacity < need)
		capacity *= 2;
	char *data = realloc(buf->capacity ? buf->data : NULL, capacity);
	if (!data) {
		buf->failed = true;
		return false;
	}
	buf->data = data;
	buf->capacity = capacity;
	return true;
}

// Make room for `more` bytes and the NUL; false (and failed) if there is none.
static inline bool grow(struct tp_buf *buf, size_t more)
{
	if (__builtin_expect(!buf->failed && more < buf->capacity - buf->size, 1))
		return true;
	return enlarge(buf, more);
}

// SIZE bytes have been put behind the contents.
static inline void added(struct tp_buf *buf, size_t size)
{
	buf->size += size;
	buf->data[buf->size] = '\0';
	if (buf->drain && buf->size > TP_BUF_DRAIN_SIZE && !buf->drain(buf))
		buf->failed = true;
}

void tp_buf_add(struct tp_buf *buf, const void *bytes, size_t size)
{
	if (!size || !grow(buf, size))
		return;
	memcpy(buf->data + buf->size, bytes, size);
	added(buf, size);
}

void tp_buf_add_string(struct tp_buf *buf, const char *text)
{
	tp_buf_add(buf, text, strlen(text));
}

void tp_buf_add_char(struct tp_buf *buf, char c)
{
	tp_buf_add(buf, &c, 1);
}

void tp_buf_addf(struct tp_buf *buf, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || !grow(buf, (size_t)length)) {
		buf->failed = true;
		return;
	}
	va_start(args, format);
	vsnprintf(buf->data + buf->size, (size_t)length + 1, format, args);
	va_end(args);
	added(buf, (size_t)length);
}
