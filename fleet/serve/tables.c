// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Answers that are tables: runs, functions of a set, two sets compared.
#include "answers.h"

#include "common/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 20000, ROWS_MOST = 100000, ROWS_USUAL = 200 };

const char *tp_serve_argument(const struct tp_web_request *request, const char *name)
{
	for (uint32_t i = 0; i < request->argument_count; i++)
		if (strcmp(request->arguments[i].name, name) == 0)
			return request->arguments[i].value;
	return NULL;
}

int tp_serve_argument_count(const struct tp_web_request *request, const char *name,
    uint64_t default_value, uint64_t most, uint64_t *value, struct tp_err *err)
{
	const char *text = tp_serve_argument(request, name);
	*value = default_value;
	if (!text)
		return 0;
	const size_t digits = strspn(text, "0123456789");
	*value = digits && digits < 19 ? strtoull(text, NULL, 10) : UINT64_MAX;
	return text[digits] || *value > most
		   ? tp_err_set(err, TP_ERR_SYNTAX, NULL,
			 "'%s' of '%s' is not a number up to %" PRIu64, text, name, most)
		   : 0;
}

int tp_serve_argument_real(const struct tp_web_request *request, const char *name,
    double default_value, double low, double high, double *value, struct tp_err *err)
{
	const char *text = tp_serve_argument(request, name);
	char *end;
	*value = default_value;
	if (!text)
		return 0;
	*value = strtod(text, &end);
	return end == text || *end || !(*value >= low && *value <= high)
		   ? tp_err_set(err, TP_ERR_SYNTAX, NULL,
			 "'%s' of '%s' is not a number from %g to %g", text, name, low, high)
		   : 0;
}

void tp_serve_add_key(struct tp_json *json, const char *name, int64_t key)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRId64, key);
	tp_json_text(json, name, text);
}

// ---- runs

static void add_number(struct tp_json *json, const char *name, struct tp_serve_number number)
{
	tp_json_uint_if(json, name, number.known && number.value >= 0, (uint64_t)number.value);
}

int tp_serve_answer_runs(struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err)
{
	const struct tp_serve_store *store = question->store;
	const struct tp_serve_runs *runs = &store->runs;
	const uint32_t from = runs->count > RUNS_MOST ? runs->count - RUNS_MOST : 0;
	struct tp_json json;
	(void)err;
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_text(&json, "fleet", store->directory);
	tp_json_uint(&json, "schema", TP_FLEET_SCHEMA);
	tp_json_uint(&json, "left_out", from);
	tp_json_array(&json, "runs");
	for (uint32_t i = from; i < runs->count; i++) {
		const struct tp_serve_run *run = &runs->items[i];
		tp_json_object(&json, NULL);
		tp_json_text(&json, "run_id", run->run_id);
		tp_json_text(&json, "day", run->day);
		tp_json_text(&json, "program", run->program);
		tp_json_text(&json, "host", run->host);
		tp_json_text(&json, "build_id", run->build_id);
		tp_json_text(&json, "git_revision", run->git_revision);
		tp_json_text(&json, "labels", run->labels);
		tp_json_text(&json, "trace", run->trace);
		tp_json_text(&json, "command", run->command);
		tp_json_text(&json, "unit", run->unit);
		add_number(&json, "start_unix_ns", run->start_unix_ns);
		add_number(&json, "duration_ns", run->duration_ns);
		add_number(&json, "processor_ns", run->processor_ns);
		add_number(&json, "processor_delay_ns", run->processor_delay_ns);
		add_number(&json, "self_ns", run->self_ns);
		add_number(&json, "cost_ns", run->cost_ns);
		add_number(&json, "events", run->events);
		add_number(&json, "calls", run->calls);
		add_number(&json, "threads", run->threads);
		add_number(&json, "missing_events", run->missing_events);
		tp_json_bool(&json, "complete", run->complete.value != 0);
		tp_json_end(&json);
	}
	tp_json_end(&json);
	tp_json_end(&json);
	return 0;
}

// ---- functions

static int compare_functions(const void *a, const void *b)
{
	const struct tp_serve_function *x = *(const struct tp_serve_function *const *)a;
	const struct tp_serve_function *y = *(const struct tp_serve_function *const *)b;
	const int by_time = TP_COMPARE(y->cpu_ns, x->cpu_ns);
	return by_time ? by_time : TP_COMPARE(x->key, y->key);
}

static void add_function(struct tp_json *json, const struct tp_serve_function *it, uint64_t all_ns)
{
	tp_json_object(json, NULL);
	tp_serve_add_key(json, "fn_key", it->key);
	tp_json_text(json, "function", it->name);
	tp_json_text(json, "module", it->module);
	tp_json_text(json, "file", it->file);
	tp_json_uint(json, "line", it->line > 0 ? (uint64_t)it->line : 0);
	tp_json_uint(json, "runs", it->runs);
	tp_json_uint(json, "calls", it->calls);
	tp_json_uint(json, "timed_calls", it->timed_calls);
	tp_json_uint(json, "self_ns", it->self_ns);
	tp_json_uint(json, "cpu_ns", it->cpu_ns);
	tp_json_uint(json, "inclusive_ns", it->inclusive_ns);
	tp_json_uint_if(json, "min_ns", it->min_ns != UINT64_MAX, it->min_ns);
	tp_json_uint_if(json, "max_ns", it->min_ns != UINT64_MAX, it->max_ns);
	tp_json_real(
	    json, "cpu_percent", 2, all_ns ? 100.0 * (double)it->cpu_ns / (double)all_ns : NAN);
	tp_json_end(json);
}

