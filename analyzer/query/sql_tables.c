// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of tables, the views that go with them, and the help about both.
#include "analyzer/query/query.h"
#include "analyzer/query/sql.h"

#include <string.h>

static const char *const by_thread[] = {"thread, start_ns", "fn", NULL};
static const char *const by_name[] = {"function", NULL};
static const char *const by_fn[] = {"fn", NULL};
static const char *const by_path[] = {"path, thread", NULL};
static const char *const of_calls[] = {"fn, start_ns", "thread, start_ns", NULL};

const struct tp_sql_table tp_sql_tables[] = {
    {&tp_relation_allocations, .indexes = by_thread, .prepare = tp_trace_data_system},
    {&tp_relation_calls, .indexes = of_calls, .module = &tp_sql_calls_module},
    {.relation = &tp_relation_counter_readings},
    {.relation = &tp_relation_counters},
    {.relation = &tp_relation_energy},
    {.relation = &tp_relation_energy_readings},
    {&tp_relation_events, .module = &tp_sql_events_module},
    {&tp_relation_faults, .indexes = by_thread, .prepare = tp_trace_data_system},
    {&tp_relation_functions, .indexes = by_name},
    {&tp_relation_io, .indexes = by_thread, .prepare = tp_trace_data_system},
    {&tp_relation_latencies, .prepare = tp_trace_data_percentiles},
    {&tp_relation_marks, .prepare = tp_trace_data_marks},
    {.relation = &tp_relation_meta},
    {.relation = &tp_relation_modules},
    {&tp_relation_paths, .indexes = by_fn},
    {&tp_relation_sgx, .indexes = by_thread, .prepare = tp_trace_data_system},
    {&tp_relation_syscalls, .indexes = by_thread, .prepare = tp_trace_data_system},
    {&tp_relation_thread_paths, .indexes = by_path},
    {.relation = &tp_relation_threads},
    {&tp_relation_waits, .indexes = by_thread, .prepare = tp_trace_data_system},
    {0},
};

const struct tp_sql_view tp_sql_views[] = {
    {"slice", "calls with Perfetto's names",
	"SELECT c.id AS id, c.start_ns AS ts, c.duration_ns AS dur, c.thread AS track_id, "
	"'call' AS category, f.function AS name, c.depth - 1 AS depth, c.parent AS parent_id, "
	"c.self_raw_ns AS self_dur "
	"FROM calls c JOIN functions f ON f.fn = c.fn"},
    {"thread_track", "threads with Perfetto's names",
	"SELECT thread AS id, thread AS utid, tid, name FROM threads"},
    {"perf_calls", "calls with the names of perf's database (export-to-sqlite)",
	"SELECT c.id AS id, c.thread AS thread_id, c.path AS call_path_id, c.start_ns AS "
	"call_time, "
	"c.end_ns AS return_time, coalesce(c.parent, 0) AS parent_id, p.parent AS "
	"parent_call_path_id, "
	"(c.how <> 'returned') * 2 AS flags FROM calls c JOIN paths p ON p.path = c.path"},
    {"perf_call_paths", "paths with the names of perf's database",
	"SELECT p.path AS id, p.parent AS parent_id, p.fn AS symbol_id, f.address AS ip "
	"FROM paths p LEFT JOIN functions f ON f.fn = p.fn"},
    {0},
};

// HELP from column COLUMN on, broken at blanks.
static void add_wrapped(struct tp_buf *out, const char *help, int column)
{
	const int width = 100;
	int at = column;
	while (*help) {
		const int length = (int)strcspn(help, " ");
		if (at > column && at + length > width) {
			tp_buf_addf(out, "\n%*s", column, "");
			at = column;
		}
		tp_buf_addf(out, "%.*s", length, help);
		at += length + 1;
		help += length;
		if (*help) {
			help++;
			if (at + (int)strcspn(help, " ") <= width)
				tp_buf_add_char(out, ' ');
		}
	}
	tp_buf_add_char(out, '\n');
}

static void describe_table(const struct tp_relation *relation, struct tp_buf *out)
{
	uint8_t list[TP_RELATION_COLUMNS];
	const uint32_t count = tp_relation_list(relation, TP_FORM_SQL, list);
	tp_buf_addf(out, "%s: %s\n", relation->name, relation->summary);
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_relation_column *column = &relation->columns[i];
		tp_buf_addf(out, "  %-19s %-8s ", column->key, tp_sql_type(column));
		add_wrapped(out, column->help, 31);
	}
	const char *before = "  old names, for one release: ";
	for (uint32_t i = 0; i < relation->count; i++)
		for (int j = 0; j < 2 && relation->columns[i].old[j]; j++) {
			tp_buf_addf(out, "%s%s = %s", before, relation->columns[i].old[j],
			    relation->columns[i].key);
			before = ", ";
		}
	if (*before == ',')
		tp_buf_add_char(out, '\n');
}

bool tp_query_describe(const char *name, struct tp_buf *out)
{
	bool found = false;
	for (int i = 0; tp_sql_tables[i].relation; i++) {
		const struct tp_relation *relation = tp_sql_tables[i].relation;
		if (name && sqlite3_stricmp(name, relation->name) != 0)
			continue;
		if (found)
			tp_buf_add_char(out, '\n');
		describe_table(relation, out);
		found = true;
	}
	if (!name)
		tp_buf_add_string(out, "\nviews:\n");
	for (int i = 0; tp_sql_views[i].name; i++) {
		if (name && sqlite3_stricmp(name, tp_sql_views[i].name) != 0)
			continue;
		tp_buf_addf(out, "%s%s: %s\n", name ? "" : "  ", tp_sql_views[i].name,
		    tp_sql_views[i].summary);
		if (name)
			tp_buf_addf(out, "  %s\n", tp_sql_views[i].sql);
		found = true;
	}
	if (!name)
		tp_buf_add_string(out,
		    "\nfunctions, in addition to SQLite's:\n"
		    "  pctl(x, p)      aggregate: "
		    "the value that a share p of all x do not exceed, by "
		    "nearest rank\n"
		    "  ns(ticks)       ticks of the first trace's clock as nanoseconds\n"
		    "  human(ns)       a time with a unit: 12.35 ms\n\n"
		    "Times are nanoseconds (ticks if the clock's rate is unknown, NULL without a "
		    "clock). duration_ns and\n"
		    "self_raw_ns of calls and times of events are as recorded; inclusive_ns and "
		    "self_ns of calls, and the\n"
		    "times of all other tables, are without the cost of recording, unless --raw "
		    "is given. * leaves out\n"
		    "columns with names in _ticks.\n");
	return found;
}
