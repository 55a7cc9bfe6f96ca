/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Text from a trace or a binary, before it is shown: nothing in it steers a terminal. */
#ifndef TP_CLEAN_H
#define TP_CLEAN_H

#include <stddef.h>

/*
 * Replace the control characters in SIZE bytes of TEXT by '?', those from U+0080 to U+009F too, which
 * terminals obey in UTF-8. TEXT has a NUL behind SIZE bytes.
 */
static inline void tp_clean(char *text, size_t size)
{
	unsigned char *at = (unsigned char *)text;
	for (size_t i = 0; i < size; i++) {
		if (at[i] < 0x20 || at[i] == 0x7f)
			at[i] = '?';
		else if (at[i] == 0xc2 && at[i + 1] >= 0x80 && at[i + 1] <= 0x9f)
			at[i] = at[i + 1] = '?';
	}
}

#endif
