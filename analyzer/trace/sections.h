/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The kinds of sections of a trace (sections.def): what each is made of, and whether a payload is.
 * A section is a head, then items; both are structures, or the items are strings.
 */
#ifndef TP_SECTIONS_H
#define TP_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <teeperf/trace.h>

/* Structures of sections; their fields are in layout.c, for the text form. */
enum tp_text_struct {
	TP_TEXT_NONE,
#define TP_STRUCT(name, type) TP_TEXT_##name,
#include "analyzer/trace/sections.def"
};
enum { TP_TEXT_SIZE_MAX = 512 }; /* of each */
/* Its bytes; of TP_TEXT_NONE 0. */
uint32_t tp_text_size(enum tp_text_struct of);

struct tp_section_kind {
	uint32_t type; /* enum teeperf_section_type */
	const char *title;
	enum tp_text_struct head;
	uint32_t count_at;         /* offset in the head of the number of items; 0: it has none */
	const char *item;          /* the word before each in text; NULL: of others, or none */
	enum tp_text_struct entry; /* NONE: items are strings */
	char end;                  /* of each string */
	/* Other items behind those, all the same. */
	const char *more;
	enum tp_text_struct more_entry;
	uint32_t more_count_at;
	const char *misfit; /* why a size is wrong; NULL: the usual words */
	bool of_host; /* a joined trace has the host's; else join.c makes it, or it is left out */
	bool untold;  /* it has no text of this form */
};

/* NULL: there is no such kind. */
const struct tp_section_kind *tp_section_kind(uint32_t type);
/* Of those with text, the one whose title this is. */
const struct tp_section_kind *tp_section_titled(const char *title);

/* Types are below it. */
enum {
	TP_SECTION_ROW_NONE,
#define TP_SECTION(name, ...) TP_SECTION_ROW_##name,
#include "analyzer/trace/sections.def"
	TP_SECTION_TYPES
};

/* The parts of a payload; all zero: there is no such section. */
struct tp_section_parts {
	const void *payload; /* begins with the head */
	uint64_t size;
	const void *items;
	uint32_t count; /* of items that are structures */
	const void *more;
	uint32_t more_count;
	/* In tp_tracefile.kept. */
	uint64_t offset; /* of the section */
	void *copy;      /* the payload, and a NUL; NULL: there is no such section */
};

/* Find the parts of PAYLOAD, which may be unaligned. NULL, or why it is not of this kind. */
const char *tp_section_split(const struct tp_section_kind *kind, const void *payload, uint64_t size,
    struct tp_section_parts *parts);

#endif
