// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SQL over analysed traces: the connection, what it refuses, and running statements.
#include "query.h"

#include "analyzer/query/sql.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_STEPS 4096
#define SQL_MAX (1 << 20)
#define VALUE_MAX (64 << 20)

// ---- what a user's SQL may do: read

static bool is_harmless_pragma(const char *name)
{
	static const char *const harmless[] = {"table_info", "table_xinfo", "table_list",
	    "database_list", "function_list", "compile_options", NULL};
	for (int i = 0; name && harmless[i]; i++)
		if (sqlite3_stricmp(name, harmless[i]) == 0)
			return true;
	return false;
}

// The functions of SQLite that only compute, of all its versions, and ours: SQL may be somebody
// else's, and what distributions add may write memory, as fts3_tokenizer() does. By name.
static bool is_harmless_function(const char *name)
{
	static const char *const harmless[] = {"->", "->>", "abs", "acos", "acosh", "asin", "asinh",
	    "atan", "atan2", "atanh", "avg", "ceil", "ceiling", "changes", "char", "coalesce",
	    "concat", "concat_ws", "cos", "cosh", "count", "cume_dist", "current_date",
	    "current_time", "current_timestamp", "date", "datetime", "degrees", "dense_rank", "exp",
	    "first_value", "floor", "format", "glob", "group_concat", "hex", "human", "if",
	    "ifnull", "iif", "instr", "json", "json_array", "json_array_insert",
	    "json_array_length", "json_error_position", "json_extract", "json_group_array",
	    "json_group_object", "json_insert", "json_object", "json_patch", "json_pretty",
	    "json_quote", "json_remove", "json_replace", "json_set", "json_type", "json_valid",
	    "julianday", "lag", "last_insert_rowid", "last_value", "lead", "length", "like",
	    "likelihood", "likely", "ln", "log", "log10", "log2", "lower", "ltrim", "max", "median",
	    "min", "mod", "ns", "nth_value", "ntile", "nullif", "octet_length", "pctl",
	    "percent_rank", "percentile", "percentile_cont", "percentile_disc", "pi", "pow",
	    "power", "printf", "quote", "radians", "random", "randomblob", "rank", "replace",
	    "round", "row_number", "rtrim", "sign", "sin", "sinh", "soundex",
	    "sqlite_compileoption_get", "sqlite_compileoption_used", "sqlite_source_id",
	    "sqlite_version", "sqrt", "strftime", "string_agg", "substr", "substring", "subtype",
	    "sum", "tan", "tanh", "time", "timediff", "total", "total_changes", "trim", "trunc",
	    "typeof", "unhex", "unicode", "unistr", "unistr_quote", "unixepoch", "unlikely",
	    "upper", "zeroblob", NULL};
	for (int i = 0; name && harmless[i]; i++)
		if (sqlite3_stricmp(name, harmless[i]) == 0)
			return true;
	return false;
}

// Whether FIRST is SQLite's own table of the schema.
static bool is_schema_table(const char *first)
{
	return first && (sqlite3_stricmp(first, "sqlite_master") == 0 ||
			    sqlite3_stricmp(first, "sqlite_temp_master") == 0);
}

// Statements that write have been refused before (see refuse_writing()); the rest may be hidden in
// others.
static void deny(struct tp_query *query, int action, const char *first, const char *second)
{
	if (query->denied[0])
		return;
	if (action == SQLITE_PRAGMA)
		snprintf(query->denied, sizeof(query->denied),
		    "traces are read-only: PRAGMA %.60s is not possible", first ? first : "");
	else if (action == SQLITE_FUNCTION)
		snprintf(query->denied, sizeof(query->denied),
		    "traces are read-only: %.60s() is not possible", second ? second : "");
	else
		snprintf(query->denied, sizeof(query->denied),
		    "traces are read-only: this statement is not possible");
}

static bool is_in_having(const struct tp_query *query, const char *name)
{
	uint32_t i = 0;
	while (i < query->having_count && sqlite3_stricmp(query->having[i], name))
		i++;
	return i < query->having_count;
}

