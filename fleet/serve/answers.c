// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What requests are answered with: the rows of statements (sql/) as JSON. docs/fleet.md has the
// answers.
#include "store.h"

#include "common/hash.h"
#include "common/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 64, ANSWERS_KEPT = 32, ANSWER_KEPT_BYTES = 2 << 20, COLUMNS_MAX = 24 };

// ---- arguments

enum kind { COUNT, REAL, TEXT, KEY };

// An argument of a page, and a parameter of its statements.
struct argument {
	const char *name;
	enum kind kind;
	double otherwise; // COUNT, REAL: if it is not given
	double low;
	double high;
};

static const struct page {
	const char *path;
	const char *sql;
	uint32_t parts; // sums that it needs of each set
	bool two;       // it needs two sets
	bool stays;     // what it says of runs does not change
	struct argument arguments[3];
} pages[] = {
    {"/api/runs", tp_serve_sql_runs, 0, false, false, {{0}}},
    {"/api/functions", tp_serve_sql_functions, TP_SERVE_FUNCTIONS, false, true,
	{{"most", COUNT, 200, 0, 100000}, {"search", TEXT, 0, 0, 0}}},
    {"/api/compare", tp_serve_sql_compare, TP_SERVE_FUNCTIONS, true, true,
	{{"most", COUNT, 200, 0, 100000}, {"least", REAL, 5, 0, 1e6}}},
    {"/api/history", tp_serve_sql_history, 0, false, true,
	{{"quantile", REAL, 0.99, 0, 1}, {"function", KEY, 0, 0, 0}}},
    {"/api/flame", tp_serve_sql_flame, TP_SERVE_FUNCTIONS | TP_SERVE_PATHS | TP_SERVE_BUCKETS,
	false, true, {{"most", COUNT, 20000, 0, 200000}, {"least", REAL, 0.0001, 0, 1}}},
};

// The value of a parameter of a statement, as SQLite has types.
struct value {
	char name[16]; // with "$"
	int type;
	int64_t integer;
	double real;
	const char *text;
};

struct answering {
	struct tp_serve_store *store;
	const struct tp_web_request *request;
	const struct page *page;
	bool two; // the request names set b
	struct value values[12];
	uint32_t count;
	struct tp_json json;
};

static struct value *add(struct answering *it, const char *name, int type)
{
	struct value *value = &it->values[it->count++];
	*value = (struct value){.type = type};
	snprintf(value->name, sizeof(value->name), "$%s", name);
	return value;
}

static void add_integer(struct answering *it, const char *name, int64_t number)
{
	add(it, name, SQLITE_INTEGER)->integer = number;
}

static void add_real(struct answering *it, const char *name, double number)
{
	add(it, name, SQLITE_FLOAT)->real = number;
}

static const char *find_argument(const struct tp_web_request *request, const char *name)
{
	for (uint32_t i = 0; i < request->argument_count; i++)
		if (strcmp(request->arguments[i].name, name) == 0)
			return request->arguments[i].value;
	return NULL;
}

static int take_argument(struct answering *it, const struct argument *argument, struct tp_err *err)
{
	const char *text = find_argument(it->request, argument->name);
	char *end = NULL;
	double number = argument->otherwise;
	errno = 0;
	switch (argument->kind) {
	case TEXT:
		add(it, argument->name, text ? SQLITE_TEXT : SQLITE_NULL)->text = text;
		return 0;
	case KEY:
		add_integer(it, argument->name, text ? strtoll(text, &end, 10) : 0);
		return !text || end == text || *end || errno
			   ? tp_err_set(err, TP_ERR_SYNTAX, NULL,
				 "'function' must be a function's fn_key, as in /api/functions")
			   : 0;
	case COUNT:
		if (text)
			number = strspn(text, "0123456789") == strlen(text) && *text
				     ? strtod(text, NULL)
				     : INFINITY;
		add_integer(it, argument->name, number <= argument->high ? (int64_t)number : 0);
		return number <= argument->high ? 0
						: tp_err_set(err, TP_ERR_SYNTAX, NULL,
						      "'%s' of '%s' is not a number up to %.0f",
						      text, argument->name, argument->high);
	default:
		if (text)
			number = strtod(text, &end);
		add_real(it, argument->name, number);
		return text && (end == text || *end ||
				   !(number >= argument->low && number <= argument->high))
			   ? tp_err_set(err, TP_ERR_SYNTAX, NULL,
				 "'%s' of '%s' is not a number from %g to %g", text, argument->name,
				 argument->low, argument->high)
			   : 0;
	}
}

