// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The export "firefox": a processed profile of the Firefox Profiler, in the old version 48, which
 * its viewer upgrades. The types are those of src/types/profile.ts in
 * https://github.com/firefox-devtools/profiler.
 *
 * A sample is a stretch of time in which the stack was the same; its weight is its length in
 * milliseconds. The samples of a thread are arrays, one behind the other, so the thread is replayed
 * three times: for stacks, times and weights.
 */
#include "analyzer/output/completeness.h"
#include "analyzer/output/format/digits.h"
#include "analyzer/output/format/slices.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <teeperf/version.h>

enum pass { STACKS, TIMES, WEIGHTS, PASSES };

struct state {
	uint32_t *stacks; // index in the stack table of each node of the thread
	uint32_t node;    // of the innermost slice that is open, 0: none
	uint64_t last_ns;
	uint64_t samples;
};

// What the process is, and what threads have in common.
static int head(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	struct tp_buf *out = slices->out;
	tp_buf_add_string(out,
	    "{\"meta\":{\"version\":27,\"preprocessedProfileVersion\":48,\"interval\":1,"
	    "\"startTime\":0,"
	    "\"processType\":0,\"stackwalk\":1,\"debug\":false,\"gcpoison\":0,\"asyncstack\":1,"
	    "\"product\":");
	tp_json_quote(out, tp_slices_process(slices));
	tp_buf_add_string(out,
	    ",\"importedFrom\":\"teeperf " TEEPERF_VERSION "\",\"symbolicated\":true,"
	    "\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
	    "\"sourceCodeIsNotOnSearchfox\":true,\"presymbolicated\":true,\"markerSchema\":[],"
	    "\"extensions\":"
	    "{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0},"
	    "\"categories\":[{\"name\":\"Other\","
	    "\"color\":\"grey\",\"subcategories\":[\"Other\"]}],\n"
	    "\"extra\":[{\"label\":\"Recording\",\"entries\":"
	    "[{\"label\":\"times\",\"format\":\"string\",\"value\":\"as "
	    "recorded\"},{\"label\":\"lost "
	    "events\",\"format\":\"integer\",\"value\":");
	tp_buf_addf(out, "%" PRIu64 "},{\"label\":\"trace\",\"format\":\"string\",\"value\":\"",
	    slices->analysis->lost);
	tp_completeness_add_text(slices->analysis, out);
	tp_buf_add_string(out, "\"}]}]},\n\"libs\":[],\"pages\":[],\"counters\":[],\"threads\":[");
	return 0;
}

// Only nodes that are functions are stacks.
static bool number_stacks(struct state *state, const struct tp_profile *profile)
{
	uint32_t count = 0;
	free(state->stacks);
	state->stacks = calloc(profile->node_count + UINT64_C(1), sizeof(*state->stacks));
	if (!state->stacks)
		return false;
	for (uint32_t i = 1; i < profile->node_count; i++)
		if (profile->nodes[i].function)
			state->stacks[i] = count++;
	return true;
}

static void add_thread(struct tp_slices *slices)
{
	struct tp_buf *out = slices->out;
	const struct tp_thread *thread = slices->thread->thread;
	struct tp_buf name;
	tp_buf_init(&name);
	tp_buf_add_string(&name, tp_view_thread_name(thread));
	if (slices->thread->counts.lost)
		tp_buf_addf(&name, " [%" PRIu64 " events lost]", slices->thread->counts.lost);
	tp_buf_add_string(out, slices->first ? "\n" : ",\n");
	tp_buf_addf(out,
	    "{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	    "\"registerTime\":0,\"unregisterTime\":null,\"isMainThread\":%s,"
	    "\"pid\":\"%u\",\"tid\":%u,",
	    thread->number ? "false" : "true", tp_slices_pid(slices), tp_slices_tid(slices));
	tp_buf_add_string(out, "\"processName\":");
	tp_json_quote(out, tp_slices_process(slices));
	tp_buf_add_string(out, ",\"name\":");
	tp_json_quote(out, name.data);
	// Where nothing was recorded, as far as this format knows.
	tp_buf_add_string(out, ",\"pausedRanges\":[");
	struct tp_slice_gap gap;
	bool any = false;
	for (uint32_t at = 0; tp_slices_next_gap(slices, &at, &gap);) {
		char text[2][TP_DIGITS_MAX];
		*tp_digits_fixed(text[0], gap.from_ns, 6) = '\0';
		*tp_digits_fixed(text[1], gap.to_ns, 6) = '\0';
		tp_buf_addf(out, "%s{\"startTime\":%s,\"endTime\":%s,\"reason\":\"collecting\"}",
		    any ? "," : "", text[0], text[1]);
		any = true;
	}
	tp_buf_add_string(out, "],\n\"samples\":{\"weightType\":\"tracing-ms\",\"stack\":[");
	out->failed = out->failed || name.failed;
	tp_buf_release(&name);
}

