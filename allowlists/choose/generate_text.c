// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words and orders that the list, the tables and the JSON object of a generated allowlist share.
#define _GNU_SOURCE
#include "generate_internal.h"

#include "common/clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Names of where a function was inlined, before "and N more".
#define HOSTS_SHOWN 3

char *tp_level_text(char text[TP_LEVEL_TEXT], const struct tp_choice *choice)
{
	switch (choice->level) {
	case TP_CATEGORY_ALLOW:
		return strcpy(text, "event");
	case TP_CATEGORY_SAMPLE:
		snprintf(text, TP_LEVEL_TEXT, "sample/%u", choice->sample);
		return text;
	case TP_CATEGORY_SKIP:
	case TP_CATEGORY_FORCE:
	case TP_CATEGORY_FORBID:
	case TP_CATEGORY_COUNT:
		break;
	}
	return strcpy(text, tp_category_name(choice->level));
}

const char *tp_reason_text(enum tp_reason reason)
{
	switch (reason) {
	case TP_REASON_BUDGET:
		return "over the budget";
	case TP_REASON_CHEAP:
		return "costs next to nothing";
	case TP_REASON_KEPT:
		return "--keep";
	case TP_REASON_NEVER:
		return "--never";
	case TP_REASON_NAMELESS:
		return "has no symbol";
	case TP_REASON_UNUSED:
		return "never called";
	case TP_REASON_NO_TIME:
		return "no time seen";
	case TP_REASON_ENTRY:
		return "entry";
	case TP_REASON_SIZE:
		return "size";
	case TP_REASON_LOOP:
		return "loop";
	case TP_REASON_SYSTEM:
		return "from a system header";
	}
	return "";
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
		return x->self_ns > y->self_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->name, y->name);
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
		return x->host_ns > y->host_ns ? -1 : 1;
	if (x->function->instrs_start != y->function->instrs_start)
		return x->function->instrs_start > y->function->instrs_start ? -1 : 1;
	return strcmp(x->function->name, y->function->name);
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
