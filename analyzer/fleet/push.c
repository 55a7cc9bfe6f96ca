// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Puts the runs of a folder into ClickHouse.
//
// What makes a run count is its row in `runs`, which is sent last. So there are three cases: the
// row is there, and the run is not sent; it is not, and no others are; or others are there of a
// push that did not end, and are replaced by the same ones, as each table has a key that no two
// rows of a run share.
#define _GNU_SOURCE
#include "push.h"

#include "analyzer/fleet/clickhouse.h"
#include "analyzer/fleet/http.h"
#include "common/array.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

// The runs of a day and program that are on their way.
struct group {
	char **ids; /* sorted: count; not its own */
	uint32_t count;
	char day[TP_FLEET_DAY];
	const char *program; /* encoded, as in the names of folders */
	char *shown;         /* without %XX */
	/* Rows that were sent of each run. */
	uint64_t (*rows)[TP_FLEET_TABLES];
};

struct work {
	const struct tp_fleet_push *push;
	struct tp_fleet_pushed *pushed;
	struct tp_http http;
	struct tp_buf answer;
	struct group group;
	const struct tp_fleet_table *table;
	struct tp_buf batch; // a statement, and the rows behind it
	uint64_t batch_rows;
	const char *first; // runs of the first and last row there
	const char *last;
	const char *call_run; // of the last call: its run, thread, and number in that
	int64_t call_thread;
	int64_t call_number;
};

// ---- requests

static int refused(void *context, long status, const struct tp_buf *answer, struct tp_err *err)
{
	const struct work *work = context;
	char message[300];
	tp_http_first_line(message, sizeof(message), answer);
	const bool missing =
	    status == 404 && (strstr(message, "Code: 60,") || strstr(message, "Code: 81,") ||
				 strstr(message, "Code: 60.") || strstr(message, "Code: 81."));
	return tp_err_set(err, TP_ERR_NOT_FOUND, work->push->url, "HTTP status %ld: %s%s", status,
	    message, missing ? ": create the tables with 'teeperf fleet schema clickhouse'" : "");
}

static void tell_retry(void *context, const struct tp_err *err, double seconds)
{
	const struct work *work = context;
	if (work->push->retry)
		work->push->retry(work->push->context, err, seconds);
}

// Send the BODY until the server has taken it. *ERR says why it did not.
static int post(struct work *work, const struct tp_buf *body, struct tp_err *err)
{
	struct tp_http_tries tries = {
	    .retries = work->push->retries,
	    .retry = tell_retry,
	    .refused = refused,
	    .context = work,
	};
	const int code = tp_http_send(&work->http, body, &work->answer, &tries, err);
	work->pushed->requests += tries.requests;
	work->pushed->repeated += tries.repeated;
	return code;
}

// Send the batch.
static int flush(struct work *work, struct tp_err *err)
{
	struct tp_err cause;
	int code = 0;
	if (work->batch.failed)
		return tp_err_memory(err, work->push->directory);
	if (work->batch_rows) {
		code = post(work, &work->batch, &cause);
		work->pushed->bytes += work->batch.size;
	}
	if (code && work->first == work->last)
		code = tp_err_set(err, code, cause.file, "run %s, table '%s': %s", work->first,
		    work->table->name, cause.what);
	else if (code)
		code = tp_err_set(err, code, cause.file, "runs %s to %s, table '%s': %s",
		    work->first, work->last, work->table->name, cause.what);
	else
		work->pushed->rows += work->batch_rows;
	tp_buf_reset(&work->batch);
	work->batch_rows = 0;
	return code;
}

// ---- rows

