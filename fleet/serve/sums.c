// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sums of a set of runs: read from its files once, put into the database, and kept there while
// there is room.
#define _GNU_SOURCE
#include "store.h"

#include "fleet/scan.h"
#include "common/array.h"
#include "common/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	ROWS_MAX = 16 << 20, // of the sums of a set
	TEXTS_MAX = 1 << 29, // bytes of them
	COLUMNS_MAX = 24,
};

// ---- columns of sums

enum operation {
	TEXT,  // the first one
	FIRST, // the first number but 0
	ROWS,  // how many there are
	KNOWN, // how many have it
	SUM,
	MIN,
	MAX,  // of those that have `other`
	MEAN, // of a timed call; three columns: runs, their mean, sum of squared differences
};

struct rule {
	enum operation operation;
	const char *column;
	const char *other; // SUM: where COLUMN is not known
};

// Rules for a table of the fleet, whose sums have these columns in the database behind the set.
struct shape {
	enum tp_fleet_table_id table;
	const char *keys[2]; // the second one may be NULL
	struct rule rules[COLUMNS_MAX];
	const char *insert;
};

static const struct shape functions = {
    TP_FLEET_FUNCTIONS,
    {"fn_key", NULL},
    {{TEXT, "function", NULL}, {TEXT, "module", NULL}, {TEXT, "file", NULL}, {FIRST, "line", NULL},
	{ROWS, "fn_key", NULL}, {SUM, "calls", NULL}, {SUM, "timed_calls", NULL},
	{SUM, "self_ns", NULL}, {SUM, "self_cpu_ns", "self_ns"}, {SUM, "inclusive_ns", NULL},
	{SUM, "total_ns", NULL}, {MIN, "min_ns", NULL}, {MAX, "max_ns", "min_ns"},
	{KNOWN, "self_ns", NULL}, {KNOWN, "self_cpu_ns", NULL}, {MEAN, "self_ns", NULL},
	{MEAN, "self_cpu_ns", NULL}},
    "INSERT INTO sum_functions VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
};
static const struct shape buckets = {
    TP_FLEET_HISTOGRAMS,
    {"fn_key", "bucket"},
    {{FIRST, "value_ns", NULL}, {SUM, "calls", NULL}},
    "INSERT INTO sum_buckets VALUES(?,?,?,?,?)",
};
// Two tables give the columns of paths: these come first in both. The last three are in neither:
// link_paths.
enum { PARENT_KEY = 4, DEPTH = 5, SELF = 7, PARENT = 10, TOTAL = 11, PLACE = 12 };
#define OF_PATHS                                                                          \
	{FIRST, "fn_key", NULL}, {FIRST, "recursion", NULL}, {FIRST, "parent_key", NULL}, \
	{                                                                                 \
		FIRST, "depth", NULL                                                      \
	}
static const struct shape profile = {
    TP_FLEET_PROFILE,
    {"path_key", NULL},
    {OF_PATHS, {SUM, "calls", NULL}, {SUM, "self_ns", NULL}, {MIN, "min_ns", NULL},
	{MAX, "max_ns", "min_ns"}, {FIRST, "parent", NULL}, {SUM, "total_ns", NULL},
	{FIRST, "place", NULL}},
    "INSERT INTO sum_paths VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
};
static const struct shape paths = {TP_FLEET_PATHS, {"path_key", NULL}, {OF_PATHS}, NULL};

union cell {
	int64_t number;
	double real;
	const char *text;
};

// ---- adding up

