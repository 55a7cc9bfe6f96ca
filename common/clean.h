/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Text from a trace or a binary, before it is shown: nothing in it steers a terminal. */
#ifndef TP_CLEAN_H
#define TP_CLEAN_H

#include <stddef.h>

/* Bytes of the character of UTF-8 that AT, which ends with a NUL, begins with; 0: it begins with none. */
static inline size_t tp_clean_character(const unsigned char *at)
{
	const unsigned char lead = at[0];
	const size_t size = lead < 0x80   ? 1
			    : lead < 0xc2 ? 0
			    : lead < 0xe0 ? 2
			    : lead < 0xf0 ? 3
			    : lead < 0xf5 ? 4
					  : 0;
	/* Too long for its character, a surrogate, or behind the last character. */
	if ((lead == 0xe0 && at[1] < 0xa0) || (lead == 0xed && at[1] > 0x9f) ||
	    (lead == 0xf0 && at[1] < 0x90) || (lead == 0xf4 && at[1] > 0x8f))
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

/*
 * Replace the control characters in SIZE bytes of TEXT by '?': those below a space, DEL, and those from U+0080
 * to U+009F, which terminals obey in UTF-8 and as single bytes. A byte of these that is part of another
 * character stays. TEXT has a NUL behind SIZE bytes.
 */
static inline void tp_clean(char *text, size_t size)
{
	unsigned char *at = (unsigned char *)text;
	for (size_t i = 0; i < size;) {
		const size_t length = tp_clean_character(at + i);
		if (at[i] < 0x20 || at[i] == 0x7f || (!length && at[i] >= 0x80 && at[i] <= 0x9f))
			at[i] = '?';
		else if (length == 2 && at[i] == 0xc2 && at[i + 1] <= 0x9f)
			at[i] = at[i + 1] = '?';
		i += length ? length : 1;
	}
}

#endif
