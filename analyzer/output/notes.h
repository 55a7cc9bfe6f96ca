/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What limits the results of a trace, as data: each note is made once (notes_make.c), and printed
 * in headings, JSON and reports. notes.def has the kinds.
 */
#ifndef TP_NOTES_H
#define TP_NOTES_H

#include "analyzer/profile/analysis.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/json.h"

enum tp_note_severity {
	TP_NOTE_SCOPE = 0, /* numbers are of a part, as it was asked for */
	TP_NOTE_LIMIT,     /* numbers mean less than they seem to */
	TP_NOTE_WRONG,     /* numbers are too low, or false */
};

enum tp_note_id {
#define TP_NOTE(name, id, title, severity, meaning, remedy) TP_NOTE_ID_##name,
#include "notes.def"
	TP_NOTE_IDS
};

struct tp_note_kind {
	const char *id;
	const char *title; /* at most 10 characters */
	enum tp_note_severity severity;
	const char *meaning;
	const char *remedy; /* "" if there is none */
};

struct tp_note {
	const struct tp_note_kind *kind;
	uint64_t count;   /* of what it is about; 1 if that is no number */
	const char *text; /* a line without its title */
};

struct tp_notes {
	struct tp_arena arena;
	struct tp_note *items;
	uint32_t count;
	uint32_t room;
	bool failed; /* no memory */
};

/* By enum tp_note_id. */
extern const struct tp_note_kind tp_note_kinds[TP_NOTE_IDS];
/* "scope", "limit", "wrong". */
const char *tp_note_severity_name(enum tp_note_severity severity);

/*
 * All notes of ANALYSIS, in the order of notes.def. Release it in any case; they share nothing with
 * the analysis.
 */
void tp_notes_init(struct tp_notes *notes, const struct tp_analysis *analysis);
void tp_notes_release(struct tp_notes *notes);
/* Behind those that stand before it in notes.def, or are of its kind. */
void tp_notes_add(struct tp_notes *notes, enum tp_note_id id, uint64_t count, const char *format,
    ...) __attribute__((format(printf, 4, 5)));

/* As lines, each with its title. */
void tp_notes_add_text(const struct tp_notes *notes, struct tp_buf *out);
/*
 * As the member "notes" of the JSON object that is open: objects {id, severity, count, text,
 * remedy}.
 */
void tp_notes_add_json(const struct tp_notes *notes, struct tp_json *json);

/*
 * Whether TEXT names notes: "note:ID", or "note:wrong" and "note:limit", which are all of that
 * severity and worse.
 * tp_note_rule_matches: whether it names NOTE.
 */
bool tp_note_rule_is_valid(const char *text);
bool tp_note_rule_matches(const char *text, const struct tp_note *note);

#endif
