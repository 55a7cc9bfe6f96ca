// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages of teeperf autotune, in their order: builds, runs, choices.
#define _GNU_SOURCE
#include "autotune.h"

#include "analyzer/analysis.h"
#include "driver.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Runs of the native and of the count build, in turn, before anything is chosen.
#define FIRST_RUNS 3
// A run with events for all that takes longer than this is not repeated.
#define SHORT_NS UINT64_C(5000000000)
// A list whose overhead is not clearly below or above the budget is run up to so many times as often.
#define MORE_RUNS 3
// A trace of more calls than this would take more than 8 GB while it is written.
#define TRACE_CALLS UINT64_C(500000000)
// Own times that exceed the CPU time by so much are not noise.
#define WAITING 1.25
// What a call may cost, to judge whether a measured cost is more than noise.
#define EVENT_EXPECTED_NS 10.0
#define COUNT_EXPECTED_NS 0.5
// The chooser's worth of a sampled function's time, beside 1 with events.
#define SAMPLE_WORTH 0.5

struct place {
	char text[PATH_MAX];
};

static struct place in_folder(const struct tp_autotune *tune, const char *name)
{
	struct place place;
	snprintf(place.text, sizeof(place.text), "%s/%s", tune->folder, name);
	return place;
}

__attribute__((format(printf, 2, 3))) static void say(
    const struct tp_autotune *tune, const char *format, ...)
{
	if (!tune->options.progress)
		return;
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "teeperf autotune: ");
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

static void show_file(const char *file)
{
	FILE *from = fopen(file, "re");
	char bytes[4096];
	size_t size;
	while (from && (size = fread(bytes, 1, sizeof(bytes), from)) > 0)
		fwrite(bytes, 1, size, stderr);
	if (from)
		fclose(from);
}

// The program's words for how it ended.
static const char *end_text(const struct tp_autotune_ran *ran, char *text, size_t size)
{
	if (ran->exit_kind == TEEPERF_EXIT_SIGNAL)
		snprintf(text, size, "was killed by a signal: %s", strsignal((int)ran->exit_value));
	else
		snprintf(text, size, "ended with exit status %u", ran->exit_value);
	return text;
}

static int fail_of_run(const struct tp_autotune *tune, const char *what, struct tp_err *err)
{
	const struct place errors = in_folder(tune, "run.err");
	return tp_err_set(err, TP_ERR_FORMAT, NULL, TP_ERR_NO_OFFSET,
	    "'%s' %s; its standard error is in '%s'", tune->options.program[0], what, errors.text);
}

// The program does what it did in the first run.
static int check_same(struct tp_autotune *tune, const struct tp_autotune_ran *ran,
    const char *which, struct tp_err *err)
{
	const struct tp_autotune_ran *first = &tune->first;
	char what[256];
	char end[128];
	if (ran->exit_kind != first->exit_kind || ran->exit_value != first->exit_value) {
		snprintf(what, sizeof(what), "%s when built %s, and not otherwise",
		    end_text(ran, end, sizeof(end)), which);
		return fail_of_run(tune, what, err);
	}
	if (!tune->output_varies &&
	    (ran->output_bytes != first->output_bytes || ran->output_hash != first->output_hash)) {
		snprintf(what, sizeof(what),
		    "prints something else when built %s than without "
		    "instrumentation",
		    which);
		return fail_of_run(tune, what, err);
	}
	return 0;
}

static const char *const variant_texts[TP_AUTOTUNE_VARIANTS] = {
    [TP_AUTOTUNE_NATIVE] = "without instrumentation",
    [TP_AUTOTUNE_COUNT] = "to count calls",
    [TP_AUTOTUNE_EVENT] = "with events for all functions",
    [TP_AUTOTUNE_LIST] = "with the list",
    [TP_AUTOTUNE_BEST] = "with the best list",
};

// Run the program in a variant; TRACE is the name of a file in the folder, or NULL.
static int run(struct tp_autotune *tune, enum tp_autotune_variant variant, const char *trace,
    bool compress, struct tp_autotune_ran *ran, struct tp_err *err)
{
	const struct place output = in_folder(tune, "run.out");
	const struct place errors = in_folder(tune, "run.err");
	const struct place file = in_folder(tune, trace ? trace : "");
	const struct tp_autotune_run wanted = {
	    .argv = tune->options.program,
	    .input = tune->options.input,
	    .output = output.text,
	    .errors = errors.text,
	    .trace = trace ? file.text : NULL,
	    .clock = variant == TP_AUTOTUNE_COUNT ? TP_CLOCK_CHOICE_NONE : tune->options.clock,
	    .compress = compress,
	};
	int code = tp_autotune_builder_place(&tune->builder, variant, err);
	if (!code && trace)
		unlink(file.text);
	if (!code)
		code = tp_autotune_run(&wanted, ran, err);
	if (code)
		return code;
	if (tune->options.verbose) {
		show_file(output.text);
		show_file(errors.text);
	}
	return 0;
}