int tp_serve_answer_functions(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err)
{
	const char *search = tp_serve_argument(question->request, "search");
	uint64_t most;
	uint64_t all_ns = 0;
	uint32_t count = 0;
	struct tp_json json;
	int code =
	    tp_serve_argument_count(question->request, "most", ROWS_USUAL, ROWS_MOST, &most, err);
	if (code)
		return code;
	const struct tp_serve_sums *sums =
	    tp_serve_store_sums(question->store, &question->a, TP_SERVE_FUNCTIONS, err);
	if (!sums)
		return err->code;
	const struct tp_serve_function **rows =
	    malloc((sums->function_count + (size_t)1) * sizeof(*rows));
	if (!rows)
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < sums->function_count; i++) {
		tp_serve_add(&all_ns, sums->functions[i].cpu_ns);
		if (!search || strstr(sums->functions[i].name, search))
			rows[count++] = &sums->functions[i];
	}
	qsort(rows, count, sizeof(const struct tp_serve_function *), compare_functions);
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_uint(&json, "runs", question->a.count);
	tp_json_uint(&json, "cpu_ns", all_ns);
	tp_json_uint(&json, "left_out", count > most ? count - most : 0);
	tp_json_array(&json, "functions");
	for (uint32_t i = 0; i < count && i < most; i++)
		add_function(&json, rows[i], all_ns);
	tp_json_end(&json);
	tp_json_end(&json);
	free(rows);
	return 0;
}

// ---- two sets

static void add_side(struct tp_json *json, const char *const names[5],
    const struct tp_serve_pair *pair, const struct tp_serve_function *it)
{
	const uint64_t runs = it ? it->wall.n : 0;
	tp_json_uint(json, names[0], runs);
	tp_json_real(json, names[1], 1, runs ? tp_serve_compared(pair, it)->mean : NAN);
	tp_json_uint(json, names[2], it ? it->self_ns : 0);
	tp_json_uint(json, names[3], it ? it->calls : 0);
	tp_json_real(json, names[4], 1, runs ? it->wall.mean : NAN);
}

static void add_pair(struct tp_json *json, const struct tp_serve_pair *pair)
{
	static const char *const old_names[] = {
	    "old_runs", "old_ns", "old_self_ns", "old_calls", "old_wall_ns"};
	static const char *const new_names[] = {
	    "new_runs", "new_ns", "new_self_ns", "new_calls", "new_wall_ns"};
	const struct tp_serve_function *it = pair->b ? pair->b : pair->a;
	const double a = pair->a ? tp_serve_compared(pair, pair->a)->mean : 0;
	const double b = pair->b ? tp_serve_compared(pair, pair->b)->mean : 0;
	const bool both = pair->a && pair->b && pair->a->wall.n && pair->b->wall.n && a > 0;
	tp_json_object(json, NULL);
	tp_serve_add_key(json, "fn_key", it->key);
	tp_json_text(json, "function", it->name);
	tp_json_text(json, "module", it->module);
	tp_json_text(json, "time", pair->cpu ? "cpu" : "wall");
	add_side(json, old_names, pair, pair->a);
	add_side(json, new_names, pair, pair->b);
	tp_json_real(json, "percent", 1, both ? 100 * (b - a) / a : NAN);
	tp_json_real(json, "t", 1, pair->tested ? pair->t : NAN);
	tp_json_real(json, "df", 1, pair->tested ? pair->df : NAN);
	tp_json_real(json, "t_needed", 1, pair->tested ? pair->t_needed : NAN);
	tp_json_text(json, "verdict",
	    !pair->a            ? "new"
	    : !pair->b          ? "gone"
	    : !pair->tested     ? "few runs"
	    : pair->verdict > 0 ? "slower"
	    : pair->verdict < 0 ? "faster"
				: "same");
	tp_json_end(json);
}

int tp_serve_answer_compare(
    struct tp_serve_question *question, struct tp_buf *out, struct tp_err *err)
{
	struct tp_serve_comparison comparison;
	struct tp_json json;
	uint64_t most;
	double least;
	int code =
	    tp_serve_argument_count(question->request, "most", ROWS_USUAL, ROWS_MOST, &most, err);
	if (!code)
		code = tp_serve_argument_real(question->request, "least", 5, 0, 1e6, &least, err);
	if (!code && !question->has_b)
		code = tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "no set to compare with: name one with arguments b.NAME");
	if (code)
		return code;
	const struct tp_serve_sums *a =
	    tp_serve_store_sums(question->store, &question->a, TP_SERVE_FUNCTIONS, err);
	const struct tp_serve_sums *b =
	    a ? tp_serve_store_sums(question->store, &question->b, TP_SERVE_FUNCTIONS, err) : NULL;
	if (!a || !b)
		return err->code;
	code = tp_serve_compare(&comparison, a, b, least, err);
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_uint(&json, "old_runs", question->a.count);
	tp_json_uint(&json, "new_runs", question->b.count);
	tp_json_uint(&json, "tested", comparison.tested);
	tp_json_uint(&json, "left_out", comparison.count > most ? comparison.count - most : 0);
	tp_json_array(&json, "functions");
	for (uint32_t i = 0; !code && i < comparison.count && i < most; i++)
		add_pair(&json, &comparison.pairs[i]);
	tp_json_end(&json);
	tp_json_end(&json);
	tp_serve_comparison_release(&comparison);
	return code;
}
