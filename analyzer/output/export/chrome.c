// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The export "chrome": Trace Event Format (JSON), as chrome://tracing, Perfetto and many others
 * read it: the document "Trace Event Format" of the Chromium project.
 *
 * Slices are pairs of B and E. X, with a duration, would be shorter; but as it is written when a
 * call ends, of calls that begin at one time the inner ones would come first, and readers nest them
 * by their order.
 */
#include "analyzer/output/format/digits.h"
#include "analyzer/output/format/slices.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <teeperf/version.h>

struct state {
	struct tp_arena arena;
	const char **names; // of each function, as JSON
	char numbers[64];   // what each event of the current thread begins with
	size_t numbers_size;
};

static int init(struct tp_slices *slices, struct tp_err *err)
{
	const struct tp_analysis *analysis = slices->analysis;
	struct state *state = slices->state;
	struct tp_buf name;
	bool failed;
	tp_arena_init(&state->arena);
	tp_buf_init(&name);
	state->names = tp_arena_alloc(
	    &state->arena, (analysis->function_count + UINT64_C(1)) * sizeof(*state->names));
	failed = !state->names;
	for (uint32_t i = 0; !failed && i < analysis->function_count; i++) {
		tp_buf_reset(&name);
		tp_json_quote(&name, analysis->functions[i].symbol.name);
		state->names[i] = tp_arena_copy(&state->arena, name.data, name.size);
		failed = name.failed || !state->names[i];
	}
	tp_buf_release(&name);
	return failed ? tp_err_memory(err, analysis->trace->source.name) : 0;
}

static void release(struct tp_slices *slices)
{
	struct state *state = slices->state;
	tp_arena_release(&state->arena);
}

// An event that says what something is called.
static void add_meta(
    struct tp_slices *slices, const char *what, uint32_t tid, const char *key, const char *value)
{
	tp_buf_addf(slices->out,
	    "{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s\",\"args\":{\"%s\":",
	    tp_slices_pid(slices), tid, what, key);
	tp_json_quote(slices->out, value);
	tp_buf_add_string(slices->out, "}}");
}

static void add_gaps(struct tp_slices *slices)
{
	struct tp_slice_gap gap;
	char text[2][TP_DIGITS_MAX];
	bool any = false;
	for (uint32_t at = 0; tp_slices_next_gap(slices, &at, &gap);) {
		if (!any) {
			tp_buf_add_string(slices->out, ",\n");
			add_meta(slices, "thread_name", 0, "name", "recording");
		}
		any = true;
		*tp_digits_fixed(text[0], gap.from_ns, 3) = '\0';
		*tp_digits_fixed(text[1], gap.to_ns - gap.from_ns, 3) = '\0';
		tp_buf_addf(slices->out,
		    ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":0,\"name\":\"switched "
		    "off\",\"ts\":%s,\"dur\":%s}",
		    tp_slices_pid(slices), text[0], text[1]);
	}
}

static void add_counters(struct tp_slices *slices)
{
	struct tp_slice_track track;
	for (uint64_t at = 0; tp_slices_next_track(slices, &at, &track);) {
		struct tp_slice_point point;
		for (uint64_t i = 0; tp_slices_next_point(slices, &track, &i, &point);) {
			char time[TP_DIGITS_MAX];
			*tp_digits_fixed(time, point.time_ns, 3) = '\0';
			tp_buf_addf(slices->out, ",\n{\"ph\":\"C\",\"pid\":%u,\"ts\":%s,\"name\":",
			    tp_slices_pid(slices), time);
			tp_json_quote(slices->out, track.meter->name);
			tp_buf_addf(slices->out, ",\"args\":{\"%s\":%" PRIu64 "}}", track.unit,
			    point.value);
		}
	}
}

static void add_mark_event(struct tp_slices *slices, const struct tp_slice_mark *mark,
    const char *kind, uint64_t time, const char *more, uint64_t id)
{
	const bool outside = mark->thread == slices->analysis->thread_count;
	char text[TP_DIGITS_MAX];
	*tp_digits_fixed(text, time, 3) = '\0';
	tp_buf_addf(slices->out, ",\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%s,%s", kind,
	    tp_slices_pid(slices), outside ? tp_slices_pid(slices) : slices->tids[mark->thread],
	    text, more);
	if (mark->phase)
		tp_buf_addf(slices->out, ",\"id\":%" PRIu64, id);
	tp_buf_add_string(slices->out, ",\"name\":");
	tp_json_quote(slices->out, mark->name);
	tp_buf_add_char(slices->out, '}');
}

