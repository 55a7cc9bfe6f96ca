/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What commands that show tables know of the terminal, and the numbers of their options. */
#ifndef TP_VIEW_OPTIONS_H
#define TP_VIEW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Columns of the terminal, 0 if standard output is none. */
uint32_t tp_terminal_width(void);
/* Whether it is one, and colour is not unwanted. */
bool tp_terminal_color(void);
/* TEXT as a number of rows, or what it is WITHOUT one. False: it is no whole number. */
bool tp_parse_limit(const char *text, uint64_t without, uint64_t *limit);

#endif
