// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "folded": one line for each call path, "root;a;b WEIGHT".
#include "analyzer/output/format/export.h"
#include "analyzer/output/format/path_sums.h"
#include "analyzer/output/view.h"

#include <inttypes.h>

// A frame's name: the separator of frames becomes a colon.
static void add_frame(struct tp_buf *path, const char *name)
{
	for (; *name; name++)
		tp_buf_add_char(path, *name == ';' ? ':' : *name == '\n' ? ' ' : *name);
}

static void add_thread(const struct tp_analysis *analysis, const struct tp_thread_result *thread,
    const struct tp_export_options *options, struct tp_buf *out)
{
	const enum tp_weight kind = options->weight;
	const struct tp_profile *profile = &thread->profile;
	struct tp_buf path; // of the node at hand; a line is the path and its time
	struct tp_buf ends; // uint64_t for each frame above: the size of path behind it
	tp_buf_init(&path);
	tp_buf_init(&ends);
	add_frame(
	    &path, options->process ? options->process : tp_tracefile_program(analysis->trace));
	if (analysis->trace->thread_count > 1) {
		tp_buf_add_char(&path, ';');
		add_frame(&path, tp_view_thread_name(thread->thread));
		tp_buf_addf(&path, " %" PRIu32, thread->thread->number);
	}
	uint32_t at = profile->node_count ? profile->first_child[0] : 0;
	while (at && !path.failed && !ends.failed && !out->failed) {
		const struct tp_node *node = &profile->nodes[at];
		const uint64_t end = path.size;
		tp_buf_add(&ends, &end, sizeof(end));
		tp_buf_add_char(&path, ';');
		add_frame(&path, tp_analysis_function(analysis, thread, node)->symbol.name);
		const uint64_t weight = tp_node_weight(node, kind);
		if (weight)
			tp_buf_addf(out, "%s %" PRIu64 "\n", path.data,
			    kind == TP_WEIGHT_CALLS ? weight
						    : tp_timebase_ns(&analysis->time, weight));
		uint32_t left = at;
		at = profile->first_child[at];
		while (!at && left && ends.size) {
			ends.size -= sizeof(end);
			path.size = *(const uint64_t *)(const void *)(ends.data + ends.size);
			at = profile->next_sibling[left];
			left = profile->nodes[left].parent;
		}
	}
	if (path.failed || ends.failed)
		out->failed = true;
	tp_buf_release(&path);
	tp_buf_release(&ends);
}

// Each line repeats all callers: with deep recursion that may be more than anybody can read.
static int check(const struct tp_analysis *analysis, enum tp_weight kind, struct tp_err *err)
{
	uint64_t frames = 0;
	uint32_t deepest = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		uint32_t depth = 1;
		uint32_t at = profile->node_count ? profile->first_child[0] : 0;
		while (at) {
			const struct tp_node *node = &profile->nodes[at];
			if (tp_node_weight(node, kind)) {
				frames += depth;
				deepest = depth > deepest ? depth : deepest;
			}
			uint32_t left = at;
			at = profile->first_child[at];
			depth += at != 0;
			while (!at && left) {
				at = profile->next_sibling[left];
				left = profile->nodes[left].parent;
				depth -= !at;
			}
		}
	}
	return tp_path_frames_check(frames, deepest, analysis, err);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	const int code = check(analysis, options->weight, err);
	for (uint32_t i = 0; i < analysis->thread_count && !code; i++)
		add_thread(analysis, &analysis->threads[i], options, out);
	return code;
}

const struct tp_export tp_export_folded = {
    .name = "folded",
    .summary = "call paths and their self time in ns or calls, as flame graph tools read them",
    .families = true,
    .render = render,
};
