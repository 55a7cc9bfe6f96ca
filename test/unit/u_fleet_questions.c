// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about fleets: their arithmetic, on small fleets whose answers are worked out by hand,
// and their text for ClickHouse.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/questions/sums.h"
#include "common/hash.h"

// ---- a fleet that is written row by row

struct fleet {
	char directory[64];
	uint32_t runs;
};

static void fleet_init(struct fleet *fleet)
{
	char path[TP_FLEET_PATH];
	*fleet = (struct fleet){.directory = "/tmp/u_fleet_questions_XXXXXX"};
	assert_non_null(mkdtemp(fleet->directory));
	snprintf(path, sizeof(path), "%s/manifest", fleet->directory);
	assert_int_equal(tp_fleet_make_folders(path, NULL), 0);
}

static void fleet_release(const struct fleet *fleet)
{
	tp_fleet_remove(fleet->directory);
}

// What a column of a row is: a number, or a text. Others are 0, empty, or missing.
struct value {
	const char *column;
	double number;
	const char *text;
};

static void put_row(struct tp_fleet_file *file, const struct value *values, const char *run)
{
	for (uint32_t i = 0; i < file->table->count; i++) {
		const struct tp_fleet_column *column = &file->table->columns[i];
		const struct value *value = values;
		while (value->column && strcmp(value->column, column->name) != 0)
			value++;
		if (strcmp(column->name, "run_id") == 0)
			tp_parquet_add_text(&file->parquet, run);
		else if (!value->column && column->optional)
			tp_parquet_add_missing(&file->parquet);
		else if (column->type == TP_PARQUET_TEXT)
			tp_parquet_add_text(&file->parquet, value->text ? value->text : "");
		else if (column->type == TP_PARQUET_DOUBLE)
			tp_parquet_add_real(&file->parquet, value->column ? value->number : 0);
		else
			tp_parquet_add(&file->parquet, value->column ? (int64_t)value->number : 0);
	}
}

enum { VALUES = 12 };
typedef struct value row[VALUES + 1];

static void put_table(const struct fleet *fleet, enum tp_fleet_table_id id, const char *day,
    const char *run, const row *rows, uint32_t count)
{
	struct tp_fleet_file file;
	struct tp_err err;
	char folder[TP_FLEET_PATH];
	char name[64];
	const char *table = tp_fleet_tables[id].name;
	snprintf(folder, sizeof(folder), "%s/%s/day=%s/program=prog/run=%s", fleet->directory,
	    table, day, run);
	snprintf(name, sizeof(name), "%s.parquet", table);
	assert_int_equal(tp_fleet_make_folders(folder, &err), 0);
	int code = tp_fleet_file_open(&file, &tp_fleet_tables[id], folder, name, &err);
	for (uint32_t i = 0; !code && i < count; i++)
		put_row(&file, rows[i], run);
	assert_int_equal(tp_fleet_file_close(&file, code, &err), 0);
}

// A run with these rows in runs and functions, in the order in which it is called. Returns its id.
static const char *put_run(
    struct fleet *fleet, const char *day, const row run, const row *functions, uint32_t count)
{
	static char id[TP_FLEET_RUN_ID];
	snprintf(id, sizeof(id), "%.4s%.2s%.2s-120000-%016x", day, day + 5, day + 8, ++fleet->runs);
	put_table(fleet, TP_FLEET_RUNS, day, id, (const row *)run, 1);
	put_table(fleet, TP_FLEET_FUNCTIONS, day, id, functions, count);
	return id;
}

// ---- answers

enum { ROWS = 200, COLUMNS = 16 };
struct answer {
	char names[COLUMNS][32];
	char texts[ROWS][COLUMNS][48];
	double numbers[ROWS][COLUMNS];
	bool missing[ROWS][COLUMNS];
	uint32_t columns;
	uint32_t rows;
};

