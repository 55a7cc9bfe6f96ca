// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "threads": one row for each thread.
#include "analyzer/grid.h"

struct row {
	const struct tp_thread *thread;
	uint64_t events;
	uint64_t lost;
	uint64_t calls;
	uint64_t busy;
	uint64_t missing;
};

static struct row make_row(const struct tp_thread_result *result)
{
	return (struct row){
	    .thread = result->thread,
	    .events = result->counts.events,
	    .lost = result->thread->lost > result->counts.lost ? result->thread->lost
							       : result->counts.lost,
	    .calls = result->call_count,
	    .busy = result->busy,
	    .missing = result->thread->unwritten.events,
	};
}

static void add_row(struct tp_grid *grid, const struct row *row)
{
	tp_grid_number(grid, row->thread->number);
	tp_grid_number(grid, row->thread->os_tid);
	tp_grid_text(grid, row->thread->name);
	tp_grid_count(grid, row->events);
	tp_grid_count(grid, row->lost);
	tp_grid_count(grid, row->calls);
	tp_grid_time(grid, true, row->busy);
	tp_grid_duration(grid, row->thread->has_cpu, row->thread->cpu_ns);
	tp_grid_duration(grid, row->thread->has_delay, row->thread->delay_ns);
	tp_grid_text(grid, tp_view_thread_name(row->thread));
	tp_grid_count(grid, row->missing);
}

static bool has_cpu(const struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		if (analysis->threads[i].thread->has_cpu)
			return true;
	return false;
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	// Of processor time, tables have nothing where nothing is known.
	const bool cpu = has_cpu(analysis);
	const struct tp_column columns[] = {
	    {"thread", "thread", 'r', 0, false, false},
	    {"tid", "tid", 'r', 0, false, false},
	    {NULL, "name", 'l', 0, false, false},
	    {"events", "events", 'r', 0, false, false},
	    {"lost", "lost", 'r', 0, false, false},
	    {"calls", "calls", 'r', 0, false, false},
	    {"busy", "busy_ns", 'r', 0, true, false},
	    {cpu ? "cpu" : NULL, "cpu_ns", 'r', 1, false, false},
	    {cpu ? "delay" : NULL, "delay_ns", 'r', 2, false, false},
	    {"name", NULL, 'l', 0, false, true},
	    {NULL, "missing", 'r', 0, false, false},
	};
	struct tp_grid grid;
	tp_grid_init(&grid, analysis, options, columns, sizeof(columns) / sizeof(columns[0]),
	    "threads", out);
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct row row = make_row(&analysis->threads[i]);
		if (tp_grid_full(&grid))
			grid.more++;
		else
			add_row(&grid, &row);
	}
	return tp_grid_end(&grid, err);
}

const struct tp_view tp_view_threads = {
    .name = "threads",
    .summary = "one row for each thread",
    .render = render,
};
