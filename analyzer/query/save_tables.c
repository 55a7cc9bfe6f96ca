// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables that are no trace's in an SQLite database.
#include "query.h"

#include "common/out_file.h"

#include <sqlite3.h>
#include <unistd.h>

static const char *const type_names[] = {
    [TP_PLAIN_TEXT] = "TEXT",
    [TP_PLAIN_INTEGER] = "INTEGER",
    [TP_PLAIN_REAL] = "REAL",
};

static int bind(
    sqlite3_stmt *statement, int at, enum tp_plain_type type, const struct tp_plain_value *value)
{
	if (!value->known)
		return sqlite3_bind_null(statement, at);
	if (type == TP_PLAIN_TEXT)
		return sqlite3_bind_text(statement, at, value->text, -1, SQLITE_STATIC);
	return type == TP_PLAIN_INTEGER
		   ? sqlite3_bind_int64(statement, at, (sqlite3_int64)value->number)
		   : sqlite3_bind_double(statement, at, value->number);
}

static int insert(sqlite3 *db, const struct tp_plain_table *table, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
	const struct tp_plain_value *value = table->values;
	for (uint64_t row = 0; !code && row < table->row_count; row++) {
		for (uint32_t i = 0; !code && i < table->column_count; i++, value++)
			code = bind(statement, (int)i + 1, table->columns[i].type, value);
		if (!code && sqlite3_step(statement) != SQLITE_DONE)
			code = sqlite3_errcode(db);
		if (!code)
			code = sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	return code;
}

static int save(sqlite3 *db, const struct tp_plain_table *table)
{
	sqlite3_str *create = sqlite3_str_new(db);
	sqlite3_str *add = sqlite3_str_new(db);
	sqlite3_str_appendf(create, "CREATE TABLE \"%w\"(", table->name);
	sqlite3_str_appendf(add, "INSERT INTO \"%w\" VALUES(", table->name);
	for (uint32_t i = 0; i < table->column_count; i++) {
		const struct tp_plain_column *column = &table->columns[i];
		sqlite3_str_appendf(
		    create, "%s\"%w\" %s", i ? ", " : "", column->name, type_names[column->type]);
		sqlite3_str_appendf(add, "%s?", i ? ", " : "");
	}
	sqlite3_str_appendall(create, ")");
	sqlite3_str_appendall(add, ")");
	char *create_sql = sqlite3_str_finish(create);
	char *add_sql = sqlite3_str_finish(add);
	int code =
	    create_sql && add_sql ? sqlite3_exec(db, create_sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	if (!code)
		code = insert(db, table, add_sql);
	sqlite3_free(create_sql);
	sqlite3_free(add_sql);
	return code;
}

static int save_all(const struct tp_plain_table *tables, uint32_t count, const char *file,
    const char *path, struct tp_err *err)
{
	sqlite3 *db = NULL;
	int code = sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (!code)
		code = sqlite3_exec(db,
		    "PRAGMA journal_mode = off; PRAGMA synchronous = off; BEGIN", NULL, NULL, NULL);
	for (uint32_t i = 0; !code && i < count; i++)
		code = save(db, &tables[i]);
	if (!code)
		code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (code)
		code = tp_err_set(err, code == SQLITE_NOMEM ? TP_ERR_MEMORY : TP_ERR_SYSTEM, path,
		    "cannot write: SQLite: %s", db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
	sqlite3_close(db);
	return code;
}

int tp_query_save(
    const struct tp_plain_table *tables, uint32_t count, const char *path, struct tp_err *err)
{
	struct tp_replace replace;
	struct tp_err end_err;
	int fd;
	int code = tp_replace_begin(&replace, path, &fd, err);
	if (code)
		return code;
	close(fd);
	code = save_all(tables, count, replace.temporary, path, err);
	const int ended = tp_replace_end(&replace, !code, &end_err);
	if (!code && ended)
		*err = end_err;
	return code ? code : ended;
}