static bool take_names(void *context, const char *const *names, uint32_t count)
{
	struct answer *answer = context;
	assert_true(count <= COLUMNS);
	answer->columns = count;
	for (uint32_t i = 0; i < count; i++)
		snprintf(answer->names[i], sizeof(answer->names[i]), "%s", names[i]);
	return true;
}

static bool take_row(void *context, const struct tp_value *values, uint32_t count)
{
	struct answer *answer = context;
	assert_true(answer->rows < ROWS);
	for (uint32_t i = 0; i < count; i++) {
		answer->missing[answer->rows][i] = values[i].type == TP_VALUE_NULL;
		answer->numbers[answer->rows][i] =
		    values[i].type == TP_VALUE_REAL ? values[i].real : (double)values[i].integer;
		if (values[i].type == TP_VALUE_TEXT)
			snprintf(answer->texts[answer->rows][i], 48, "%s", values[i].text);
	}
	answer->rows++;
	return true;
}

// The answer to the question NAME. GIVEN: values of parameters, ended by one without a name.
static const struct answer *ask(
    const struct fleet *fleet, const char *name, const struct tp_query_parameter *given)
{
	static struct answer answer;
	const struct tp_fleet_question *question = tp_fleet_question_find(name);
	const struct tp_query_options options = {0};
	const struct tp_fleet_chosen chosen = {0};
	const struct tp_query_sink sink = {&answer, take_names, take_row};
	struct tp_query_parameter parameters[16];
	uint32_t count = 0;
	struct tp_fleet_tables tables;
	struct tp_query *query;
	struct tp_err err;
	for (; given && given->name; given++)
		parameters[count++] = *given;
	for (uint32_t i = 0; tp_fleet_question_parameters[i]; i++)
		parameters[count++] =
		    (struct tp_query_parameter){tp_fleet_question_parameters[i], NULL};
	memset(&answer, 0, sizeof(answer));
	assert_non_null(question);
	assert_int_equal(tp_query_open(&query, &options, &err), 0);
	assert_int_equal(tp_fleet_tables_add(&tables, fleet->directory, &chosen, query, &err), 0);
	if (tp_query_run(query, question->sql, parameters, count, &sink, &err))
		fail_msg("%s: %s", name, err.what);
	tp_query_close(query);
	return &answer;
}

static uint32_t column_of(const struct answer *answer, const char *name)
{
	for (uint32_t i = 0; i < answer->columns; i++)
		if (strcmp(answer->names[i], name) == 0)
			return i;
	fail_msg("no column %s", name);
	return 0;
}

static double number(const struct answer *answer, uint32_t row_number, const char *name)
{
	assert_true(row_number < answer->rows);
	return answer->numbers[row_number][column_of(answer, name)];
}

static const char *text(const struct answer *answer, uint32_t row_number, const char *name)
{
	assert_true(row_number < answer->rows);
	return answer->texts[row_number][column_of(answer, name)];
}

static void assert_near(double found, double wanted, double off)
{
	if (!(fabs(found - wanted) <= off))
		fail_msg("%.6f, not %.6f", found, wanted);
}

// ---- the test of regressions and hosts

// The probability of a Student's t beyond T on either side, by Simpson's rule.
static double both_tails(double t, double df)
{
	enum { STEPS = 20000 };
	const double scale = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * M_PI);
	double sum = 0;
	for (int i = 0; i <= STEPS; i++) {
		const double x = t * i / STEPS;
		const double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
		sum += weight * pow(1 + x * x / df, -(df + 1) / 2);
	}
	return 1 - 2 * scale * sum * t / STEPS / 3;
}

static int64_t key_of(uint32_t function)
{
	return 1000 + function;
}

// A run of a build on a host; function i takes TIMES[i] nanoseconds in each of 10 calls; below 0:
// it was not called.
// `without` is added to that: the function had no processor; NAN: processor time is not known.
static double without = NAN;