static double time_of(const struct tp_autotune *tune, const struct tp_autotune_ran *ran)
{
	const uint64_t ns = tune->options.by_cpu ? ran->cpu_ns : ran->wall_ns;
	return ns ? (double)ns : 1;
}

// Native and another variant in turn, until there are `count` of each; who begins alternates.
static int run_series(struct tp_autotune *tune, enum tp_autotune_variant variant, const char *trace,
    uint32_t count, struct tp_autotune_series *series, struct tp_autotune_ran *last,
    struct tp_err *err)
{
	for (uint32_t i = series->count; i < count; i++) {
		for (uint32_t turn = 0; turn < 2; turn++) {
			const bool native = (turn + i) % 2 == 0;
			const enum tp_autotune_variant which =
			    native ? TP_AUTOTUNE_NATIVE : variant;
			struct tp_autotune_ran ran;
			int code = run(tune, which, native ? NULL : trace, false, &ran, err);
			if (!code)
				code = check_same(tune, &ran, variant_texts[which], err);
			if (code)
				return code;
			(native ? series->native : series->other)[i] = time_of(tune, &ran);
			(native ? series->native_cpu : series->other_cpu)[i] = (double)ran.cpu_ns;
			if (!native)
				*last = ran;
		}
		series->count = i + 1;
	}
	return 0;
}

static int build(struct tp_autotune *tune, enum tp_autotune_variant variant, const char *list,
    struct tp_err *err)
{
	const struct place log = in_folder(tune, "build.log");
	say(tune, "building %s", variant_texts[variant]);
	tune->builder.log = log.text;
	const int code = tp_autotune_builder_build(&tune->builder, variant, list, err);
	if (tune->options.verbose)
		show_file(log.text);
	return code;
}

static int first_native(struct tp_autotune *tune, struct tp_err *err)
{
	int code = build(tune, TP_AUTOTUNE_NATIVE, NULL, err);
	if (code)
		return code;
	// Once unmeasured, so that no run has to read the program and its input from the disk.
	code = run(tune, TP_AUTOTUNE_NATIVE, NULL, false, &tune->first, err);
	if (code)
		return code;
	char end[128];
	if (tune->first.exit_kind == TEEPERF_EXIT_SIGNAL)
		return fail_of_run(tune, end_text(&tune->first, end, sizeof(end)), err);
	if (tune->first.exit_value)
		tp_problems_add(&tune->notes, TP_ERR_FORMAT, NULL, TP_ERR_NO_OFFSET,
		    "'%s' %s when it is not instrumented; the same is demanded of all runs",
		    tune->options.program[0], end_text(&tune->first, end, sizeof(end)));
	struct tp_autotune_ran again;
	code = run(tune, TP_AUTOTUNE_NATIVE, NULL, false, &again, err);
	if (code)
		return code;
	tune->output_varies = again.output_bytes != tune->first.output_bytes ||
			      again.output_hash != tune->first.output_hash;
	if (tune->output_varies)
		tp_problems_add(&tune->notes, TP_ERR_FORMAT, NULL, TP_ERR_NO_OFFSET,
		    "'%s' does not print the same twice, so its output was not compared",
		    tune->options.program[0]);
	return check_same(tune, &again, variant_texts[TP_AUTOTUNE_NATIVE], err);
}

// The calls in a trace.
static int count_calls(const char *file, uint64_t *calls, struct tp_err *err)
{
	struct tp_tracefile trace = {.source.fd = -1};
	struct tp_analysis analysis = {0};
	const struct tp_analysis_options options = {0};
	*calls = 0;
	int code = tp_tracefile_open(&trace, file, err);
	if (!code)
		code = tp_analysis_init(&analysis, &trace, &options, err);
	for (uint32_t i = 0; !code && i < analysis.function_count; i++)
		*calls += analysis.functions[i].calls;
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	return code;
}

