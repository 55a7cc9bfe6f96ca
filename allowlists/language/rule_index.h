/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which of very many globs match a text, without trying each of them.
 *
 * Globs without wildcards are found by the hash of the whole text. Of any other glob one piece of
 * its literal text, of at most 8 bytes, is its key: one that few other globs have. A text that
 * contains no key of a glob cannot match it, so a text asks only about the pieces that it contains,
 * wherever they are: `*Foo` and `*Foo*` cost no more than `Foo*`. Only globs without any literal
 * text (`*`, `?[ab]`) are tried each time.
 */
#ifndef TP_RULE_INDEX_H
#define TP_RULE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "glob.h"

/* A glob, and what it is worth: rules of higher rank are found first. Ranks are above 0. */
struct tp_rule {
	const struct tp_glob *glob; /* the adder's */
	uint64_t rank;
	uint64_t key; /* of the whole text, or the piece */
	uint8_t size; /* of the piece, 0 for a whole text */
};

/*
 * Rules in buckets, each by falling rank: bucket b is rules[starts[b]] up to rules[starts[b + 1]].
 */
struct tp_rule_table {
	struct tp_rule *rules;
	uint32_t *starts;
	uint64_t *present; /* bit map over keys: most keys that no rule has are rejected here */
	uint32_t count;
	uint32_t bits; /* of a bucket number; `present` has 8 times as many */
};

struct tp_rule_index {
	struct tp_rule *rules; /* until it is built, in the order in which they were added */
	uint32_t count;
	uint32_t capacity;
	struct tp_rule_table whole;
	struct tp_rule_table pieces;
	struct tp_rule *rest; /* without a key, by falling rank */
	uint32_t rest_count;
	uint8_t sizes[8]; /* the sizes of pieces that occur, ascending */
	uint32_t size_count;
};

/* One of the texts that a subject may be known by. */
struct tp_reading {
	const char *text;
	size_t size;
};

/* All zero is an empty index. 0 or TP_ERR_MEMORY. */
int tp_rule_index_add(struct tp_rule_index *index, const struct tp_glob *glob, uint64_t rank);
/* Once all rules are there. 0 or TP_ERR_MEMORY. */
int tp_rule_index_build(struct tp_rule_index *index);
void tp_rule_index_release(struct tp_rule_index *index);

/*
 * Call `found` with the rank of each rule above `floor` that matches one of the readings, in no
 * order, and perhaps more than once. It returns the new floor, for instance that rank. Returns the
 * last floor.
 * pre: built; each reading is a part of the first.
 */
uint64_t tp_rule_index_search(const struct tp_rule_index *index, const struct tp_reading *readings,
    uint32_t count, uint64_t floor, uint64_t (*found)(void *context, uint64_t rank, uint64_t floor),
    void *context);

#endif
