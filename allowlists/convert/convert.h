/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lists of other tools: read into ours, and written from ours. What the other side cannot say is
 * kept as a comment, and the caller is informed.
 */
#ifndef TP_LIST_CONVERT_H
#define TP_LIST_CONVERT_H

#include "allowlists/language/allowlist.h"
#include "common/buf.h"

/* A text to convert. FILE names it in errors and warnings. */
struct tp_list_input {
	const char *text;
	size_t size;
	const char *file;
	/*
	 * Called for a rule that is lost, or decided differently, at LINE (0: the list as a whole).
	 */
	void (*warn)(const char *file, uint32_t line, const char *text);
};

struct tp_import;
struct tp_list_writer;

struct tp_list_format {
	const char *name;    /* after --format */
	const char *summary; /* whose lists they are */
	/* How it is done (formats.h). NULL: this direction is not there. */
	int (*read)(struct tp_import *import);
	const struct tp_list_writer *write;
};

/* All of them, by name; ended by one without a name. */
extern const struct tp_list_format tp_list_formats[];

/* The format of this name, or NULL. */
const struct tp_list_format *tp_list_format_find(const char *name);

/*
 * Convert INPUT from FORMAT to an allowlist (import), or an allowlist to FORMAT (export), appended
 * to *out. What import writes is a list that loads. 0; TP_ERR_SYNTAX with the place in the input;
 * or another tp_error. pre: the format has this direction.
 */
int tp_list_import(const struct tp_list_format *format, const struct tp_list_input *input,
    struct tp_buf *out, struct tp_err *err);
int tp_list_export(const struct tp_list_format *format, const struct tp_list_input *input,
    struct tp_buf *out, struct tp_err *err);

/*
 * The allowlist INPUT in its canonical form: one blank line between groups, the short names of
 * kinds, categories in words, no blanks around parts. Comments and the order of lines stay. 0 or a
 * negative tp_error, TP_ERR_SYNTAX as from tp_allowlist_parse.
 */
int tp_list_fmt(const struct tp_list_input *input, struct tp_buf *out, struct tp_err *err);

#endif