static void put_times(
    struct fleet *fleet, const char *build, const char *host, const double *times, uint32_t count)
{
	static char names[ROWS][24];
	static row functions[ROWS];
	const row run = {{"start_unix_ns", fleet->runs, NULL}, {"build_id", 0, build},
	    {"host", 0, host}, {"unit", 0, "ns"}};
	uint32_t called = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (times[i] < 0)
			continue;
		snprintf(names[i], sizeof(names[i]), "function%u", i);
		const row function = {{"fn_key", (double)key_of(i), NULL},
		    {"function", 0, names[i]}, {"calls", 10, NULL}, {"timed_calls", 10, NULL},
		    {"self_ns", 10 * (times[i] + (isnan(without) ? 0 : without)), NULL},
		    {isnan(without) ? NULL : "self_cpu_ns", 10 * times[i], NULL}};
		memcpy(functions[called++], function, sizeof(function));
	}
	put_run(fleet, "2026-11-26", run, functions, called);
}

static const double before[] = {100, 102, 98, 101, 99, 100};
static const double after[] = {120, 121, 119, 122, 118};

// Function 0 has become slower; all others, COUNT with it, have not.
static void put_builds(struct fleet *fleet, uint32_t count)
{
	double times[ROWS];
	for (uint32_t i = 0; i < 6; i++) {
		times[0] = before[i];
		for (uint32_t j = 1; j < count; j++)
			times[j] = 50 + before[(i + j) % 6] / 100;
		put_times(fleet, "old", "one", times, count);
	}
	for (uint32_t i = 0; i < 5; i++) {
		times[0] = after[i];
		for (uint32_t j = 1; j < count; j++)
			times[j] = 50 + before[(i + j) % 6] / 100;
		put_times(fleet, "new", "two", times, count);
	}
}

// Means 100 and 120, sums of squares 10 of 6 runs and of 5: variances of the means 2/6 and 2.5/5.
static void assert_test(const struct answer *answer, uint32_t row_number, double tests)
{
	const double df = pow(2.0 / 6 + 0.5, 2) / (pow(2.0 / 6, 2) / 5 + 0.5 * 0.5 / 4);
	assert_string_equal(text(answer, row_number, "function"), "function0");
	assert_near(number(answer, row_number, "t"), 20 / sqrt(2.0 / 6 + 0.5), 0.051);
	assert_near(number(answer, row_number, "df"), df, 0.051);
	// As near as its one decimal and the approximation are.
	const double needed = number(answer, row_number, "t_needed");
	const double chance = tests * both_tails(needed, df);
	if (!(chance > 0.05 * 0.9 && chance < 0.05 * 1.15))
		fail_msg("%.1f is exceeded by chance in %.2f %%", needed, 100 * chance);
}

static void regressions(void **state)
{
	(void)state;
	static const uint32_t counts[] = {1, 10, 100};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct fleet fleet;
		fleet_init(&fleet);
		put_builds(&fleet, counts[i]);
		const struct answer *answer = ask(&fleet, "regressions", NULL);
		assert_int_equal(answer->rows, 1);
		assert_test(answer, 0, counts[i]);
		assert_near(number(answer, 0, "old_ns"), 100, 1e-9);
		assert_near(number(answer, 0, "new_ns"), 120, 1e-9);
		assert_near(number(answer, 0, "percent"), 20, 1e-9);
		assert_int_equal((int)number(answer, 0, "old_runs"), 6);
		assert_int_equal((int)number(answer, 0, "new_runs"), 5);
		const struct tp_query_parameter least[] = {{"least", "20.5"}, {NULL, NULL}};
		assert_int_equal(ask(&fleet, "regressions", least)->rows, 0);
		const struct tp_query_parameter back[] = {
		    {"old", "new"}, {"new", "old"}, {NULL, NULL}};
		assert_int_equal(ask(&fleet, "regressions", back)->rows, 0);
		fleet_release(&fleet);
	}
}

