// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The history of a function: its times in each run, and how long its slowest calls took, by run and
// by day.
#include "answers.h"

#include "analyzer/output/format/parquet_read.h"
#include "common/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { F_KEY, F_CALLS, F_TIMED, F_SELF, F_CPU, F_MAX, F_NAME };
enum { H_KEY, H_BUCKET, H_VALUE, H_CALLS };

struct in_run {
	bool there;
	bool timed; // its self time is known
	bool has_cpu;
	uint64_t calls;
	uint64_t timed_calls;
	uint64_t self_ns;
	uint64_t cpu_ns;
	uint64_t max_ns;
};

// `function` of a bucket is the run.
struct history {
	int64_t key;
	char *name;
	struct in_run *runs; // of all runs of the fleet
	uint32_t run_count;
	struct tp_serve_bucket *buckets;
	uint32_t count;
	uint32_t room;
};

static int begin_functions(void *context, struct tp_err *err)
{
	struct history *history = context;
	(void)err;
	memset(history->runs, 0, history->run_count * sizeof(*history->runs));
	return 0;
}

static int take_functions(void *context, const struct tp_serve_rows *rows, struct tp_err *err)
{
	struct history *history = context;
	const struct tp_parquet_values *columns = rows->columns;
	for (uint64_t row = 0; row < rows->count; row++) {
		if (rows->runs[row] == TP_SERVE_NONE || columns[F_KEY].numbers[row] != history->key)
			continue;
		struct in_run *it = &history->runs[rows->runs[row]];
		it->there = true;
		it->timed = tp_parquet_has(&columns[F_SELF], row);
		it->has_cpu = tp_parquet_has(&columns[F_CPU], row);
		tp_serve_add(&it->calls, tp_serve_count(&columns[F_CALLS], row));
		tp_serve_add(&it->timed_calls, tp_serve_count(&columns[F_TIMED], row));
		tp_serve_add(&it->self_ns, tp_serve_count(&columns[F_SELF], row));
		tp_serve_add(&it->cpu_ns, tp_serve_count(&columns[F_CPU], row));
		it->max_ns = tp_serve_count(&columns[F_MAX], row);
		if (!history->name)
			history->name = strdup(tp_parquet_text(&columns[F_NAME], row));
		if (!history->name)
			return tp_err_memory(err, NULL);
	}
	return 0;
}

static int begin_buckets(void *context, struct tp_err *err)
{
	struct history *history = context;
	(void)err;
	history->count = 0;
	return 0;
}

static int take_buckets(void *context, const struct tp_serve_rows *rows, struct tp_err *err)
{
	struct history *history = context;
	const struct tp_parquet_values *columns = rows->columns;
	for (uint64_t row = 0; row < rows->count; row++) {
		if (rows->runs[row] == TP_SERVE_NONE || columns[H_KEY].numbers[row] != history->key)
			continue;
		if (history->count >= TP_SERVE_BUCKETS_MAX)
			return tp_err_set(err, TP_ERR_LIMIT, NULL,
			    "more than %d buckets: choose fewer runs", TP_SERVE_BUCKETS_MAX);
		if (!TP_GROW(history->buckets, history->room, history->count + UINT64_C(1)))
			return tp_err_memory(err, NULL);
		history->buckets[history->count++] = (struct tp_serve_bucket){
		    .function = rows->runs[row],
		    .bucket = tp_parquet_has(&columns[H_BUCKET], row)
				  ? (int32_t)columns[H_BUCKET].numbers[row]
				  : 0,
		    .value_ns =
			tp_parquet_has(&columns[H_VALUE], row) ? columns[H_VALUE].numbers[row] : 0,
		    .calls = tp_serve_count(&columns[H_CALLS], row),
		};
	}
	return 0;
}

static int compare_buckets(const void *a, const void *b)
{
	const struct tp_serve_bucket *x = a;
	const struct tp_serve_bucket *y = b;
	const int by_run = TP_COMPARE(x->function, y->function);
	return by_run ? by_run : TP_COMPARE(x->bucket, y->bucket);
}

static int compare_durations(const void *a, const void *b)
{
	const struct tp_serve_bucket *x = a;
	const struct tp_serve_bucket *y = b;
	return TP_COMPARE(x->value_ns, y->value_ns);
}

static void add_quantile(
    struct tp_json *json, const struct tp_serve_bucket *buckets, uint32_t count, double quantile)
{
	const int64_t value = tp_serve_quantile(buckets, count, quantile);
	tp_json_uint_if(json, "quantile_ns", value >= 0, (uint64_t)value);
}