struct summing {
	struct tp_serve_store *store;
	int side;
	struct tp_fleet_names ids; // of the set's runs
	uint32_t *runs;            // and their rows in the table
	sqlite3_stmt *find_place;
	const struct shape *whole;    // whose columns there are
	const struct shape *shape;    // that is read
	int columns[2 + COLUMNS_MAX]; // of the table: of keys and rules, -1: it has none
	int others[COLUMNS_MAX];
	int timed; // column
	bool by_run;
	uint32_t width; // cells of a row
	union cell *rows;
	uint64_t room; // cells
	uint32_t count;
	uint32_t next; // behind the row that was looked for last
	struct tp_index index;
	uint64_t secret; // of the index: keys come from files
	struct tp_arena texts;
	uint64_t text_bytes;
	uint8_t *has_new; // of each run: it has a row that none before it had
	uint32_t has_new_size;
	bool only_new;
	int64_t key; // by_run: of the rows that count
};

static uint32_t hash_keys(const struct summing *it, int64_t first, int64_t second)
{
	uint64_t half = ((uint64_t)first ^ (uint64_t)second << 40) * it->secret;
	return (uint32_t)(((half ^ half >> 32) * it->secret) >> 32);
}

static uint32_t hash_row(const void *context, uint32_t number)
{
	const struct summing *it = context;
	const union cell *row = &it->rows[(uint64_t)(number - 1) * it->width];
	return hash_keys(it, row[0].number, row[1].number);
}

static bool is_row(const struct summing *it, uint32_t at, int64_t first, int64_t second)
{
	const union cell *row = &it->rows[(uint64_t)at * it->width];
	return row[0].number == first && row[1].number == second;
}

