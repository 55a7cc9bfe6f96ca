/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a person who wrote a line of a list may have meant. */
#ifndef TP_LIST_HINT_H
#define TP_LIST_HINT_H

#include "use.h"

/*
 * What the line, which matches nothing, was probably meant to be: another kind, another spelling, a
 * name that is nearly the same. One sentence for people is added to HINT; nothing if there is no
 * idea. Looks at all functions several times.
 */
void tp_list_hint(struct tp_buf *hint, const struct tp_list_use *use, uint32_t line);

/*
 * What is suspicious about the line's glob though it is one: part of a demangled name that means
 * something else in a glob. Adds what it is to WHAT and what to write to HINT; false if all is well.
 */
bool tp_list_suspicious(
    struct tp_buf *what, struct tp_buf *hint, const struct tp_allowlist_line *line);

/* The function whose linkage or demangled name is nearly WORD; NULL if there is none. */
const struct tp_inventory_function *tp_list_nearest(
    const struct tp_inventory *inventory, const char *word);

/*
 * How many letters have to be changed, added, left out, or swapped with their neighbour to make A of
 * B; MOST + 1 if that are more than MOST. pre: MOST < 16.
 */
uint32_t tp_list_distance(const char *a, const char *b, uint32_t most);

#endif
