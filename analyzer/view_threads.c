// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "threads": one row for each thread.
#include "analyzer/text.h"
#include "analyzer/view.h"

#include <inttypes.h>
#include <stdio.h>

struct row {
	const struct tp_thread *thread;
	uint64_t events;
	uint64_t lost;
	uint64_t calls;
	uint64_t busy;
};

static struct row make_row(const struct tp_thread_result *result)
{
	struct row row = {
	    .thread = result->thread,
	    .events = result->counts.events,
	    .lost = result->thread->lost > result->counts.lost ? result->thread->lost
							       : result->counts.lost,
	    .busy = result->busy,
	};
	for (uint32_t i = 1; i < result->profile.node_count; i++)
		row.calls += result->profile.nodes[i].calls;
	for (uint32_t i = 0; i < result->calls.count; i++)
		row.calls += result->calls.items[i].calls;
	return row;
}

static int render_table(const struct tp_analysis *analysis, const struct tp_view_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	static const char *const titles[] = {"thread", "tid", "events", "lost", "calls"};
	char text[TP_TEXT_NUMBER];
	struct tp_table table;
	if (analysis->timeless)
		tp_table_init(&table, "rrrrrl", 5);
	else
		tp_table_init(&table, "rrrrrrl", 6);
	table.width = options->width;
	table.color = options->color;
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		tp_table_add(&table, titles[i]);
	if (!analysis->timeless)
		tp_table_add(&table, "busy");
	tp_table_add(&table, "name");
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct row row = make_row(&analysis->threads[i]);
		snprintf(text, sizeof(text), "%" PRIu32, row.thread->number);
		tp_table_add(&table, text);
		snprintf(text, sizeof(text), "%" PRIu64, row.thread->os_tid);
		tp_table_add(&table, text);
		tp_table_add(&table, tp_text_count(text, row.events));
		tp_table_add(&table, tp_text_count(text, row.lost));
		tp_table_add(&table, tp_text_count(text, row.calls));
		if (!analysis->timeless)
			tp_table_add(&table, tp_view_time(analysis, text, row.busy));
		tp_table_add(&table, tp_view_thread_name(row.thread));
	}
	const int code = tp_table_choose(&table, options->columns, err);
	if (!code)
		tp_table_render(&table, out);
	tp_table_release(&table);
	return code;
}

static void render_csv(const struct tp_analysis *analysis, struct tp_buf *out)
{
	tp_buf_add_string(out, "thread,tid,name,events,lost,calls,busy_ns\n");
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct row row = make_row(&analysis->threads[i]);
		tp_buf_addf(
		    out, "%" PRIu32 ",%" PRIu64 ",", row.thread->number, row.thread->os_tid);
		tp_text_add_csv(out, row.thread->name);
		tp_buf_addf(
		    out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, row.events, row.lost, row.calls);
		tp_view_add_ns(analysis, true, row.busy, ",", "", out);
		tp_buf_add_char(out, '\n');
	}
}

static void render_json(const struct tp_analysis *analysis, struct tp_buf *out)
{
	tp_buf_add_char(out, '{');
	tp_view_add_json_header(analysis, out);
	tp_buf_add_string(out, "\"threads\":[");
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct row row = make_row(&analysis->threads[i]);
		tp_buf_addf(out,
		    "%s\n{\"thread\":%" PRIu32 ",\"tid\":%" PRIu64 ",\"name\":", i ? "," : "",
		    row.thread->number, row.thread->os_tid);
		tp_text_add_json(out, row.thread->name);
		tp_buf_addf(out, ",\"events\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"calls\":%" PRIu64,
		    row.events, row.lost, row.calls);
		tp_view_add_ns(analysis, true, row.busy, ",\"busy_ns\":", "null", out);
		tp_buf_add_char(out, '}');
	}
	tp_buf_add_string(out, "\n]}\n");
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	switch (options->format) {
	case TP_FORMAT_TABLE:
		return render_table(analysis, options, out, err);
	case TP_FORMAT_CSV:
		render_csv(analysis, out);
		break;
	case TP_FORMAT_JSON:
		render_json(analysis, out);
		break;
	}
	return 0;
}

const struct tp_view tp_view_threads = {
    .name = "threads",
    .summary = "one row for each thread",
    .render = render,
};
