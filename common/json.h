/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes JSON into a tp_buf as it goes: the writer puts commas, quotes and escapes, and keeps one
 * bit for each open object or array. KEY is the name of a member and needs no escapes; it is NULL
 * for an element of an array and for the outermost value. Errors are in out->failed.
 *
 *	struct tp_json json;
 *	tp_json_init(&json, out, TP_JSON_SPACED);
 *	tp_json_object(&json, NULL);
 *	tp_json_text(&json, "name", name);
 *	tp_json_array(&json, "calls");
 *	for (...)
 *		tp_json_uint(&json, NULL, calls[i]);
 *	tp_json_end(&json);
 *	tp_json_end(&json);
 */
#ifndef TP_JSON_H
#define TP_JSON_H

#include "common/buf.h"

#include <stdint.h>

#define TP_JSON_DEPTH 30 /* objects and arrays within one another */

enum tp_json_spacing {
	TP_JSON_COMPACT, /* {"a":1,"b":2} */
	TP_JSON_SPACED,  /* {"a": 1, "b": 2} */
};

struct tp_json {
	struct tp_buf *out; /* the caller's */
	enum tp_json_spacing spacing;
	uint32_t depth;   /* open objects and arrays */
	uint32_t begun;   /* bit N: the object or array open at depth N has an item */
	uint32_t objects; /* bit N: it is an object */
	uint32_t lines;   /* bit N: each of its items is on its own line */
	int32_t indent;   /* spaces at the start of the next item's line; -1: no new line */
};

void tp_json_init(struct tp_json *json, struct tp_buf *out, enum tp_json_spacing spacing);

/* Open an object or an array; close the last one opened. pre: at most TP_JSON_DEPTH are open. */
void tp_json_object(struct tp_json *json, const char *key);
void tp_json_array(struct tp_json *json, const char *key);
void tp_json_end(struct tp_json *json);

/* null if TEXT is NULL. */
void tp_json_text(struct tp_json *json, const char *key, const char *text);
void tp_json_uint(struct tp_json *json, const char *key, uint64_t number);
/* null unless it is KNOWN. */
void tp_json_uint_if(struct tp_json *json, const char *key, bool known, uint64_t number);
/* With this number of decimals; null if it is not finite. */
void tp_json_real(struct tp_json *json, const char *key, int decimals, double number);
/* With as few digits as give the same number again; null if it is not finite. */
void tp_json_exact(struct tp_json *json, const char *key, double number);
/* Such digits: "3", "0.1", "1e+300". Returns TEXT. */
const char *tp_json_digits(char text[32], double number);
void tp_json_bool(struct tp_json *json, const char *key, bool value);
void tp_json_null(struct tp_json *json, const char *key);
/* A value that the caller adds to json->out itself. */
void tp_json_value(struct tp_json *json, const char *key);

/*
 * Each item of the last one opened is on its own line, two spaces deeper than the line of its end.
 */
void tp_json_lines(struct tp_json *json);
/* The next item, or end, begins a line with INDENT spaces. */
void tp_json_line(struct tp_json *json, uint32_t indent);

/*
 * Add TEXT in quotes. Invalid UTF-8 becomes U+FFFD, byte by byte, and unprintable characters
 * (common/clean.h) become escapes.
 */
void tp_json_quote(struct tp_buf *out, const char *text);

#endif
