// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "speedscope": its own format,
// https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts, one sampled profile
// for each thread with one sample for each path; or with single calls, an evented one for each.
#include "analyzer/output/completeness.h"
#include "analyzer/output/format/digits.h"
#include "analyzer/output/format/path_sums.h"
#include "analyzer/output/format/slices.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>

// ZERO: a line that is not known is written, too.
static void add_frames(const struct tp_analysis *analysis, bool zero, struct tp_buf *out)
{
	tp_buf_add_string(out, "\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_symbol *symbol = &analysis->functions[i].symbol;
		tp_buf_add_string(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		tp_json_quote(out, symbol->name);
		if (symbol->file[0]) {
			tp_buf_add_string(out, ",\"file\":");
			tp_json_quote(out, symbol->file);
		}
		if (symbol->file[0] && (symbol->line || zero))
			tp_buf_addf(out, ",\"line\":%" PRIu64, symbol->line);
		tp_buf_add_char(out, '}');
	}
}

// ---- sums

// The path that was written last: "[1,2,3", and where each of its functions ends. Paths come in the
// order of the tree, so the next one begins with a part of it.
struct path_text {
	struct tp_buf text;
	size_t *ends; // by depth
};

static void add_stack(struct path_text *path, const struct tp_path *at, struct tp_buf *out)
{
	path->text.size = path->ends[at->depth - 1];
	tp_buf_addf(&path->text, at->depth > 1 ? ",%" PRIu32 : "[%" PRIu32, at->function);
	path->ends[at->depth] = path->text.size;
	if (out) {
		tp_buf_add(out, path->text.data, path->text.size);
		tp_buf_add_char(out, ']');
	}
}

// ROWS: those of the thread, COUNT of them, in the order of the tree, so that equal callers are
// side by side.
static void add_profile(const struct tp_path_sums *sums, const struct tp_thread *thread,
    const char *unit, const uint32_t *rows, uint32_t count, struct path_text *path,
    struct tp_buf *out)
{
	uint64_t total = 0;
	struct tp_buf name;
	tp_buf_init(&name);
	tp_buf_addf(&name, "%s %" PRIu32, tp_view_thread_name(thread), thread->number);
	if (thread->os_tid)
		tp_buf_addf(&name, " (tid %" PRIu64 ")", thread->os_tid);
	for (uint32_t i = 0; i < count; i++)
		total += sums->self[rows[i]];
	tp_buf_add_string(out, "{\"type\":\"sampled\",\"name\":");
	tp_json_quote(out, name.data);
	tp_buf_addf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
	    unit, total);
	bool first = true;
	for (uint32_t i = 0; i < count && !out->failed; i++) {
		const bool shown = sums->self[rows[i]] != 0;
		if (shown)
			tp_buf_add_string(out, first ? "\n" : ",\n");
		add_stack(
		    path, &sums->paths.items[sums->paths.rows[rows[i]].path], shown ? out : NULL);
		first = first && !shown;
	}
	tp_buf_add_string(out, "],\"weights\":[");
	first = true;
	for (uint32_t i = 0; i < count && !out->failed; i++) {
		if (!sums->self[rows[i]])
			continue;
		tp_buf_addf(out, first ? "%" PRIu64 : ",%" PRIu64, sums->self[rows[i]]);
		first = false;
	}
	tp_buf_add_string(out, "]}");
	if (name.failed)
		out->failed = true;
	tp_buf_release(&name);
}

// Rows by thread, and in their order; those of thread T end at ENDS[T].
static void sort_rows(const struct tp_path_sums *sums, const struct tp_analysis *analysis,
    uint32_t *rows, uint32_t *ends)
{
	for (uint32_t i = 0; i < sums->paths.row_count; i++)
		ends[sums->paths.rows[i].thread]++;
	uint32_t before = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const uint32_t count = ends[i];
		ends[i] = before;
		before += count;
	}
	for (uint32_t i = 0; i < sums->paths.row_count; i++)
		rows[ends[sums->paths.rows[i].thread]++] = i;
}

