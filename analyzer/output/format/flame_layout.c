// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which frames a flame graph has, and where: from threads, or from all threads in one tree.
#define _GNU_SOURCE
#include "flame_layout.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_PIXELS 0.2

// Put a frame at the end of the list; its number, or 0: no memory.
static uint32_t push(struct tp_flame *flame, struct tp_flame_frame frame)
{
	if (!TP_GROW(flame->frames, flame->capacity, flame->count + UINT64_C(1)))
		return 0;
	flame->frames[flame->count] = frame;
	return flame->count++;
}

// The program, a row of threads if there are several, and all nodes of each thread.
static bool from_threads(struct tp_flame *flame)
{
	const struct tp_analysis *analysis = flame->analysis;
	// A program with one thread has no row of threads: its root is that thread.
	const bool row = analysis->thread_count != 1 || analysis->trace->thread_count != 1;
	push(flame, (struct tp_flame_frame){.thread = TP_FLAME_PROGRAM});
	for (uint32_t i = 0; flame->count && i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		const uint32_t count = thread->profile.node_count;
		uint32_t *frame_of = calloc((size_t)count + 1, sizeof(*frame_of));
		bool ok = frame_of != NULL;
		if (ok && row) {
			frame_of[0] = push(flame, (struct tp_flame_frame){.thread = i, .depth = 1});
			ok = frame_of[0] != 0;
		}
		for (uint32_t j = 1; ok && j < count; j++) {
			const struct tp_node *node = &thread->profile.nodes[j];
			if (!node->function)
				continue;
			const uint32_t parent = frame_of[node->parent];
			frame_of[j] = push(
			    flame, (struct tp_flame_frame){
				       .function = tp_analysis_function(analysis, thread, node),
				       .parent = parent,
				       .depth = flame->frames[parent].depth + 1,
				       .self = node->self,
				       .calls = node->calls,
				   });
			ok = frame_of[j] != 0;
		}
		free(frame_of);
		if (!ok)
			return false;
	}
	return flame->count != 0;
}

// All threads in one tree, beside those of the other trace.
static int from_paths(struct tp_flame *flame, struct tp_err *err)
{
	const struct tp_analysis *analysis = flame->analysis;
	struct tp_paths paths;
	struct tp_path_match match = {0};
	int code = tp_paths_init(&paths, analysis, err);
	if (!code)
		code = tp_path_match_init(&match, analysis, &paths, flame->options->baseline,
		    flame->options->weight, err);
	flame->gone = match.gone;
	for (uint32_t i = 0; !code && i < paths.count; i++) {
		const struct tp_path *path = &paths.items[i];
		const struct tp_flame_frame frame = {
		    .function = i ? &analysis->functions[path->function] : NULL,
		    .thread = TP_FLAME_PROGRAM,
		    .parent = path->parent,
		    .depth = path->depth,
		    .self = path->self,
		    .calls = path->calls,
		    .before_self = match.self[i],
		    .before = match.self[i],
		};
		if (push(flame, frame) != i || (i == 0 && flame->count == 0))
			code = tp_err_memory(err, NULL);
	}
	tp_path_match_release(&match);
	tp_paths_release(&paths);
	return code;
}

// Parents come before their children: going backwards sums up without recursion.
static void weigh(struct tp_flame *flame)
{
	for (uint32_t i = flame->count; i-- > 0;) {
		struct tp_flame_frame *frame = &flame->frames[i];
		frame->weight +=
		    flame->options->weight == TP_WEIGHT_CALLS ? frame->calls : frame->self;
		if (i == 0)
			break;
		flame->frames[frame->parent].weight += frame->weight;
		flame->frames[frame->parent].before += frame->before;
	}
	flame->total = (double)flame->frames[0].weight;
}

// The weight of the narrowest frame: as was asked for, or more so that there are not too many.
static bool choose_least(struct tp_flame *flame)
{
	uint64_t *all = malloc(((size_t)flame->count + 1) * sizeof(*all));
	if (!all)
		return false;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < flame->count; i++)
		if (flame->frames[i].function && flame->frames[i].weight &&
		    (double)flame->frames[i].weight >= flame->least)
			all[kept++] = flame->frames[i].weight;
	if (kept > TP_FLAME_FRAMES_MAX) {
		qsort(all, kept, sizeof(*all), tp_compare_u64_descending);
		flame->least = (double)all[TP_FLAME_FRAMES_MAX];
	}
	free(all);
	return true;
}

