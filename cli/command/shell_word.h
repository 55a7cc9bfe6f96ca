/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file's name in a command that is shown to be typed or pasted. */
#ifndef TP_SHELL_WORD_H
#define TP_SHELL_WORD_H

#include <limits.h>

enum { TP_SHELL_WORD_SIZE = 4 * PATH_MAX + 8 };

/*
 * NAME as one word of a shell, and no option: in quotes if it needs them, with ./ if it begins with a dash. Control
 * characters are '?', as a terminal must not see them. What is longer than any path is cut. Returns text.
 */
const char *tp_shell_word(char text[TP_SHELL_WORD_SIZE], const char *name);

#endif
