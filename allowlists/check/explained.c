// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions by the names that people use, and the facts about one: its callers, the lines of a list
// that match it, and its figures in a profile.
#define _GNU_SOURCE
#include "explained.h"

#include "allowlists/language/reading.h"
#include "common/buf.h"

#include <stdlib.h>
#include <string.h>

const struct tp_explained_level tp_explained_levels[TP_EXPLAINED_LEVELS] = {
    {"allow", TP_CATEGORY_ALLOW, 1, "every call with its times"},
    {"sample/64", TP_CATEGORY_SAMPLE, 64, "calls exactly, times of one in 64"},
    {"count", TP_CATEGORY_COUNT, 1, "calls exactly, no times"},
};

static bool calls(const struct tp_inventory_function *caller, uint32_t index)
{
	for (uint32_t i = 0; i < caller->call_count; i++)
		if (caller->calls[i].function == index)
			return true;
	return false;
}

static void note_line(void *context, uint32_t index)
{
	struct tp_explained *explained = context;
	const struct tp_allowlist_line line = tp_allowlist_line(explained->list, index);
	if (line.line == explained->verdict.line && strcmp(line.file, explained->verdict.file) == 0)
		explained->decider = index;
	else
		explained->overrides[explained->override_count++] = index;
}

static void ask_list(struct tp_explained *explained)
{
	const struct tp_subject subject = tp_inventory_subject(explained->function);
	explained->verdict = tp_allowlist_match(explained->list, &subject);
	tp_allowlist_matches(explained->list, &subject, note_line, explained);
	uint32_t *lines = explained->overrides;
	for (uint32_t i = 0, j = explained->override_count; i + 1 < j; i++) {
		const uint32_t line = lines[i];
		lines[i] = lines[--j];
		lines[j] = line;
	}
}

int tp_explained_init(struct tp_explained *explained, const struct tp_inventory *inventory,
    uint32_t function, const struct tp_allowlist *list, const struct tp_workload *workload,
    struct tp_err *err)
{
	*explained = (struct tp_explained){
	    .inventory = inventory,
	    .function = &inventory->functions[function],
	    .list = list,
	    .decider = TP_LINE_NONE,
	};
	const size_t lines = list ? tp_allowlist_line_count(list) : 0;
	explained->callers = malloc((inventory->function_count + 1) * sizeof(*explained->callers));
	explained->overrides = malloc((lines + 1) * sizeof(*explained->overrides));
	if (!explained->callers || !explained->overrides)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < inventory->function_count; i++)
		if (calls(&inventory->functions[i], function))
			explained->callers[explained->caller_count++] = i;
	if (list)
		ask_list(explained);
	const uint32_t measured =
	    workload ? tp_workload_find(workload, explained->function->name) : UINT32_MAX;
	if (measured != UINT32_MAX)
		explained->measured = &workload->functions[measured];
	return 0;
}

void tp_explained_release(struct tp_explained *explained)
{
	free(explained->callers);
	free(explained->overrides);
}

/* ---- finding ---- */

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
		return tp_err_memory(err, NULL);
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
