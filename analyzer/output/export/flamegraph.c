// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "flamegraph": one SVG file, complete as a picture, with search and zoom by script.
#include "analyzer/output/completeness.h"
#include "analyzer/output/format/export.h"
#include "analyzer/output/format/flame_layout.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"
#include "common/clean.h"

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
#define LETTER 7.0 // width of a letter in a frame
#define WEIGHT_TEXT (TP_TEXT_NUMBER + 8)
#define SHADES 4 // of more, and of less: flame_script.c has the colours

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
		if (tp_begins_character(name[size]) && letters-- == 0)
			break;
		text[size] = name[size];
	}
	text[size] = '\0';
	tp_text_add_xml(out, text);
	tp_buf_add_string(out, "…");
}

// A weight with its unit. Times of several threads, each of which fits, may add up to more than
// does.
static char *weight_text(const struct tp_flame *flame, char *text, double weight)
{
	const uint64_t whole = weight < 0x1p64 ? (uint64_t)weight : UINT64_MAX;
	if (flame->options->weight != TP_WEIGHT_CALLS)
		return tp_view_time(flame->analysis, text, whole);
	char number[TP_TEXT_NUMBER];
	snprintf(text, WEIGHT_TEXT, "%s call%s", tp_text_count(number, whole), tp_plural(whole));
	return text;
}

// Which of the colours for a difference: -4 (much less) to 4 (much more).
static int shade(const struct tp_flame *flame, const struct tp_flame_frame *frame)
{
	const double difference = tp_flame_own(flame, frame) - frame->before_self;
	if (!frame->function || !(flame->most > 0))
		return 0;
	// The root makes small differences seen beside great ones.
	const int size = (int)lround(SHADES * sqrt(fabs(difference) / flame->most));
	return difference < 0 ? -size : size;
}

static void add_change(const struct tp_flame *flame, double now, double before, struct tp_buf *out)
{
	char text[WEIGHT_TEXT];
	if (before < 0.5 && now > 0) {
		tp_buf_add_string(out, " (new)");
		return;
	}
	tp_buf_addf(out, " (was %s", weight_text(flame, text, before));
	if (before > 0)
		tp_buf_addf(out, ", %+.1f%%", (now - before) * 100 / before);
	tp_buf_add_char(out, ')');
}

// The text that is shown at the mouse.
static void add_title(const struct tp_flame *flame, const struct tp_flame_frame *frame,
    const char *label, struct tp_buf *out)
{
	const bool diff = flame->options->baseline != NULL;
	const bool calls = flame->options->weight == TP_WEIGHT_CALLS;
	char text[WEIGHT_TEXT];
	tp_buf_add_string(out, "<title>");
	tp_text_add_xml(out, label);
	tp_buf_addf(out, ": %s, %.2f%%", weight_text(flame, text, (double)frame->weight),
	    flame->total > 0 ? (double)frame->weight * 100 / flame->total : 100.0);
	if (diff)
		add_change(flame, (double)frame->weight, frame->before, out);
	if (frame->leaf && frame->depth > 1) {
		tp_buf_add_string(out, calls ? ", calls of " : " in ");
		tp_text_add_xml(out, frame->leaf->symbol.name);
		tp_buf_add_string(out, " from here");
	}
	if (frame->function && !flame->analysis->timeless && !flame->options->inverted) {
		tp_buf_addf(out, "; self %s", tp_view_time(flame->analysis, text, frame->self));
		if (diff && !calls)
			add_change(flame, (double)frame->self, frame->before_self, out);
	}
	if (frame->function)
		tp_buf_addf(out, "; %s call%s%s", tp_text_count(text, frame->calls),
		    tp_plural(frame->calls), calls ? " of it here" : "");
	if (frame->function && diff && calls)
		add_change(flame, (double)frame->calls, frame->before_self, out);
	tp_buf_add_string(out, "</title>");
}

static void add_frame(
    const struct tp_flame *flame, const struct tp_flame_frame *frame, struct tp_buf *out)
{
	const struct tp_analysis *analysis = flame->analysis;
	const double scale = (WIDTH - 2 * MARGIN) / (flame->total > 0 ? flame->total : 1);
	const double width = flame->total > 0 ? (double)frame->weight * scale : WIDTH - 2 * MARGIN;
	const double x = MARGIN + frame->start * scale;
	const uint32_t row = flame->options->icicle ? frame->depth : flame->rows - 1 - frame->depth;
	const uint32_t y = HEAD + row * ROW;
	char name[64];
	const char *label = name;
	char class[24] = "";
	if (frame->function) {
		label = frame->function->symbol.name;
	} else if (frame->depth) {
		const struct tp_thread *thread = analysis->threads[frame->thread].thread;
		snprintf(
		    name, sizeof(name), "%s %" PRIu32, tp_view_thread_name(thread), thread->number);
	} else {
		label = tp_tracefile_program(analysis->trace);
	}
	if (flame->options->baseline) {
		const int difference = shade(flame, frame);
		snprintf(class, sizeof(class), " %s%d",
		    difference < 0 ? "less"
		    : difference   ? "more"
				   : "same",
		    abs(difference));
	}
	tp_buf_addf(out, "<g class=\"frame%s\" style=\"--h:%u\" data-name=\"", class, hue(label));
	tp_text_add_xml(out, label);
	tp_buf_add_string(out, "\">");
	add_title(flame, frame, label, out);
	tp_buf_addf(out,
	    "<rect x=\"%.2f\" y=\"%" PRIu32 "\" width=\"%.2f\" height=\"%d\" rx=\"2\"/>"
	    "<text x=\"%.2f\" y=\"%" PRIu32 "\">",
	    x, y, width, ROW - 1, x + 3, y + 13);
	add_label(out, label, width);
	tp_buf_add_string(out, "</text></g>\n");
}

