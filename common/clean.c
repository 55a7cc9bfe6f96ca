// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes text fit to be shown.
#define _GNU_SOURCE
#include "clean.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned tp_clean_unfit(const unsigned char *at, size_t size)
{
	if (size == 1)
		return *at < 0x20 || *at == 0x7f ? *at : 0;
	unsigned code = 0;
	if (size == 2)
		code = (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
	else if (size == 3)
		code = (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
	const bool control = code >= 0x80 && code <= 0x9f;
	const bool mark = code == 0x61c || code == 0x200e || code == 0x200f;
	const bool separator = code == 0x2028 || code == 0x2029;
	const bool direction =
	    (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
	// XML has no place for these two.
	const bool none = code == 0xfffe || code == 0xffff;
	return control || mark || separator || direction || none ? code : 0;
}

bool tp_is_clean(const char *text)
{
	size_t size;
	for (const unsigned char *at = (const unsigned char *)text; *at; at += size) {
		size = tp_clean_character(at);
		if (!size || tp_clean_unfit(at, size))
			return false;
	}
	return true;
}

void tp_clean(char *text, size_t size)
{
	unsigned char *at = (unsigned char *)text;
	for (size_t i = 0; i < size;) {
		const size_t length = at[i] ? tp_clean_character(at + i) : 0;
		const size_t step = length ? length : 1;
		if (!length || tp_clean_unfit(at + i, length))
			memset(at + i, '?', step);
		i += step;
	}
}

// tp_clean_character of text that ends behind LEFT bytes, without a NUL.
static size_t character_within(const unsigned char *at, size_t left)
{
	unsigned char copy[4] = {0};
	if (left >= sizeof(copy))
		return tp_clean_character(at);
	memcpy(copy, at, left);
	return tp_clean_character(copy);
}

void tp_buf_add_clean_part(struct tp_buf *buf, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + size;
	const unsigned char *run = at; // of what can stay
	while (at < end) {
		const size_t length = character_within(at, (size_t)(end - at));
		const unsigned char *next = at + (length ? length : 1);
		if (!length || tp_clean_unfit(at, length)) {
			tp_buf_add(buf, run, (size_t)(at - run));
			for (run = next; at != next; at++)
				tp_buf_add_char(buf, '?');
		}
		at = next;
	}
	tp_buf_add(buf, run, (size_t)(at - run));
}

void tp_buf_add_clean(struct tp_buf *buf, const char *text)
{
	tp_buf_add_clean_part(buf, text, strlen(text));
}

void tp_buf_addf_clean(struct tp_buf *buf, const char *format, ...)
{
	char *text;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0) {
		buf->failed = true;
		return;
	}
	const size_t size = strlen(format);
	const bool ends = size && format[size - 1] == '\n';
	tp_clean(text, (size_t)length - ends);
	tp_buf_add(buf, text, (size_t)length);
	free(text);
}
