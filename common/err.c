// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Filling and formatting error reports.
#include "err.h"

#include "clean.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Where an error is.
struct place {
	uint64_t offset;
	uint32_t line, column;
};

static void fill(struct tp_err *err, struct place place, int code, const char *file,
    const char *format, va_list args)
{
	if (!err)
		return;
	*err = (struct tp_err){
	    .code = code, .offset = place.offset, .line = place.line, .column = place.column};
	if (file) {
		// Keep the tail: the end of a path tells more than its start.
		const size_t length = strlen(file);
		const size_t skip = length < sizeof(err->file) ? 0 : length - sizeof(err->file) + 1;
		memcpy(err->file, file + skip, length - skip + 1);
	}
	vsnprintf(err->what, sizeof(err->what), format, args);
}

int tp_err_set(struct tp_err *err, int code, const char *file, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fill(err, (struct place){.offset = TP_ERR_NO_OFFSET}, code, file, format, args);
	va_end(args);
	return code;
}

int tp_err_set_at(
    struct tp_err *err, int code, const char *file, uint64_t offset, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fill(err, (struct place){.offset = offset}, code, file, format, args);
	va_end(args);
	return code;
}

int tp_err_set_line(struct tp_err *err, int code, const char *file, uint32_t line, uint32_t column,
    const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fill(err, (struct place){TP_ERR_NO_OFFSET, line, column}, code, file, format, args);
	va_end(args);
	return code;
}

void tp_err_set_excerpt(struct tp_err *err, const char *line, uint64_t size)
{
	if (!err || !err->column)
		return;
	const uint64_t room = sizeof(err->excerpt) - 1;
	const uint64_t at = err->column - 1 < size ? err->column - 1 : size;
	uint64_t start = size > room && at > room / 2 ? at - room / 2 : 0;
	// Not in the middle of a character of UTF-8.
	while (start < at && !tp_begins_character(line[start]))
		start++;
	uint64_t length = size - start < room ? size - start : room;
	while (start + length < size && length && !tp_begins_character(line[start + length]))
		length--;
	for (uint64_t i = 0; i < length; i++) {
		const unsigned char byte = (unsigned char)line[start + i];
		err->excerpt[i] = (char)(byte < ' ' || byte == 0x7f ? ' ' : byte);
	}
	err->excerpt[length] = '\0';
	err->caret = (uint32_t)(at - start < length ? at - start : length);
}

int tp_err_memory(struct tp_err *err, const char *file)
{
	return tp_err_set(err, TP_ERR_MEMORY, file, "out of memory");
}

int tp_err_system(struct tp_err *err, int errno_value, const char *file, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fill(err, (struct place){.offset = TP_ERR_NO_OFFSET}, TP_ERR_SYSTEM, file, format, args);
	va_end(args);
	const size_t length = err ? strlen(err->what) : 0;
	if (err)
		snprintf(
		    err->what + length, sizeof(err->what) - length, ": %s", strerror(errno_value));
	return TP_ERR_SYSTEM;
}

// Where the next problem goes; NULL, which nothing fills, once enough are kept.
static struct tp_err *next_kept(struct tp_problems *problems)
{
	const uint64_t number = problems->count++;
	return number < TP_PROBLEMS_KEPT ? &problems->kept[number] : NULL;
}

void tp_problems_add(
    struct tp_problems *problems, int code, const char *file, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fill(next_kept(problems), (struct place){.offset = TP_ERR_NO_OFFSET}, code, file, format,
	    args);
	va_end(args);
}

void tp_problems_add_at(struct tp_problems *problems, int code, const char *file, uint64_t offset,
    const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fill(next_kept(problems), (struct place){.offset = offset}, code, file, format, args);
	va_end(args);
}

uint32_t tp_problems_kept(const struct tp_problems *problems)
{
	return problems->count < TP_PROBLEMS_KEPT ? (uint32_t)problems->count : TP_PROBLEMS_KEPT;
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
	tp_clean(text, strlen(text));
	return text;
}

char *tp_err_render(const struct tp_err *err, char *text, uint64_t size)
{
	tp_err_format(err, text, size);
	// A column is a byte, but a caret stands below a character.
	const int width = (int)tp_count_characters(err->excerpt, err->caret);
	const uint64_t length = strlen(text);
	if (err->excerpt[0])
		snprintf(text + length, size - length, "\n  %s\n  %*s^", err->excerpt, width, "");
	return text;
}