static void add_start(const struct tp_flame *flame, uint32_t height, struct tp_buf *out)
{
	const struct tp_analysis *analysis = flame->analysis;
	tp_buf_addf(out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu32
	    "\" viewBox=\"0 0 %d %" PRIu32 "\" role=\"img\">\n<title>Flame graph of ",
	    WIDTH, height, WIDTH, height);
	tp_text_add_xml(out, tp_tracefile_program(analysis->trace));
	tp_buf_addf(out, "</title>\n<style>\n%s</style>\n", tp_flame_style);
}

// What the picture means.
static void add_hint(const struct tp_flame *flame, struct tp_buf *out)
{
	const bool calls = flame->options->weight == TP_WEIGHT_CALLS;
	if (flame->options->baseline) {
		tp_buf_addf(out, "width is %s; orange: more %s than in ", calls ? "calls" : "time",
		    calls ? "own calls" : "self time");
		tp_text_add_xml(out, flame->options->baseline->trace->source.name);
		tp_buf_add_string(out, ", blue: less, grey: the same");
	} else if (flame->options->inverted) {
		tp_buf_addf(out,
		    "width is %s of the function next to the program; beyond it are its callers",
		    calls ? "calls" : "self time");
	} else {
		tp_buf_addf(out,
		    "width is %s; functions that are not instrumented are part of their caller",
		    calls ? "calls, all paths below included" : "time");
	}
}

// What stays in sight while the frames are scrolled: behind them in the file, so above them.
static void add_head(const struct tp_flame *flame, struct tp_buf *out)
{
	const struct tp_analysis *analysis = flame->analysis;
	char text[WEIGHT_TEXT];
	tp_buf_addf(out, "<g id=\"head\"><rect class=\"paper\" width=\"100%%\" height=\"%d\"/>\n",
	    HEAD - 4);
	tp_buf_addf(out, "<text class=\"title\" x=\"%d\" y=\"28\">", MARGIN);
	tp_text_add_xml(out, tp_tracefile_program(analysis->trace));
	tp_buf_addf(out, "</text>\n<text class=\"dim\" x=\"%d\" y=\"46\">%s", MARGIN,
	    weight_text(flame, text, flame->total));
	if (flame->options->baseline && flame->count)
		add_change(flame, flame->total, flame->frames[0].before, out);
	tp_buf_addf(out, " in %" PRIu32 " thread%s, %s events", analysis->thread_count,
	    tp_plural(analysis->thread_count), tp_text_count(text, analysis->counts.events));
	if (analysis->lost)
		tp_buf_addf(out, ", %s lost", tp_text_count(text, analysis->lost));
	if (tp_analysis_lacks(analysis)) {
		tp_buf_add_string(out, ", ");
		tp_completeness_add_text(analysis, out);
	}
	if (flame->left_out)
		tp_buf_addf(out, "; %s branch%s too narrow or deep to be drawn",
		    tp_text_count(text, flame->left_out), tp_by_count(flame->left_out, "", "es"));
	if (flame->options->baseline && flame->gone >= 0.5)
		tp_buf_addf(out, "; gone: %s", weight_text(flame, text, flame->gone));
	tp_buf_addf(out, "</text>\n<text class=\"dim\" id=\"info\" x=\"%d\" y=\"64\">", MARGIN);
	add_hint(flame, out);
	tp_buf_add_string(out, "</text>\n");
	tp_buf_addf(out,
	    "<text class=\"right dim button\" id=\"search\" x=\"%d\" y=\"28\" text-anchor=\"end\" "
	    "style=\"display:none\">Search (/)</text>\n"
	    "<text class=\"right dim button\" id=\"reset\" x=\"%d\" y=\"46\" text-anchor=\"end\" "
	    "style=\"display:none\">Reset (Esc)</text>\n"
	    "<text class=\"right\" id=\"match\" x=\"%d\" y=\"64\" "
	    "text-anchor=\"end\"></text>\n</g>\n",
	    WIDTH - MARGIN, WIDTH - MARGIN, WIDTH - MARGIN);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_flame flame;
	const int code = tp_flame_init(&flame, analysis, options, WIDTH - 2 * MARGIN, err);
	if (!code) {
		const uint32_t height = HEAD + flame.rows * ROW + FOOT;
		add_start(&flame, height, out);
		for (uint32_t i = 0; i < flame.count; i++)
			add_frame(&flame, &flame.frames[i], out);
		add_head(&flame, out);
		tp_buf_addf(out,
		    "<script><![CDATA[\nconst WIDTH = %d, HEIGHT = %" PRIu32
		    ", MARGIN = %d, ICICLE = %s;\n%s]]></script>\n</svg>\n",
		    WIDTH, height, MARGIN, options->icicle ? "true" : "false", tp_flame_script);
	}
	tp_flame_release(&flame);
	return code;
}

const struct tp_export tp_export_flamegraph = {
    .name = "flamegraph",
    .summary = "a flame graph in one SVG file, with search and zoom",
    .suffix = ".svg",
    .render = render,
};
