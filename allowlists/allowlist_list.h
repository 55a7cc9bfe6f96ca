/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A parsed list, as allowlist_parse.c builds it and allowlist_match.c searches it.
 *
 * Each kind has one hash table of globs, keyed by their literal prefixes, and the set of prefix
 * lengths that occur. A name is looked up once per length: exact names, and globs that start with
 * something, cost nothing for the names that they do not concern.
 */
#ifndef TP_ALLOWLIST_LIST_H
#define TP_ALLOWLIST_LIST_H

#include "allowlist.h"
#include "glob.h"

/* Larger texts are refused: it is a mistake, or not a list. */
enum { TP_ALLOWLIST_BYTES_MAX = 64 << 20 };

enum tp_rule_kind {
	TP_RULE_FUNCTION,
	TP_RULE_NAME,
	TP_RULE_SOURCE,
	TP_RULE_KIND_COUNT,
};

/* One glob of one line. */
struct tp_rule {
	struct tp_glob *glob;
	enum tp_category category;
	uint32_t line;
	uint32_t next; /* index + 1 of an earlier rule in the same bucket, 0: none */
	uint32_t hash; /* of the prefix */
};

struct tp_rule_index {
	struct tp_rule *rules; /* in the order of their lines */
	uint32_t count;
	uint32_t capacity;
	uint32_t *buckets; /* index + 1 of the last rule; 0: none */
	uint32_t bucket_count;
	uint32_t *lengths; /* the prefix lengths that occur, ascending */
	uint32_t length_count;
};

struct tp_allowlist {
	struct tp_rule_index indexes[TP_RULE_KIND_COUNT];
	enum tp_category default_category;
	uint32_t default_line; /* 0: no line gives one */
	char file[];
};

/* Build the tables once all rules are there. 0 or TP_ERR_MEMORY. */
int tp_rule_index_build(struct tp_rule_index *index);
void tp_rule_index_release(struct tp_rule_index *index);

#endif