static int attached(
    const struct tp_autotune *tune, const struct tp_autotune_ran *ran, struct tp_err *err)
{
	switch (ran->attach) {
	case TEEPERF_ATTACH_DONE:
		return 0;
	case TEEPERF_ATTACH_BAD_CLOCK:
		return tp_err_set(err, TP_ERR_VERSION, NULL, TP_ERR_NO_OFFSET,
		    "'%s' was compiled for another clock than it is recorded with: the build "
		    "command must not set one itself; give autotune its --clock",
		    tune->options.program[0]);
	case TEEPERF_ATTACH_BAD_MODULE:
		return tp_err_set(err, TP_ERR_VERSION, NULL, TP_ERR_NO_OFFSET,
		    "a part of '%s' was compiled by another version of teeperf: build all of it "
		    "again",
		    tune->options.program[0]);
	default:
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "'%s' ran without recording: does it run what was built, and keep its "
		    "environment?",
		    tune->options.program[0]);
	}
}

static int count(struct tp_autotune *tune, struct tp_err *err)
{
	int code = build(tune, TP_AUTOTUNE_COUNT, NULL, err);
	if (code)
		return code;
	say(tune, "running it, counting calls and without instrumentation");
	struct tp_autotune_ran last;
	struct tp_autotune_series *series = &tune->count_series;
	code = run_series(tune, TP_AUTOTUNE_COUNT, "count.trace", FIRST_RUNS, series, &last, err);
	if (!code)
		code = attached(tune, &last, err);
	if (!code)
		code = tp_autotune_builder_place(&tune->builder, TP_AUTOTUNE_COUNT, err);
	const struct place trace = in_folder(tune, "count.trace");
	if (!code)
		code = count_calls(trace.text, &tune->calls, err);
	if (code)
		return code;
	if (!tune->calls)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "'%s' calls no function that could be instrumented", tune->options.program[0]);
	tune->native_ns = tp_autotune_median(series->native, series->count);
	tune->native_cpu_ns = tp_autotune_median(series->native_cpu, series->count);
	tune->count_cost_ns =
	    tp_autotune_cost(tune->native_ns, tp_autotune_median(series->other, series->count),
		(double)tune->calls, COUNT_EXPECTED_NS);
	return 0;
}

static int profile_by_trace(struct tp_autotune *tune, struct tp_err *err)
{
	int code = build(tune, TP_AUTOTUNE_EVENT, NULL, err);
	if (code)
		return code;
	say(tune, "running it with events for all functions");
	struct tp_autotune_ran ran;
	double times[FIRST_RUNS];
	double cpu_times[FIRST_RUNS];
	uint32_t count = 0;
	do {
		code = run(tune, TP_AUTOTUNE_EVENT, "profile.trace", true, &ran, err);
		if (!code)
			code = attached(tune, &ran, err);
		if (!code)
			code = check_same(tune, &ran, variant_texts[TP_AUTOTUNE_EVENT], err);
		if (code)
			return code;
		times[count] = time_of(tune, &ran);
		cpu_times[count++] = (double)ran.cpu_ns;
	} while (count < FIRST_RUNS && ran.wall_ns < SHORT_NS);
	tune->event_time_ns = tp_autotune_median(times, count);
	tune->event_cpu_ns = tp_autotune_median(cpu_times, count);
	tune->event_runs = count;
	tune->event_records = ran.records;
	const double calls = (double)tune->calls;
	tune->event_cost_ns =
	    tp_autotune_cost(tune->native_ns, tune->event_time_ns, calls, EVENT_EXPECTED_NS);
	tune->profile_cost_ns =
	    tp_autotune_cost(tune->native_cpu_ns, tune->event_cpu_ns, calls, EVENT_EXPECTED_NS);
	return 0;
}