// Whether COLUMN of TABLE has times as recorded, where other columns of durations have them without
// the cost of that.
static bool is_recorded(const char *table, const char *column)
{
	static const char *const durations[] = {"duration_ns", "dur", "self_raw_ns", "self_raw",
	    "self", "duration_ticks", "dur_ticks", "self_raw_ticks", "self_ticks", NULL};
	if (sqlite3_stricmp(table, "events") == 0)
		return sqlite3_stricmp(column, "time_ns") == 0 || sqlite3_stricmp(column, "t") == 0;
	for (int i = 0; sqlite3_stricmp(table, "calls") == 0 && durations[i]; i++)
		if (sqlite3_stricmp(column, durations[i]) == 0)
			return true;
	return false;
}

static int authorize(void *context, int action, const char *first, const char *second,
    const char *database, const char *trigger)
{
	struct tp_query *query = context;
	(void)database;
	(void)trigger;
	if (!query->locked)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_READ:
		if (query->source)
			query->source->reads(query->source->context, first, second);
		query->reads_recorded |= is_recorded(first, second);
		query->reads_tid |= sqlite3_stricmp(second, "tid") == 0 &&
				    (sqlite3_stricmp(first, "calls") == 0 ||
					sqlite3_stricmp(first, "events") == 0 ||
					sqlite3_stricmp(first, "thread_paths") == 0);
		if (query->preparing && !is_in_having(query, second) &&
		    query->having_count < sizeof(query->having) / sizeof(query->having[0]) &&
		    tp_sql_having_names(query->preparing, second))
			snprintf(query->having[query->having_count++], sizeof(query->having[0]),
			    "%s", second);
		return SQLITE_OK;
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_UPDATE:
		// So SQLite declares the columns of pragma_table_list, json_each and their like
		// when they are first read. A statement that is an UPDATE has been refused before.
		if (is_schema_table(first))
			return SQLITE_OK;
		break;
	case SQLITE_FUNCTION:
		if (is_harmless_function(second))
			return SQLITE_OK;
		break;
	case SQLITE_PRAGMA:
		if (is_harmless_pragma(first))
			return SQLITE_OK;
		break;
	default:
		break;
	}
	deny(query, action, first, second);
	return SQLITE_DENY;
}

static int progress(void *context)
{
	struct tp_query *query = context;
	query->steps += PROGRESS_STEPS;
	return atomic_load_explicit(&query->give_up, memory_order_relaxed) ||
	       (query->step_limit && query->steps > query->step_limit);
}

// ---- opening

static int fail(const struct tp_query *query, struct tp_err *err)
{
	const int code = query->db ? sqlite3_errcode(query->db) : SQLITE_NOMEM;
	return tp_err_set(err, code == SQLITE_NOMEM ? TP_ERR_MEMORY : TP_ERR_LIMIT, NULL,
	    "SQLite: %s", query->db ? sqlite3_errmsg(query->db) : "out of memory");
}

static void set_limits(sqlite3 *db)
{
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 100);
	sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 250000);
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
	sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
}

static int create_modules(struct tp_query *query)
{
	// Of SQLite's own; those of pragma_NAME() are the authorizer's.
	static const char *kept[] = {"json_each", "json_tree", NULL};
	char name[64];
	int code = sqlite3_drop_modules(query->db, kept);
	for (int i = 0; !code && tp_sql_tables[i].relation; i++) {
		snprintf(name, sizeof(name), "teeperf_%s", tp_sql_tables[i].relation->name);
		const struct tp_sql_module *module = tp_sql_tables[i].module;
		code = sqlite3_create_module_v2(query->db, name,
		    module ? &module->base : &tp_sql_array_module.base, query, NULL);
	}
	return code;
}

