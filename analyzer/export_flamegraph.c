// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "flamegraph": one SVG file, complete as a picture, with search and zoom by script.
#include "analyzer/flame_script.h"
#include "analyzer/text.h"
#include "analyzer/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200
#define MARGIN 12
#define HEAD 74 // above the frames
#define FOOT 16
#define ROW 19
#define FRAMES_MAX 16000 // some 5 MB
#define ROWS_MAX 600     // deeper frames are left out
#define LETTER 7.0       // width of a letter in a frame
#define WEIGHT_TEXT (TP_TEXT_NUMBER + 8)

// A frame is a node of a thread, a thread, or the program; it knows where it begins.
struct frame {
	uint32_t thread;
	uint32_t node;
	uint32_t depth;
	double start; // weight at its left
};

struct flame {
	const struct tp_analysis *analysis;
	enum tp_weight kind;
	uint64_t **weights; // of each thread's nodes: self times or calls of all the paths below
	double total;
	double least; // weight of the narrowest frame
	uint32_t rows;
	struct frame *frames;
	size_t count;
	size_t capacity;
	uint64_t left_out;
};

// Children have higher numbers than their parents: going backwards sums up without recursion.
static bool weigh(struct flame *flame)
{
	const struct tp_analysis *analysis = flame->analysis;
	flame->weights =
	    calloc(analysis->thread_count ? analysis->thread_count : 1, sizeof(*flame->weights));
	if (!flame->weights)
		return false;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		const uint32_t count = profile->node_count ? profile->node_count : 1;
		uint64_t *weights = calloc(count, sizeof(*weights));
		flame->weights[i] = weights;
		if (!weights)
			return false;
		for (uint32_t j = profile->node_count; j-- > 1;) {
			weights[j] += tp_node_weight(&profile->nodes[j], flame->kind);
			weights[profile->nodes[j].parent] += weights[j];
		}
		flame->total += (double)weights[0];
	}
	return true;
}

static int compare_weights(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;
	return x > y ? -1 : x < y;
}

// The weight of the narrowest frame: 0.2 of a pixel, or more so that there are not too many.
static bool choose_least(struct flame *flame)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < flame->analysis->thread_count; i++)
		count += flame->analysis->threads[i].profile.node_count;
	uint64_t *all = malloc((count ? count : 1) * sizeof(*all));
	if (!all)
		return false;
	flame->least = flame->total * 0.2 / (WIDTH - 2 * MARGIN);
	uint64_t kept = 0;
	for (uint32_t i = 0; i < flame->analysis->thread_count; i++)
		for (uint32_t j = 1; j < flame->analysis->threads[i].profile.node_count; j++)
			if ((double)flame->weights[i][j] >= flame->least && flame->weights[i][j])
				all[kept++] = flame->weights[i][j];
	if (kept > FRAMES_MAX) {
		qsort(all, kept, sizeof(*all), compare_weights);
		flame->least = (double)all[FRAMES_MAX];
	}
	free(all);
	return true;
}

static bool push(struct flame *flame, struct frame frame)
{
	if (flame->count == flame->capacity) {
		const size_t capacity = flame->capacity ? flame->capacity * 2 : 1024;
		struct frame *frames = realloc(flame->frames, capacity * sizeof(*frames));
		if (!frames)
			return false;
		flame->frames = frames;
		flame->capacity = capacity;
	}
	if (frame.depth >= flame->rows)
		flame->rows = frame.depth + 1;
	flame->frames[flame->count++] = frame;
	return true;
}

struct child {
	uint64_t weight;
	uint32_t node;
};