// By row, by parent, the heaviest first. Threads stay in their order.
static int compare_frames(const void *a, const void *b, void *context)
{
	const struct tp_flame_frame *frames = context;
	const struct tp_flame_frame *x = &frames[*(const uint32_t *)a];
	const struct tp_flame_frame *y = &frames[*(const uint32_t *)b];
	int order = TP_COMPARE(x->depth, y->depth);
	order = order ? order : TP_COMPARE(x->parent, y->parent);
	if (!order && x->function && y->function)
		order = TP_COMPARE(y->weight, x->weight);
	return order ? order : TP_COMPARE(x, y);
}

// Put the children of each frame beside one another, and drop those that would be invisible.
static bool lay_out(struct tp_flame *flame)
{
	const uint32_t count = flame->count;
	uint32_t *order = malloc(((size_t)count + 1) * sizeof(*order));
	double *ends = malloc(((size_t)count + 1) * sizeof(*ends));  // where the next child begins
	uint32_t *moved = calloc((size_t)count + 1, sizeof(*moved)); // 1 + its new place
	struct tp_flame_frame *kept = malloc(((size_t)count + 1) * sizeof(*kept));
	const bool ok = order && ends && moved && kept;
	uint32_t shown = 0;
	for (uint32_t i = 0; ok && i < count; i++)
		order[i] = i;
	if (ok)
		qsort_r(order, count, sizeof(*order), compare_frames, flame->frames);
	for (uint32_t i = 0; ok && i < count; i++) {
		struct tp_flame_frame frame = flame->frames[order[i]];
		if (order[i]) {
			if (!moved[frame.parent])
				continue;
			frame.start = ends[frame.parent];
			ends[frame.parent] += (double)frame.weight;
			frame.parent = moved[frame.parent] - 1;
			const bool narrow =
			    frame.weight == 0 || (double)frame.weight < flame->least;
			if (narrow || frame.depth >= TP_FLAME_ROWS_MAX) {
				flame->left_out += frame.function != NULL;
				continue;
			}
		}
		ends[order[i]] = frame.start;
		kept[shown++] = frame;
		moved[order[i]] = shown;
		if (frame.depth >= flame->rows)
			flame->rows = frame.depth + 1;
	}
	free(order);
	free(ends);
	free(moved);
	if (!ok) {
		free(kept);
		return false;
	}
	free(flame->frames);
	flame->frames = kept;
	flame->count = shown;
	return true;
}

// The colours are relative to the greatest difference that is drawn.
static void compare_selves(struct tp_flame *flame)
{
	for (uint32_t i = 1; i < flame->count; i++) {
		const struct tp_flame_frame *frame = &flame->frames[i];
		const double difference = tp_flame_own(flame, frame) - frame->before_self;
		const double size = difference < 0 ? -difference : difference;
		if (size > flame->most)
			flame->most = size;
	}
}

int tp_flame_init(struct tp_flame *flame, const struct tp_analysis *analysis,
    const struct tp_export_options *options, double pixels, struct tp_err *err)
{
	*flame = (struct tp_flame){.analysis = analysis, .options = options};
	int code = 0;
	bool ok = true;
	double part = options->least_pixels > 0 ? options->least_pixels : LEAST_PIXELS;
	part /= pixels;
	if (options->inverted)
		ok = tp_flame_invert(flame, part, push);
	else if (options->baseline)
		code = from_paths(flame, err);
	else
		ok = from_threads(flame);
	if (!code && ok) {
		if (!options->inverted)
			weigh(flame);
		flame->least = flame->total * part;
		ok = choose_least(flame) && lay_out(flame);
	}
	if (!code && !ok)
		code = tp_err_memory(err, analysis->trace->source.name);
	if (!code && options->baseline)
		compare_selves(flame);
	return code;
}

void tp_flame_release(struct tp_flame *flame)
{
	free(flame->frames);
	*flame = (struct tp_flame){0};
}
