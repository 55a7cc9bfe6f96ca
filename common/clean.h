/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Text from a trace, a binary or a file name, before a person sees it. Nothing in clean text steers
 * a terminal, changes the order in which a line is read, or is anything but UTF-8.
 */
#ifndef TP_CLEAN_H
#define TP_CLEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Whether a character begins with C, in UTF-8: a column, of most characters. */
static inline bool tp_begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* Characters in the SIZE bytes at TEXT, or before its NUL. */
static inline uint32_t tp_count_characters(const char *text, size_t size)
{
	uint32_t count = 0;
	for (size_t i = 0; i < size && text[i]; i++)
		count += tp_begins_character(text[i]);
	return count;
}

/*
 * Bytes of the UTF-8 character that AT, which ends with a NUL, begins with; 0 if it begins with
 * none.
 */
static inline size_t tp_clean_character(const unsigned char *at)
{
	const unsigned char lead = at[0];
	const size_t size = lead < 0x80   ? 1
			    : lead < 0xc2 ? 0
			    : lead < 0xe0 ? 2
			    : lead < 0xf0 ? 3
			    : lead < 0xf5 ? 4
					  : 0;
	/* Too long for its character, a surrogate, or above the last character. */
	if ((lead == 0xe0 && at[1] < 0xa0) || (lead == 0xed && at[1] > 0x9f) ||
	    (lead == 0xf0 && at[1] < 0x90) || (lead == 0xf4 && at[1] > 0x8f))
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

/*
 * The code point of the character of SIZE bytes at AT if it must not reach a person as it is, else
 * 0: a control character (C0, DEL, C1), a line or paragraph separator, or one of Unicode's marks,
 * embeddings, overrides and isolates of direction (Unicode Standard Annex 9). pre: SIZE is
 * tp_clean_character(AT), not 0, and AT is not empty.
 */
unsigned tp_clean_unfit(const unsigned char *at, size_t size);

/* Whether tp_clean would leave TEXT as it is. */
bool tp_is_clean(const char *text);

/*
 * Replace unprintable characters in SIZE bytes of TEXT by '?', byte for byte, and so each byte that
 * is not UTF-8. TEXT has a NUL after SIZE bytes.
 */
void tp_clean(char *text, size_t size);

/* Add TEXT, cleaned; or the first SIZE bytes of it, which hold no NUL. The length stays. */
void tp_buf_add_clean(struct tp_buf *buf, const char *text);
void tp_buf_add_clean_part(struct tp_buf *buf, const char *text, size_t size);
/*
 * As tp_buf_addf, cleaned. A newline at the end of FORMAT stays one; there must be none before it.
 */
void tp_buf_addf_clean(struct tp_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
