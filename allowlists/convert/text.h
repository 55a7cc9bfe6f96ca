/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Texts of lists, whoever's they are: lines, words, and globs that are written anew.
 */
#ifndef TP_LIST_TEXT_H
#define TP_LIST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "allowlists/language/span.h"

/* A text that is read line by line. */
struct tp_lines {
	const char *at;
	const char *end;
	const char *start; /* of the line that was read last */
	uint32_t number;   /* its number, from 1 */
};

void tp_lines_init(struct tp_lines *lines, const char *text, size_t size);
/* The next line without blanks around it and without its end; false behind the last. */
bool tp_lines_next(struct tp_lines *lines, struct tp_span *line);

/* 0, or TP_ERR_SYNTAX with *err naming the first byte that no text file has. */
int tp_text_check(const char *text, size_t size, const char *file, struct tp_err *err);

void tp_buf_add_span(struct tp_buf *buf, struct tp_span span);

/* 256 bits: which bytes are in a set. */
typedef uint8_t tp_byte_set[32];

/* How globs are written. */
enum tp_dialect {
	TP_DIALECT_OWN,     /* glob.h */
	TP_DIALECT_FNMATCH, /* fnmatch(3), in files that part words at blanks and comments at '#' */
};

/* A byte that stands for itself. In fnmatch's dialect '?' stands for blanks and '#'. */
void tp_glob_add_byte(struct tp_buf *out, unsigned char byte, enum tp_dialect dialect);
/* One of the bytes of SET, as a set or, if it is one, as that byte. */
void tp_glob_add_set(struct tp_buf *out, const tp_byte_set set, enum tp_dialect dialect);
/*
 * The bytes of TEXT, each for itself, in our globs; '?', which is any byte, for those that no line of text can have
 * (common/clean.h).
 */
void tp_glob_add_literal(struct tp_buf *out, struct tp_span text);
/* PATTERN, which is one of fnmatch(3) without flags, as one of our globs. */
void tp_glob_add_fnmatch(struct tp_buf *out, struct tp_span pattern);

#endif