static void add_runs(struct tp_json *json, const struct history *history,
    const struct tp_serve_question *question, double quantile)
{
	const struct tp_serve_runs *runs = &question->store->runs;
	uint32_t from = 0;
	tp_json_array(json, "runs");
	for (uint32_t i = 0; i < question->a.count; i++) {
		const uint32_t run = question->a.items[i];
		const struct in_run *it = &history->runs[run];
		while (from < history->count && history->buckets[from].function < run)
			from++;
		uint32_t to = from;
		while (to < history->count && history->buckets[to].function == run)
			to++;
		if (!it->there)
			continue;
		tp_json_object(json, NULL);
		tp_json_text(json, "run_id", runs->items[run].run_id);
		tp_json_uint(json, "calls", it->calls);
		tp_json_uint(json, "timed_calls", it->timed_calls);
		tp_json_uint_if(json, "self_ns", it->timed, it->self_ns);
		tp_json_uint_if(json, "cpu_ns", it->has_cpu, it->cpu_ns);
		tp_json_uint_if(json, "max_ns", it->timed && it->timed_calls, it->max_ns);
		tp_json_real(json, "self_ns_a_call", 1,
		    it->timed && it->timed_calls ? (double)it->self_ns / (double)it->timed_calls
						 : NAN);
		add_quantile(json, to > from ? &history->buckets[from] : NULL, to - from, quantile);
		tp_json_end(json);
	}
	tp_json_end(json);
}

// Run ids begin with the day, and runs are in the order of their begin; a damaged table's days come
// as they are.
static void add_days(struct tp_json *json, struct history *history,
    const struct tp_serve_question *question, double quantile)
{
	const struct tp_serve_runs *runs = &question->store->runs;
	tp_json_array(json, "days");
	for (uint32_t from = 0; from < history->count;) {
		const char *day = runs->items[history->buckets[from].function].run_id;
		char text[9] = "";
		uint64_t calls = 0;
		uint32_t to = from;
		while (to < history->count &&
		       strncmp(runs->items[history->buckets[to].function].run_id, day, 8) == 0)
			tp_serve_add(&calls, history->buckets[to++].calls);
		qsort(&history->buckets[from], to - from, sizeof(*history->buckets),
		    compare_durations);
		memcpy(text, day, strnlen(day, 8));
		tp_json_object(json, NULL);
		tp_json_text(json, "day_utc", text);
		tp_json_uint(json, "calls", calls);
		add_quantile(json, &history->buckets[from], to - from, quantile);
		tp_json_end(json);
		from = to;
	}
	tp_json_end(json);
}

static int read_all(
    struct history *history, const struct tp_serve_question *question, struct tp_err *err)
{
	const struct tp_serve_scan functions = {
	    .table = TP_FLEET_FUNCTIONS,
	    .columns = {"fn_key", "calls", "timed_calls", "self_ns", "self_cpu_ns", "max_ns",
		"function"},
	    .key = &history->key,
	    .begin = begin_functions,
	    .take = take_functions,
	    .context = history,
	};
	const struct tp_serve_scan buckets = {
	    .table = TP_FLEET_HISTOGRAMS,
	    .columns = {"fn_key", "bucket", "value_ns", "calls"},
	    .key = &history->key,
	    .begin = begin_buckets,
	    .take = take_buckets,
	    .context = history,
	};
	history->run_count = question->store->runs.count;
	history->runs = calloc(history->run_count + (size_t)1, sizeof(*history->runs));
	if (!history->runs)
		return tp_err_memory(err, NULL);
	int code = tp_serve_store_scan(question->store, &functions, &question->a, err);
	if (!code)
		code = tp_serve_store_scan(question->store, &buckets, &question->a, err);
	if (!code && history->count)
		qsort(history->buckets, history->count, sizeof(*history->buckets), compare_buckets);
	return code;
}

int tp_serve_answer_history(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err)
{
	const char *key = tp_serve_argument(question->request, "function");
	struct history history = {0};
	struct tp_json json;
	double quantile;
	char *end = NULL;
	errno = 0;
	history.key = key ? strtoll(key, &end, 10) : 0;
	int code =
	    tp_serve_argument_real(question->request, "quantile", 0.99, 0, 1, &quantile, err);
	if (!code && (!key || end == key || *end || errno))
		code = tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "'function' must be a function's fn_key, as in /api/functions");
	if (!code)
		code = read_all(&history, question, err);
	if (!code && !history.name)
		code = tp_err_set(
		    err, TP_ERR_NOT_FOUND, NULL, "no run of the set has the function '%s'", key);
	if (!code) {
		tp_json_init(&json, out, TP_JSON_COMPACT);
		tp_json_object(&json, NULL);
		tp_serve_add_key(&json, "fn_key", history.key);
		tp_json_text(&json, "function", history.name);
		tp_json_real(&json, "quantile", 4, quantile);
		add_runs(&json, &history, question, quantile);
		add_days(&json, &history, question, quantile);
		tp_json_end(&json);
	}
	free(history.name);
	free(history.runs);
	free(history.buckets);
	return code;
}
