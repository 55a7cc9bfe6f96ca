// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file's name in a command that is shown to be typed or pasted.
#include "shell_word.h"

#include "common/clean.h"

#include <stdbool.h>
#include <string.h>

// Letters beyond ASCII are plain to every shell.
static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c >= 0x80 || (c && strchr("_./-+:,@%=", c));
}

const char *tp_shell_word(char text[TP_SHELL_WORD_SIZE], const char *name)
{
	// A quote becomes four characters; around all are two, "./" and the end.
	const size_t length = strnlen(name, (TP_SHELL_WORD_SIZE - 5) / 4);
	char *to = text;
	bool plain = length != 0;
	for (size_t i = 0; i < length; i++)
		plain &= is_plain((unsigned char)name[i]);
	if (!plain)
		*to++ = '\'';
	if (name[0] == '-') {
		*to++ = '.';
		*to++ = '/';
	}
	for (size_t i = 0; i < length; i++) {
		if (name[i] == '\'') {
			memcpy(to, "'\\''", 4);
			to += 4;
		} else {
			*to++ = name[i];
		}
	}
	if (!plain)
		*to++ = '\'';
	*to = '\0';
	tp_clean(text, (size_t)(to - text));
	return text;
}
