// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report: selects the contents and assembles the page.
#include "report.h"

#include "analyzer/output/text.h"
#include "common/array.h"
#include "common/base64.h"
#include "common/varint.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define THREADS_MAX 256
#define ROWS_MAX 1500000 // of the block "threads"

static int compare_busy(const void *a, const void *b)
{
	const struct tp_thread_result *x = *(const struct tp_thread_result *const *)a;
	const struct tp_thread_result *y = *(const struct tp_thread_result *const *)b;
	if (x->busy != y->busy)
		return x->busy > y->busy ? -1 : 1;
	return x < y ? -1 : x > y;
}

// The busiest threads, in order of their numbers.
static bool choose_threads(struct tp_report *report)
{
	const struct tp_analysis *analysis = report->analysis;
	const struct tp_thread_result **sorted =
	    malloc(((size_t)analysis->thread_count + 1) * sizeof(*sorted));
	report->threads = malloc(((size_t)analysis->thread_count + 1) * sizeof(*report->threads));
	if (sorted && report->threads) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < analysis->thread_count; i++)
			if (analysis->threads[i].profile.node_count > 1)
				sorted[count++] = &analysis->threads[i];
		qsort(sorted, count, sizeof(*sorted), compare_busy);
		report->thread_count = count < THREADS_MAX ? count : THREADS_MAX;
		for (uint32_t i = 0; i < report->thread_count; i++)
			report->threads[i] = (uint32_t)(sorted[i] - analysis->threads);
		qsort(report->threads, report->thread_count, sizeof(*report->threads),
		    tp_compare_u32);
	}
	free(sorted);
	return sorted && report->threads;
}

// ---- blocks

#define ADD_COLUMN(value)                          \
	for (uint32_t i = 1; i < tree->count; i++) \
	tp_varint_add(out, value)

static bool add_paths(struct tp_report *report, struct tp_buf *out)
{
	const struct tp_report_tree *tree = &report->tree;
	const struct tp_report_item *items = tree->items;
	tp_varint_add(out, tree->count - 1);
	ADD_COLUMN(items[i - 1].depth + 1 - items[i].depth);
	ADD_COLUMN(
	    items[i].function == TP_REPORT_SMALLER ? tree->function_count : items[i].function);
	ADD_COLUMN(items[i].recursion);
	ADD_COLUMN(items[i].calls);
	ADD_COLUMN(items[i].self);
	ADD_COLUMN(items[i].min);
	ADD_COLUMN(items[i].max - items[i].min);
	if (report->options->base) {
		ADD_COLUMN(items[i].base_calls);
		ADD_COLUMN(items[i].base_self);
	}
	for (uint32_t j = 0; j < TP_REPORT_TIMES && report->has_times; j++)
		ADD_COLUMN(items[i].times[j]);
	return true;
}

// What a thread has of an item.
struct row {
	uint64_t calls;
	uint64_t self;
	uint64_t times[TP_REPORT_TIMES];
};

static bool is_there(const struct row *row)
{
	return row->calls || row->self;
}

#define ADD_ROWS(value)                      \
	for (uint32_t i = 1; i < items; i++) \
		if (is_there(&rows[i]))      \
	tp_varint_add(out, value)

// What thread number AT has of the items: ROWS has a place for each.
static void add_rows(
    const struct tp_report *report, uint32_t at, struct row *rows, struct tp_buf *out)
{
	const struct tp_analysis *analysis = report->analysis;
	const struct tp_profile *profile = &analysis->threads[at].profile;
	const uint32_t items = report->tree.count;
	memset(rows, 0, items * sizeof(*rows));
	for (uint32_t i = 1; i < profile->node_count; i++) {
		struct row *row = &rows[report->tree.of_path[report->paths.of_node[at][i]]];
		row->calls += profile->nodes[i].calls;
		row->self += tp_timebase_ns(&analysis->time, profile->nodes[i].self);
		if (!profile->parts_of)
			continue;
		const struct tp_node_parts parts = tp_profile_parts(profile, i);
		for (uint32_t j = 0; j < TP_REPORT_TIMES; j++)
			row->times[j] += tp_report_part(analysis, &parts, j);
	}
	uint32_t count = 0;
	for (uint32_t i = 1; i < items; i++)
		count += is_there(&rows[i]);
	tp_varint_add(out, count);
	uint32_t last = 0;
	for (uint32_t i = 1; i < items; i++) {
		if (!is_there(&rows[i]))
			continue;
		tp_varint_add(out, i - last);
		last = i;
	}
	ADD_ROWS(rows[i].calls);
	ADD_ROWS(rows[i].self);
	for (uint32_t j = 0; j < TP_REPORT_TIMES && report->has_times; j++)
		ADD_ROWS(rows[i].times[j]);
}

