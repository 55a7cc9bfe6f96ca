// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words and orders that the list, the tables and the JSON object of a generated allowlist share.
#define _GNU_SOURCE
#include "generate_internal.h"

#include "common/array.h"

#include "common/clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Names of where a function was inlined, before "and N more".
#define HOSTS_SHOWN 3

char *tp_level_text(char text[TP_LEVEL_TEXT], const struct tp_choice *choice)
{
	const char *name =
	    choice->level == TP_CATEGORY_ALLOW ? "event" : tp_category_name(choice->level);
	if (choice->level == TP_CATEGORY_SAMPLE)
		snprintf(text, TP_LEVEL_TEXT, "%s/%u", name, choice->sample);
	else
		snprintf(text, TP_LEVEL_TEXT, "%s", name);
	return text;
}

const char *tp_reason_text(enum tp_reason reason)
{
	static const char *const texts[] = {
	    [TP_REASON_BUDGET] = "over the budget",
	    [TP_REASON_CHEAP] = "costs next to nothing",
	    [TP_REASON_KEPT] = "--keep",
	    [TP_REASON_NEVER] = "--never",
	    [TP_REASON_NAMELESS] = "has no symbol",
	    [TP_REASON_UNUSED] = "never called",
	    [TP_REASON_NO_TIME] = "no time seen",
	    [TP_REASON_ENTRY] = "entry",
	    [TP_REASON_SIZE] = "size",
	    [TP_REASON_LOOP] = "loop",
	    [TP_REASON_SYSTEM] = "from a system header",
	};
	return texts[reason];
}

const char *tp_quality_text(enum tp_quality quality)
{
	static const char *const texts[] = {"none", "sizes", "samples", "events"};
	return texts[quality];
}

static int compare_time(const void *a, const void *b, void *context)
{
	const struct tp_workload *workload = context;
	const struct tp_workload_function *x = &workload->functions[*(const uint32_t *)a];
	const struct tp_workload_function *y = &workload->functions[*(const uint32_t *)b];
	if (x->self_ns != y->self_ns)
		return TP_COMPARE(y->self_ns, x->self_ns);
	return x->calls != y->calls ? TP_COMPARE(y->calls, x->calls) : strcmp(x->name, y->name);
}

uint32_t *tp_generated_by_time(const struct tp_generated *generated)
{
	const uint32_t count = generated->workload.function_count;
	uint32_t *order = malloc(((size_t)count + 1) * sizeof(*order));
	if (!order)
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(
	    order, count, sizeof(*order), compare_time, (void *)(uintptr_t)&generated->workload);
	return order;
}

static int compare_hosts(const void *a, const void *b)
{
	const struct tp_invisible *x = a;
	const struct tp_invisible *y = b;
	if (x->host_ns != y->host_ns)
		return TP_COMPARE(y->host_ns, x->host_ns);
	const int order = TP_COMPARE(y->function->instrs_start, x->function->instrs_start);
	return order ? order : strcmp(x->function->name, y->function->name);
}

struct tp_invisible *tp_generated_invisible(const struct tp_generated *generated, uint32_t *count)
{
	const struct tp_inventory *inventory = &generated->inventory;
	*count = 0;
	if (!generated->has_inventory)
		return NULL;
	struct tp_invisible *list = malloc(((size_t)inventory->function_count + 1) * sizeof(*list));
	for (uint32_t i = 0; list && i < inventory->function_count; i++) {
		const struct tp_inventory_function *function = &inventory->functions[i];
		if ((function->presence != TP_PRESENCE_INLINED &&
			function->presence != TP_PRESENCE_PARTLY) ||
		    function->system)
			continue;
		struct tp_invisible *entry = &list[(*count)++];
		*entry = (struct tp_invisible){.function = function};
		for (uint32_t k = 0; k < function->into_count; k++) {
			const uint32_t host = tp_workload_find(&generated->workload,
			    inventory->functions[function->into[k].function].name);
			if (host != UINT32_MAX)
				entry->host_ns += generated->workload.functions[host].self_ns;
		}
	}
	if (list)
		qsort(list, *count, sizeof(*list), compare_hosts);
	return list;
}

void tp_invisible_add_hosts(const struct tp_generated *generated,
    const struct tp_inventory_function *function, struct tp_buf *out)
{
	for (uint32_t i = 0; i < function->into_count && i < HOSTS_SHOWN; i++) {
		const struct tp_inventory_edge *edge = &function->into[i];
		tp_buf_addf_clean(out, "%s%s", i ? ", " : "",
		    generated->inventory.functions[edge->function].demangled);
		if (edge->sites > 1)
			tp_buf_addf(out, " (x%u)", edge->sites);
	}
	if (function->into_count > HOSTS_SHOWN)
		tp_buf_addf(out, ", and %u more", function->into_count - HOSTS_SHOWN);
}
