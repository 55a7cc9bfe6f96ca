/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the text form of traces calls the sections, structures and records of a trace: said once, for writing the text
 * and for reading it.
 */
#ifndef TP_TEXT_LAYOUT_H
#define TP_TEXT_LAYOUT_H

#include "analyzer/trace/text/line.h"

/* A structure in one line: its fields, nearly all of them as KEY=VALUE. */
enum tp_text_struct {
	TP_TEXT_HEADER,
	TP_TEXT_CHUNK_THREAD, /* of a chunk: the thread; then the rest */
	TP_TEXT_CHUNK,
	TP_TEXT_MODULE,
	TP_TEXT_THREAD,
	TP_TEXT_CLOCK,
	TP_TEXT_POINT,
	TP_TEXT_CPU,
	TP_TEXT_CPU_THREAD,
	TP_TEXT_END,
	TP_TEXT_MISSING,
};

/* Add the fields of the structure at DATA, a blank before each. */
void tp_text_add(struct tp_buf *out, enum tp_text_struct of, const void *data);
/* Read them. What is not there and has no usual value stays as it is. */
void tp_text_read(struct tp_line *line, enum tp_text_struct of, void *data);
/* Add TEXT, of SIZE bytes, in quotes; and bytes in hexadecimal. */
void tp_text_add_quoted(struct tp_buf *out, const char *text, size_t size);
void tp_text_add_hex(struct tp_buf *out, const uint8_t *data, size_t size);

/* A section but those of chunks: a line with its title and its head, then lines of items. */
struct tp_text_section {
	uint32_t type; /* enum teeperf_section_type */
	const char *title;
	enum tp_text_struct head;
	uint32_t head_size; /* 0: none */
	uint32_t count_at;  /* offset in the head of the number of items; 0: it has none */
	const char *item;   /* the word before each; NULL: of others, or none */
	enum tp_text_struct entry;
	uint32_t entry_size; /* 0: items are strings */
	char end;            /* of each string */
};
enum { TP_TEXT_SIZE_MAX = 512 }; /* of head_size and entry_size */

/* By type, or by title if that is not NULL. NULL: there is none. */
const struct tp_text_section *tp_text_section(uint32_t type, const char *title);

/* A control record (log.h). */
struct tp_text_control {
	const char *word;
	uint32_t code;
	enum { TP_TEXT_NOTHING, TP_TEXT_NUMBER, TP_TEXT_TIME } low; /* what its lower half is */
};

/* By code, or by word if that is not NULL. NULL: there is none. */
const struct tp_text_control *tp_text_control(uint32_t code, const char *word);

#endif
