// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One line of the text form of traces.
#include "line.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tp_line_init(struct tp_line *line, const char *file, struct tp_err *err)
{
	*line = (struct tp_line){.file = file, .err = err};
	tp_buf_init(&line->text);
}

void tp_line_release(struct tp_line *line)
{
	tp_buf_release(&line->text);
}

void tp_line_fail(struct tp_line *line, const char *format, ...)
{
	if (line->code)
		return;
	char text[256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	line->code = tp_err_set_line(line->err, TP_ERR_SYNTAX, line->file ? line->file : "text",
	    line->number, 1, "%s", text);
}

// Cut the line into words. Blanks inside of quotes do not cut; quotes are kept.
static void cut(struct tp_line *line)
{
	char *at = line->text.data;
	for (;;) {
		while (*at == ' ' || *at == '\t' || *at == '\r')
			at++;
		if (!*at || *at == '#')
			return;
		if (line->count == TP_LINE_WORDS) {
			tp_line_fail(line, "more than %d words", TP_LINE_WORDS);
			return;
		}
		line->words[line->count++] = at;
		bool quoted = false;
		for (; *at && (quoted || !strchr(" \t\r", *at)); at++) {
			if (quoted && *at == '\\' && at[1])
				at++;
			else if (*at == '"')
				quoted = !quoted;
		}
		if (quoted)
			tp_line_fail(line, "the string does not end");
		if (*at)
			*at++ = '\0';
	}
}

bool tp_line_next(struct tp_line *line, const char **text, size_t *size)
{
	if (!*size)
		return false;
	const char *end = memchr(*text, '\n', *size);
	const size_t length = end ? (size_t)(end - *text) : *size;
	tp_buf_reset(&line->text);
	tp_buf_add(&line->text, *text, length);
	*text += end ? length + 1 : length;
	*size -= end ? length + 1 : length;
	line->number++;
	line->count = 0;
	line->at = 0;
	memset(line->used, 0, sizeof(line->used));
	if (line->text.failed) {
		line->failed = true;
		return false;
	}
	if (memchr(line->text.data, '\0', length))
		tp_line_fail(line, "the line has a NUL byte");
	cut(line);
	return true;
}

static bool is_option(const char *word)
{
	return islower((unsigned char)word[0]) && word[strcspn(word, "=\"")] == '=';
}

const char *tp_line_peek(struct tp_line *line)
{
	while (line->at < line->count && (line->used[line->at] || is_option(line->words[line->at])))
		line->at++;
	return line->at < line->count ? line->words[line->at] : NULL;
}

const char *tp_line_word(struct tp_line *line)
{
	const char *word = tp_line_peek(line);
	if (!word) {
		tp_line_fail(line, "the line ends too early");
		return "";
	}
	line->used[line->at++] = true;
	return word;
}

void tp_line_finish(struct tp_line *line)
{
	for (uint32_t i = 0; i < line->count; i++)
		if (!line->used[i])
			tp_line_fail(line, "unknown word '%s'", line->words[i]);
}

bool tp_line_parse(const char *word, uint64_t max, uint64_t *value)
{
	const bool hex = word[0] == '0' && word[1] == 'x';
	const char *digits = hex ? word + 2 : word;
	char *end;
	// strtoull would also take blanks, a sign and another 0x.
	if (!isxdigit((unsigned char)digits[0]) || digits[1] == 'x' || digits[1] == 'X')
		return false;
	errno = 0;
	const uint64_t number = strtoull(digits, &end, hex ? 16 : 10);
	if (*end || errno || number > max)
		return false;
	*value = number;
	return true;
}

uint64_t tp_line_number(struct tp_line *line, uint64_t max)
{
	const char *word = tp_line_word(line);
	uint64_t value = 0;
	if (!tp_line_parse(word, max, &value))
		tp_line_fail(line, "'%s' is not a number, or too large", word);
	return value;
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

static void add_unquoted(struct tp_line *line, const char *word, struct tp_buf *out)
{
	if (word[0] != '"') {
		tp_buf_add_string(out, word);
		return;
	}
	for (word++; *word && *word != '"'; word++) {
		char c = *word;
		if (c == '\\') {
			c = *++word;
			const int high = c == 'x' ? hex_digit(word[1]) : -1;
			const int low = high >= 0 ? hex_digit(word[2]) : -1;
			if (low >= 0) {
				c = (char)(high * 16 + low);
				word += 2;
			} else if (c != '"' && c != '\\') {
				tp_line_fail(line, "an escape is one of \\\" \\\\ \\xHH");
				return;
			}
		}
		tp_buf_add_char(out, c);
	}
	if (word[0] != '"' || word[1])
		tp_line_fail(line, "text follows the string");
}

void tp_line_string(struct tp_line *line, struct tp_buf *out)
{
	add_unquoted(line, tp_line_word(line), out);
}

static void copy_string(struct tp_line *line, const char *word, char *to, size_t size)
{
	struct tp_buf buf;
	tp_buf_init(&buf);
	add_unquoted(line, word, &buf);
	if (buf.size >= size)
		tp_line_fail(line, "the string has %zu bytes, at most %zu fit", buf.size, size - 1);
	else
		memcpy(to, buf.data, buf.size);
	if (buf.failed)
		line->failed = true;
	tp_buf_release(&buf);
}

void tp_line_word_or_string(struct tp_line *line, char *to, size_t size)
{
	copy_string(line, tp_line_word(line), to, size);
}

uint32_t tp_line_hex(struct tp_line *line, const char *hex, uint8_t *to, uint32_t size)
{
	uint32_t count = 0;
	for (; *hex; hex += 2) {
		const int high = hex_digit(hex[0]);
		const int low = high >= 0 ? hex_digit(hex[1]) : -1;
		if (low < 0 || count == size) {
			tp_line_fail(line, "expected at most %u bytes in hexadecimal", size);
			return 0;
		}
		to[count++] = (uint8_t)(high * 16 + low);
	}
	return count;
}

const char *tp_line_option_word(struct tp_line *line, const char *key, const char *value)
{
	const size_t length = strlen(key);
	for (uint32_t i = 0; i < line->count; i++)
		if (!line->used[i] && strncmp(line->words[i], key, length) == 0 &&
		    line->words[i][length] == '=') {
			line->used[i] = true;
			return line->words[i] + length + 1;
		}
	return value;
}

uint64_t tp_line_option(struct tp_line *line, const char *key, uint64_t value, uint64_t max)
{
	const char *word = tp_line_option_word(line, key, NULL);
	if (word && !tp_line_parse(word, max, &value))
		tp_line_fail(line, "%s: '%s' is not a number, or too large", key, word);
	return value;
}

void tp_line_option_string(struct tp_line *line, const char *key, char *to, size_t size)
{
	const char *word = tp_line_option_word(line, key, NULL);
	if (word)
		copy_string(line, word, to, size);
}