// The run's number in the group, or -1.
static int64_t find_run(const struct group *group, const char *id)
{
	uint32_t low = 0;
	uint32_t high = group->count;
	while (low < high) {
		const uint32_t middle = (low + high) / 2;
		const int order = strcmp(group->ids[middle], id);
		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

// The columns of a row group.
struct columns {
	struct tp_parquet_values values[TP_FLEET_COLUMNS];
	const struct tp_parquet_values *known[TP_FLEET_COLUMNS]; // NULL: the file does not have it
	uint64_t rows;
	uint32_t count; // that were read
};

static void forget_columns(struct columns *columns)
{
	for (uint32_t i = 0; i < columns->count; i++)
		if (columns->known[i])
			tp_parquet_values_release(&columns->values[i]);
}

static int read_columns(struct columns *columns, const struct tp_fleet_table *table,
    const struct tp_parquet_reader *reader, uint32_t group, struct tp_err *err)
{
	int code = 0;
	*columns = (struct columns){.rows = reader->groups[group].rows};
	for (; !code && columns->count < table->count; columns->count++) {
		const struct tp_fleet_column *wanted = &table->columns[columns->count];
		const int column = tp_parquet_reader_column(reader, wanted->name);
		if (column < 0)
			continue;
		if (reader->columns[column].type != wanted->type ||
		    (reader->columns[column].optional && !wanted->optional))
			return tp_err_set(err, TP_ERR_FORMAT, reader->name,
			    "column '%s' has another type", wanted->name);
		struct tp_parquet_values *values = &columns->values[columns->count];
		columns->known[columns->count] = values;
		code = tp_parquet_values_read(values, reader, group, (uint32_t)column, err);
	}
	return code;
}

static int64_t number_at(
    const struct work *work, const struct columns *columns, const char *name, uint64_t row)
{
	const struct tp_parquet_values *values =
	    columns->known[tp_fleet_column_number(work->table, name)];
	return values ? values->numbers[row] : 0;
}

// Calls are numbered in each thread of a run: a thread's stand together, in the order of their
// time.
static int64_t number_call(
    struct work *work, const char *run, const struct columns *columns, uint64_t row)
{
	const int64_t thread = number_at(work, columns, "thread", row);
	if (run != work->call_run || thread != work->call_thread)
		work->call_number = 0;
	work->call_run = run;
	work->call_thread = thread;
	return work->call_number++;
}

static void add_row(struct work *work, uint32_t run, const struct columns *columns, uint64_t row)
{
	const struct group *group = &work->group;
	struct tp_buf *out = &work->batch;
	if (!work->batch_rows) {
		tp_clickhouse_insert(out, work->table, work->push->database);
		work->first = group->ids[run];
	}
	work->last = group->ids[run];
	tp_buf_addf(out, "%s\t", group->day);
	tp_clickhouse_text(out, group->shown);
	for (uint32_t i = 0; i < work->table->count; i++) {
		tp_buf_add_char(out, '\t');
		tp_clickhouse_value(out, &work->table->columns[i], columns->known[i], row);
	}
	if (work->table == &tp_fleet_tables[TP_FLEET_CALLS])
		tp_buf_addf(out, "\t%" PRId64, number_call(work, group->ids[run], columns, row));
	tp_buf_add_char(out, '\n');
	work->batch_rows++;
}

// A run is what its row in `runs` says, or it is not sent.
static int check_run(const struct work *work, uint32_t run, const struct columns *columns,
    uint64_t row, struct tp_err *err)
{
	const struct group *group = &work->group;
	const struct {
		const char *column;
		enum tp_fleet_table_id table;
	} sums[] = {{"functions", TP_FLEET_FUNCTIONS}, {"paths", TP_FLEET_PATHS}};
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		const uint64_t rows = group->rows[run][sums[i].table];
		const int64_t wanted = number_at(work, columns, sums[i].column, row);
		if ((int64_t)rows != wanted)
			return tp_err_set(err, TP_ERR_FORMAT, work->push->directory,
			    "run %s has %" PRIu64
			    " rows in '%s', and its row in 'runs' says %" PRId64,
			    group->ids[run], rows, sums[i].column, wanted);
	}
	return 0;
}

// Whether a request may end behind this row: a set of results is there as a whole, or not at all.
static bool may_end(
    const struct work *work, const struct tp_parquet_values *ids, uint64_t row, uint64_t rows)
{
	return work->table != &tp_fleet_tables[TP_FLEET_EXPERIMENTS] ||
	       (row + 1 < rows && ids->numbers[row + 1] != ids->numbers[row]);
}

static int push_rows(struct work *work, const struct columns *columns, struct tp_err *err)
{
	const uint32_t id = (uint32_t)(work->table - tp_fleet_tables);
	const struct tp_parquet_values *ids =
	    columns->known[tp_fleet_column_number(work->table, "run_id")];
	int64_t run = -1;
	int code = 0;
	if (!ids)
		return tp_err_set(err, TP_ERR_FORMAT, work->push->directory,
		    "a file of '%s' has no column run_id", work->table->name);
	for (uint64_t i = 0; !code && i < columns->rows; i++) {
		if (!i || ids->numbers[i] != ids->numbers[i - 1])
			run = find_run(&work->group, ids->texts[ids->numbers[i]]);
		if (run < 0)
			continue;
		if (id == TP_FLEET_RUNS)
			code = check_run(work, (uint32_t)run, columns, i, err);
		if (code)
			break;
		add_row(work, (uint32_t)run, columns, i);
		work->group.rows[run][id]++;
		if (work->batch.failed || (work->batch.size >= work->push->batch_bytes &&
					      may_end(work, ids, i, columns->rows)))
			code = flush(work, err);
	}
	return code;
}

static int push_file(struct work *work, const char *path, struct tp_err *err)
{
	struct tp_parquet_reader reader;
	int code = tp_parquet_reader_open(&reader, path, err);
	if (!code)
		code = tp_fleet_check_file(&reader, work->table, err);
	for (uint32_t group = 0; !code && group < reader.group_count; group++) {
		struct columns columns;
		code = read_columns(&columns, work->table, &reader, group, err);
		if (!code)
			code = push_rows(work, &columns, err);
		forget_columns(&columns);
	}
	tp_parquet_reader_close(&reader);
	return code;
}

static int push_table(struct work *work, enum tp_fleet_table_id id, struct tp_err *err)
{
	struct tp_fleet_names files;
	char folder[TP_FLEET_PATH];
	work->table = &tp_fleet_tables[id];
	work->call_run = NULL;
	int code = tp_fleet_path(folder, err, "%s/%s/day=%s/program=%s", work->push->directory,
	    work->table->name, work->group.day, work->group.program);
	if (code)
		return code;
	code = tp_fleet_names_read(&files, folder, "run=", err);
	for (uint32_t i = 0; !code && i < files.count; i++) {
		char path[TP_FLEET_PATH];
		const char *run = files.items[i] + strlen("run=");
		if (strncmp(run, "compact-", 8) != 0 && find_run(&work->group, run) < 0)
			continue;
		code = tp_fleet_path(
		    path, err, "%s/%s/%s.parquet", folder, files.items[i], work->table->name);
		if (!code)
			code = push_file(work, path, err);
	}
	tp_fleet_names_release(&files);
	return code ? code : flush(work, err);
}

static int check_runs(const struct work *work, struct tp_err *err)
{
	const struct group *group = &work->group;
	for (uint32_t i = 0; i < group->count; i++)
		if (group->rows[i][TP_FLEET_RUNS] != 1)
			return tp_err_set(err, TP_ERR_FORMAT, work->push->directory,
			    "run %s has %" PRIu64
			    " rows in 'runs', not one: if 'teeperf fleet expire' was "
			    "interrupted, run it again",
			    group->ids[i], group->rows[i][TP_FLEET_RUNS]);
	return 0;
}

// LAST: the table that says which runs are there, and which goes last.
static int push_group(struct work *work, enum tp_fleet_table_id last, struct tp_err *err)
{
	struct group *group = &work->group;
	int code = 0;
	group->rows = calloc(group->count, sizeof(*group->rows));
	if (!group->rows)
		return tp_err_memory(err, work->push->directory);
	for (int id = 0; !code && last == TP_FLEET_RUNS && id < TP_FLEET_RUNS; id++)
		code = push_table(work, (enum tp_fleet_table_id)id, err);
	if (!code)
		code = push_table(work, last, err);
	if (!code && last == TP_FLEET_RUNS)
		code = check_runs(work, err);
	free(group->rows);
	group->rows = NULL;
	return code;
}

// ---- runs

// What tp_fleet_encode has made of a name.
static void decode(char *name)
{
	char *to = name;
	for (const char *from = name; *from; from++) {
		unsigned value;
		if (*from == '%' && isxdigit((unsigned char)from[1]) &&
		    isxdigit((unsigned char)from[2]) && sscanf(from + 1, "%2x", &value) == 1) {
			*to++ = (char)value;
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

// Ids of complete runs; PROGRAM is a folder of manifests, "program=..." or "experiment=...".
static int list_runs(
    const struct work *work, const char *program, struct tp_fleet_names *runs, struct tp_err *err)
{
	char folder[TP_FLEET_PATH];
	uint32_t count = 0;
	int code = tp_fleet_path(folder, err, "%s/manifest/%s", work->push->directory, program);
	if (!code)
		code = tp_fleet_names_read(runs, folder, "", err);
	for (uint32_t i = 0; i < runs->count; i++) {
		char *end = strstr(runs->items[i], ".json");
		// Ids have nothing that a statement would have to quote; others are no runs.
		const size_t plain = strspn(runs->items[i], "0123456789abcdef-");
		if (end && plain == (size_t)(end - runs->items[i]) && plain > 15 && !end[5]) {
			*end = '\0';
			runs->items[count++] = runs->items[i];
		} else {
			free(runs->items[i]);
		}
	}
	runs->count = count;
	return code;
}

// Take out of RUNS those that the server has in table LAST.
static int leave_out(
    struct work *work, enum tp_fleet_table_id last, struct tp_fleet_names *runs, struct tp_err *err)
{
	const char *table = tp_fleet_tables[last].name;
	struct tp_fleet_names there = {0};
	struct tp_err cause;
	struct tp_buf statement;
	uint32_t count = 0;
	tp_buf_init(&statement);
	tp_buf_addf(&statement,
	    "SELECT DISTINCT run_id FROM %s.%s WHERE run_id >= '%s' AND run_id <= '%s' "
	    "ORDER BY run_id FORMAT TabSeparated\n",
	    work->push->database, table, runs->items[0], runs->items[runs->count - 1]);
	int code = statement.failed ? tp_err_memory(err, NULL) : post(work, &statement, &cause);
	if (code && !statement.failed)
		tp_err_set(err, code, cause.file, "cannot list the runs in table '%s': %s", table,
		    cause.what);
	tp_buf_release(&statement);
	char *rest = NULL;
	for (char *id = strtok_r(work->answer.data, "\n", &rest); !code && id;
	     id = strtok_r(NULL, "\n", &rest)) {
		if (TP_GROW(there.items, there.room, there.count + UINT64_C(1)) &&
		    (there.items[there.count] = strdup(id)))
			there.count++;
		else
			code = tp_err_memory(err, NULL);
	}
	for (uint32_t i = 0; !code && i < runs->count; i++) {
		if (tp_fleet_names_have(&there, runs->items[i])) {
			free(runs->items[i]);
			work->pushed->already++;
		} else {
			runs->items[count++] = runs->items[i];
		}
	}
	runs->count = code ? runs->count : count;
	tp_fleet_names_release(&there);
	return code;
}

// KIND: with what the name of the folder of manifests, PROGRAM, begins.
static int push_program(
    struct work *work, const char *kind, const char *program, struct tp_err *err)
{
	const enum tp_fleet_table_id last =
	    strcmp(kind, TP_FLEET_OF_EXPERIMENTS "=") == 0 ? TP_FLEET_EXPERIMENTS : TP_FLEET_RUNS;
	struct tp_fleet_names runs = {0};
	struct group *group = &work->group;
	const char *name = program + strlen(kind);
	int code = list_runs(work, program, &runs, err);
	if (!code && runs.count)
		code = leave_out(work, last, &runs, err);
	char *shown = strdup(name);
	if (!code && !shown)
		code = tp_err_memory(err, program);
	if (shown)
		decode(shown);
	for (uint32_t from = 0, to; !code && from < runs.count; from = to) {
		to = from + 1;
		while (to < runs.count && strncmp(runs.items[to], runs.items[from], 8) == 0)
			to++;
		*group = (struct group){
		    .ids = runs.items + from, .count = to - from, .program = name, .shown = shown};
		const char *id = runs.items[from];
		snprintf(group->day, sizeof(group->day), "%.4s-%.2s-%.2s", id, id + 4, id + 6);
		const uint64_t rows = work->pushed->rows;
		code = push_group(work, last, err);
		if (!code)
			work->pushed->runs += group->count;
		if (!code && work->push->each)
			work->push->each(work->push->context, group->day, shown, group->count,
			    work->pushed->rows - rows, runs.count - to);
	}
	free(shown);
	tp_fleet_names_release(&runs);
	return code;
}

// ---- the whole

static int connect_to(struct work *work, struct tp_err *err)
{
	const struct tp_fleet_push *push = work->push;
	struct tp_buf user;
	struct tp_buf key;
	struct tp_buf url;
	const char *headers[3] = {0};
	uint32_t count = 0;
	int code = 0;
	tp_buf_init(&user);
	tp_buf_init(&key);
	tp_buf_init(&url);
	// A Distributed table is to have the rows when the server says so, and an error is to have
	// its status.
	tp_buf_addf(&url, "%s%s?insert_distributed_sync=1&wait_end_of_query=1", push->url,
	    push->url[strlen(push->url) - 1] == '/' ? "" : "/");
	if (push->user) {
		tp_buf_addf(&user, "X-ClickHouse-User: %s", push->user);
		headers[count++] = user.data;
	}
	if (push->password_file) {
		// Not in the URL, which servers log.
		tp_buf_add_string(&key, "X-ClickHouse-Key: ");
		code = tp_http_secret_read(&key, push->password_file, "the password", err);
		headers[count++] = key.data;
	}
	const struct tp_http_server server = {
	    .url = url.data, .ca_file = push->ca_file, .headers = headers};
	if (!code && (url.failed || user.failed || key.failed))
		code = tp_err_memory(err, NULL);
	if (!code)
		code = tp_http_open(&work->http, &server, err);
	tp_buf_release(&user);
	tp_http_secret_release(&key);
	tp_buf_release(&url);
	return code;
}

// Keep others from compacting and expiring. -1: nobody can do so here, or *CODE.
static int hold(const char *directory, int *code, struct tp_err *err)
{
	char path[TP_FLEET_PATH];
	*code = tp_fleet_check(directory, err);
	if (!*code)
		*code = tp_fleet_path(path, err, "%s/.compact.lock", directory);
	if (*code)
		return -1;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		*code = tp_err_set(err, TP_ERR_LIMIT, directory,
		    "another 'teeperf fleet' is compacting or expiring it: wait for it");
	return fd;
}

int tp_fleet_push_runs(
    const struct tp_fleet_push *push, struct tp_fleet_pushed *pushed, struct tp_err *err)
{
	static const char *const kinds[] = {TP_FLEET_OF_PROGRAMS "=", TP_FLEET_OF_EXPERIMENTS "="};
	struct work work = {.push = push, .pushed = pushed};
	char folder[TP_FLEET_PATH];
	int code;
	*pushed = (struct tp_fleet_pushed){0};
	tp_buf_init(&work.answer);
	tp_buf_init(&work.batch);
	const int lock = hold(push->directory, &code, err);
	if (!code)
		code = connect_to(&work, err);
	if (!code)
		code = tp_fleet_path(folder, err, "%s/manifest", push->directory);
	for (int kind = 0; !code && kind < 2; kind++) {
		struct tp_fleet_names names = {0};
		code = tp_fleet_names_read(&names, folder, kinds[kind], err);
		for (uint32_t i = 0; !code && i < names.count; i++)
			code = push_program(&work, kinds[kind], names.items[i], err);
		tp_fleet_names_release(&names);
	}
	tp_http_close(&work.http);
	tp_buf_release(&work.answer);
	tp_buf_release(&work.batch);
	if (lock >= 0)
		close(lock);
	return code;
}
