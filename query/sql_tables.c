// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of tables, the views that go with them, and the help about both.
#include "query/query.h"
#include "query/sql_views.h"

#include "query/sql_table.h"

#include <string.h>

#define TP_SQL_TABLE(table) extern const struct tp_sql_table table;
#include "sql_tables.inc"
#undef TP_SQL_TABLE

const struct tp_sql_table *const tp_sql_tables[] = {
#define TP_SQL_TABLE(table) &table,
#include "sql_tables.inc"
#undef TP_SQL_TABLE
    NULL,
};

const struct tp_sql_view tp_sql_views[] = {
    {"slice", "calls with Perfetto's names",
	"SELECT c.id AS id, c.t0 AS ts, c.dur AS dur, c.tid AS track_id, 'call' AS category, "
	"f.name AS name, c.depth - 1 AS depth, c.parent AS parent_id, c.self_raw AS self_dur "
	"FROM calls c JOIN functions f ON f.fn = c.fn"},
    {"thread_track", "threads with Perfetto's names",
	"SELECT tid AS id, tid AS utid, os_tid AS tid, name FROM threads"},
    {"perf_calls", "calls with the names of perf's database (export-to-sqlite)",
	"SELECT c.id AS id, c.tid AS thread_id, c.path AS call_path_id, c.t0 AS call_time, "
	"c.t1 AS return_time, coalesce(c.parent, 0) AS parent_id, p.parent AS parent_call_path_id, "
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

static void describe_table(const struct tp_sql_table *table, struct tp_buf *out)
{
	tp_buf_addf(out, "%s: %s\n", table->name, table->summary);
	for (int i = 0; table->columns[i].name; i++) {
		const struct tp_column *column = &table->columns[i];
		tp_buf_addf(out, "  %-15s %-8s ", column->name, column->type);
		add_wrapped(out, column->help, 27);
	}
}

bool tp_query_describe(const char *name, struct tp_buf *out)
{
	bool found = false;
	for (int i = 0; tp_sql_tables[i]; i++) {
		if (name && sqlite3_stricmp(name, tp_sql_tables[i]->name) != 0)
			continue;
		if (found)
			tp_buf_add_char(out, '\n');
		describe_table(tp_sql_tables[i], out);
		found = true;
	}
	if (!name)
		tp_buf_add_string(out, "\nviews, and what they are:\n");
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
		    "\nfunctions, beside those of SQLite:\n"
		    "  pctl(x, p)      aggregate: the value that a part p of all x do not exceed, by "
		    "nearest rank\n"
		    "  ns(ticks)       ticks of the first trace's clock as nanoseconds\n"
		    "  human(ns)       a time with a unit: 12.35 ms\n"
		    "\n"
		    "Times are nanoseconds (ticks if the rate of the clock is not known, NULL without a "
		    "clock). Those of\ncalls and events are as recorded; those of functions, paths, "
		    "thread_paths, threads and latencies are\nwithout what recording has cost, unless "
		    "--raw. Columns whose names end in _ticks are left out of *.\n");
	return found;
}