static bool add_threads(struct tp_report *report, struct tp_buf *out)
{
	struct row *rows = calloc(report->tree.count, sizeof(*rows));
	uint64_t count = 0;
	for (uint32_t i = 0; rows && i < report->thread_count; i++) {
		const uint32_t at = report->threads[i];
		count += report->analysis->threads[at].profile.node_count;
		if (count > ROWS_MAX && i) {
			tp_varint_add(out, 0);
			continue;
		}
		add_rows(report, at, rows, out);
		report->with_rows++;
	}
	const bool ok = rows != NULL;
	free(rows);
	return ok;
}

static bool add_time(struct tp_report *report, struct tp_buf *out)
{
	const struct tp_report_time *time = &report->time;
	const struct tp_timebase *base = &report->analysis->time;
	tp_varint_add(out, time->buckets);
	tp_varint_add(out, time->cells);
	uint32_t call = 0;
	for (uint32_t i = 0; i < time->track_count; i++) {
		const struct tp_report_track *track = &time->tracks[i];
		tp_varint_add(out, track->row_count);
		for (uint32_t row = 0; row < track->row_count; row++) {
			tp_varint_add(out, track->runs[row]);
			tp_buf_add(out, track->rows[row].data, track->rows[row].size);
			out->failed |= track->rows[row].failed;
		}
		tp_buf_add(out, track->cells.data, track->cells.size);
		out->failed |= track->cells.failed;
		const uint32_t first = call;
		while (call < time->call_count && time->calls[call].thread == i)
			call++;
		tp_varint_add(out, call - first);
		uint64_t last = 0;
		for (uint32_t j = first; j < call; j++) {
			const uint64_t start = tp_timebase_ns(base, time->calls[j].start);
			tp_varint_add(out, start - last);
			last = start;
		}
		for (uint32_t j = first; j < call; j++)
			tp_varint_add(out, tp_timebase_ns(base, time->calls[j].duration));
		for (uint32_t j = first; j < call; j++)
			tp_varint_add(out, time->calls[j].item);
	}
	return true;
}

static bool add_begun(struct tp_report *report, struct tp_buf *out)
{
	for (uint32_t i = 0; i < report->time.track_count; i++) {
		const struct tp_buf *begun = &report->time.tracks[i].begun;
		tp_buf_add(out, begun->data, begun->size);
		out->failed |= begun->failed;
	}
	return true;
}

static bool add_heat(struct tp_report *report, struct tp_buf *out)
{
	tp_report_heat_write(&report->heat, out);
	return true;
}

static bool add_slowest(struct tp_report *report, struct tp_buf *out)
{
	tp_report_slowest_write(&report->slowest, &report->time, out);
	return true;
}

// ---- the page

// Whole blocks are deflated (zlib) and in base64, so that nothing in them can be markup. 0 or
// TP_ERR_MEMORY.
static int add_packed(
    struct tp_buf *page, const char *name, const struct tp_buf *data, struct tp_err *err)
{
	uLongf size = compressBound(data->size);
	unsigned char *packed = data->failed ? NULL : malloc(size);
	const bool ok = packed && compress2(packed, &size, (const unsigned char *)data->data,
				      data->size, 6) == Z_OK;
	if (ok) {
		tp_buf_addf(
		    page, "<script type=\"application/octet-stream\" id=\"data-%s\">", name);
		tp_base64_add(page, packed, size);
		tp_buf_add_string(page, "</script>\n");
	}
	free(packed);
	return ok ? 0 : tp_err_memory(err, NULL);
}

static void add_start(const struct tp_report *report, struct tp_buf *out)
{
	tp_text_add_page_start(out, tp_report_script_hash, tp_report_style_hash);
	tp_text_add_xml(out, tp_tracefile_program(report->analysis->trace));
	tp_buf_addf(out, " \xe2\x80\x93 TeePerf</title>\n<style>%s</style>\n</head>\n<body>\n%s",
	    tp_report_style, tp_report_before);
}