// Where all runs know it, processor time is compared, and wall time is beside it.
static void regressions_by_cpu(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct fleet fleet;
		fleet_init(&fleet);
		for (uint32_t i = 0; i < 5; i++) {
			without = 300;
			put_times(&fleet, "old", "one", before + i, 1);
		}
		for (uint32_t i = 0; i < 5; i++) {
			without = known || i ? 0 : NAN;
			put_times(&fleet, "new", "two", after + i, 1);
		}
		without = NAN;
		const struct answer *answer = ask(&fleet, "regressions", NULL);
		assert_int_equal(answer->rows, known);
		if (known) {
			assert_string_equal(text(answer, 0, "time"), "cpu");
			assert_near(number(answer, 0, "old_ns"), 100, 1e-9);
			assert_near(number(answer, 0, "percent"), 20, 1e-9);
			assert_near(number(answer, 0, "old_wall_ns"), 400, 1e-9);
			assert_near(number(answer, 0, "new_wall_ns"), 120, 1e-9);
		}
		fleet_release(&fleet);
	}
}

// Neither what differs by less than chance, nor what has fewer than 5 runs.
static void no_regressions(void **state)
{
	(void)state;
	struct fleet fleet;
	fleet_init(&fleet);
	for (uint32_t i = 0; i < 5; i++) {
		const double times[] = {100 + 40.0 * (i % 2), 100 + i};
		put_times(&fleet, "old", "one", times, 2);
	}
	for (uint32_t i = 0; i < 5; i++) {
		const double times[] = {110 + 40.0 * (i % 2), i < 4 ? 200.0 + i : -1};
		put_times(&fleet, "new", "one", times, 2);
	}
	assert_int_equal(ask(&fleet, "regressions", NULL)->rows, 0);
	fleet_release(&fleet);
}

static void hosts(void **state)
{
	(void)state;
	struct fleet fleet;
	fleet_init(&fleet);
	put_builds(&fleet, 3);
	const struct answer *answer = ask(&fleet, "hosts", NULL);
	// Two machines: each differs from the other. The larger share of its own time comes first.
	assert_int_equal(answer->rows, 2);
	assert_string_equal(text(answer, 0, "program_and_host"), "prog one");
	assert_near(number(answer, 0, "percent"), -16.7, 1e-9);
	assert_near(number(answer, 0, "t"), -21.9, 1e-9);
	assert_string_equal(text(answer, 1, "program_and_host"), "prog two");
	// Three functions on two machines: six tests.
	assert_test(answer, 1, 6);
	fleet_release(&fleet);
}

// ---- others

static void skip_(void **state)
{
	(void)state;
	struct fleet fleet;
	fleet_init(&fleet);
	const row run = {{"unit", 0, "ns"}, {"calls", 1100, NULL}, {"events", 200, NULL},
	    {"compensated", 1, NULL}, {"cost_ns", 1000, NULL}, {"self_ns", 5000, NULL}};
	const row functions[] = {
	    {{"fn_key", 1, NULL}, {"function", 0, "often"}, {"calls", 90, NULL},
		{"timed_calls", 90, NULL}, {"self_ns", 450, NULL}},
	    {{"fn_key", 2, NULL}, {"function", 0, "seldom"}, {"calls", 10, NULL},
		{"timed_calls", 10, NULL}, {"self_ns", 4000, NULL}},
	    {{"fn_key", 3, NULL}, {"function", 0, "counted"}, {"calls", 1000, NULL},
		{"counted_calls", 1000, NULL}},
	};
	put_run(&fleet, "2026-11-26", run, functions, 3);
	const struct answer *answer = ask(&fleet, "skip", NULL);
	assert_int_equal(answer->rows, 2);
	assert_string_equal(text(answer, 0, "function"), "often");
	assert_int_equal((int)number(answer, 0, "cost_ns"), 900);
	assert_near(number(answer, 0, "self_ns_a_call"), 5, 1e-9);
	assert_string_equal(text(answer, 1, "function"), "seldom");
	assert_int_equal((int)number(answer, 1, "cost_ns"), 100);
	const struct answer *cost = ask(&fleet, "cost", NULL);
	assert_int_equal(cost->rows, 1);
	assert_near(number(cost, 0, "percent_of_self"), 20, 1e-9);
	assert_near(number(cost, 0, "ns_a_call"), 10, 1e-9);
	fleet_release(&fleet);
}

