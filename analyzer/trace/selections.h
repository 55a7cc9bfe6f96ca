/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which functions were recorded when, where that has changed while the program ran: from the
 * selections section of a trace (docs/format.md, Selections).
 */
#ifndef TP_SELECTIONS_H
#define TP_SELECTIONS_H

#include "common/arena.h"
#include "common/array.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * When a function was recorded: from ticks moves[0] on not, if it was at first, from moves[1] on
 * again, ...
 */
struct tp_selected {
	uint64_t hash;
	const uint64_t *moves; /* ascending */
	uint32_t count;
	bool at_first;
};

struct tp_selections {
	const uint64_t *times;           /* when the selection changed, in ticks, ascending */
	uint32_t count;                  /* 0: it never did */
	const struct tp_selected *items; /* of functions on lists, by hash */
	uint32_t item_count;
	struct tp_selected rest; /* of functions that are on no list */
	struct tp_selected
	    unknown; /* of functions without a name: they may have been in each change */
};

/*
 * A time, in ticks, that is a fair sample (trace.h, WINDOWS): from selection number SELECTION to
 * the next one.
 */
struct tp_window {
	uint32_t selection;
	uint64_t from;
	uint64_t to;
};
struct tp_windows {
	const struct tp_window *items; /* ascending */
	uint32_t count;
};

/*
 * The selections of the COUNT entries in BYTES, which may be unaligned; they live in the arena.
 * What contradicts itself is not used, and becomes a problem of FILE at OFFSET. 0 or TP_ERR_MEMORY.
 */
int tp_selections_init(struct tp_selections *selections, const void *bytes, size_t count,
    const char *file, uint64_t offset, struct tp_problems *problems, struct tp_arena *arena);

/*
 * The same of the COUNT windows in BYTES, of a trace whose selections are known. Windows of no
 * length, and such of selections that are not used, are left out.
 */
int tp_windows_init(struct tp_windows *windows, const struct tp_selections *selections,
    const void *bytes, size_t count, const char *file, uint64_t offset,
    struct tp_problems *problems, struct tp_arena *arena);

/* That of the function whose linkage name is NAME; NULL: it is on no list, by this name. */
const struct tp_selected *tp_selections_of(
    const struct tp_selections *selections, const char *name);

static inline uint32_t tp_selected_moves(const struct tp_selected *selected, uint64_t time)
{
	return TP_LOWER_BOUND(0U, selected->count, at, selected->moves[at] <= time);
}

/* Whether it was recorded at TIME. */
static inline bool tp_selected_at(const struct tp_selected *selected, uint64_t time)
{
	return selected->at_first ^ (tp_selected_moves(selected, time) & 1);
}

/*
 * Functions by what records call them, ascending; those that were always recorded are not among
 * them.
 */
struct tp_selected_name {
	uint32_t name;
	const struct tp_selected *selected;
};
struct tp_selected_names {
	const struct tp_selected_name *items;
	uint32_t count;
};

/* NULL: it is not among them. */
static inline const struct tp_selected *tp_selected_find(
    const struct tp_selected_names *names, uint32_t name)
{
	const uint32_t index = TP_LOWER_BOUND(0U, names->count, at, names->items[at].name < name);
	return index < names->count && names->items[index].name == name
		   ? names->items[index].selected
		   : NULL;
}

/* Whether a function was recorded, in [since, until). */
struct tp_selected_span {
	uint32_t name;
	bool among; /* the names */
	bool on;
	uint64_t since;
	uint64_t until; /* UINT64_MAX: the end */
};

/* The spans that were asked for last, by name. All zero but `names`: an empty one. */
struct tp_selected_spans {
	const struct tp_selected_names *names;
	struct tp_selected_span items[256];
};

/* That of the function NAME at TIME. */
static inline const struct tp_selected_span *tp_selected_span(
    struct tp_selected_spans *spans, uint32_t name, uint64_t time)
{
	struct tp_selected_span *span = &spans->items[(name >> 4 ^ name >> 12) & 255];
	if (span->name == name && time >= span->since && time < span->until)
		return span;
	const struct tp_selected *selected = tp_selected_find(spans->names, name);
	const uint32_t moves = selected ? tp_selected_moves(selected, time) : 0;
	*span = (struct tp_selected_span){
	    .name = name,
	    .among = selected != NULL,
	    .on = !selected || tp_selected_at(selected, time),
	    .since = moves ? selected->moves[moves - 1] : 0,
	    .until = selected && moves < selected->count ? selected->moves[moves] : UINT64_MAX,
	};
	return span;
}

#endif