static int profile_by_perf(struct tp_autotune *tune, struct tp_err *err)
{
	char perf[TP_DRIVER_PATH_SIZE];
	if (!tp_driver_find("perf", perf))
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "there is no 'perf': install it (Debian: linux-perf), or use --samples trace");
	say(tune, "sampling it by perf, without instrumentation");
	const struct place data = in_folder(tune, "perf.data");
	const struct place output = in_folder(tune, "perf.out");
	const struct place errors = in_folder(tune, "perf.err");
	size_t words = 0;
	while (tune->options.program[words])
		words++;
	static const char *const options[] = {
	    "perf", "record", "-q", "-N", "-B", "-F", "1999", "-o"};
	enum { OPTIONS = sizeof(options) / sizeof(options[0]) };
	char **argv = calloc(words + OPTIONS + 3, sizeof(*argv));
	if (!argv)
		return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
	size_t at = 0;
	for (int i = 0; i < OPTIONS; i++)
		argv[at++] = (char *)(uintptr_t)options[i];
	char dashes[] = "--";
	argv[at++] = (char *)(uintptr_t)data.text;
	argv[at++] = dashes;
	memcpy(argv + at, tune->options.program, words * sizeof(*argv));
	const struct tp_autotune_run wanted = {
	    .argv = argv,
	    .input = tune->options.input,
	    .output = output.text,
	    .errors = errors.text,
	};
	struct tp_autotune_ran ran;
	int code = tp_autotune_builder_place(&tune->builder, TP_AUTOTUNE_NATIVE, err);
	if (!code)
		code = tp_autotune_run(&wanted, &ran, err);
	free(argv);
	if (!code && access(data.text, R_OK))
		code = tp_err_set(err, TP_ERR_SYSTEM, errors.text, TP_ERR_NO_OFFSET,
		    "'perf record' leaves no data (exit status %u): see what it says there, or use "
		    "--samples trace",
		    ran.exit_value);
	tune->by_perf = !code;
	return code;
}

static int profile(struct tp_autotune *tune, struct tp_err *err)
{
	const enum tp_autotune_samples samples = tune->options.samples;
	if (samples == TP_AUTOTUNE_PERF)
		return profile_by_perf(tune, err);
	if (samples == TP_AUTOTUNE_AUTO && tune->calls > TRACE_CALLS) {
		struct tp_err why;
		if (!profile_by_perf(tune, &why))
			return 0;
		tp_problems_add(&tune->notes, why.code, why.file, TP_ERR_NO_OFFSET,
		    "a trace of %llu calls is large, but there was no other way: %s",
		    (unsigned long long)tune->calls, why.what);
		if (tp_autotune_caught()) {
			*err = why;
			return why.code;
		}
	}
	return profile_by_trace(tune, err);
}

// What the chooser noted, but for what it says of a product: source lines are of no use here.
static void add_notes(struct tp_autotune *tune, const struct tp_problems *from)
{
	for (uint32_t i = 0; i < tp_problems_kept(from); i++) {
		const struct tp_err *err = &from->kept[i];
		bool of_product = false;
		for (uint32_t j = 0; j < tune->builder.product_count; j++)
			of_product |= !strcmp(err->file, tune->builder.products[j].path);
		if (of_product)
			continue;
		tp_problems_add(&tune->notes, err->code, err->file, err->offset, "%s", err->what);
	}
}

static int write_file(const char *path, const struct tp_buf *text, struct tp_err *err)
{
	if (text->failed)
		return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
	FILE *file = fopen(path, "we");
	bool ok = file && fwrite(text->data, 1, text->size, file) == text->size;
	const int error = errno;
	if (file)
		ok = fclose(file) == 0 && ok;
	return ok ? 0 : tp_err_system(err, error, path, "cannot write");
}

// What a round's list is, from what the chooser says.
static int keep_choice(struct tp_autotune *tune, struct tp_autotune_round *round,
    const struct tp_generated *generated, struct tp_err *err)
{
	struct tp_autotune_try *tried = &round->tried;
	tried->predicted = tp_generated_overhead(generated);
	round->event_share = tp_generated_event_share(generated);
	round->sample_share = tp_generated_sample_share(generated);
	round->bound_share = tp_generated_bound_share(generated);
	tried->named = round->event_share + round->sample_share;
	tried->worth = round->event_share + SAMPLE_WORTH * round->sample_share;
	round->event_ns = generated->cost.event_ns;
	round->events = generated->chosen.event_count;
	round->samples = generated->chosen.sample_count;
	round->counts = generated->chosen.count_count;
	struct tp_buf list;
	tp_buf_init(&list);
	tp_generated_add_list(generated, &list);
	int code = write_file(tune->list_path, &list, err);
	round->list = code ? NULL : strndup(list.data, list.size);
	round->list_size = list.size;
	tp_buf_release(&list);
	if (!code && !round->list)
		code = tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
	if (!code && tune->options.work) {
		struct tp_buf csv;
		tp_buf_init(&csv);
		tp_autotune_profile_csv(generated, &csv);
		const struct place file = in_folder(tune, "profile.csv");
		code = write_file(file.text, &csv, err);
		tp_buf_release(&csv);
	}
	return code;
}