static void p99(void **state)
{
	(void)state;
	struct fleet fleet;
	fleet_init(&fleet);
	const row run = {{"unit", 0, "ns"}};
	const row function[] = {{{"fn_key", 1, NULL}, {"function", 0, "it"}}};
	const row buckets[] = {
	    {{"fn_key", 1, NULL}, {"bucket", 10, NULL}, {"value_ns", 10, NULL},
		{"calls", 49, NULL}},
	    {{"fn_key", 1, NULL}, {"bucket", 20, NULL}, {"value_ns", 20, NULL}, {"calls", 1, NULL}},
	};
	for (int i = 0; i < 3; i++) {
		const char *day = i < 2 ? "2026-11-26" : "2026-11-27";
		const char *id = put_run(&fleet, day, run, function, 1);
		put_table(&fleet, TP_FLEET_HISTOGRAMS, day, id, buckets, 2);
	}
	// On the first day 98 calls of 10 ns and 2 of 20 ns; on the second 49 and 1.
	static const struct {
		const char *quantile;
		double values[2];
	} cases[] = {{NULL, {20, 20}}, {"0.98", {10, 10}}, {"0.981", {20, 20}}, {"0.5", {10, 10}},
	    {"1", {20, 20}}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct tp_query_parameter given[] = {
		    {"function", "it"}, {"quantile", cases[i].quantile}, {NULL, NULL}};
		const struct answer *answer = ask(&fleet, "p99", given);
		assert_int_equal(answer->rows, 2);
		assert_int_equal((int)number(answer, 0, "calls"), 100);
		assert_int_equal((int)number(answer, 1, "calls"), 50);
		for (uint32_t day = 0; day < 2; day++)
			assert_near(number(answer, day, "quantile_ns"), cases[i].values[day], 1e-9);
	}
	fleet_release(&fleet);
}

static void top(void **state)
{
	(void)state;
	struct fleet fleet;
	fleet_init(&fleet);
	const row run = {{"unit", 0, "ns"}};
	const row functions[] = {
	    {{"fn_key", 1, NULL}, {"function", 0, "waits"}, {"self_ns", 900, NULL},
		{"self_cpu_ns", 100, NULL}},
	    {{"fn_key", 2, NULL}, {"function", 0, "works"}, {"self_ns", 300, NULL}},
	};
	put_run(&fleet, "2026-11-26", run, functions, 2);
	put_run(&fleet, "2026-11-26", run, functions, 2);
	const struct answer *answer = ask(&fleet, "top", NULL);
	assert_int_equal(answer->rows, 2);
	assert_string_equal(text(answer, 0, "function"), "works");
	assert_int_equal((int)number(answer, 0, "cpu_ns"), 600);
	assert_near(number(answer, 0, "cpu_percent"), 75, 1e-9);
	assert_int_equal((int)number(answer, 0, "runs"), 2);
	assert_int_equal((int)number(answer, 1, "self_ns"), 1800);
	fleet_release(&fleet);
}

// ---- sums for a list