// What sets the arguments choose, by the hashes of their runs, and of all else that they say the
// hash. What the viewer shows of two is the second, so that it is the first set of statements.
static int choose(struct answering *it, uint64_t sets[2][2], uint64_t hash[2], struct tp_err *err)
{
	static const char *const criteria[] = {
	    "all", "program", "build", "day", "host", "label", "run", "not"};
	const struct tp_web_request *request = it->request;
	struct tp_serve_wish *all =
	    malloc((2 * (size_t)request->argument_count + 1) * sizeof(*all));
	struct tp_serve_wish *const wishes[] = {all, all + request->argument_count};
	uint32_t counts[2] = {0, 0};
	uint32_t labels = 0;
	int code = all ? 0 : tp_err_memory(err, NULL);
	for (uint32_t i = 0; !code && i < request->argument_count; i++) {
		const char *name = request->arguments[i].name;
		const char *value = request->arguments[i].value;
		const int side = strncmp(name, "a.", 2) == 0   ? 0
				 : strncmp(name, "b.", 2) == 0 ? 1
							       : -1;
		size_t which = 0;
		for (int j = 0; side < 0 && j < 2; j++)
			hash[j] = tp_hash_string(tp_hash_string(hash[j], name), value);
		if (side < 0)
			continue;
		it->two |= side == 1;
		while (which < sizeof(criteria) / sizeof(criteria[0]) &&
		       strcmp(name + 2, criteria[which]) != 0)
			which++;
		if (which == sizeof(criteria) / sizeof(criteria[0]))
			code = tp_err_set(err, TP_ERR_SYNTAX, NULL,
			    "'%s' does not select a set; expected all, program, build, day, "
			    "host, label, run or not",
			    name);
		else if (strcmp(criteria[which], "label") == 0 && ++labels > LABELS_MAX)
			code =
			    tp_err_set(err, TP_ERR_SYNTAX, NULL, "more than %d labels", LABELS_MAX);
		else if (which) // "b.all=1" is a set of all
			wishes[side][counts[side]++] =
			    (struct tp_serve_wish){criteria[which], value};
	}
	const bool swapped = it->two && it->page->sql == tp_serve_sql_flame;
	if (!code)
		code = tp_serve_run(it->store, NULL, err, "DELETE FROM chosen");
	for (int side = 0; !code && side < (it->two ? 2 : 1); side++)
		code = tp_serve_choose(it->store, swapped ? 1 - side : side, wishes[side],
		    counts[side], sets[swapped ? 1 - side : side], err);
	free(all);
	for (int i = 0; i < 2; i++) {
		hash[i] = tp_hash_string(hash[i], request->path);
		hash[i] = tp_hash_bytes(hash[i], sets, (it->two ? 2 : 1) * sizeof(sets[0]));
	}
	return code;
}

// ---- JSON

// What cannot be known may be below 0 in a file: null, as NULL. Bytes are JSON.
static void add_value(struct tp_json *json, const char *name, sqlite3_stmt *row, int column)
{
	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER: {
		const int64_t number = sqlite3_column_int64(row, column);
		tp_json_uint_if(json, name, number >= 0, (uint64_t)number);
		return;
	}
	case SQLITE_FLOAT:
		tp_json_exact(json, name, sqlite3_column_double(row, column));
		return;
	case SQLITE_TEXT:
		tp_json_text(json, name, (const char *)sqlite3_column_text(row, column));
		return;
	case SQLITE_BLOB: {
		const void *bytes = sqlite3_column_blob(row, column);
		tp_json_value(json, name);
		tp_buf_add(json->out, bytes, (size_t)sqlite3_column_bytes(row, column));
		return;
	}
	default:
		tp_json_null(json, name);
	}
}

static void add_members(struct tp_json *json, sqlite3_stmt *row)
{
	for (int i = 0; i < sqlite3_column_count(row); i++)
		add_value(json, sqlite3_column_name(row, i), row, i);
}

static int add_rows(struct answering *it, sqlite3_stmt *rows, struct tp_err *err)
{
	int more;
	while ((more = tp_serve_step(it->store, rows, err)) > 0) {
		tp_json_object(&it->json, NULL);
		add_members(&it->json, rows);
		tp_json_end(&it->json);
	}
	return more;
}