// A trace takes waiting for work: say so if there is much of it.
static void note_waiting(struct tp_autotune *tune, const struct tp_generated *generated)
{
	double own_ns = 0;
	for (uint32_t i = 0; i < generated->workload.function_count; i++)
		own_ns += generated->workload.functions[i].self_ns;
	if (!tune->by_perf && own_ns > WAITING * tune->native_cpu_ns)
		tp_problems_add(&tune->notes, TP_ERR_LIMIT, NULL, TP_ERR_NO_OFFSET,
		    "functions have %.0f %% more time of their own than the program takes of the "
		    "processors: they wait, which counts as named; --samples perf leaves it out",
		    100 * (own_ns / tune->native_cpu_ns - 1));
}

static int choose(struct tp_autotune *tune, struct tp_autotune_round *round, struct tp_err *err)
{
	const struct tp_autotune_options *options = &tune->options;
	const enum tp_autotune_variant variant =
	    tune->by_perf ? TP_AUTOTUNE_COUNT : TP_AUTOTUNE_EVENT;
	const struct place trace = in_folder(tune, "profile.trace");
	const struct place counts = in_folder(tune, "count.trace");
	const struct place samples = in_folder(tune, "perf.data");
	const char *inventories[TP_AUTOTUNE_PRODUCTS_MAX];
	for (uint32_t i = 0; i < tune->builder.product_count; i++)
		inventories[i] = tune->builder.products[i].path;
	const struct tp_generate_options wanted = {
	    .profile = tune->by_perf ? NULL : trace.text,
	    .counts = tune->by_perf ? counts.text : NULL,
	    .samples = tune->by_perf ? samples.text : NULL,
	    .inventories = inventories,
	    .inventory_count = tune->builder.product_count,
	    .budget = options->budget,
	    .log_budget = options->log_budget,
	    .event_cost_ns = tune->event_cost_ns,
	    .profile_cost_ns = tune->profile_cost_ns,
	    .count_cost_ns = tune->count_cost_ns,
	    .cost_in_situ = tune->event_cost_ns > 0,
	    .cost_factor = round->tried.factor,
	    .time_ns = tune->native_ns,
	    .keep = options->keep,
	    .keep_count = options->keep_count,
	    .never = options->never,
	    .never_count = options->never_count,
	    .no_sample = options->no_sample,
	    .count_rest = options->count_rest,
	};
	// The names in a trace come from the program that made it, which is looked for in its place.
	int code = tp_autotune_builder_place(&tune->builder, variant, err);
	if (code)
		return code;
	static struct tp_generated generated;
	code = tp_generate(&generated, &wanted, err);
	if (!code && tune->round_count == 0) {
		add_notes(tune, &generated.damage);
		add_notes(tune, &generated.notes);
		note_waiting(tune, &generated);
	}
	if (!code)
		code = keep_choice(tune, round, &generated, err);
	tp_generated_release(&generated);
	return code;
}

// The next line of a list that is no comment, or NULL.
static const char *next_rule(const char *at)
{
	while (at && (*at == '#' || *at == '\n')) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at && *at ? at : NULL;
}

// Whether another build would be the same: only comments differ.
static bool same_rules(const char *one, const char *other)
{
	for (;;) {
		one = next_rule(one);
		other = next_rule(other);
		if (!one || !other)
			return one == other;
		const size_t length = strcspn(one, "\n");
		if (strcspn(other, "\n") != length || memcmp(one, other, length) != 0)
			return false;
		one += length;
		other += length;
	}
}

static int measure_list(
    struct tp_autotune *tune, struct tp_autotune_round *round, struct tp_err *err)
{
	int code = build(tune, TP_AUTOTUNE_LIST, tune->list_path, err);
	if (code)
		return code;
	say(tune, "running it with the list and without, %u times each", tune->options.runs);
	struct tp_autotune_series series = {0};
	struct tp_autotune_ran last;
	struct tp_autotune_overhead *measured = &round->tried.measured;
	const uint32_t runs = tune->options.runs;
	do {
		code = run_series(
		    tune, TP_AUTOTUNE_LIST, "list.trace", series.count + runs, &series, &last, err);
		if (!code && round->events + round->samples + round->counts)
			code = attached(tune, &last, err);
		if (code)
			return code;
		*measured = tp_autotune_overhead(series.native, series.other, series.count);
	} while (tp_autotune_unclear(measured, tune->options.budget) &&
		 series.count + runs <= MORE_RUNS * runs &&
		 series.count + runs <= TP_AUTOTUNE_RUNS_MAX);
	round->runs = series.count;
	round->native_ns = tp_autotune_median(series.native, series.count);
	round->time_ns = tp_autotune_median(series.other, series.count);
	round->records = last.records;
	round->lost = last.lost;
	return 0;
}