static int thread_begin(struct tp_slices *slices, struct tp_err *err)
{
	struct state *state = slices->state;
	state->node = 0;
	state->samples = 0;
	if (slices->pass == TIMES)
		tp_buf_add_string(slices->out, ",\n\"time\":[");
	if (slices->pass == WEIGHTS)
		tp_buf_add_string(slices->out, ",\n\"weight\":[");
	if (slices->pass != STACKS)
		return 0;
	if (!number_stacks(state, &slices->thread->profile))
		return tp_err_memory(err, slices->analysis->trace->source.name);
	add_thread(slices);
	return 0;
}

// The stack changes at NS to that of NODE: what it was before is a sample.
static void change(struct tp_slices *slices, uint64_t ns, uint32_t node)
{
	struct state *state = slices->state;
	if (state->node && ns > state->last_ns) {
		char text[TP_DIGITS_MAX + 2];
		char *at = text;
		if (state->samples++)
			*at++ = ',';
		if (slices->pass == STACKS)
			at = tp_digits(at, state->stacks[state->node]);
		else
			at = tp_digits_fixed(
			    at, slices->pass == TIMES ? state->last_ns : ns - state->last_ns, 6);
		tp_buf_add(slices->out, text, (size_t)(at - text));
	}
	state->last_ns = ns;
	state->node = node;
}

static void begin(struct tp_slices *slices, const struct tp_slice *slice)
{
	change(slices, slice->time, slice->node);
}

static void end(struct tp_slices *slices, const struct tp_slice *slice)
{
	change(slices, slice->time,
	    slice->depth ? slices->thread->profile.nodes[slice->node].parent : 0);
}

// ---- tables

// COUNT times the same.
static void add_same(struct tp_buf *out, const char *name, const char *value, uint64_t count)
{
	tp_buf_addf(out, "\"%s\":[", name);
	for (uint64_t i = 0; i < count; i++) {
		tp_buf_add_string(out, i ? "," : "");
		tp_buf_add_string(out, value);
	}
	tp_buf_add_string(out, "],");
}

static void add_stacks(
    const struct state *state, const struct tp_profile *profile, struct tp_buf *out)
{
	uint64_t count = 0;
	tp_buf_add_string(out, ",\n\"stackTable\":{\"frame\":[");
	for (uint32_t i = 1; i < profile->node_count; i++)
		if (profile->nodes[i].function)
			tp_buf_addf(
			    out, "%s%u", count++ ? "," : "", profile->nodes[i].function - 1);
	tp_buf_add_string(out, "],\n\"prefix\":[");
	count = 0;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const uint32_t parent = profile->nodes[i].parent;
		if (!profile->nodes[i].function)
			continue;
		tp_buf_add_string(out, count++ ? "," : "");
		if (parent)
			tp_buf_addf(out, "%u", state->stacks[parent]);
		else
			tp_buf_add_string(out, "null");
	}
	tp_buf_add_string(out, "],\n");
	add_same(out, "category", "0", count);
	add_same(out, "subcategory", "0", count);
	tp_buf_addf(out, "\"length\":%" PRIu64 "}", count);
}

// Function number I of the thread, from 0 on; NULL: it is left out.
static const struct tp_symbol *symbol_of(const struct tp_slices *slices, uint32_t i)
{
	static const struct tp_symbol none = {.name = "", .file = ""};
	const uint32_t function = slices->thread->functions[i + 1];
	return function < slices->analysis->function_count
		   ? &slices->analysis->functions[function].symbol
		   : &none;
}

// The marks of the thread; the first one has those from outside, too.
static bool next_mark(const struct tp_slices *slices, uint64_t *at, struct tp_slice_mark *mark)
{
	const uint32_t thread = (uint32_t)(slices->thread - slices->analysis->threads);
	while (tp_slices_next_mark(slices, at, mark))
		if (mark->thread == thread ||
		    (!thread && mark->thread == slices->analysis->thread_count))
			return true;
	return false;
}

// The line of each function, null where its file is not known.
static void add_lines(const struct tp_slices *slices, uint32_t count, struct tp_buf *out)
{
	for (uint32_t i = 0; i < count; i++)
		tp_buf_addf(out, symbol_of(slices, i)->file[0] ? "%s%" PRIu64 : "%snull",
		    i ? "," : "", symbol_of(slices, i)->line);
}

// COUNT numbers from 0 on.
static void add_numbers(uint32_t count, struct tp_buf *out)
{
	for (uint32_t i = 0; i < count; i++)
		tp_buf_addf(out, "%s%u", i ? "," : "", i);
}

