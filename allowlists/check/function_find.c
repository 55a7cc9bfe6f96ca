// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of an inventory by what a person calls them.
#define _GNU_SOURCE
#include "function_find.h"

#include "allowlists/language/reading.h"
#include "common/buf.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const char *word;
	struct tp_allowlist *list; // of TP_FOUND_GLOB
};

static bool matches(
    const struct search *search, enum tp_found_by by, const struct tp_inventory_function *function)
{
	const char *word = search->word;
	switch (by) {
	case TP_FOUND_LINKAGE:
		return strcmp(function->name, word) == 0;
	case TP_FOUND_NAME: {
		struct tp_readings readings;
		tp_readings_of_name(&readings, function->demangled, NULL);
		const size_t size = strlen(word);
		for (uint32_t i = 0; i < readings.count; i++)
			if (readings.items[i].size == size &&
			    memcmp(readings.items[i].text, word, size) == 0)
				return true;
		return false;
	}
	case TP_FOUND_GLOB: {
		const struct tp_subject subject = tp_inventory_subject(function);
		return search->list && tp_allowlist_match(search->list, &subject).line;
	}
	case TP_FOUND_PART:
		return strstr(function->demangled, word) || strstr(function->name, word);
	case TP_FOUND_NOTHING:
		break;
	}
	return false;
}

// A list that says the word is a glob, of either name. NULL if it is none.
static struct tp_allowlist *glob_list(const char *word)
{
	if (!strpbrk(word, "*?[{"))
		return NULL;
	struct tp_allowlist *list = NULL;
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_addf(&text, "fun:%s=allow\nname:%s=allow\n", word, word);
	if (text.failed || tp_allowlist_parse(&list, text.data, text.size, "glob", NULL))
		list = NULL;
	tp_buf_release(&text);
	return list;
}

int tp_function_find(struct tp_found *found, const struct tp_inventory *inventory, const char *word,
    struct tp_err *err)
{
	*found = (struct tp_found){.by = TP_FOUND_NOTHING};
	found->functions =
	    malloc(((size_t)inventory->function_count + 1) * sizeof(*found->functions));
	if (!found->functions)
		return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
	struct search search = {.word = word, .list = glob_list(word)};
	for (enum tp_found_by by = 0; by < TP_FOUND_NOTHING && !found->count; by++) {
		for (uint32_t i = 0; i < inventory->function_count; i++)
			if (matches(&search, by, &inventory->functions[i]))
				found->functions[found->count++] = i;
		if (found->count)
			found->by = by;
	}
	tp_allowlist_free(search.list);
	return 0;
}

void tp_found_release(struct tp_found *found)
{
	free(found->functions);
}
