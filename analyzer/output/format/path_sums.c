// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The self time of each path in each thread, in nanoseconds that add up.
#include "path_sums.h"

#include <inttypes.h>
#include <stdlib.h>

// What a thread's rows so far are in all.
struct running {
	uint64_t ticks;
	uint64_t ns;
};

// RUNNING: of each thread, all 0.
static void add_times(
    struct tp_path_sums *sums, const struct tp_analysis *analysis, struct running *running)
{
	for (uint32_t i = 0; i < sums->paths.row_count; i++) {
		const struct tp_path_row *row = &sums->paths.rows[i];
		struct running *thread = &running[row->thread];
		const uint64_t self = tp_path_sums_node(analysis, row)->self;
		thread->ticks =
		    self < UINT64_MAX - thread->ticks ? thread->ticks + self : UINT64_MAX;
		const uint64_t ns = tp_timebase_ns(&analysis->time, thread->ticks);
		sums->self[i] = ns - thread->ns;
		sums->total += sums->self[i];
		thread->ns = ns;
	}
}

static void add_calls(struct tp_path_sums *sums, const struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < sums->paths.row_count; i++) {
		sums->self[i] = tp_path_sums_node(analysis, &sums->paths.rows[i])->calls;
		sums->total += sums->self[i];
	}
}

int tp_path_sums_init(struct tp_path_sums *sums, const struct tp_analysis *analysis,
    enum tp_weight weight, struct tp_err *err)
{
	*sums = (struct tp_path_sums){0};
	const int code = tp_paths_init(&sums->paths, analysis, err);
	if (code)
		return code;
	for (uint32_t i = 0; i < sums->paths.count; i++)
		if (sums->paths.items[i].depth > sums->deepest)
			sums->deepest = sums->paths.items[i].depth;
	struct running *running = calloc((size_t)analysis->thread_count + 1, sizeof(*running));
	sums->self = calloc((size_t)sums->paths.row_count + 1, sizeof(*sums->self));
	const bool ok = running && sums->self;
	if (ok && weight == TP_WEIGHT_CALLS)
		add_calls(sums, analysis);
	else if (ok && !analysis->timeless)
		add_times(sums, analysis, running);
	free(running);
	return ok ? 0
		  : tp_err_set(err, TP_ERR_MEMORY, analysis->trace->source.name,
			"out of memory while summing the times of %" PRIu32 " call paths",
			sums->paths.row_count);
}

void tp_path_sums_release(struct tp_path_sums *sums)
{
	tp_paths_release(&sums->paths);
	free(sums->self);
	*sums = (struct tp_path_sums){0};
}

int tp_path_frames_check(
    uint64_t frames, uint32_t deepest, const struct tp_analysis *analysis, struct tp_err *err)
{
	if (frames <= TP_PATH_FRAMES_MAX)
		return 0;
	return tp_err_set(err, TP_ERR_LIMIT, analysis->trace->source.name,
	    "its call paths, up to %" PRIu32 " calls deep, would be %" PRIu64
	    " functions in this format, which repeats all callers with each path: merge the "
	    "deepest into their callers with --depth, or use callgrind",
	    deepest, frames);
}

int tp_path_sums_check(
    const struct tp_path_sums *sums, const struct tp_analysis *analysis, struct tp_err *err)
{
	uint64_t frames = 0;
	for (uint32_t i = 0; i < sums->paths.row_count; i++)
		frames += sums->paths.items[sums->paths.rows[i].path].depth;
	return tp_path_frames_check(frames, sums->deepest, analysis, err);
}
