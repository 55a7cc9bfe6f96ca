// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of one function: who calls it, which lines of a list match it, what a profile says.
#include "explained.h"

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
		return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
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
