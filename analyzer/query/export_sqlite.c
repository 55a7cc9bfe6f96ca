// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "sqlite": the tables of SQL in a database file, with the indexes that pay.
#include "analyzer/output/format/export.h"
#include "common/out_file.h"
#include "analyzer/query/sql.h"
#include "analyzer/query/query.h"

#include <unistd.h>

// Records are in the trace, and twice as many as calls.
static bool is_saved(const struct tp_relation *relation)
{
	return relation != &tp_relation_events;
}

// "a, b" of the columns, with types or not; the first is the key if values of it are there once.
static char *list_columns(const struct tp_relation *relation, bool types)
{
	uint8_t list[TP_RELATION_COLUMNS];
	sqlite3_str *text = sqlite3_str_new(NULL);
	const bool key = relation->unique || relation == &tp_relation_calls;
	const uint32_t count = tp_relation_list(relation, TP_FORM_SQL, list);
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_relation_column *column = &relation->columns[i];
		if (column->hidden)
			continue;
		sqlite3_str_appendf(text, "%s\"%w\"", i ? ", " : "", column->key);
		if (types)
			sqlite3_str_appendf(
			    text, " %s%s", tp_sql_type(column), !i && key ? " PRIMARY KEY" : "");
	}
	return sqlite3_str_finish(text);
}

static int save_table(struct tp_query *query, const struct tp_sql_table *table)
{
	const char *name = table->relation->name;
	char *typed = list_columns(table->relation, true);
	char *plain = list_columns(table->relation, false);
	int code = typed && plain ? SQLITE_OK : SQLITE_NOMEM;
	if (!code)
		code = tp_sql_run(query, "CREATE TABLE saved.%s(%s)", name, typed);
	if (!code)
		code = tp_sql_run(
		    query, "INSERT INTO saved.%s SELECT %s FROM main.%s", name, plain, name);
	for (int i = 0; !code && table->indexes && table->indexes[i]; i++)
		code = tp_sql_run(
		    query, "CREATE INDEX saved.%s_%d ON %s(%s)", name, i, name, table->indexes[i]);
	sqlite3_free(typed);
	sqlite3_free(plain);
	return code;
}

static int save_all(struct tp_query *query, const char *path)
{
	// Not a URI, nor a name that SQLite takes for something else than a file.
	int code = tp_sql_run(query, "ATTACH '%q%q' AS saved", *path == '/' ? "" : "./", path);
	if (!code)
		code = tp_sql_run(query, "PRAGMA saved.journal_mode = off; "
					 "PRAGMA saved.synchronous = off; BEGIN");
	for (int i = 0; !code && tp_sql_tables[i].relation; i++)
		if (is_saved(tp_sql_tables[i].relation))
			code = save_table(query, &tp_sql_tables[i]);
	for (int i = 0; !code && tp_sql_views[i].name; i++)
		code = tp_sql_run(
		    query, "CREATE VIEW saved.%s AS %s", tp_sql_views[i].name, tp_sql_views[i].sql);
	if (!code)
		code = tp_sql_run(query, "COMMIT; ANALYZE saved; DETACH saved");
	return code;
}

static int write_to(
    const struct tp_analysis *analysis, const char *file, const char *path, struct tp_err *err)
{
	struct tp_query *query;
	const struct tp_query_options query_options = {0};
	int code = tp_query_open(&query, &query_options, err);
	if (!code)
		code = tp_query_add(query, NULL, analysis, err);
	if (!code) {
		query->locked = false;
		// A virtual table of ours and a file in one statement: no sandbox is needed for our
		// own SQL.
		const int failed = save_all(query, file);
		if (failed)
			code =
			    tp_err_set(err, failed == SQLITE_NOMEM ? TP_ERR_MEMORY : TP_ERR_SYSTEM,
				path, "cannot write: SQLite: %s", sqlite3_errmsg(query->db));
	}
	tp_query_close(query);
	return code;
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    const char *path, struct tp_err *err)
{
	struct tp_replace replace;
	struct tp_err end_err;
	int fd;
	(void)options;
	int code = tp_replace_begin(&replace, path, &fd, err);
	if (code)
		return code;
	close(fd);
	code = write_to(analysis, replace.temporary, path, err);
	const int ended = tp_replace_end(&replace, !code, &end_err);
	if (!code && ended)
		*err = end_err;
	return code ? code : ended;
}

const struct tp_export tp_export_sqlite = {
    .name = "sqlite",
    .summary = "the SQL tables except events, as an SQLite database with indexes",
    .suffix = ".sqlite",
    .tables = true,
    .render_file = render,
};
