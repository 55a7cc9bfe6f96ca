/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Words that were nearly written right. */
#ifndef TP_SPELLING_H
#define TP_SPELLING_H

#include <stdint.h>

enum { TP_SPELLING_MOST = 15 };

/*
 * How many letters have to be changed, added, left out, or swapped with their neighbour to make A
 * of B; MOST + 1 if that are more than MOST. pre: MOST <= TP_SPELLING_MOST.
 */
uint32_t tp_spelling_distance(const char *a, const char *b, uint32_t most);

/*
 * The word among those that are considered which WORD is nearly:
 *
 *	struct tp_spelling spelling = {.word = word};
 *	tp_spelling_consider(&spelling, "first"); ...
 *	if (spelling.nearest) ...
 */
struct tp_spelling {
	const char *word;
	const char *nearest; /* NULL: none is likely to be meant */
	uint32_t distance;   /* of that */
};
void tp_spelling_consider(struct tp_spelling *spelling, const char *word);

/* The one of WORDS, which NULL ends, that WORD is nearly; NULL if there is none. */
const char *tp_spelling_nearest(const char *word, const char *const *words);

#endif