static int try_lists(struct tp_autotune *tune, struct tp_err *err)
{
	double factor = 1;
	do {
		struct tp_autotune_round *round = &tune->rounds[tune->round_count];
		round->tried.factor = factor;
		int code = choose(tune, round, err);
		if (code)
			return code;
		if (tune->round_count && same_rules(round[-1].list, round->list)) {
			free(round->list);
			round->list = NULL;
			tune->ended = round[-1].tried.measured.median <= tune->options.budget
					  ? TP_AUTOTUNE_DONE
					  : TP_AUTOTUNE_TIRED;
			break;
		}
		code = measure_list(tune, round, err);
		if (code)
			return code;
		tune->round_count++;
		struct tp_autotune_try tries[TP_AUTOTUNE_ROUNDS_MAX];
		for (uint32_t i = 0; i < tune->round_count; i++)
			tries[i] = tune->rounds[i].tried;
		tune->best = tp_autotune_best(tries, tune->round_count, tune->options.budget);
		if (tune->best == tune->round_count - 1)
			code = tp_autotune_builder_accept(&tune->builder, err);
		if (code)
			return code;
		tune->ended = tp_autotune_next(
		    tries, tune->round_count, tune->options.budget, tune->options.rounds, &factor);
	} while (tune->ended == TP_AUTOTUNE_AGAIN);
	return 0;
}

// Leave the program and its object files as the best list makes them.
static int finish(struct tp_autotune *tune, struct tp_err *err)
{
	const struct tp_autotune_round *best = &tune->rounds[tune->best];
	const struct tp_buf list = {.data = best->list, .size = best->list_size};
	const int code = write_file(tune->list_path, &list, err);
	if (code || tune->builder.built == TP_AUTOTUNE_BEST)
		return code;
	return build(tune, TP_AUTOTUNE_BEST, tune->list_path, err);
}

static int make_folder(struct tp_autotune *tune, struct tp_err *err)
{
	if (tune->options.work) {
		char *real = NULL;
		if ((mkdir(tune->options.work, 0777) && errno != EEXIST) ||
		    !(real = realpath(tune->options.work, NULL)))
			return tp_err_system(
			    err, errno, tune->options.work, "cannot make the folder");
		const int size = snprintf(tune->folder, sizeof(tune->folder), "%s", real);
		free(real);
		if (size >= (int)sizeof(tune->folder))
			return tp_err_set(err, TP_ERR_LIMIT, tune->options.work, TP_ERR_NO_OFFSET,
			    "the path is too long");
		return 0;
	}
	const char *parent = getenv("TMPDIR");
	snprintf(tune->folder, sizeof(tune->folder), "%s/teeperf-autotune.XXXXXX",
	    parent && *parent == '/' ? parent : "/tmp");
	if (!mkdtemp(tune->folder)) {
		const int error = errno;
		tp_err_system(err, error, tune->folder, "cannot make a folder for logs and traces");
		tune->folder[0] = '\0';
		return TP_ERR_SYSTEM;
	}
	return 0;
}

int tp_autotune_all(struct tp_autotune *tune, struct tp_err *err)
{
	int code = make_folder(tune, err);
	if (code)
		return code;
	const struct place list = in_folder(tune, "list.allow");
	memcpy(tune->list_path, list.text, sizeof(tune->list_path));
	code = first_native(tune, err);
	if (!code)
		code = count(tune, err);
	if (!code)
		code = profile(tune, err);
	if (!code)
		code = try_lists(tune, err);
	if (!code)
		code = finish(tune, err);
	return code;
}

void tp_autotune_release(struct tp_autotune *tune, bool keep_logs)
{
	static const char *const files[] = {"count.trace", "profile.trace", "list.trace",
	    "list.allow", "perf.data", "run.out", "run.err", "build.log", "perf.out", "perf.err"};
	const size_t count = sizeof(files) / sizeof(files[0]);
	tp_autotune_builder_release(&tune->builder);
	for (uint32_t i = 0; i < tune->round_count; i++)
		free(tune->rounds[i].list);
	if (!tune->folder[0] || tune->options.work)
		return;
	for (size_t i = 0; i < count && !(keep_logs && !strcmp(files[i], "run.out")); i++) {
		const struct place file = in_folder(tune, files[i]);
		unlink(file.text);
	}
	rmdir(tune->folder);
}