static int find_column(const struct tp_fleet_table *table, const char *name)
{
	for (uint32_t i = 0; name && i < table->count; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void set_first(const struct shape *shape, union cell *cells)
{
	for (const struct rule *rule = shape->rules; rule->column; rule++) {
		*cells = (union cell){.number = rule->operation == MIN   ? INT64_MAX
						: rule->operation == MAX ? -1
									 : 0};
		if (rule->operation == TEXT)
			cells->text = "";
		if (rule->operation == MEAN) {
			cells[1].real = cells[2].real = 0;
			cells += 2;
		}
		cells++;
	}
}

static uint32_t *find_slot(const struct summing *it, int64_t first, int64_t second)
{
	uint32_t *slot = tp_index_first(&it->index, hash_keys(it, first, second));
	while (*slot && !is_row(it, *slot - 1, first, second))
		slot = tp_index_next(&it->index, slot);
	return slot;
}

// The row of the keys, made if there is none.
static union cell *have_row(
    struct summing *it, int64_t first, int64_t second, bool *is_new, struct tp_err *err)
{
	*is_new = false;
	// Rows are sorted, so the next one is mostly that which came next in the run before.
	if (it->next < it->count && is_row(it, it->next, first, second))
		return &it->rows[(uint64_t)it->next++ * it->width];
	if (!tp_index_reserve(&it->index, it->count, hash_row, it)) {
		tp_err_memory(err, NULL);
		return NULL;
	}
	uint32_t *slot = find_slot(it, first, second);
	if (!*slot) {
		if (it->count == ROWS_MAX) {
			tp_err_set(err, TP_ERR_LIMIT, NULL,
			    "these runs have more than %d different functions, call paths or "
			    "buckets: choose fewer",
			    ROWS_MAX);
			return NULL;
		}
		if (!TP_GROW(it->rows, it->room, (it->count + UINT64_C(1)) * it->width)) {
			tp_err_memory(err, NULL);
			return NULL;
		}
		union cell *made = &it->rows[(uint64_t)it->count * it->width];
		made[0].number = first;
		made[1].number = second;
		set_first(it->whole, made + 2);
		*slot = ++it->count;
		*is_new = true;
	}
	it->next = *slot;
	return &it->rows[(uint64_t)(*slot - 1) * it->width];
}

static int64_t count_of(const struct tp_parquet_values *values, uint64_t row)
{
	return tp_parquet_has(values, row) && values->numbers[row] > 0 ? values->numbers[row] : 0;
}

static int take_text(struct summing *it, union cell *cell, const char *text, struct tp_err *err)
{
	const size_t size = strlen(text);
	if (*cell->text || !size)
		return 0;
	it->text_bytes += size + 1;
	if (it->text_bytes > TEXTS_MAX)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "names of more than %d MiB: a table of the fleet is damaged", TEXTS_MAX >> 20);
	const char *copied = tp_arena_copy(&it->texts, text, size);
	if (copied)
		cell->text = copied;
	return copied ? 0 : tp_err_memory(err, NULL);
}

// B. P. Welford, "Note on a method for calculating corrected sums of squares and products", 1962.
static void add_value(union cell *cells, double x)
{
	const double before = x - cells[1].real;
	cells[0].number++;
	cells[1].real += before / (double)cells[0].number;
	cells[2].real += before * (x - cells[1].real);
}

static int add_row(struct summing *it, union cell *cell, const struct tp_parquet_values *columns,
    uint64_t row, struct tp_err *err)
{
	static const struct tp_parquet_values none;
	int code = 0;
	for (uint32_t i = 0; !code && it->shape->rules[i].column; i++, cell++) {
		const struct tp_parquet_values *values =
		    it->columns[2 + i] < 0 ? &none : &columns[it->columns[2 + i]];
		const struct tp_parquet_values *other =
		    it->others[i] < 0 ? &none : &columns[it->others[i]];
		const bool known = tp_parquet_has(values, row);
		const int64_t number = count_of(values, row);
		switch (it->shape->rules[i].operation) {
		case TEXT:
			code = take_text(it, cell, tp_parquet_text(values, row), err);
			break;
		case FIRST:
			if (!cell->number && known)
				cell->number = values->numbers[row];
			break;
		case ROWS:
			cell->number++;
			break;
		case KNOWN:
			cell->number += known;
			break;
		case SUM:
			tp_serve_add(&cell->number, known ? number : count_of(other, row));
			break;
		case MIN:
			if (known && number < cell->number)
				cell->number = number;
			break;
		case MAX:
			if (tp_parquet_has(other, row) && number > cell->number)
				cell->number = number;
			break;
		case MEAN:
			if (known && it->timed >= 0 && count_of(&columns[it->timed], row))
				add_value(cell,
				    (double)number / (double)count_of(&columns[it->timed], row));
			cell += 2;
			break;
		}
	}
	return code;
}

static int take(void *context, const struct tp_fleet_rows *rows, struct tp_err *err)
{
	struct summing *it = context;
	const struct tp_parquet_values *first = &rows->columns[it->columns[0]];
	const struct tp_parquet_values *second =
	    it->columns[1] < 0 ? NULL : &rows->columns[it->columns[1]];
	int code = 0;
	for (uint64_t row = 0; !code && row < rows->count; row++) {
		const uint32_t run = rows->runs[row];
		const int64_t key = tp_parquet_has(first, row) ? first->numbers[row] : 0;
		bool is_new;
		if (run == TP_FLEET_NO_RUN || (it->by_run && key != it->key))
			continue;
		union cell *cells = have_row(it, it->by_run ? run : key,
		    second && tp_parquet_has(second, row) ? second->numbers[row] : 0, &is_new, err);
		if (!cells)
			return err->code;
		if (is_new && run < it->has_new_size)
			it->has_new[run] = 1;
		code = add_row(it, cells + 2, rows->columns, row, err);
	}
	return code;
}

// ---- reading

static int begin(void *context, struct tp_err *err)
{
	struct summing *it = context;
	(void)err;
	// What the first shape has summed stays, and nothing that the second one takes is a sum.
	if (it->only_new)
		return 0;
	it->count = 0;
	tp_index_release(&it->index);
	tp_arena_release(&it->texts);
	tp_arena_init(&it->texts);
	it->text_bytes = 0;
	memset(it->has_new, 0, it->has_new_size);
	return 0;
}

static uint32_t number_of_run(void *context, const char *run_id)
{
	const struct summing *it = context;
	const uint32_t at = tp_fleet_names_find(&it->ids, run_id);
	if (at == it->ids.count || (it->only_new && !it->has_new[it->runs[at]]))
		return TP_FLEET_NO_RUN;
	return it->runs[at];
}

static bool wants(void *context, const char *day, const char *program, const char *run)
{
	const struct summing *it = context;
	// One of many runs may have one of the set.
	if (run)
		return tp_fleet_is_of_many(run) || tp_fleet_names_have(&it->ids, run);
	sqlite3_bind_int(it->find_place, 1, it->side);
	sqlite3_bind_text(it->find_place, 2, day, -1, SQLITE_STATIC);
	sqlite3_bind_text(it->find_place, 3, program, -1, SQLITE_STATIC);
	const bool found = sqlite3_step(it->find_place) == SQLITE_ROW;
	sqlite3_reset(it->find_place);
	return found;
}

static uint64_t columns_of(struct summing *it, const struct tp_fleet_table *table)
{
	uint64_t all = 0;
	it->timed = find_column(table, "timed_calls");
	for (int i = 0; i < 2; i++)
		it->columns[i] = find_column(table, it->shape->keys[i]);
	for (uint32_t i = 0; it->shape->rules[i].column; i++) {
		it->columns[2 + i] = find_column(table, it->shape->rules[i].column);
		it->others[i] = find_column(table, it->shape->rules[i].other);
		all |= it->columns[2 + i] < 0 ? 0 : UINT64_C(1) << it->columns[2 + i];
	}
	for (int i = 0; i < 2; i++)
		all |= it->columns[i] < 0 ? 0 : UINT64_C(1) << it->columns[i];
	return all;
}

static int read_shape(struct summing *it, const struct shape *shape, struct tp_err *err)
{
	it->shape = shape;
	struct tp_fleet_scan scan = {
	    .directory = it->store->tables.directory,
	    .table = shape->table,
	    .columns = columns_of(it, &tp_fleet_tables[shape->table]),
	    .wants = wants,
	    .run = number_of_run,
	    .by_key = it->by_run,
	    .keys = (uint32_t)it->columns[0],
	    .key = it->key,
	    .begin = begin,
	    .take = take,
	    .context = it,
	    .stop = &it->store->stop,
	};
	return tp_fleet_scan(&scan, err);
}

// ---- into the database

static int bind_cells(
    sqlite3_stmt *insert, int at, const struct shape *shape, const union cell *cell)
{
	int failed = 0;
	for (const struct rule *rule = shape->rules; !failed && rule->column; rule++, cell++) {
		const bool none = (rule->operation == MIN && cell->number == INT64_MAX) ||
				  (rule->operation == MAX && cell->number < 0);
		if (rule->operation == TEXT)
			failed = sqlite3_bind_text(insert, at++, cell->text, -1, SQLITE_STATIC);
		else if (none)
			failed = sqlite3_bind_null(insert, at++);
		else
			failed = sqlite3_bind_int64(insert, at++, cell->number);
		if (rule->operation == MEAN) {
			failed |= sqlite3_bind_double(insert, at++, (++cell)->real);
			failed |= sqlite3_bind_double(insert, at++, (++cell)->real);
		}
	}
	return failed;
}

static int insert_rows(
    struct summing *it, const struct shape *shape, int64_t id, struct tp_err *err)
{
	sqlite3_stmt *insert = tp_serve_prepare(it->store, shape->insert, NULL, err);
	int code = insert ? 0 : err->code;
	for (uint32_t i = 0; !code && i < it->count; i++) {
		const union cell *row = &it->rows[(uint64_t)i * it->width];
		const int keys = shape->keys[1] ? 2 : 1;
		int failed = sqlite3_bind_int64(insert, 1, id);
		for (int key = 0; key < keys; key++)
			failed |= sqlite3_bind_int64(insert, 2 + key, row[key].number);
		failed |= bind_cells(insert, 2 + keys, shape, row + 2);
		code = failed ? tp_err_memory(err, NULL) : tp_serve_step(it->store, insert, err);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	return code;
}

// ---- paths

// The deepest ones last.
static int compare_depths(const void *a, const void *b, void *context)
{
	const struct summing *it = context;
	const union cell *x = &it->rows[*(const uint32_t *)a * (uint64_t)it->width];
	const union cell *y = &it->rows[*(const uint32_t *)b * (uint64_t)it->width];
	const int by_depth = TP_COMPARE(x[DEPTH].number, y[DEPTH].number);
	return by_depth ? by_depth : TP_COMPARE(x[0].number, y[0].number);
}

// The parent of each path, its time with all below, and its place. A file may say anything: a
// parent that is not less deep is none.
static int link_paths(struct summing *it, struct tp_err *err)
{
	uint32_t *order = malloc((it->count + (size_t)1) * sizeof(*order));
	if (!order)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < it->count; i++)
		order[i] = i;
	if (it->count)
		qsort_r(order, it->count, sizeof(*order), compare_depths, it);
	for (uint32_t i = it->count; i-- > 0;) {
		union cell *row = &it->rows[order[i] * (uint64_t)it->width];
		const int64_t key = row[PARENT_KEY].number;
		const uint32_t at = key ? *find_slot(it, key, 0) : 0;
		union cell *parent = at ? &it->rows[(at - 1) * (uint64_t)it->width] : NULL;
		row[PLACE].number = i;
		tp_serve_add(&row[TOTAL].number, row[SELF].number);
		if (!parent || parent[DEPTH].number >= row[DEPTH].number)
			continue;
		row[PARENT].number = key;
		tp_serve_add(&parent[TOTAL].number, row[TOTAL].number);
	}
	free(order);
	return 0;
}

// ---- sets

static void summing_release(struct summing *it)
{
	tp_fleet_names_release(&it->ids);
	free(it->runs);
	sqlite3_finalize(it->find_place);
	free(it->rows);
	free(it->has_new);
	tp_index_release(&it->index);
	tp_arena_release(&it->texts);
}

// The runs of the set, by their ids.
static int find_runs(struct summing *it, struct tp_err *err)
{
	sqlite3_stmt *ask = tp_serve_prepare(it->store,
	    "SELECT r.run_id, r.rowid FROM runs r JOIN chosen c ON c.run = r.rowid "
	    "WHERE c.side = ? ORDER BY r.run_id",
	    NULL, err);
	sqlite3_bind_int(ask, 1, it->side);
	int code = ask ? 0 : err->code;
	it->runs = malloc(it->has_new_size * sizeof(*it->runs));
	while (!code && (code = tp_serve_step(it->store, ask, err)) > 0) {
		const char *id = (const char *)sqlite3_column_text(ask, 0);
		code = it->runs && id && tp_fleet_names_add(&it->ids, id)
			   ? 0
			   : tp_err_memory(err, NULL);
		if (!code)
			it->runs[it->ids.count - 1] = (uint32_t)sqlite3_column_int64(ask, 1);
	}
	sqlite3_finalize(ask);
	return code;
}

// Have the rows of a shape in the database. KEY: by run, of that one; NULL: by key.
static int sum(struct tp_serve_store *store, int side, int64_t id, const struct shape *shape,
    const int64_t *key, struct tp_err *err)
{
	struct summing it = {
	    .store = store,
	    .side = side,
	    .whole = shape,
	    .by_run = key != NULL,
	    .key = key ? *key : 0,
	    .width = 2,
	    .secret = UINT64_C(0x9e3779b97f4a7c15),
	};
	int64_t runs = 0;
	uint64_t random;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
		it.secret = random | 1;
	for (const struct rule *rule = shape->rules; rule->column; rule++)
		it.width += rule->operation == MEAN ? 3 : 1;
	tp_arena_init(&it.texts);
	int code = tp_serve_run(store, &runs, err, "SELECT max(rowid) FROM runs");
	it.has_new_size = (uint32_t)runs + 1;
	it.has_new = calloc(it.has_new_size, 1);
	if (!code && !it.has_new)
		code = tp_err_memory(err, NULL);
	it.find_place = tp_serve_prepare(store,
	    "SELECT 1 FROM chosen c JOIN runs r ON r.rowid = c.run WHERE c.side = ? AND r.day = ?2 "
	    "AND (?3 IS NULL OR r.program = ?3) LIMIT 1",
	    NULL, err);
	if (!code)
		code = it.find_place ? find_runs(&it, err) : err->code;
	if (!code)
		code = read_shape(&it, shape, err);
	// Only runs with a new path say something new of paths.
	it.only_new = true;
	if (!code && shape == &profile)
		code = read_shape(&it, &paths, err);
	if (!code && shape == &profile)
		code = link_paths(&it, err);
	if (!code)
		code = tp_serve_run(store, NULL, err, "BEGIN");
	if (!code)
		code = insert_rows(&it, shape, id, err);
	if (!code && id)
		code = tp_serve_run(store, NULL, err,
		    "UPDATE sets SET bytes = bytes + %lld WHERE id = %lld",
		    2 * (long long)it.count * it.width * (long long)sizeof(*it.rows) +
			(long long)it.text_bytes,
		    (long long)id);
	if (!sqlite3_get_autocommit(store->query->db))
		tp_serve_run(store, NULL, NULL, code ? "ROLLBACK" : "COMMIT");
	summing_release(&it);
	return code;
}

int tp_serve_sums(struct tp_serve_store *store, int side, const uint64_t hash[2], uint32_t parts,
    int64_t *id, struct tp_err *err)
{
	static const struct shape *const shapes[] = {&functions, &profile, &buckets};
	int64_t there = 0;
	char name[40];
	snprintf(name, sizeof(name), "%016llx%016llx", (unsigned long long)hash[0],
	    (unsigned long long)hash[1]);
	int code = tp_serve_run(store, NULL, err,
	    "INSERT INTO sets(hash, parts, bytes) VALUES(%Q, 0, 0) ON CONFLICT DO NOTHING; "
	    "UPDATE sets SET used = %lld WHERE hash = %Q",
	    name, (long long)store->clock, name);
	if (!code)
		code = tp_serve_run(store, id, err, "SELECT id FROM sets WHERE hash = %Q", name);
	if (!code)
		code = tp_serve_run(
		    store, &there, err, "SELECT parts FROM sets WHERE hash = %Q", name);
	for (uint32_t i = 0; !code && i < 3; i++) {
		const uint32_t part = UINT32_C(1) << i;
		if (!(parts & part) || there & part)
			continue;
		// What no request uses goes before more is read.
		tp_serve_sums_trim(store, store->clock);
		code = sum(store, side, *id, shapes[i], NULL, err);
		if (!code)
			code = tp_serve_run(store, NULL, err,
			    "UPDATE sets SET parts = parts | %d WHERE id = %lld", (int)part,
			    (long long)*id);
	}
	return code;
}

int tp_serve_sums_of(struct tp_serve_store *store, int64_t key, struct tp_err *err)
{
	int code = tp_serve_run(store, NULL, err,
	    "DELETE FROM sum_functions WHERE set_id = 0; DELETE FROM sum_buckets WHERE set_id = 0");
	if (!code)
		code = sum(store, 0, 0, &functions, &key, err);
	return code ? code : sum(store, 0, 0, &buckets, &key, err);
}

void tp_serve_sums_trim(struct tp_serve_store *store, uint64_t used)
{
	const uint64_t limit = store->memory_limit > INT64_MAX ? INT64_MAX : store->memory_limit;
	tp_serve_run(store, NULL, NULL,
	    "DELETE FROM sets WHERE used < %lld AND id IN (SELECT id FROM (SELECT id, sum(bytes) "
	    "OVER (ORDER BY used DESC, id) AS so_far FROM sets) WHERE so_far > %lld)",
	    (long long)used, (long long)limit);
}