static void add_file(const struct tp_analysis *analysis, const struct tp_path_sums *sums,
    enum tp_weight weight, const uint32_t *rows, const uint32_t *ends, struct path_text *path,
    struct tp_buf *out)
{
	const char *unit =
	    weight == TP_WEIGHT_CALLS || !analysis->time.known ? "none" : "nanoseconds";
	tp_buf_add_string(out,
	    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":"
	    "\"TeePerf " TEEPERF_VERSION "\",\"name\":");
	struct tp_buf name;
	tp_buf_init(&name);
	tp_buf_addf(&name, "%s: %s", tp_tracefile_program(analysis->trace),
	    weight == TP_WEIGHT_CALLS        ? "calls"
	    : !analysis->time.known          ? "ticks of the clock"
	    : analysis->compensation.applied ? "times without the cost of recording"
					     : "times as recorded");
	if (analysis->lost)
		tp_buf_addf(&name, ", %" PRIu64 " events lost", analysis->lost);
	if (tp_analysis_lacks(analysis)) {
		tp_buf_add_string(&name, ", ");
		tp_completeness_add_text(analysis, &name);
	}
	tp_json_quote(out, name.data);
	if (name.failed)
		out->failed = true;
	tp_buf_release(&name);
	tp_buf_add_string(out, ",\"activeProfileIndex\":0,\n");
	add_frames(analysis, false, out);
	tp_buf_add_string(out, "\n]},\n\"profiles\":[");
	uint32_t first = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		tp_buf_add_string(out, i ? ",\n" : "\n");
		add_profile(sums, analysis->threads[i].thread, unit, rows + first, ends[i] - first,
		    path, out);
		first = ends[i];
	}
	tp_buf_add_string(out, "\n]}\n");
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_path_sums sums;
	uint32_t *rows = NULL;
	uint32_t *ends = NULL;
	struct path_text path = {0};
	tp_buf_init(&path.text);
	int code = tp_path_sums_init(&sums, analysis, options->weight, err);
	if (!code)
		code = tp_path_sums_check(&sums, analysis, err);
	if (code)
		goto out;
	rows = calloc((size_t)sums.paths.row_count + 1, sizeof(*rows));
	ends = calloc((size_t)analysis->thread_count + 1, sizeof(*ends));
	path.ends = calloc((size_t)sums.deepest + 1, sizeof(*path.ends));
	if (rows && ends && path.ends) {
		sort_rows(&sums, analysis, rows, ends);
		add_file(analysis, &sums, options->weight, rows, ends, &path, out);
		out->failed = out->failed || path.text.failed;
	} else {
		code = tp_err_memory(err, analysis->trace->source.name);
	}
out:
	tp_path_sums_release(&sums);
	free(rows);
	free(ends);
	tp_buf_release(&path.text);
	free(path.ends);
	return code;
}

// ---- single calls

struct state {
	uint64_t last_ns;
	bool any; // events in the current profile
};

static int head(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	struct tp_buf *out = slices->out;
	tp_buf_add_string(
	    out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":");
	tp_json_quote(out, tp_slices_process(slices));
	tp_buf_add_string(out, ",\"exporter\":\"teeperf " TEEPERF_VERSION "\",\n");
	add_frames(slices->analysis, true, out);
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

static const struct tp_slice_format calls_format = {
    TP_SLICE_FORMAT, .thread_end = thread_end, .tail = "]}\n"};

static const struct tp_export calls = {
    .name = "speedscope",
    .suffix = ".speedscope.json",
    .slices = &calls_format,
};

const struct tp_export tp_export_speedscope = {
    .name = "speedscope",
    .summary = "call paths with their self time for speedscope, or with --calls single calls",
    .suffix = ".speedscope.json",
    .render = render,
    .calls = &calls,
};
