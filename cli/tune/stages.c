// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages of teeperf autotune, in their order: the measurements before any list, and the result.
#define _GNU_SOURCE
#include "autotune.h"

#include "analyzer/profile/analysis.h"
#include "analyzer/import/open.h"
#include "cli/driver/driver.h"
#include "allowlists/choose/workload.h"
#include "common/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Runs of the native and of the count build, in turn, before anything is chosen.
#define FIRST_RUNS 5
// Runs with events for all.
#define EVENT_RUNS 3
// A run with events for all that takes longer than this is not repeated.
#define SHORT_NS UINT64_C(5000000000)
// CPU time of a program whose threads take turns, over its wall time, at most.
#define ONE_THREAD 1.1
// A trace of more calls than this would take more than 8 GB while it is written.
#define TRACE_CALLS UINT64_C(500000000)
// What a call may cost, to judge whether a measured cost is more than noise.
#define EVENT_EXPECTED_NS 10.0
#define COUNT_EXPECTED_NS 0.5

static int first_native(struct tp_autotune *tune, struct tp_err *err)
{
	int code = tp_autotune_make(tune, TP_AUTOTUNE_NATIVE, NULL, err);
	if (code)
		return code;
	// Once unmeasured, so that no run has to read the program and its input from the disk.
	code = tp_autotune_run_variant(tune, TP_AUTOTUNE_NATIVE, NULL, false, &tune->first, err);
	if (code)
		return code;
	char end[128];
	if (tune->first.exit_kind == TEEPERF_EXIT_SIGNAL)
		return tp_autotune_fail_of_run(
		    tune, tp_autotune_end_text(&tune->first, end, sizeof(end)), err);
	if (tune->first.exit_value)
		tp_problems_add(&tune->notes, TP_ERR_FORMAT, NULL,
		    "'%s' %s when it is not instrumented; all runs must do the same",
		    tune->options.program[0], tp_autotune_end_text(&tune->first, end, sizeof(end)));
	struct tp_autotune_ran again;
	code = tp_autotune_run_variant(tune, TP_AUTOTUNE_NATIVE, NULL, false, &again, err);
	if (code)
		return code;
	tune->output_varies = again.output_bytes != tune->first.output_bytes ||
			      again.output_hash != tune->first.output_hash;
	if (tune->output_varies)
		tp_problems_add(&tune->notes, TP_ERR_FORMAT, NULL,
		    "'%s' does not print the same twice, so its output was not compared",
		    tune->options.program[0]);
	return tp_autotune_check_same(
	    tune, &again, tp_autotune_variant_texts[TP_AUTOTUNE_NATIVE], err);
}

// What a trace has.
struct contents {
	uint64_t calls;
	uint64_t named; /* calls of functions whose names are known */
	uint64_t lost;
	bool lacks; /* other calls, too */
	bool timed;
};

static int look_into(const char *file, struct contents *contents, struct tp_err *err)
{
	struct tp_tracefile trace = {.source.fd = -1};
	struct tp_analysis analysis = {0};
	const struct tp_analysis_options options = {0};
	*contents = (struct contents){0};
	int code = tp_import_open(&trace, file, NULL, NULL, 0, err);
	if (!code)
		code = tp_analysis_init(&analysis, &trace, &options, err);
	for (uint32_t i = 0; !code && i < analysis.function_count; i++) {
		const struct tp_function *function = &analysis.functions[i];
		contents->calls += function->calls;
		contents->named += function->symbol.linkage[0] ? function->calls : 0;
	}
	contents->lost = analysis.lost;
	contents->lacks =
	    trace.lacks.chunks || trace.lacks.open || trace.problems.count || analysis.damage.count;
	contents->timed = analysis.counts.events && !analysis.timeless && analysis.time.known;
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	return code;
}

// The profile that was given, while the program that it is of is still there.
static int open_given(struct tp_autotune *tune, struct tp_err *err)
{
	const char *file = tune->options.from;
	struct contents contents;
	int code = tp_autotune_builder_keep_from(&tune->builder, err);
	if (!code)
		code = look_into(file, &contents, err);
	if (code)
		return code;
	if (!contents.calls)
		return tp_err_set(err, TP_ERR_NOT_FOUND, file, "it has no calls");
	if (contents.lost)
		return tp_err_set(err, TP_ERR_TRUNCATED, file,
		    "lost %llu events, so calls and times are too low: record again with a larger "
		    "--size, or leave out --from",
		    (unsigned long long)contents.lost);
	if (contents.lacks)
		return tp_err_set(err, TP_ERR_TRUNCATED, file,
		    "parts of it are missing, so calls and times are too low: record again, or "
		    "leave out --from");
	if (contents.named < contents.calls / 2)
		return tp_err_set(err, TP_ERR_NOT_FOUND, file,
		    "is not from the present build of '%s', so its functions have no names: build "
		    "it as it was recorded, or record it again",
		    tune->builder.products[0].path);
	tune->calls = contents.calls;
	tune->given_times = contents.timed && tune->options.samples != TP_AUTOTUNE_PERF;
	return 0;
}