static void add_functions(const struct tp_slices *slices, struct tp_buf *out)
{
	const uint32_t count =
	    slices->thread->profile.function_count ? slices->thread->profile.function_count - 1 : 0;
	tp_buf_add_string(out, ",\n\"frameTable\":{");
	static const char *const same[][2] = {{"address", "-1"}, {"inlineDepth", "0"},
	    {"category", "0"}, {"subcategory", "0"}, {"nativeSymbol", "null"},
	    {"innerWindowID", "null"}, {"implementation", "null"}, {"column", "null"}};
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		add_same(out, same[i][0], same[i][1], count);
	tp_buf_add_string(out, "\"line\":[");
	add_lines(slices, count, out);
	tp_buf_add_string(out, "],\"func\":[");
	add_numbers(count, out);
	tp_buf_addf(out, "],\"length\":%u},\n\"funcTable\":{", count);
	add_same(out, "isJS", "false", count);
	add_same(out, "relevantForJS", "false", count);
	add_same(out, "resource", "-1", count);
	add_same(out, "columnNumber", "null", count);
	// Strings are the names, then the files.
	tp_buf_add_string(out, "\"name\":[");
	add_numbers(count, out);
	tp_buf_add_string(out, "],\"fileName\":[");
	for (uint32_t i = 0; i < count; i++)
		tp_buf_addf(out, symbol_of(slices, i)->file[0] ? "%s%u" : "%snull", i ? "," : "",
		    count + i);
	tp_buf_add_string(out, "],\"lineNumber\":[");
	add_lines(slices, count, out);
	tp_buf_addf(out, "],\"length\":%u},\n\"stringArray\":[", count);
	for (uint64_t i = 0; i < (uint64_t)count * 2; i++) {
		const struct tp_symbol *symbol = symbol_of(slices, (uint32_t)(i % count));
		tp_buf_add_string(out, i ? ",\n" : "\n");
		tp_json_quote(out, i < count ? symbol->name : symbol->file);
	}
	// Behind them, of marks.
	struct tp_slice_mark mark;
	uint64_t at = 0;
	for (uint64_t i = (uint64_t)count * 2; next_mark(slices, &at, &mark); i++) {
		tp_buf_add_string(out, i ? ",\n" : "\n");
		tp_json_quote(out, mark.name);
	}
	tp_buf_add_char(out, ']');
}

enum marker { M_DATA, M_NAME, M_START, M_END, M_PHASE, M_CATEGORY, MARKERS };

// A moment has no end (phase 0), a phase both (1), or a begin alone (2).
static void add_marker(
    struct tp_slices *slices, const struct tp_slice_mark *mark, enum marker column, uint64_t string)
{
	char text[TP_DIGITS_MAX];
	struct tp_buf *out = slices->out;
	switch (column) {
	case M_NAME:
		tp_buf_addf(out, "%" PRIu64, string);
		break;
	case M_START:
	case M_END:
		*tp_digits_fixed(text, column == M_START ? mark->from_ns : mark->to_ns, 6) = '\0';
		tp_buf_add_string(out, column == M_END && !mark->ends ? "null" : text);
		break;
	case M_PHASE:
		tp_buf_add_string(out, !mark->phase ? "0" : mark->ends ? "1" : "2");
		break;
	default:
		tp_buf_add_string(out, column == M_DATA ? "null" : "0");
	}
}

static void add_markers(struct tp_slices *slices, struct tp_buf *out)
{
	static const char *const names[MARKERS] = {
	    "data", "name", "startTime", "endTime", "phase", "category"};
	const uint32_t functions = slices->thread->profile.function_count;
	uint64_t count = 0;
	tp_buf_add_string(out, ",\n\"markers\":{");
	for (int column = 0; column < MARKERS; column++) {
		struct tp_slice_mark mark;
		uint64_t at = 0;
		tp_buf_addf(out, "\"%s\":[", names[column]);
		for (count = 0; next_mark(slices, &at, &mark); count++) {
			tp_buf_add_string(out, count ? "," : "");
			add_marker(slices, &mark, (enum marker)column,
			    (functions ? (functions - 1) * UINT64_C(2) : 0) + count);
		}
		tp_buf_add_string(out, "],");
	}
	tp_buf_addf(out, "\"length\":%" PRIu64 "}", count);
}

static int thread_end(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	const struct state *state = slices->state;
	struct tp_buf *out = slices->out;
	tp_buf_add_char(out, ']');
	if (slices->pass != WEIGHTS)
		return 0;
	tp_buf_addf(out, ",\"length\":%" PRIu64 "}", state->samples);
	add_stacks(state, &slices->thread->profile, out);
	add_functions(slices, out);
	add_markers(slices, out);
	tp_buf_add_string(out,
	    ",\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],"
	    "\"length\":0},\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
	    "\"functionSize\":[],"
	    "\"length\":0}}");
	return 0;
}

static void release(struct tp_slices *slices)
{
	struct state *state = slices->state;
	free(state->stacks);
}

static const struct tp_slice_format format = {TP_SLICE_FORMAT, .passes = PASSES,
    .thread_end = thread_end, .tail = "]}\n", .release = release};

const struct tp_export tp_export_firefox = {
    .name = "firefox",
    .summary = "a processed profile for the Firefox Profiler",
    .suffix = ".firefox.json",
    .slices = &format,
};
