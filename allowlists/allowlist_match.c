// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Deciding about one function: forbid, else the last matching line, else the default.
#include "allowlist_list.h"

#include <stdlib.h>
#include <string.h>

// FNV-1a, because it goes on byte by byte: one pass over a name gives the hash of every prefix.
#define HASH_START UINT32_C(2166136261)

static uint32_t hash_add(uint32_t hash, const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT32_C(16777619);
	return hash;
}

static int compare_lengths(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a;
	const uint32_t right = *(const uint32_t *)b;
	return (left > right) - (left < right);
}

static void build_lengths(struct tp_rule_index *index)
{
	for (uint32_t i = 0; i < index->count; i++)
		index->lengths[i] = (uint32_t)index->rules[i].glob->prefix_size;
	qsort(index->lengths, index->count, sizeof(*index->lengths), compare_lengths);
	for (uint32_t i = 0; i < index->count; i++) {
		if (i == 0 || index->lengths[i] != index->lengths[i - 1])
			index->lengths[index->length_count++] = index->lengths[i];
	}
}

int tp_rule_index_build(struct tp_rule_index *index)
{
	if (!index->count)
		return 0;
	uint32_t buckets = 16;
	while (buckets < index->count * UINT64_C(2))
		buckets *= 2;
	index->buckets = calloc(buckets, sizeof(*index->buckets));
	index->lengths = calloc(index->count, sizeof(*index->lengths));
	if (!index->buckets || !index->lengths)
		return TP_ERR_MEMORY;
	index->bucket_count = buckets;
	for (uint32_t i = 0; i < index->count; i++) {
		struct tp_rule *rule = &index->rules[i];
		rule->hash = hash_add(HASH_START, rule->glob->prefix, rule->glob->prefix_size);
		uint32_t *bucket = &index->buckets[rule->hash & (buckets - 1)];
		rule->next = *bucket;
		*bucket = i + 1;
	}
	build_lengths(index);
	return 0;
}

void tp_rule_index_release(struct tp_rule_index *index)
{
	for (uint32_t i = 0; i < index->count; i++)
		tp_glob_free(index->rules[i].glob);
	free(index->rules);
	free(index->buckets);
	free(index->lengths);
}

// Whether `rule`, if it matched, would change the verdict that is reached so far.
static bool matters(const struct tp_rule *rule, const struct tp_verdict *verdict)
{
	const bool forbids = rule->category == TP_CATEGORY_FORBID;
	const bool forbidden = verdict->category == TP_CATEGORY_FORBID;
	if (forbids != forbidden)
		return forbids;
	return rule->line > verdict->line;
}

static void search(const struct tp_rule_index *index, const char *text, struct tp_verdict *verdict)
{
	if (!text || !index->count)
		return;
	const size_t size = strlen(text);
	uint32_t hash = HASH_START;
	size_t hashed = 0;
	for (uint32_t i = 0; i < index->length_count && index->lengths[i] <= size; i++) {
		const uint32_t length = index->lengths[i];
		hash = hash_add(hash, (const unsigned char *)text + hashed, length - hashed);
		hashed = length;
		uint32_t at = index->buckets[hash & (index->bucket_count - 1)];
		for (; at; at = index->rules[at - 1].next) {
			const struct tp_rule *rule = &index->rules[at - 1];
			if (rule->hash != hash || rule->glob->prefix_size != length ||
			    !matters(rule, verdict) || !tp_glob_match(rule->glob, text, size))
				continue;
			verdict->category = rule->category;
			verdict->line = rule->line;
		}
	}
}

bool tp_allowlist_has_names(const struct tp_allowlist *list)
{
	return list->indexes[TP_RULE_NAME].count != 0;
}

struct tp_verdict tp_allowlist_match(
    const struct tp_allowlist *list, const struct tp_subject *subject)
{
	// The default is never forbid, so no matching line loses against it, whatever its number.
	struct tp_verdict verdict = {.category = list->default_category, .file = list->file};
	const char *source = subject->source;
	while (source && source[0] == '.' && source[1] == '/')
		source += 2;
	search(&list->indexes[TP_RULE_FUNCTION], subject->function, &verdict);
	search(&list->indexes[TP_RULE_NAME], subject->demangled, &verdict);
	search(&list->indexes[TP_RULE_SOURCE], source, &verdict);
	if (!verdict.line)
		verdict.line = list->default_line;
	return verdict;
}

const char *tp_category_name(enum tp_category category)
{
	static const char *const names[] = {
	    [TP_CATEGORY_ALLOW] = "allow",
	    [TP_CATEGORY_SKIP] = "skip",
	    [TP_CATEGORY_FORCE] = "force",
	    [TP_CATEGORY_FORBID] = "forbid",
	    [TP_CATEGORY_COUNT] = "count",
	    [TP_CATEGORY_SAMPLE] = "sample",
	};
	return (unsigned int)category < sizeof(names) / sizeof(names[0]) ? names[category] : "?";
}