int tp_query_open(struct tp_query **out, const struct tp_query_options *options, struct tp_err *err)
{
	struct tp_query *query = calloc(1, sizeof(*query));
	*out = query;
	if (!query)
		return tp_err_memory(err, NULL);
	query->memory_limit = options->memory_limit ? options->memory_limit : TP_CALL_STORE_MEMORY;
	query->step_limit = options->step_limit;
	// Without SQLITE_OPEN_MEMORY: databases that are attached would be in memory, too.
	int code = sqlite3_open_v2(
	    ":memory:", &query->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (!code) {
		set_limits(query->db);
		// Sorting in files takes three times as long.
		code = sqlite3_exec(query->db, "PRAGMA temp_store = memory", NULL, NULL, NULL);
	}
	if (!code)
		code = create_modules(query);
	if (!code)
		code = tp_sql_add_functions(query);
	if (!code) {
		sqlite3_set_authorizer(query->db, authorize, query);
		sqlite3_progress_handler(query->db, PROGRESS_STEPS, progress, query);
	}
	return code ? fail(query, err) : 0;
}

void tp_query_close(struct tp_query *query)
{
	if (!query)
		return;
	sqlite3_close(query->db);
	for (uint32_t i = 0; i < query->trace_count; i++) {
		tp_trace_data_release(query->traces[i]);
		free(query->traces[i]);
	}
	free(query->traces);
	free(query);
}

// ---- traces

static bool is_name(const char *name)
{
	if (!*name || (*name >= '0' && *name <= '9') || strlen(name) > 60)
		return false;
	for (; *name; name++)
		if (!tp_sql_is_word(*name) || *name & 0x80)
			return false;
	return sqlite3_stricmp(name, "main") != 0 && sqlite3_stricmp(name, "temp") != 0;
}

int tp_sql_run(struct tp_query *query, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *sql = sqlite3_vmprintf(format, args);
	va_end(args);
	const int code = sql ? sqlite3_exec(query->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return code;
}

int tp_query_add(struct tp_query *query, const char *name, const struct tp_analysis *analysis,
    struct tp_err *err)
{
	if (name && !is_name(name))
		return tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "'%s' is not a name for a trace: use letters, digits and _, without a digit "
		    "first, and not main or temp",
		    name);
	struct tp_trace_data **traces =
	    realloc(query->traces, (query->trace_count + 1) * sizeof(struct tp_trace_data *));
	struct tp_trace_data *trace = calloc(1, sizeof(*trace));
	if (traces)
		query->traces = traces;
	if (!traces || !trace) {
		free(trace);
		return tp_err_memory(err, NULL);
	}
	traces[query->trace_count++] = trace;
	const int code =
	    tp_trace_data_init(trace, analysis, query->memory_limit, &query->give_up, err);
	if (code)
		return code;
	query->locked = false;
	int failed = name ? tp_sql_run(query, "ATTACH ':memory:' AS \"%w\"", name) : SQLITE_OK;
	name = name ? name : "main";
	for (int i = 0; !failed && tp_sql_tables[i].relation; i++) {
		const char *table = tp_sql_tables[i].relation->name;
		failed =
		    tp_sql_run(query, "CREATE VIRTUAL TABLE \"%w\".%s USING teeperf_%s(%d, %d)",
			name, table, table, (int)query->trace_count - 1, i);
	}
	for (int i = 0; !failed && tp_sql_views[i].name; i++)
		failed = tp_sql_run(query, "CREATE VIEW \"%w\".%s AS %s", name,
		    tp_sql_views[i].name, tp_sql_views[i].sql);
	query->locked = true;
	return failed ? fail(query, err) : 0;
}

// ---- running

// What a user can do about it.
static const char *hint(const struct tp_query *query, const char *message)
{
	if (strncmp(message, "no such table", 13) == 0)
		return query->source ? query->source->tables : "; --schema lists them";
	if (strncmp(message, "no such column", 14) == 0)
		return query->source ? query->source->tables
				     : "; --schema lists them (text goes in 'single' quotes)";
	if (strstr(message, "not authorized"))
		return "; traces are read-only";
	return "";
}

// Where the table that MESSAGE misses is named in the statement, which SQLite does not tell; -1:
// unknown.
static int find_missing(const char *message, const char *statement)
{
	static const char what[] = "no such table: ";
	if (strcmp(message, "incomplete input") == 0)
		return (int)strlen(statement);
	if (strncmp(message, what, sizeof(what) - 1) != 0)
		return -1;
	const char *name = message + sizeof(what) - 1;
	const int length = (int)strlen(name);
	for (int i = 0; statement[i]; i++)
		if (sqlite3_strnicmp(statement + i, name, length) == 0)
			return i;
	return -1;
}

// The error of the statement that begins at START in SQL.
static int report(struct tp_query *query, int code, const char *sql, const char *start, int offset,
    struct tp_err *err)
{
	const char *message = query->denied[0] ? query->denied : sqlite3_errmsg(query->db);
	if (code == SQLITE_INTERRUPT)
		return tp_err_set(err, TP_ERR_LIMIT, NULL, "interrupted");
	if (code == SQLITE_NOMEM)
		return tp_err_memory(err, NULL);
	if (offset < 0)
		offset = find_missing(message, start);
	if (offset < 0)
		return tp_err_set(err, TP_ERR_SYNTAX, NULL, "%s%s", message, hint(query, message));
	const char *at = start + offset;
	const char *line = sql;
	uint32_t number = 1;
	for (const char *c = sql; c < at; c++)
		if (*c == '\n') {
			number++;
			line = c + 1;
		}
	tp_err_set_line(err, TP_ERR_SYNTAX, "SQL", number, (uint32_t)(at - line) + 1, "%s%s",
	    message, hint(query, message));
	tp_err_set_excerpt(err, line, strcspn(line, "\n"));
	return TP_ERR_SYNTAX;
}

// As a number if all of it is one.
static int bind(sqlite3_stmt *statement, int index, const char *value)
{
	char *end;
	if (!value)
		return sqlite3_bind_null(statement, index);
	if (!*value)
		return sqlite3_bind_text(statement, index, "", 0, SQLITE_STATIC);
	errno = 0;
	const long long integer = strtoll(value, &end, 10);
	if (!*end && !errno)
		return sqlite3_bind_int64(statement, index, integer);
	const double real = strtod(value, &end);
	if (!*end && strspn(value, "+-.0123456789eE") == strlen(value))
		return sqlite3_bind_double(statement, index, real);
	return sqlite3_bind_text(statement, index, value, -1, SQLITE_TRANSIENT);
}

const char *tp_query_find_parameter(const char *sql, const char *name)
{
	const size_t length = strlen(name);
	for (const char *at = strpbrk(sql, ":@$?"); at; at = strpbrk(at + 1, ":@$?"))
		if (strncmp(at + 1, name, length) == 0 && !tp_sql_is_word(at[1 + length]) &&
		    at[1 + length] != '$')
			return at;
	return NULL;
}

// Say that the parameter NAME (with its sign) of the statement SQL has no value. *offset: where it
// is.
static int refuse_unbound(struct tp_query *query, const char *sql, const char *name, int *offset)
{
	const char *at = name ? tp_query_find_parameter(sql, name + 1) : strchr(sql, '?');
	*offset = at ? (int)(at - sql) : -1;
	if (name)
		snprintf(query->denied, sizeof(query->denied),
		    "the parameter %.30s has no value: set it with --param %.30s=VALUE, or to "
		    "NULL with --param %.30s",
		    name, name + 1, name + 1);
	else
		snprintf(query->denied, sizeof(query->denied),
		    "a parameter without a name cannot have a value: write :NAME, and --param "
		    "NAME=VALUE");
	return SQLITE_ERROR;
}

// Give the parameters of STATEMENT, whose text SQL begins with, their values. 0 or an SQLite code.
static int bind_all(struct tp_query *query, sqlite3_stmt *statement, const char *sql,
    const struct tp_query_parameter *parameters, uint32_t count, int *offset)
{
	int code = SQLITE_OK;
	for (int i = 1; !code && i <= sqlite3_bind_parameter_count(statement); i++) {
		const char *name = sqlite3_bind_parameter_name(statement, i);
		uint32_t j = 0;
		while (j < count && (!name || strcmp(name + 1, parameters[j].name) != 0))
			j++;
		code = j < count ? bind(statement, i, parameters[j].value)
				 : refuse_unbound(query, sql, name, offset);
	}
	return code;
}

// Say that the statement SQL, which would change something, cannot be run. *offset: where its verb
// is.
static int refuse_writing(struct tp_query *query, const char *sql, int *offset)
{
	struct tp_sql_verb verb;
	tp_sql_verb_find(&verb, sql);
	if (!verb.writes)
		return SQLITE_OK;
	*offset = verb.offset;
	snprintf(query->denied, sizeof(query->denied), "traces are read-only: %s is not possible%s",
	    verb.name, strcmp(verb.name, "ATTACH") == 0 ? "; --attach NAME=FILE adds a trace" : "");
	return SQLITE_AUTH;
}

// In HAVING, a column comes before an expression of the result that has its name.
static void find_shadowed(struct tp_query *query, sqlite3_stmt *statement)
{
	for (int i = 0; query->having_count && i < sqlite3_column_count(statement); i++) {
		const char *name = sqlite3_column_name(statement, i);
		if (name && is_in_having(query, name) && !sqlite3_column_decltype(statement, i))
			snprintf(query->shadowed, sizeof(query->shadowed), "%s", name);
	}
}

static void get_value(sqlite3_stmt *statement, int column, struct tp_value *value)
{
	const int type = sqlite3_column_type(statement, column);
	*value = (struct tp_value){.type = type == SQLITE_NULL ? TP_VALUE_NULL : type};
	if (type == SQLITE_INTEGER)
		value->integer = sqlite3_column_int64(statement, column);
	else if (type == SQLITE_FLOAT)
		value->real = sqlite3_column_double(statement, column);
	else if (type != SQLITE_NULL) {
		const void *bytes = type == SQLITE_TEXT ? sqlite3_column_text(statement, column)
							: sqlite3_column_blob(statement, column);
		value->text = bytes ? bytes : "";
		value->size = bytes ? (uint64_t)sqlite3_column_bytes(statement, column) : 0;
	}
}

// Step through the statement. 0 or an SQLite code.
static int run_statement(sqlite3_stmt *statement, const struct tp_query_sink *sink)
{
	const int count = sqlite3_column_count(statement);
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	struct tp_value *values = calloc((size_t)count + 1, sizeof(*values));
	int code = names && values ? SQLITE_ROW : SQLITE_NOMEM;
	for (int i = 0; names && i < count; i++) {
		names[i] = sqlite3_column_name(statement, i);
		if (!names[i])
			code = SQLITE_NOMEM;
	}
	bool more =
	    code == SQLITE_ROW && (!count || sink->columns(sink->context, names, (uint32_t)count));
	while (more && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < count; i++)
			get_value(statement, i, &values[i]);
		more = sink->row(sink->context, values, (uint32_t)count);
	}
	free(names);
	free(values);
	return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
}