// What a recorder costs a program that does not log anything: memory that it prepares, cores.
static int find_fixed(struct tp_autotune *tune, struct tp_err *err)
{
	tp_autotune_say(tune, "running it with a recorder and without");
	struct tp_autotune_ran last;
	struct tp_autotune_series *series = &tune->alone_series;
	const int code = tp_autotune_run_series(
	    tune, TP_AUTOTUNE_NATIVE, "alone.trace", FIRST_RUNS, series, &last, err);
	if (code)
		return code;
	const struct tp_autotune_overhead fixed =
	    tp_autotune_overhead(series->native, series->other, series->count);
	// Less than its own error is nothing.
	if (fixed.median > fixed.error)
		tune->fixed_ns = fixed.median * tp_autotune_median(series->native, series->count);
	return 0;
}

static void find_native(struct tp_autotune *tune, const struct tp_autotune_series *series)
{
	tune->native_ns = tp_autotune_median(series->native, series->count);
	tune->native_cpu_ns = tp_autotune_median(series->native_cpu, series->count);
}

// The calls; those of a profile that is given are known.
static int count(struct tp_autotune *tune, struct tp_err *err)
{
	if (tune->options.from) {
		find_native(tune, &tune->alone_series);
		return 0;
	}
	int code = tp_autotune_make(tune, TP_AUTOTUNE_COUNT, NULL, err);
	if (code)
		return code;
	tp_autotune_say(tune, "running it, counting calls and without instrumentation");
	struct contents contents;
	struct tp_autotune_ran last;
	struct tp_autotune_series *series = &tune->count_series;
	code = tp_autotune_run_series(
	    tune, TP_AUTOTUNE_COUNT, "count.trace", FIRST_RUNS, series, &last, err);
	if (!code)
		code = tp_autotune_attached(tune, &last, err);
	if (!code)
		code = tp_autotune_builder_place(&tune->builder, TP_AUTOTUNE_COUNT, err);
	const struct tp_autotune_path trace = tp_autotune_file(tune, "count.trace");
	if (!code)
		code = look_into(trace.text, &contents, err);
	if (code)
		return code;
	tune->calls = contents.calls;
	if (!tune->calls)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "'%s' calls no function that could be instrumented", tune->options.program[0]);
	find_native(tune, series);
	tune->count_cost_ns = tp_autotune_cost(tune->native_ns + tune->fixed_ns,
	    tp_autotune_median(series->other, series->count), (double)tune->calls,
	    COUNT_EXPECTED_NS);
	return 0;
}

static int profile_by_trace(struct tp_autotune *tune, struct tp_err *err)
{
	int code = tp_autotune_make(tune, TP_AUTOTUNE_EVENT, NULL, err);
	if (code)
		return code;
	tp_autotune_say(tune, "running it with events for all functions");
	const struct tp_autotune_path trace = tp_autotune_file(tune, "event.trace");
	const struct tp_autotune_path kept = tp_autotune_file(tune, "profile.trace");
	struct tp_autotune_ran ran;
	// The fastest run counts: in the others functions were interrupted, which would look like
	// work.
	do {
		code = tp_autotune_run_variant(
		    tune, TP_AUTOTUNE_EVENT, "event.trace", true, &ran, err);
		if (!code)
			code = tp_autotune_attached(tune, &ran, err);
		if (!code)
			code = tp_autotune_check_same(
			    tune, &ran, tp_autotune_variant_texts[TP_AUTOTUNE_EVENT], err);
		if (code)
			return code;
		const double time_ns = tp_autotune_time(tune, &ran);
		if (tune->event_runs++ && time_ns >= tune->event_time_ns)
			continue;
		tune->event_time_ns = time_ns;
		tune->event_cpu_ns = (double)ran.cpu_ns;
		if (rename(trace.text, kept.text))
			return tp_err_system(err, errno, kept.text, "cannot keep the trace");
	} while (tune->event_runs < EVENT_RUNS && ran.wall_ns < SHORT_NS);
	const double calls = (double)tune->calls;
	tune->event_cost_ns = tp_autotune_cost(
	    tune->native_ns + tune->fixed_ns, tune->event_time_ns, calls, EVENT_EXPECTED_NS);
	tune->profile_cost_ns = tune->event_cost_ns;
	// A trace has wall times. Those of one thread are the program's; with several its wall time
	// says nothing of what each of them took.
	if (tune->options.by_cpu || tune->native_cpu_ns > ONE_THREAD * tune->native_ns)
		tune->profile_cost_ns = tp_autotune_cost(
		    tune->native_cpu_ns, tune->event_cpu_ns, calls, EVENT_EXPECTED_NS);
	return 0;
}

