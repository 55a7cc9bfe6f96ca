// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block "waits": when the threads of the timeline had no processor.
#include "report.h"

#include "common/array.h"

#include <stdlib.h>

#include "common/varint.h"

// Stretches that are drawn, of all threads, the longest.
enum { STRETCHES_MAX = 50000 };

// The part of a stretch that is in the timeline: [*from, *to) in ticks. False: there is none.
static bool clip(const struct tp_report *report, const struct tp_thread_result *thread,
    const struct tp_off_stretch *stretch, uint64_t *from, uint64_t *to)
{
	const uint64_t begin =
	    thread->first > report->time.from ? thread->first : report->time.from;
	*from = stretch->from > begin ? stretch->from : begin;
	*to = stretch->to < thread->last ? stretch->to : thread->last;
	return *to > *from;
}

// Ticks of the shortest stretch that is drawn. False: no memory.
static bool find_least(struct tp_report *report, uint64_t *least)
{
	uint64_t *lengths = NULL;
	uint64_t capacity = 0;
	uint64_t count = 0;
	bool ok = true;
	for (uint32_t i = 0; ok && i < report->thread_count; i++) {
		const struct tp_thread_result *thread =
		    &report->analysis->threads[report->threads[i]];
		const struct tp_off_list *off = thread->thread->off;
		for (uint32_t j = 0; ok && off && j < off->count; j++) {
			uint64_t from;
			uint64_t to;
			if (!clip(report, thread, &off->items[j], &from, &to))
				continue;
			ok = TP_GROW(lengths, capacity, count + 1);
			if (ok)
				lengths[count++] = to - from;
		}
	}
	*least = 0;
	if (ok && count > STRETCHES_MAX) {
		qsort(lengths, count, sizeof(*lengths), tp_compare_u64_descending);
		*least = lengths[STRETCHES_MAX];
		const uint64_t drawn = TP_LOWER_BOUND(UINT64_C(0), count, i, lengths[i] > *least);
		report->stretches_left = count - drawn;
	}
	free(lengths);
	return ok;
}

bool tp_report_add_waits(struct tp_report *report, struct tp_buf *out)
{
	const struct tp_timebase *base = &report->analysis->time;
	uint64_t least;
	if (!find_least(report, &least))
		return false;
	for (uint32_t i = 0; i < report->thread_count; i++) {
		const struct tp_thread_result *thread =
		    &report->analysis->threads[report->threads[i]];
		const struct tp_off_list *off = thread->thread->off;
		struct tp_buf stretches;
		uint64_t count = 0;
		uint64_t last = 0;
		tp_buf_init(&stretches);
		for (uint32_t j = 0; off && j < off->count; j++) {
			const struct tp_off_stretch *stretch = &off->items[j];
			uint64_t from;
			uint64_t to;
			if (!clip(report, thread, stretch, &from, &to) || to - from <= least)
				continue;
			const uint64_t start = tp_timebase_ns(base, from - report->time.from);
			const uint64_t end = tp_timebase_ns(base, to - report->time.from);
			tp_varint_add(&stretches, start - last);
			tp_varint_add(&stretches, (end - start) * 2 + stretch->preempted);
			last = start;
			count++;
		}
		// 0: it is not known.
		tp_varint_add(out, off ? count + 1 : 0);
		tp_buf_add(out, stretches.data, stretches.size);
		out->failed |= stretches.failed;
		tp_buf_release(&stretches);
	}
	return true;
}
