/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The predicates of where: lines, such as `instrs<20,loops=0`: all of them must hold.
 */
#ifndef TP_ALLOWLIST_WHERE_H
#define TP_ALLOWLIST_WHERE_H

#include <stdbool.h>
#include <stddef.h>

#include "allowlist.h"
#include "common/arena.h"

/* The most predicates of one line: more than there are facts to bound from both sides. */
enum { TP_WHERE_MAX = 16 };

struct tp_where;

/* What is wrong with predicates. */
struct tp_where_error {
	size_t offset; /* of the byte at which it is */
	char what[200];
};

/*
 * Read SIZE bytes of TEXT. NULL if they are wrong (*error says how) or memory ran out (error->what is
 * empty). It lives as long as the arena.
 */
const struct tp_where *tp_where_parse(
    struct tp_arena *arena, const char *text, size_t size, struct tp_where_error *error);

bool tp_where_holds(const struct tp_where *where, const struct tp_facts *facts);

#endif