// Phases are tracks of their own (b and e): on a thread's they would have to nest with its calls.
static void add_marks(struct tp_slices *slices)
{
	struct tp_slice_mark mark;
	for (uint64_t at = 0; tp_slices_next_mark(slices, &at, &mark);) {
		const bool outside = mark.thread == slices->analysis->thread_count;
		if (!mark.phase)
			add_mark_event(slices, &mark, "i", mark.from_ns,
			    outside ? "\"cat\":\"mark\",\"s\":\"p\""
				    : "\"cat\":\"mark\",\"s\":\"t\"",
			    at);
		else
			add_mark_event(slices, &mark, "b", mark.from_ns, "\"cat\":\"phase\"", at);
		if (mark.ends)
			add_mark_event(slices, &mark, "e", mark.to_ns, "\"cat\":\"phase\"", at);
	}
}

static int head(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	struct tp_buf *out = slices->out;
	const struct tp_analysis recorded = tp_view_as_recorded(slices->analysis);
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_text(&json, "displayTimeUnit", "ns");
	tp_json_object(&json, "otherData");
	tp_view_add_json(&json, &recorded);
	tp_json_text(&json, "producer", "teeperf " TEEPERF_VERSION);
	tp_json_end(&json);
	tp_buf_add_string(out, ",\n\"traceEvents\":[\n");
	add_meta(slices, "process_name", tp_slices_pid(slices), "name", tp_slices_process(slices));
	add_gaps(slices);
	add_counters(slices);
	add_marks(slices);
	return 0;
}

static int thread_begin(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	struct state *state = slices->state;
	const uint32_t tid = tp_slices_tid(slices);
	tp_buf_add_string(slices->out, ",\n");
	add_meta(slices, "thread_name", tid, "name", tp_view_thread_name(slices->thread->thread));
	tp_buf_addf(slices->out,
	    ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{"
	    "\"sort_index\":%u}}",
	    tp_slices_pid(slices), tid, slices->thread->thread->number);
	state->numbers_size = (size_t)snprintf(state->numbers, sizeof(state->numbers),
	    "\",\"pid\":%u,\"tid\":%u,\"ts\":", tp_slices_pid(slices), tid);
	return 0;
}

// Begin an event: its kind, whose, and when.
static char *put_event(char *at, const struct state *state, const char *kind, uint64_t time)
{
	at = tp_digits_text(at, ",\n{\"ph\":\"");
	at = tp_digits_text(at, kind);
	memcpy(at, state->numbers, state->numbers_size);
	return tp_digits_fixed(at + state->numbers_size, time, 3);
}

static void begin(struct tp_slices *slices, const struct tp_slice *slice)
{
	const struct state *state = slices->state;
	char event[160];
	char *at = put_event(event, state, "B", slice->time);
	at = tp_digits_text(at, ",\"name\":");
	tp_buf_add(slices->out, event, (size_t)(at - event));
	tp_buf_add_string(slices->out, state->names[slice->function - slices->analysis->functions]);
	tp_buf_add_char(slices->out, '}');
}

static void end(struct tp_slices *slices, const struct tp_slice *slice)
{
	char event[160];
	char *at = put_event(event, slices->state, "E", slice->time);
	*at++ = '}';
	tp_buf_add(slices->out, event, (size_t)(at - event));
}

static void lost(struct tp_slices *slices, uint64_t time, uint64_t count, uint32_t depth)
{
	(void)depth;
	char event[160];
	const char *at = put_event(event, slices->state, "i", time);
	tp_buf_add(slices->out, event, (size_t)(at - event));
	tp_buf_addf(slices->out, ",\"s\":\"t\",\"name\":\"[%" PRIu64 " events lost]\"}", count);
}

static const struct tp_slice_format format = {
    TP_SLICE_FORMAT, .init = init, .lost = lost, .tail = "\n]}\n", .release = release};

const struct tp_export tp_export_chrome = {
    .name = "chrome",
    .summary = "JSON in the Trace Event Format, for chrome://tracing and others",
    .suffix = ".json",
    .slices = &format,
};