static int compare_children(const void *a, const void *b)
{
	const struct child *x = a;
	const struct child *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

// Put the children of a frame beside one another, the heaviest at the left.
static bool push_children(struct flame *flame, struct frame frame)
{
	const struct tp_node *nodes = flame->analysis->threads[frame.thread].profile.nodes;
	const uint64_t *weights = flame->weights[frame.thread];
	struct child *children = NULL;
	size_t count = 0;
	for (uint32_t at = nodes[frame.node].first_child; at; at = nodes[at].next_sibling)
		count++;
	if (!count)
		return true;
	children = malloc(count * sizeof(*children));
	if (!children)
		return false;
	count = 0;
	for (uint32_t at = nodes[frame.node].first_child; at; at = nodes[at].next_sibling)
		children[count++] = (struct child){weights[at], at};
	qsort(children, count, sizeof(*children), compare_children);
	bool ok = true;
	double start = frame.start;
	for (size_t i = 0; i < count && ok; i++) {
		const double weight = (double)children[i].weight;
		if (weight < flame->least || children[i].weight == 0 || frame.depth + 1 >= ROWS_MAX)
			flame->left_out++;
		else
			ok = push(flame,
			    (struct frame){frame.thread, children[i].node, frame.depth + 1, start});
		start += weight;
	}
	free(children);
	return ok;
}

// All frames, breadth first: frames[] is its own queue. Frame 0 is the program.
static bool lay_out(struct flame *flame)
{
	const struct tp_analysis *analysis = flame->analysis;
	// A program with one thread has no row of threads: its root is that thread.
	const bool row = analysis->thread_count != 1 || analysis->trace->thread_count != 1;
	if (!push(flame, (struct frame){row ? UINT32_MAX : 0, 0, 0, 0}))
		return false;
	double start = 0;
	for (uint32_t i = 0; row && i < analysis->thread_count; i++) {
		const double weight = (double)flame->weights[i][0];
		if (weight > 0 && weight >= flame->least &&
		    !push(flame, (struct frame){i, 0, 1, start}))
			return false;
		start += weight;
	}
	for (size_t at = row; at < flame->count; at++)
		if (!push_children(flame, flame->frames[at]))
			return false;
	return true;
}

// A hue from red to yellow, always the same for a name.
static unsigned hue(const char *name)
{
	uint32_t hash = UINT32_C(2166136261);
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT32_C(16777619);
	return 8 + (hash >> 8) % 44;
}

// The name, cut to what fits into WIDTH.
static void add_label(struct tp_buf *out, const char *name, double width)
{
	const double room = floor((width - 6) / LETTER);
	char text[256];
	if (room < 3)
		return;
	size_t letters = room < 200 ? (size_t)room : 200;
	if (tp_text_width(name) <= letters && strlen(name) < sizeof(text)) {
		tp_text_add_xml(out, name);
		return;
	}
	size_t size = 0;
	for (letters--; name[size] && size + 1 < sizeof(text); size++) {
		if (((unsigned char)name[size] & 0xc0) != 0x80 && letters-- == 0)
			break;
		text[size] = name[size];
	}
	text[size] = '\0';
	tp_text_add_xml(out, text);
	tp_buf_add_string(out, "…");
}

// A weight with its unit.
static char *weight_text(const struct flame *flame, char *text, double weight)
{
	if (flame->kind != TP_WEIGHT_CALLS)
		return tp_view_time(flame->analysis, text, (uint64_t)weight);
	char number[TP_TEXT_NUMBER];
	snprintf(text, WEIGHT_TEXT, "%s call%s", tp_text_count(number, (uint64_t)weight),
	    weight == 1 ? "" : "s");
	return text;
}

static void add_frame(const struct flame *flame, const struct frame *frame, struct tp_buf *out)
{
	const struct tp_analysis *analysis = flame->analysis;
	const struct tp_thread_result *thread =
	    frame->thread == UINT32_MAX ? NULL : &analysis->threads[frame->thread];
	const struct tp_node *node =
	    thread && frame->node ? &thread->profile.nodes[frame->node] : NULL;
	const double weight =
	    thread ? (double)flame->weights[frame->thread][frame->node] : flame->total;
	const double scale = (WIDTH - 2 * MARGIN) / (flame->total > 0 ? flame->total : 1);
	const double width = flame->total > 0 ? weight * scale : WIDTH - 2 * MARGIN;
	const double x = MARGIN + frame->start * scale;
	const uint32_t y = HEAD + (flame->rows - 1 - frame->depth) * ROW;
	char name[64];
	const char *label = name;
	char text[WEIGHT_TEXT];
	if (node) {
		label = tp_analysis_function(analysis, thread, node)->symbol.name;
	} else if (frame->depth) {
		snprintf(name, sizeof(name), "%s %" PRIu32, tp_view_thread_name(thread->thread),
		    thread->thread->number);
	} else {
		label = tp_tracefile_program(analysis->trace);
	}
	tp_buf_addf(out, "<g class=\"frame\" style=\"--h:%u\" data-name=\"", hue(label));
	tp_text_add_xml(out, label);
	tp_buf_add_string(out, "\"><title>");
	tp_text_add_xml(out, label);
	tp_buf_addf(out, ": %s, %.2f%%", weight_text(flame, text, weight),
	    flame->total > 0 ? weight * 100 / flame->total : 100.0);
	if (node && !analysis->timeless)
		tp_buf_addf(out, "; self %s", tp_view_time(analysis, text, node->self));
	if (node)
		tp_buf_addf(out, "; %s call%s%s", tp_text_count(text, node->calls),
		    node->calls == 1 ? "" : "s",
		    flame->kind == TP_WEIGHT_CALLS ? " of it here" : "");
	tp_buf_addf(out,
	    "</title><rect x=\"%.2f\" y=\"%" PRIu32 "\" width=\"%.2f\" height=\"%d\" rx=\"2\"/>"
	    "<text x=\"%.2f\" y=\"%" PRIu32 "\">",
	    x, y, width, ROW - 1, x + 3, y + 13);
	add_label(out, label, width);
	tp_buf_add_string(out, "</text></g>\n");
}

static void add_start(const struct flame *flame, uint32_t height, struct tp_buf *out)
{
	const struct tp_analysis *analysis = flame->analysis;
	tp_buf_addf(out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu32
	    "\" viewBox=\"0 0 %d %" PRIu32 "\" role=\"img\">\n<title>Flame graph of ",
	    WIDTH, height, WIDTH, height);
	tp_text_add_xml(out, tp_tracefile_program(analysis->trace));
	tp_buf_addf(out, "</title>\n<style>\n%s</style>\n", tp_flame_style);
}

// What stays in sight while the frames are scrolled: behind them in the file, so above them.
static void add_head(const struct flame *flame, struct tp_buf *out)
{
	const struct tp_analysis *analysis = flame->analysis;
	char text[WEIGHT_TEXT];
	tp_buf_addf(out, "<g id=\"head\"><rect class=\"paper\" width=\"100%%\" height=\"%d\"/>\n",
	    HEAD - 4);
	tp_buf_addf(out, "<text class=\"title\" x=\"%d\" y=\"28\">", MARGIN);
	tp_text_add_xml(out, tp_tracefile_program(analysis->trace));
	tp_buf_addf(out, "</text>\n<text class=\"dim\" x=\"%d\" y=\"46\">%s", MARGIN,
	    weight_text(flame, text, flame->total));
	tp_buf_addf(out, " in %" PRIu32 " thread%s, %s events", analysis->thread_count,
	    analysis->thread_count == 1 ? "" : "s", tp_text_count(text, analysis->counts.events));
	if (analysis->lost)
		tp_buf_addf(out, ", %s lost", tp_text_count(text, analysis->lost));
	if (flame->left_out)
		tp_buf_addf(out, "; %s branch%s too narrow or deep to be drawn",
		    tp_text_count(text, flame->left_out), flame->left_out == 1 ? "" : "es");
	tp_buf_addf(out,
	    "</text>\n<text class=\"dim\" id=\"info\" x=\"%d\" y=\"64\">width is %s; functions that "
	    "are not instrumented are part of their caller</text>\n",
	    MARGIN, flame->kind == TP_WEIGHT_CALLS ? "calls, all paths below included" : "time");
	tp_buf_addf(out,
	    "<text class=\"right dim button\" id=\"search\" x=\"%d\" y=\"28\" text-anchor=\"end\" "
	    "style=\"display:none\">Search (/)</text>\n"
	    "<text class=\"right dim button\" id=\"reset\" x=\"%d\" y=\"46\" text-anchor=\"end\" "
	    "style=\"display:none\">Reset (Esc)</text>\n"
	    "<text class=\"right\" id=\"match\" x=\"%d\" y=\"64\" text-anchor=\"end\"></text>\n</g>\n",
	    WIDTH - MARGIN, WIDTH - MARGIN, WIDTH - MARGIN);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct flame flame = {.analysis = analysis, .kind = options->weight};
	const bool ok = weigh(&flame) && choose_least(&flame) && lay_out(&flame);
	if (ok) {
		const uint32_t height = HEAD + flame.rows * ROW + FOOT;
		add_start(&flame, height, out);
		for (size_t i = 0; i < flame.count; i++)
			add_frame(&flame, &flame.frames[i], out);
		add_head(&flame, out);
		tp_buf_addf(out,
		    "<script><![CDATA[\nconst WIDTH = %d, HEIGHT = %" PRIu32 ", MARGIN = %d;\n%s"
		    "]]></script>\n</svg>\n",
		    WIDTH, height, MARGIN, tp_flame_script);
	}
	for (uint32_t i = 0; flame.weights && i < analysis->thread_count; i++)
		free(flame.weights[i]);
	free(flame.weights);
	free(flame.frames);
	return ok ? 0
		  : tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET,
			"no memory for the flame graph");
}

const struct tp_export tp_export_flamegraph = {
    .name = "flamegraph",
    .summary = "a flame graph in one SVG file, with search and zoom",
    .suffix = ".svg",
    .render = render,
};