// Each column as an array.
static int add_columns(struct answering *it, sqlite3_stmt *rows, struct tp_err *err)
{
	struct tp_buf texts[COLUMNS_MAX];
	struct tp_json arrays[COLUMNS_MAX];
	const int count = sqlite3_column_count(rows);
	int more;
	for (int i = 0; i < count; i++) {
		tp_buf_init(&texts[i]);
		tp_json_init(&arrays[i], &texts[i], TP_JSON_COMPACT);
		tp_json_array(&arrays[i], NULL);
	}
	while ((more = tp_serve_step(it->store, rows, err)) > 0)
		for (int i = 0; i < count; i++)
			add_value(&arrays[i], NULL, rows, i);
	for (int i = 0; i < count; i++) {
		tp_json_end(&arrays[i]);
		tp_json_value(&it->json, sqlite3_column_name(rows, i));
		it->json.out->failed |= texts[i].failed;
		tp_buf_add(it->json.out, texts[i].data, texts[i].size);
		tp_buf_release(&texts[i]);
	}
	return more;
}

// ---- statements

static void bind_values(const struct answering *it, sqlite3_stmt *statement)
{
	for (uint32_t i = 0; i < it->count; i++) {
		const struct value *value = &it->values[i];
		const int at = sqlite3_bind_parameter_index(statement, value->name);
		if (at && value->type == SQLITE_INTEGER)
			sqlite3_bind_int64(statement, at, value->integer);
		else if (at && value->type == SQLITE_FLOAT)
			sqlite3_bind_double(statement, at, value->real);
		else if (at)
			sqlite3_bind_text(statement, at, value->text, -1, SQLITE_STATIC);
	}
}

/*
 * A line before each statement says what becomes of its rows: "-- run", nothing; "-- let NAME", the
 * parameter NAME of those behind it; "-- members", members of the answer; "-- object NAME", the
 * member NAME; "-- rows NAME", an array of objects; "-- columns NAME", an object of arrays, to
 * which a next one of this name adds; without NAME the arrays are the answer's own. With "two" at
 * the end it is for two sets alone.
 */
static int run_statement(struct answering *it, const char *what, const char *name,
    sqlite3_stmt *statement, struct tp_err *err)
{
	struct tp_json *json = &it->json;
	bind_values(it, statement);
	if (strcmp(what, "rows") == 0) {
		tp_json_array(json, name);
		const int code = add_rows(it, statement, err);
		tp_json_end(json);
		return code;
	}
	if (strcmp(what, "columns") == 0)
		return add_columns(it, statement, err);
	const int found = tp_serve_step(it->store, statement, err);
	if (found > 0 && strcmp(what, "let") == 0)
		add_real(it, name, sqlite3_column_double(statement, 0));
	const bool object = strcmp(what, "object") == 0;
	if (object)
		tp_json_object(json, name);
	if (found > 0 && (object || strcmp(what, "members") == 0))
		add_members(json, statement);
	if (object)
		tp_json_end(json);
	return found < 0 ? found : 0;
}

static int run_page(struct answering *it, struct tp_buf *out, struct tp_err *err)
{
	char open[16] = ""; // an object of columns
	int code = 0;
	tp_json_init(&it->json, out, TP_JSON_COMPACT);
	tp_json_object(&it->json, NULL);
	for (const char *at = strstr(it->page->sql, "-- "); !code && at; at = strstr(at, "\n-- ")) {
		char words[3][16] = {"", "", ""};
		char line[64];
		at += *at == '\n';
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		const int count =
		    sscanf(line, "-- %15[a-z] %15[a-z_] %15[a-z]", words[0], words[1], words[2]);
		at += strlen(line);
		// Other lines are for readers.
		if (count < 1 || strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ$", line[3]))
			continue;
		const bool columns = strcmp(words[0], "columns") == 0;
		if (*open && (!columns || strcmp(open, words[1]) != 0)) {
			tp_json_end(&it->json);
			*open = '\0';
		}
		if (strcmp(words[2], "two") == 0 && !it->two)
			continue;
		if (columns && words[1][0] && !*open) {
			tp_json_object(&it->json, words[1]);
			memcpy(open, words[1], sizeof(open));
		}
		sqlite3_stmt *statement = tp_serve_prepare(it->store, at, NULL, err);
		code =
		    statement ? run_statement(it, words[0], words[1], statement, err) : err->code;
		sqlite3_finalize(statement);
	}
	if (*open)
		tp_json_end(&it->json);
	tp_json_end(&it->json);
	return code ? code : out->failed ? tp_err_memory(err, NULL) : 0;
}

// ---- answers

// How many runs sums are divided by.
static int add_runs(struct answering *it, const char *name, int side, struct tp_err *err)
{
	int64_t runs = 0;
	const int code = tp_serve_run(
	    it->store, &runs, err, "SELECT max(1, count(*)) FROM chosen WHERE side = %d", side);
	add_real(it, name, (double)runs);
	return code;
}

static int have_sums(struct answering *it, uint64_t sets[2][2], struct tp_err *err)
{
	static const char *const names[] = {"a", "b"};
	static const char *const runs[] = {"runs", "base_runs"};
	int code = 0;
	for (int side = 0; !code && it->page->parts && side < (it->two ? 2 : 1); side++) {
		int64_t id = 0;
		// Of buckets those that are shown.
		const uint32_t parts = it->page->parts & ~(side ? (uint32_t)TP_SERVE_BUCKETS : 0);
		code = tp_serve_sums(it->store, side, sets[side], parts, &id, err);
		add_integer(it, names[side], id);
		if (!code)
			code = add_runs(it, runs[side], side, err);
	}
	if (code || it->page->sql != tp_serve_sql_history)
		return code;
	int64_t found = 0;
	code = tp_serve_sums_of(it->store, it->values[1].integer, err);
	if (!code)
		code = tp_serve_run(
		    it->store, &found, err, "SELECT count(*) FROM sum_functions WHERE set_id = 0");
	return code || found
		   ? code
		   : tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
			 "no run of the set has the function '%" PRId64 "'", it->values[1].integer);
}

