// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which paths an analysis keeps, by functions and depth.
#include "analysis_steps.h"

#include "analyzer/profile/pattern.h"

#include <stdlib.h>
#include <string.h>

// Of a function, then of a node.
#define FOCUS 1  // it, or one that it was called from, is what was asked for
#define IGNORE 2 // left out
#define NEEDED 4 // something below is kept
#define DEEP 8   // it is deeper than what was asked for

static int match_all(struct tp_analysis *analysis, const char *const *patterns, uint32_t count,
    uint8_t bit, uint8_t *marks, struct tp_err *err)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tp_pattern pattern;
		const int code = tp_pattern_init(&pattern, patterns[i], err);
		bool found = false;
		for (uint32_t j = 0; !code && j < analysis->function_count; j++)
			if (tp_pattern_matches(&pattern, &analysis->functions[j].symbol)) {
				marks[j] |= bit;
				found = true;
			}
		tp_pattern_release(&pattern);
		if (code)
			return code;
		if (!found)
			return tp_pattern_fail(patterns[i], analysis, err);
	}
	return 0;
}

// Own times of NODE do not count.
static void leave_self(struct tp_profile *profile, uint32_t node)
{
	profile->nodes[node].self = 0;
	tp_profile_forget_parts(profile, node);
}

static void leave_out(struct tp_profile *profile, uint32_t number)
{
	struct tp_node *node = &profile->nodes[number];
	leave_self(profile, number);
	node->times = (struct tp_histogram){0}; // in the profile's pool
	node->function = 0;
	node->calls = node->inclusive = node->max = 0;
	node->min = UINT64_MAX;
}

// MARKS are those of the functions, DEPTH 0 is any.
static bool filter_thread(
    struct tp_thread_result *thread, const uint8_t *marks, bool focus, uint64_t depth)
{
	struct tp_profile *profile = &thread->profile;
	struct tp_node *nodes = profile->nodes;
	uint8_t *of = calloc(profile->node_count, sizeof(*of));
	uint64_t *depths = calloc(profile->node_count, sizeof(*depths));
	profile->is_way = calloc(profile->node_count, sizeof(*profile->is_way));
	bool ok = of && depths && profile->is_way;
	// Callers come before their callees.
	for (uint32_t i = 1; ok && i < profile->node_count; i++) {
		const uint32_t function = thread->functions[nodes[i].function];
		of[i] = of[nodes[i].parent] | marks[function];
		depths[i] = depths[nodes[i].parent] + 1;
		if (depth && depths[i] > depth)
			of[i] |= DEEP;
	}
	for (uint32_t i = profile->node_count; ok && i-- > 1;) {
		struct tp_node *node = &nodes[i];
		const bool in_focus = !focus || of[i] & FOCUS;
		// A node that was made for a call which does not count has none.
		if (!(of[i] & (IGNORE | DEEP)) &&
		    (((node->calls || node->inclusive) && in_focus) || of[i] & NEEDED)) {
			of[node->parent] |= NEEDED;
			profile->is_way[i] = !in_focus;
			if (!in_focus)
				leave_self(profile, i);
		} else {
			// To its own time that of its callees was added.
			if (of[i] & DEEP && !(of[i] & IGNORE))
				ok = tp_profile_take_over(profile, node->parent, i);
			leave_out(profile, i);
		}
	}
	if (ok) {
		nodes[0].self = 0;
		ok = tp_profile_sum_up(profile);
		tp_profile_link(profile);
		thread->busy = nodes[0].inclusive;
	}
	free(of);
	free(depths);
	return ok;
}

int tp_filter_apply(struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_analysis_options *options = &analysis->options;
	analysis->filtered = options->focus_count || options->ignore_count || options->depth;
	if (!analysis->filtered && !analysis->ranged && !analysis->least)
		return 0;
	uint8_t *marks = calloc((size_t)analysis->function_count + 1, sizeof(*marks));
	int code = marks ? 0 : TP_ERR_MEMORY;
	if (!code)
		code = match_all(analysis, options->focus, options->focus_count, FOCUS, marks, err);
	if (!code)
		code =
		    match_all(analysis, options->ignore, options->ignore_count, IGNORE, marks, err);
	for (uint32_t i = 0; !code && i < analysis->thread_count; i++)
		if (analysis->threads[i].profile.node_count &&
		    !filter_thread(
			&analysis->threads[i], marks, options->focus_count != 0, options->depth))
			code = TP_ERR_MEMORY;
	free(marks);
	if (code == TP_ERR_MEMORY)
		tp_err_set(err, code, analysis->trace->source.name,
		    "out of memory while filtering the paths");
	return code;
}
