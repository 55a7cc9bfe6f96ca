// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Marks and phases beside the slices of threads.
#include "slices.h"

#include "common/array.h"

#include <stdlib.h>

static bool get(
    const struct tp_slices *slices, const struct tp_mark *mark, struct tp_slice_mark *to)
{
	const struct tp_analysis *analysis = slices->analysis;
	const bool outside = mark->thread == TP_MARK_OUTSIDE;
	const bool phase = mark->kind == TP_MARK_PHASE;
	const bool one = analysis->options.one_thread;
	const struct tp_thread *thread = outside ? NULL : &analysis->trace->threads[mark->thread];
	if (!mark->timed || (one && !outside && thread != analysis->threads[0].thread))
		return false;
	const bool before = phase ? mark->end <= analysis->from && mark->end > mark->time
				  : mark->time < analysis->from;
	if (analysis->ranged && (before || mark->time >= analysis->to))
		return false;
	*to = (struct tp_slice_mark){
	    .name = mark->name,
	    .thread = outside ? analysis->thread_count
		      : one   ? 0
			      : mark->thread,
	    .from_ns = tp_analysis_at_ns(analysis, mark->time),
	    .phase = phase,
	};
	const uint64_t end = !phase ? mark->time : mark->end;
	to->ends = phase && end != TP_MARK_OPEN && (!analysis->ranged || end <= analysis->to);
	to->to_ns = to->ends ? tp_analysis_at_ns(analysis, end) : to->from_ns;
	if (to->from_ns >= slices->to_ns)
		return false;
	if (phase && to->ends && to->to_ns > slices->to_ns)
		to->ends = false;
	// One that began before goes on here.
	if (to->from_ns < slices->from_ns) {
		if (!phase || (to->ends && to->to_ns <= slices->from_ns))
			return false;
		to->from_ns = slices->from_ns;
	}
	return true;
}

bool tp_slices_next_mark(const struct tp_slices *slices, uint64_t *at, struct tp_slice_mark *mark)
{
	const struct tp_marks *marks = slices->marks;
	while (marks && *at < marks->count)
		if (get(slices, &marks->items[(*at)++], mark))
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct tp_slice_moment *x = a;
	const struct tp_slice_moment *y = b;
	const int order = TP_COMPARE(x->ns, y->ns);
	return order ? order : TP_COMPARE(x->number, y->number);
}

struct tp_slice_moment *tp_slices_moments(const struct tp_slices *slices, uint64_t *count)
{
	struct tp_slice_mark mark;
	const uint64_t most = 2 * (slices->marks ? slices->marks->count : 0);
	struct tp_slice_moment *moments = calloc(most + 1, sizeof(*moments));
	*count = 0;
	for (uint64_t at = 0; moments && tp_slices_next_mark(slices, &at, &mark);) {
		moments[*count] = (struct tp_slice_moment){mark.from_ns, *count, mark.thread,
		    mark.phase ? TP_MOMENT_BEGIN : TP_MOMENT_MARK, mark.name};
		++*count;
		if (!mark.ends)
			continue;
		moments[*count] = (struct tp_slice_moment){
		    mark.to_ns, *count, mark.thread, TP_MOMENT_END, mark.name};
		++*count;
	}
	if (moments)
		qsort(moments, *count, sizeof(*moments), compare);
	return moments;
}