static void sums(void **state)
{
	(void)state;
	struct fleet fleet;
	struct tp_fleet_sums found;
	struct tp_err err;
	const struct tp_fleet_chosen chosen = {0};
	fleet_init(&fleet);
	assert_int_equal(
	    tp_fleet_sums_read(&found, fleet.directory, &chosen, &err), TP_ERR_NOT_FOUND);
	tp_fleet_sums_release(&found);
	// By processors, less the cost; as long as it was recorded, if not all was; 5 % at least.
	const row by_cpu = {{"unit", 0, "ns"}, {"clock", 0, "tsc"}, {"compensated", 1, NULL},
	    {"cost_ns", 100, NULL}, {"duration_ns", 2000, NULL}, {"recorded_ns", 2000, NULL},
	    {"processor_ns", 1500, NULL}, {"complete", 1, NULL}, {"threads", 3, NULL}};
	const row partly = {{"unit", 0, "ns"}, {"clock", 0, "tsc"}, {"duration_ns", 2000, NULL},
	    {"recorded_ns", 1000, NULL}, {"processor_ns", 1500, NULL}, {"complete", 1, NULL}};
	const row dear = {{"unit", 0, "ns"}, {"clock", 0, "tsc"}, {"compensated", 1, NULL},
	    {"cost_ns", 5000, NULL}, {"duration_ns", 4000, NULL}, {"recorded_ns", 4000, NULL},
	    {"selected_functions", 1, NULL}};
	const row none = {{"unit", 0, "none"}, {"clock", 0, "none"}, {"complete", 1, NULL}};
	const row older[] = {
	    {{"fn_key", 1, NULL}, {"function", 0, "one"}, {"linkage", 0, "one.llvm.1"},
		{"same_key", 2, NULL}, {"calls", 10, NULL}, {"timed_calls", 10, NULL},
		{"self_ns", 500, NULL}, {"self_cpu_ns", 300, NULL}},
	    {{"fn_key", 2, NULL}, {"function", 0, "sampled"}, {"linkage", 0, "sampled"},
		{"same_key", 1, NULL}, {"calls", 1000, NULL}, {"timed_calls", 10, NULL},
		{"sampled_calls", 1000, NULL}, {"self_ns", 7, NULL}},
	};
	const row newer[] = {
	    {{"fn_key", 1, NULL}, {"function", 0, "one"}, {"linkage", 0, "one.llvm.2"},
		{"same_key", 1, NULL}, {"line", 12, NULL}, {"calls", 5, NULL},
		{"timed_calls", 5, NULL}, {"self_ns", 200, NULL}},
	};
	put_run(&fleet, "2026-11-25", by_cpu, older, 2);
	put_run(&fleet, "2026-11-25", dear, newer, 0);
	put_run(&fleet, "2026-11-26", none, older, 2);
	put_run(&fleet, "2026-11-26", partly, newer, 1);
	if (tp_fleet_sums_read(&found, fleet.directory, &chosen, &err))
		fail_msg("%s", err.what);
	assert_int_equal(found.runs, 3);
	assert_int_equal(found.programs, 1);
	assert_int_equal(found.timeless, 1);
	assert_int_equal(found.raw, 1);
	assert_int_equal(found.incomplete, 1);
	assert_int_equal(found.selective, 1);
	assert_int_equal(found.in_cpu_time, 1);
	assert_int_equal(found.threads, 3);
	assert_string_equal(found.clock, "tsc");
	assert_near(found.recorded_ns, 2000 + 1000 + 4000, 1e-9);
	assert_near(found.time_ns, 1400 + 1000 + 200, 1e-9);
	assert_int_equal(found.function_count, 2);
	const struct tp_fleet_sum *one = &found.functions[0];
	assert_string_equal(one->linkage, "one.llvm.2");
	assert_int_equal(one->line, 12);
	assert_int_equal(one->same_key, 1);
	assert_int_equal(one->calls, 15);
	assert_int_equal(one->timed_calls, 15);
	assert_near(one->self_ns, 300 + 200, 1e-9);
	// One in a hundred has a time.
	assert_string_equal(found.functions[1].function, "sampled");
	assert_near(found.functions[1].self_ns, 700, 1e-9);
	tp_fleet_sums_release(&found);
	const struct tp_fleet_chosen day = {.day_from = "2026-11-26", .day_to = "2026-11-26"};
	assert_int_equal(tp_fleet_sums_read(&found, fleet.directory, &day, &err), 0);
	assert_int_equal(found.function_count, 1);
	assert_near(found.time_ns, 1000, 1e-9);
	tp_fleet_sums_release(&found);
	fleet_release(&fleet);
}

