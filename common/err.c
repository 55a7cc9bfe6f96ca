// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Filling and formatting error reports.
#include "err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int fill(struct tp_err *err, int code, const char *file, const char *format, va_list args)
{
	err->code = code;
	err->offset = TP_ERR_NO_OFFSET;
	err->line = 0;
	err->column = 0;
	err->file[0] = '\0';
	if (file) {
		// Keep the tail: the end of a path tells more than its start.
		const size_t length = strlen(file);
		const size_t skip = length < sizeof(err->file) ? 0 : length - sizeof(err->file) + 1;
		memcpy(err->file, file + skip, length - skip + 1);
	}
	vsnprintf(err->what, sizeof(err->what), format, args);
	return code;
}

int tp_err_set(
    struct tp_err *err, int code, const char *file, uint64_t offset, const char *format, ...)
{
	if (!err)
		return code;
	va_list args;
	va_start(args, format);
	fill(err, code, file, format, args);
	va_end(args);
	err->offset = offset;
	return code;
}

int tp_err_set_line(struct tp_err *err, int code, const char *file, uint32_t line, uint32_t column,
    const char *format, ...)
{
	if (!err)
		return code;
	va_list args;
	va_start(args, format);
	fill(err, code, file, format, args);
	va_end(args);
	err->line = line;
	err->column = column;
	return code;
}

int tp_err_system(struct tp_err *err, int errno_value, const char *file, const char *format, ...)
{
	if (!err)
		return TP_ERR_SYSTEM;
	va_list args;
	va_start(args, format);
	fill(err, TP_ERR_SYSTEM, file, format, args);
	va_end(args);
	const size_t length = strlen(err->what);
	snprintf(err->what + length, sizeof(err->what) - length, ": %s", strerror(errno_value));
	return TP_ERR_SYSTEM;
}

char *tp_err_format(const struct tp_err *err, char *text, uint64_t size)
{
	if (err->file[0] == '\0')
		snprintf(text, size, "%s", err->what);
	else if (err->line)
		snprintf(text, size, "%s:%" PRIu32 ":%" PRIu32 ": %s", err->file, err->line,
		    err->column, err->what);
	else if (err->offset != TP_ERR_NO_OFFSET)
		snprintf(text, size, "'%s' at offset %" PRIu64 ": %s", err->file, err->offset,
		    err->what);
	else
		snprintf(text, size, "'%s': %s", err->file, err->what);
	return text;
}