// What perf has found, as lines "NAME<TAB>SAMPLES" in another file: perf looks for names in the
// program, which has to be the native one for that, and another one for the counts.
static int name_samples(const struct tp_autotune *tune, const char *data, struct tp_err *err)
{
	struct tp_buf report;
	struct tp_buf lines;
	tp_buf_init(&report);
	tp_buf_init(&lines);
	int code = tp_perf_report(data, &report, err);
	for (char *line = report.data; !code && *line;) {
		char *next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		char *end;
		const unsigned long long samples = strtoull(line, &end, 10);
		const char *name = strstr(end, "] ");
		if (end != line && name) {
			name += strspn(name, "] ");
			const size_t length = strcspn(name, " \t");
			tp_buf_addf(&lines, "%.*s\t%llu\n", (int)length, name, samples);
		}
		line = next;
	}
	const struct tp_autotune_path file = tp_autotune_file(tune, "samples");
	if (!code)
		code = tp_autotune_write_file(file.text, &lines, err);
	tp_buf_release(&report);
	tp_buf_release(&lines);
	return code;
}

static int profile_by_perf(struct tp_autotune *tune, struct tp_err *err)
{
	char perf[TP_DRIVER_PATH_SIZE];
	if (!tp_find_program("perf", perf))
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "'perf' is not installed: install it (Debian: linux-perf), or use --samples "
		    "trace");
	tp_autotune_say(tune, "sampling it by perf, without instrumentation");
	const struct tp_autotune_path data = tp_autotune_file(tune, "perf.data");
	const struct tp_autotune_path output = tp_autotune_file(tune, "perf.out");
	const struct tp_autotune_path errors = tp_autotune_file(tune, "perf.err");
	size_t words = 0;
	while (tune->options.program[words])
		words++;
	const char *const record[] = {
	    "perf", "record", "-q", "-N", "-B", "-F", "1999", "-o", data.text, "--"};
	const size_t own = sizeof(record) / sizeof(record[0]);
	char **argv = calloc(own + words + 1, sizeof(*argv));
	if (!argv)
		return tp_err_memory(err, NULL);
	memcpy(argv, record, sizeof(record));
	memcpy(argv + own, tune->options.program, words * sizeof(*argv));
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
		code = tp_err_set(err, TP_ERR_SYSTEM, errors.text,
		    "'perf record' wrote no data (exit status %u): see its output there, or use "
		    "--samples trace",
		    ran.exit_value);
	if (!code)
		code = name_samples(tune, data.text, err);
	tune->by_perf = !code;
	return code;
}

static int profile(struct tp_autotune *tune, struct tp_err *err)
{
	if (tune->given_times)
		return 0;
	const enum tp_autotune_samples samples = tune->options.samples;
	if (samples == TP_AUTOTUNE_PERF)
		return profile_by_perf(tune, err);
	if (samples == TP_AUTOTUNE_AUTO && tune->calls > TRACE_CALLS) {
		struct tp_err why;
		if (!profile_by_perf(tune, &why))
			return 0;
		tp_problems_add(&tune->notes, why.code, why.file,
		    "a trace of %llu calls is large, but there was no other way: %s",
		    (unsigned long long)tune->calls, why.what);
		if (tp_autotune_caught()) {
			*err = why;
			return why.code;
		}
	}
	return profile_by_trace(tune, err);
}

// Leave the program and its object files as the best list makes them; without one, as they are
// without instrumentation.
static int finish(struct tp_autotune *tune, struct tp_err *err)
{
	if (!tp_autotune_has_best(tune))
		return tp_autotune_make(tune, TP_AUTOTUNE_NATIVE, NULL, err);
	const struct tp_autotune_round *best = &tune->rounds[tune->best];
	const struct tp_buf list = {.data = best->list, .size = best->list_size};
	const int code = tp_autotune_write_file(tune->list_path, &list, err);
	if (code || tune->builder.built == TP_AUTOTUNE_BEST)
		return code;
	return tp_autotune_make(tune, TP_AUTOTUNE_BEST, tune->list_path, err);
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
			return tp_err_set(
			    err, TP_ERR_LIMIT, tune->options.work, "the path is too long");
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
	const struct tp_autotune_path list = tp_autotune_file(tune, "list.allow");
	memcpy(tune->list_path, list.text, sizeof(tune->list_path));
	if (tune->options.from)
		code = open_given(tune, err);
	tp_autotune_plan_progress(tune);
	static int (*const stages[])(struct tp_autotune * tune, struct tp_err * err) = {
	    first_native, find_fixed, count, profile, tp_autotune_try_lists, finish};
	for (size_t i = 0; !code && i < sizeof(stages) / sizeof(stages[0]); i++)
		code = stages[i](tune, err);
	return code;
}

void tp_autotune_release(struct tp_autotune *tune, bool keep_logs)
{
	static const char *const files[] = {"alone.trace", "event.trace", "count.trace",
	    "profile.trace", "list.trace", "list.allow", "perf.data", "samples", "run.out",
	    "run.err", "build.log", "perf.out", "perf.err"};
	const size_t count = sizeof(files) / sizeof(files[0]);
	tp_autotune_builder_release(&tune->builder);
	for (uint32_t i = 0; i < tune->round_count; i++)
		free(tune->rounds[i].list);
	if (!tune->folder[0] || tune->options.work)
		return;
	for (size_t i = 0; i < count && !(keep_logs && !strcmp(files[i], "run.out")); i++) {
		const struct tp_autotune_path file = tp_autotune_file(tune, files[i]);
		unlink(file.text);
	}
	rmdir(tune->folder);
}
