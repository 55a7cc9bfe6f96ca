// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text in columns of a terminal: characters may take two of them, or none.
#define _GNU_SOURCE
#include "tui.h"

#include "common/clean.h"

#include <string.h>
#include <wchar.h>

// The character at TEXT: its bytes, and how many columns it takes.
static size_t next(const char *text, uint32_t *width)
{
	const unsigned char *at = (const unsigned char *)text;
	const size_t size = tp_clean_character(at);
	wchar_t code = at[0];
	if (size == 2)
		code = (at[0] & 0x1f) << 6 | (at[1] & 0x3f);
	else if (size == 3)
		code = (at[0] & 0x0f) << 12 | (at[1] & 0x3f) << 6 | (at[2] & 0x3f);
	else if (size == 4)
		code = (at[0] & 0x07) << 18 | (at[1] & 0x3f) << 12 | (at[2] & 0x3f) << 6 |
		       (at[3] & 0x3f);
	// An invisible character becomes a question mark.
	const int columns = size > 1 && !tp_clean_unfit(at, size) ? wcwidth(code) : 1;
	*width = columns < 0 ? 1 : (uint32_t)columns;
	return size ? size : 1;
}

uint32_t tp_tui_width(const char *text)
{
	uint32_t all = 0;
	uint32_t width;
	for (; *text; all += width)
		text += next(text, &width);
	return all;
}

// Add a character of WIDTH columns. One that is unfit for a terminal does not reach it, although
// names are clean.
static void add(struct tp_buf *out, const char *text, size_t size, uint32_t width, bool ascii)
{
	const unsigned char *at = (const unsigned char *)text;
	if ((size > 1 && !ascii && !tp_clean_unfit(at, size)) ||
	    (size == 1 && *at >= 0x20 && *at < 0x7f))
		tp_buf_add(out, text, size);
	else
		for (uint32_t i = 0; i < width; i++)
			tp_buf_add_char(out, '?');
}

void tp_tui_fit(struct tp_buf *out, const char *text, uint32_t width, bool padded, bool ascii)
{
	const uint32_t all = tp_tui_width(text);
	// Both ends of a long name say what it is.
	const uint32_t mark = ascii ? 2 : 1;
	const bool cut = all > width;
	const uint32_t head = cut && width > mark ? (width - mark) / 2 : 0;
	const uint32_t tail = cut && width > mark ? width - mark - head : 0;
	uint32_t used = 0;
	uint32_t at = 0; // columns so far
	bool marked = false;
	uint32_t own;
	for (size_t size; *text; text += size, at += own) {
		size = next(text, &own);
		const bool kept = !cut || at + own <= head || (tail && at >= all - tail);
		if (!kept && !marked && width >= mark) {
			tp_buf_add_string(out, ascii ? ".." : "…");
			used += mark;
		}
		marked |= !kept;
		if (kept) {
			add(out, text, size, own, ascii);
			used += own;
		}
	}
	for (; padded && used < width; used++)
		tp_buf_add_char(out, ' ');
}
