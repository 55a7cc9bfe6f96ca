// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong with an input that is analysed all the same.
#include "problems.h"

#include <stdarg.h>
#include <stdio.h>

void tp_problems_add(struct tp_problems *problems, int code, const char *file, uint64_t offset,
    const char *format, ...)
{
	if (problems->count < TP_PROBLEMS_KEPT) {
		char text[sizeof(problems->kept[0].what)];
		va_list args;
		va_start(args, format);
		vsnprintf(text, sizeof(text), format, args);
		va_end(args);
		tp_err_set(&problems->kept[problems->count], code, file, offset, "%s", text);
	}
	problems->count++;
}

uint32_t tp_problems_kept(const struct tp_problems *problems)
{
	return problems->count < TP_PROBLEMS_KEPT ? (uint32_t)problems->count : TP_PROBLEMS_KEPT;
}