static bool find_kept(struct answering *it, const char *hash, struct tp_buf *out)
{
	sqlite3_stmt *ask = tp_serve_prepare(
	    it->store, "UPDATE answers SET used = ?2 WHERE hash = ?1 RETURNING text", NULL, NULL);
	sqlite3_bind_text(ask, 1, hash, -1, SQLITE_STATIC);
	sqlite3_bind_int64(ask, 2, (int64_t)it->store->clock);
	const bool found = ask && sqlite3_step(ask) == SQLITE_ROW;
	if (found)
		tp_buf_add(out, sqlite3_column_blob(ask, 0), (size_t)sqlite3_column_bytes(ask, 0));
	sqlite3_finalize(ask);
	return found;
}

// In place of the one that was used longest ago.
static void keep(struct answering *it, const char *hash, const struct tp_buf *out)
{
	sqlite3_stmt *insert = tp_serve_prepare(
	    it->store, "INSERT OR REPLACE INTO answers VALUES(?, ?, ?)", NULL, NULL);
	sqlite3_bind_text(insert, 1, hash, -1, SQLITE_STATIC);
	sqlite3_bind_blob(insert, 2, out->data, (int)out->size, SQLITE_STATIC);
	sqlite3_bind_int64(insert, 3, (int64_t)it->store->clock);
	if (insert)
		sqlite3_step(insert);
	sqlite3_finalize(insert);
	tp_serve_run(it->store, NULL, NULL,
	    "DELETE FROM answers WHERE hash NOT IN (SELECT hash FROM answers ORDER BY used DESC "
	    "LIMIT %d)",
	    ANSWERS_KEPT);
}

static const struct page *find_page(const char *path)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (strcmp(path, pages[i].path) == 0)
			return &pages[i];
	return NULL;
}

bool tp_serve_is_path(const char *path)
{
	return find_page(path) != NULL;
}

int tp_serve_answer(struct tp_serve_store *store, const struct tp_web_request *request,
    struct tp_buf *out, struct tp_err *err)
{
	enum { RUNS_MOST = 20000 };
	struct answering it = {
	    .store = store, .request = request, .page = find_page(request->path)};
	uint64_t sets[2][2];
	uint64_t hash[2] = {TEEPERF_HASH_START, ~TEEPERF_HASH_START};
	char name[40];
	store->clock++;
	int code = atomic_load(&store->stop)
		       ? tp_err_set(err, TP_ERR_LIMIT, NULL, "the server is shutting down")
		       : tp_serve_store_refresh(store, err);
	if (!code)
		code = choose(&it, sets, hash, err);
	snprintf(name, sizeof(name), "%016" PRIx64 "%016" PRIx64, hash[0], hash[1]);
	if (!code && it.page->stays && find_kept(&it, name, out))
		return 0;
	for (uint32_t i = 0; !code && it.page->arguments[i].name; i++)
		code = take_argument(&it, &it.page->arguments[i], err);
	if (!code && it.page->two && !it.two)
		code = tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "no set to compare with: name one with arguments b.NAME");
	if (!code)
		code = have_sums(&it, sets, err);
	add(&it, "fleet", SQLITE_TEXT)->text = store->tables.directory;
	add_integer(&it, "schema", TP_FLEET_SCHEMA);
	if (it.page->sql == tp_serve_sql_runs)
		add_integer(&it, "most", RUNS_MOST);
	if (!code)
		code = run_page(&it, out, err);
	if (!code && it.page->stays && out->size <= ANSWER_KEPT_BYTES)
		keep(&it, name, out);
	tp_serve_sums_trim(store, UINT64_MAX >> 1);
	return code;
}