void tp_query_set_source(struct tp_query *query, const struct tp_query_source *source)
{
	query->source = source;
	query->locked = source != NULL;
}

// Have what the statement at hand reads. 0 or a negative tp_error.
static int fill(struct tp_query *query, struct tp_err *err)
{
	if (!query->source)
		return 0;
	query->locked = false;
	const int code = query->source->fill(query->source->context, query, err);
	query->locked = true;
	return code;
}

int tp_query_run(struct tp_query *query, const char *sql,
    const struct tp_query_parameter *parameters, uint32_t parameter_count,
    const struct tp_query_sink *sink, struct tp_err *err)
{
	atomic_store(&query->give_up, false);
	query->steps = 0;
	const char *at = sql;
	while (*at) {
		sqlite3_stmt *statement = NULL;
		const char *tail = at;
		query->denied[0] = '\0';
		int offset = -1;
		int code = refuse_writing(query, at, &offset);
		if (!code) {
			query->having_count = 0;
			query->preparing = at;
			code = sqlite3_prepare_v2(query->db, at, -1, &statement, &tail);
			query->preparing = NULL;
			offset = code ? sqlite3_error_offset(query->db) : -1;
		}
		// What no word has shown, SQLite knows.
		if (!code && statement && !sqlite3_stmt_readonly(statement)) {
			deny(query, 0, NULL, NULL);
			code = SQLITE_AUTH;
		}
		if (!code && statement) {
			find_shadowed(query, statement);
			code = bind_all(query, statement, at, parameters, parameter_count, &offset);
			const int failed = code ? 0 : fill(query, err);
			if (failed) {
				sqlite3_finalize(statement);
				return failed;
			}
			if (!code)
				code = run_statement(statement, sink);
		}
		// The message is that of the last call, so it is asked for before the statement
		// goes.
		if (code)
			report(query, code, sql, at, offset, err);
		sqlite3_finalize(statement);
		if (code)
			return code == SQLITE_INTERRUPT ? TP_ERR_LIMIT
			       : code == SQLITE_NOMEM   ? TP_ERR_MEMORY
							: TP_ERR_SYNTAX;
		if (tail == at)
			break;
		at = tail;
	}
	return 0;
}

void tp_query_interrupt(struct tp_query *query)
{
	atomic_store(&query->give_up, true);
	sqlite3_interrupt(query->db);
}

bool tp_query_mixes_times(const struct tp_query *query)
{
	for (uint32_t i = 0; i < query->trace_count; i++)
		if (query->reads_recorded && query->traces[i]->analysis->compensation.applied)
			return true;
	return false;
}

bool tp_query_reads_tid(const struct tp_query *query)
{
	return query->reads_tid;
}

const char *tp_query_shadowed(const struct tp_query *query)
{
	return query->shadowed[0] ? query->shadowed : NULL;
}

bool tp_query_is_complete(const char *sql)
{
	return sqlite3_complete(sql) != 0;
}