// ---- for ClickHouse

static void clickhouse(void **state)
{
	(void)state;
	struct tp_buf out;
	struct tp_err err;
	const struct tp_fleet_question question = {"it", "",
	    "-- {program}: of one; {most}: so many (25).\n"
	    "SELECT x FROM teeperf.runs WHERE ifNull({program:Nullable(String)}, p) = p "
	    "LIMIT {most:UInt64};\n"};
	static const struct {
		struct tp_query_parameter given;
		const char *wanted;
	} cases[] = {
	    {{"program", "it's \\ teeperf.x"},
		"WHERE ifNull('it\\'s \\\\ teeperf.x', p) = p LIMIT 25;\n"},
	    {{"program", NULL}, "WHERE ifNull(CAST(NULL, 'Nullable(String)'), p) = p LIMIT 25;\n"},
	    {{"most", "3"}, "WHERE ifNull(CAST(NULL, 'Nullable(String)'), p) = p LIMIT 3;\n"},
	};
	const struct tp_fleet_chosen all = {0};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tp_buf_init(&out);
		assert_int_equal(tp_fleet_question_clickhouse(
				     &out, &question, "other", &all, &cases[i].given, 1, &err),
		    0);
		assert_non_null(strstr(out.data, "(25).\nSELECT x FROM other.runs WHERE"));
		assert_string_equal(strstr(out.data, "WHERE"), cases[i].wanted);
		tp_buf_release(&out);
	}
	static const char *const labels[] = {"a=it's", "b=\\", "a=2"};
	const struct tp_fleet_chosen some = {.labels = labels, .label_count = 3};
	tp_buf_init(&out);
	assert_int_equal(
	    tp_fleet_question_clickhouse(&out, &question, "other", &some, NULL, 0, &err), 0);
	assert_non_null(strstr(out.data,
	    "SELECT x FROM (SELECT * FROM other.runs WHERE (position(labels, '{\"a\": "
	    "\"it\\'s\"') = 1 OR "
	    "position(labels, ', \"a\": \"it\\'s\"') > 0 OR "));
	assert_non_null(strstr(out.data, " AND (position(labels, '{\"b\": \"\\\\\\\\\"') = 1 OR "));
	tp_buf_release(&out);
	static const struct tp_query_parameter wrong[] = {
	    {"most", "1; DROP"}, {"most", ""}, {"nothing", "1"}, {"so", "1"}};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		tp_buf_init(&out);
		assert_int_equal(tp_fleet_question_clickhouse(
				     &out, &question, "other", &all, &wrong[i], 1, &err),
		    TP_ERR_SYNTAX);
		tp_buf_release(&out);
	}
	// Each question has both texts, with the same parameters.
	for (const struct tp_fleet_question *each = tp_fleet_questions; each->name; each++)
		for (uint32_t i = 0; tp_fleet_question_parameters[i]; i++) {
			char placeholder[64];
			const char *name = tp_fleet_question_parameters[i];
			snprintf(placeholder, sizeof(placeholder), "{%s:", name);
			assert_true(!tp_query_find_parameter(each->sql, name) ==
				    !strstr(each->clickhouse, placeholder));
			assert_null(strstr(each->clickhouse, "-- part"));
			assert_null(strstr(each->sql, "-- part"));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(regressions),
	    cmocka_unit_test(regressions_by_cpu),
	    cmocka_unit_test(no_regressions),
	    cmocka_unit_test(hosts),
	    cmocka_unit_test(skip_),
	    cmocka_unit_test(p99),
	    cmocka_unit_test(top),
	    cmocka_unit_test(sums),
	    cmocka_unit_test(clickhouse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
