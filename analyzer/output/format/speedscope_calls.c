// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The export "speedscope" with single calls: evented profiles in speedscope's file format, one for each thread.
 * https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts
 */
#include "speedscope_calls.h"

#include "analyzer/output/format/digits.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <teeperf/version.h>

struct state {
	uint64_t last_ns;
	bool any; // events in the current profile
};

static void add_frames(const struct tp_analysis *analysis, struct tp_buf *out)
{
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_symbol *symbol = &analysis->functions[i].symbol;
		tp_buf_add_string(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		tp_json_quote(out, symbol->name);
		if (symbol->file[0]) {
			tp_buf_add_string(out, ",\"file\":");
			tp_json_quote(out, symbol->file);
			tp_buf_addf(out, ",\"line\":%" PRIu64, symbol->line);
		}
		tp_buf_add_char(out, '}');
	}
}

static int head(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	struct tp_buf *out = slices->out;
	tp_buf_add_string(
	    out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":");
	tp_json_quote(out, tp_slices_process(slices));
	tp_buf_add_string(
	    out, ",\"exporter\":\"teeperf " TEEPERF_VERSION "\",\n\"shared\":{\"frames\":[");
	add_frames(slices->analysis, out);
	tp_buf_add_string(out, "]},\n\"profiles\":[");
	return 0;
}

static int thread_begin(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	struct state *state = slices->state;
	struct tp_buf *out = slices->out;
	struct tp_buf name;
	tp_buf_init(&name);
	tp_buf_addf(&name, "%s %u", tp_view_thread_name(slices->thread->thread),
	    slices->thread->thread->number);
	if (slices->thread->counts.lost)
		tp_buf_addf(&name, " [%" PRIu64 " events lost]", slices->thread->counts.lost);
	tp_buf_add_string(out, slices->first ? "\n{\"type\":\"evented\",\"name\":"
					     : ",\n{\"type\":\"evented\",\"name\":");
	tp_json_quote(out, name.data);
	tp_buf_addf(out, ",\"unit\":\"%s\",\"startValue\":%" PRIu64 ",\"events\":[",
	    slices->analysis->time.known ? "nanoseconds" : "none", slices->from_ns);
	out->failed = out->failed || name.failed;
	tp_buf_release(&name);
	state->last_ns = slices->from_ns;
	state->any = false;
	return 0;
}

static void add_event(struct tp_slices *slices, const struct tp_slice *slice, const char *type)
{
	struct state *state = slices->state;
	char event[128];
	char *at = tp_digits_text(event, state->any ? ",\n{\"type\":\"" : "\n{\"type\":\"");
	at = tp_digits_text(at, type);
	at = tp_digits_text(at, "\",\"frame\":");
	at = tp_digits(at, (uint64_t)(slice->function - slices->analysis->functions));
	at = tp_digits_text(at, ",\"at\":");
	at = tp_digits(at, slice->time);
	*at++ = '}';
	tp_buf_add(slices->out, event, (size_t)(at - event));
	state->any = true;
	state->last_ns = slice->time;
}

static void begin(struct tp_slices *slices, const struct tp_slice *slice)
{
	add_event(slices, slice, "O");
}

static void end(struct tp_slices *slices, const struct tp_slice *slice)
{
	add_event(slices, slice, "C");
}

static int thread_end(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	const struct state *state = slices->state;
	tp_buf_addf(slices->out, "],\"endValue\":%" PRIu64 "}", state->last_ns);
	return 0;
}

static int tail(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	tp_buf_add_string(slices->out, "]}\n");
	return 0;
}

const struct tp_slice_format tp_speedscope_calls = {
    TP_SLICE_FORMAT, .thread_end = thread_end, .tail = tail};
