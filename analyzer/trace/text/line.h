/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The text form of traces: what it calls the sections, structures and records of a trace, said once
 * for both directions; and one line of it: words, "strings", key=value options in any order, #
 * comments. The first error sticks; later reads give 0 or "".
 */
#ifndef TP_TEXT_LINE_H
#define TP_TEXT_LINE_H

#include "analyzer/trace/sections.h"
#include "common/buf.h"
#include "common/chunks/records.h"
#include "common/err.h"

#include <stdbool.h>
#include <stdint.h>

#define TP_LINE_WORDS 32

struct tp_line {
	const char *file;
	struct tp_err *err;
	int code; /* 0, or TP_ERR_SYNTAX once something was wrong */
	bool failed;
	uint32_t number;
	struct tp_buf text; /* the line, cut into words by NULs */
	char *words[TP_LINE_WORDS];
	bool used[TP_LINE_WORDS];
	uint32_t count;
	uint32_t at; /* next word */
};

void tp_line_init(struct tp_line *line, const char *file, struct tp_err *err);
void tp_line_release(struct tp_line *line);
/* Go to the next line of *text, and move *text and *size behind it. False at the end. */
bool tp_line_next(struct tp_line *line, const char **text, size_t *size);
/* An error if words are left over. */
void tp_line_finish(struct tp_line *line);
void tp_line_fail(struct tp_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next word that is not an option, or NULL. */
const char *tp_line_peek(struct tp_line *line);
/* The same, and go on; "" and an error if there is none. Valid until the next line. */
const char *tp_line_word(struct tp_line *line);
/* A whole number, decimal or 0x..., up to MAX. */
bool tp_line_parse(const char *word, uint64_t max, uint64_t *value);
uint64_t tp_line_number(struct tp_line *line, uint64_t max);
/* A "string" with escapes \" \\ \xHH, added to OUT; or the word as it is. */
void tp_line_string(struct tp_line *line, struct tp_buf *out);
void tp_line_word_or_string(struct tp_line *line, char *to, size_t size);
/* Bytes in hexadecimal; returns how many. */
uint32_t tp_line_hex(struct tp_line *line, const char *hex, uint8_t *to, uint32_t size);

/* KEY=VALUE anywhere in the line; the default without it. */
uint64_t tp_line_option(struct tp_line *line, const char *key, uint64_t value, uint64_t max);
const char *tp_line_option_word(struct tp_line *line, const char *key, const char *value);
/* Into TO, of SIZE bytes, filled up with zeroes and always with one at the end. */
void tp_line_option_string(struct tp_line *line, const char *key, char *to, size_t size);

/* ---- layout */

/* Add the fields of the structure at DATA, a blank before each. */
void tp_text_add(struct tp_buf *out, enum tp_text_struct of, const void *data);
/* Read them. A missing member without a default stays as it is. */
void tp_text_read(struct tp_line *line, enum tp_text_struct of, void *data);
/* Add TEXT, of SIZE bytes, in quotes; and bytes in hexadecimal. */
void tp_text_add_quoted(struct tp_buf *out, const char *text, size_t size);
void tp_text_add_hex(struct tp_buf *out, const uint8_t *data, size_t size);

/* A control record (log.h). */
struct tp_text_control {
	const char *word;
	uint32_t code;
	enum tp_record_form form;
};

/* By code, or by word if that is not NULL. NULL: there is none. */
const struct tp_text_control *tp_text_control(uint32_t code, const char *word);

#endif