static int render(struct tp_report *report, struct tp_buf *out, struct tp_err *err)
{
	const struct tp_analysis *analysis = report->analysis;
	const bool has_time = report->time.buckets != 0;
	const struct {
		const char *name;
		bool (*add)(struct tp_report *report, struct tp_buf *out);
		bool is_there;
		bool may_be_empty; // then it is left out
	} blocks[] = {
	    {"facts", tp_report_add_facts, true, false},
	    {"paths", add_paths, true, false},
	    {"threads", add_threads, true, false},
	    {"time", add_time, has_time, false},
	    {"begun", add_begun, has_time, false},
	    {"heat", add_heat, has_time, false},
	    {"slowest", add_slowest, has_time, false},
	    // Of threads of which is known when they ran.
	    {"waits", tp_report_add_waits, has_time && analysis->with_parts, false},
	    {"lanes", tp_report_add_lanes,
		has_time && analysis->trace->system.has && analysis->time.has_origin, false},
	    {"transitions", tp_report_add_transitions, has_time, true},
	    {"contention", tp_report_add_contention, has_time && analysis->thread_count > 1, true},
	    {"graph", tp_report_add_graph, true, true},
	    {"meters", tp_report_add_meters, has_time && tp_report_has_meters(analysis), false},
	    {"marks", tp_report_add_marks, has_time, true},
	    {"sources", tp_report_add_sources, report->options->source_dir != NULL, false},
	};
	struct tp_buf packed;
	int code = 0;
	tp_buf_init(&packed);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]) && !code; i++) {
		if (!blocks[i].is_there)
			continue;
		struct tp_buf data;
		tp_buf_init(&data);
		const bool ok = blocks[i].add(report, &data);
		if (!ok)
			code = tp_err_memory(err, NULL);
		else if (data.size || data.failed || !blocks[i].may_be_empty)
			code = add_packed(&packed, blocks[i].name, &data, err);
		tp_buf_release(&data);
	}
	// In words it says what the blocks have left out.
	add_start(report, out);
	tp_report_add_overview(report, out);
	tp_buf_add_string(out, tp_report_behind);
	tp_report_add_noscript(report, out);
	tp_buf_add(out, packed.data, packed.size);
	tp_buf_add_string(out, "<script>");
	tp_buf_add_string(out, tp_report_script);
	tp_buf_add_string(out, "</script>\n</body>\n</html>\n");
	out->failed |= packed.failed;
	tp_buf_release(&packed);
	return code;
}

int tp_report_render(const struct tp_analysis *analysis, const struct tp_report_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	static const struct tp_report_limits limits = {
	    .cells = 512, .buckets_per_cell = 8, .runs = 1000000, .pairs = 1000000};
	struct tp_report_limits chosen = limits;
	const struct tp_analysis *base = options->base;
	struct tp_report report = {
	    .analysis = analysis,
	    .options = options,
	    .has_times = !base && !tp_analysis_check_parts(analysis, err),
	};
	chosen.calls = options->calls;
	chosen.watch = &report;
	int code = tp_paths_init(&report.paths, analysis, err);
	if (!code && base)
		code = tp_paths_init(&report.base_paths, base, err);
	if (!code)
		code = tp_report_tree_init(&report.tree, analysis, &report.paths, base,
		    base ? &report.base_paths : NULL, options->paths, err);
	if (!code && !choose_threads(&report))
		code = tp_err_memory(err, NULL);
	if (!code && !analysis->timeless && report.thread_count)
		code = tp_report_time_init(&report.time, analysis, &report.paths, &report.tree,
		    report.threads, report.thread_count, &chosen, err);
	if (!code && report.time.buckets)
		code = tp_report_watch_end(&report, err);
	if (!code)
		code = render(&report, out, err);
	tp_report_slowest_release(&report.slowest);
	tp_report_heat_release(&report.heat);
	tp_report_time_release(&report.time);
	tp_report_tree_release(&report.tree);
	tp_paths_release(&report.base_paths);
	tp_paths_release(&report.paths);
	free(report.threads);
	return code;
}
