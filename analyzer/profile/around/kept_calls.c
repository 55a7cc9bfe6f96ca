// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of many single calls the first, or the slowest.
#define _GNU_SOURCE
#include "kept_calls.h"

#include "common/array.h"

#include <stdlib.h>

static int compare(const void *a, const void *b, void *context)
{
	const struct tp_kept_call *x = a;
	const struct tp_kept_call *y = b;
	const struct tp_kept_calls *kept = context;
	int order = kept->slowest ? TP_COMPARE(tp_call_part(&y->call, kept->time),
					tp_call_part(&x->call, kept->time))
				  : 0;
	order = order ? order : TP_COMPARE(x->call.start, y->call.start);
	order = order ? order : TP_COMPARE(x->thread, y->thread);
	return order ? order : TP_COMPARE(x->call.id, y->call.id);
}

void tp_kept_calls_sort(struct tp_kept_calls *kept)
{
	if (kept->count)
		qsort_r(kept->items, kept->count, sizeof(*kept->items), compare, kept);
	kept->dropped |= kept->most && kept->count > kept->most;
	if (kept->most && kept->count > kept->most)
		kept->count = kept->most;
}

void tp_kept_calls_add(struct tp_kept_calls *kept, const struct tp_kept_call *call)
{
	kept->seen++;
	if (kept->code || (kept->dropped && compare(call, &kept->items[kept->most - 1], kept) > 0))
		return;
	const bool bounded = kept->most && kept->most <= TP_KEPT_CALLS_MAX;
	if (bounded && kept->count >= 2 * kept->most)
		tp_kept_calls_sort(kept);
	if (!bounded && kept->count >= TP_KEPT_CALLS_MAX)
		kept->code = TP_ERR_LIMIT;
	else if (!TP_GROW(kept->items, kept->capacity, kept->count + 1))
		kept->code = TP_ERR_MEMORY;
	else
		kept->items[kept->count++] = *call;
}
