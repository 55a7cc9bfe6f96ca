// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds and runs of teeperf autotune: each checked, and native ones in turn with others.
#define _GNU_SOURCE
#include "autotune.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct tp_autotune_path tp_autotune_file(const struct tp_autotune *tune, const char *name)
{
	struct tp_autotune_path place;
	snprintf(place.text, sizeof(place.text), "%s/%s", tune->folder, name);
	return place;
}

void tp_autotune_say(const struct tp_autotune *tune, const char *format, ...)
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

const char *tp_autotune_end_text(const struct tp_autotune_ran *ran, char *text, size_t size)
{
	if (ran->exit_kind == TEEPERF_EXIT_SIGNAL)
		snprintf(text, size, "was killed by a signal: %s", strsignal((int)ran->exit_value));
	else
		snprintf(text, size, "ended with exit status %u", ran->exit_value);
	return text;
}

int tp_autotune_fail_of_run(const struct tp_autotune *tune, const char *what, struct tp_err *err)
{
	const struct tp_autotune_path errors = tp_autotune_file(tune, "run.err");
	return tp_err_set(err, TP_ERR_FORMAT, NULL, "'%s' %s; its standard error is in '%s'",
	    tune->options.program[0], what, errors.text);
}

int tp_autotune_check_same(struct tp_autotune *tune, const struct tp_autotune_ran *ran,
    const char *which, struct tp_err *err)
{
	const struct tp_autotune_ran *first = &tune->first;
	char what[256];
	char end[128];
	if (ran->exit_kind != first->exit_kind || ran->exit_value != first->exit_value) {
		snprintf(what, sizeof(what), "%s when built %s, but not otherwise",
		    tp_autotune_end_text(ran, end, sizeof(end)), which);
		return tp_autotune_fail_of_run(tune, what, err);
	}
	if (!tune->output_varies &&
	    (ran->output_bytes != first->output_bytes || ran->output_hash != first->output_hash)) {
		snprintf(what, sizeof(what),
		    "prints something else when built %s than without "
		    "instrumentation",
		    which);
		return tp_autotune_fail_of_run(tune, what, err);
	}
	return 0;
}

const char *const tp_autotune_variant_texts[TP_AUTOTUNE_VARIANTS] = {
    [TP_AUTOTUNE_NATIVE] = "without instrumentation",
    [TP_AUTOTUNE_COUNT] = "to count calls",
    [TP_AUTOTUNE_EVENT] = "with events for all functions",
    [TP_AUTOTUNE_LIST] = "with the list",
    [TP_AUTOTUNE_BEST] = "with the best list",
    [TP_AUTOTUNE_FROM] = "as it was",
};

int tp_autotune_run_variant(struct tp_autotune *tune, enum tp_autotune_variant variant,
    const char *trace, bool compress, struct tp_autotune_ran *ran, struct tp_err *err)
{
	const struct tp_autotune_path output = tp_autotune_file(tune, "run.out");
	const struct tp_autotune_path errors = tp_autotune_file(tune, "run.err");
	const struct tp_autotune_path file = tp_autotune_file(tune, trace ? trace : "");
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
	const uint64_t start_ns = tp_clock_monotonic_ns();
	if (!code)
		code = tp_autotune_run(&wanted, ran, err);
	if (code)
		return code;
	tune->progress.runs++;
	tune->progress.run_ns += (double)(tp_clock_monotonic_ns() - start_ns);
	if (tune->options.verbose) {
		show_file(output.text);
		show_file(errors.text);
	}
	return 0;
}

double tp_autotune_time(const struct tp_autotune *tune, const struct tp_autotune_ran *ran)
{
	const uint64_t ns = tune->options.by_cpu ? ran->cpu_ns : ran->wall_ns;
	return ns ? (double)ns : 1;
}

int tp_autotune_run_series(struct tp_autotune *tune, enum tp_autotune_variant variant,
    const char *trace, uint32_t count, struct tp_autotune_series *series,
    struct tp_autotune_ran *last, struct tp_err *err)
{
	for (uint32_t i = series->count; i < count; i++) {
		for (uint32_t turn = 0; turn < 2; turn++) {
			const bool native = (turn + i) % 2 == 0;
			const enum tp_autotune_variant which =
			    native ? TP_AUTOTUNE_NATIVE : variant;
			struct tp_autotune_ran ran;
			int code = tp_autotune_run_variant(
			    tune, which, native ? NULL : trace, false, &ran, err);
			if (!code)
				code = tp_autotune_check_same(
				    tune, &ran, tp_autotune_variant_texts[which], err);
			if (code)
				return code;
			(native ? series->native : series->other)[i] = tp_autotune_time(tune, &ran);
			if (native)
				series->native_cpu[i] = (double)ran.cpu_ns;
			else
				*last = ran;
		}
		series->count = i + 1;
	}
	return 0;
}

/* ---- builds, and how far it is ---- */

// Of the recorder alone, and of the counts, in turn with native runs; of events for all; and two of
// the native program.
enum { SERIES_RUNS = 10, EVENT_RUNS = 3, FIRST_RUNS = 2 };
enum { PROGRESS_TEXT = 96 };

void tp_autotune_plan_progress(struct tp_autotune *tune)
{
	const struct tp_autotune_options *options = &tune->options;
	struct tp_autotune_progress *progress = &tune->progress;
	const bool counts = !options->from;
	const bool events = !tune->given_times && options->samples != TP_AUTOTUNE_PERF;
	// The last one makes the best list's build again if another one was tried behind it.
	progress->most_builds =
	    1U + counts + events + options->rounds + (options->rounds > 1 ? 1U : 0U);
	progress->most_runs = FIRST_RUNS + SERIES_RUNS + (counts ? SERIES_RUNS : 0U) +
			      (events ? EVENT_RUNS : 0U) + 2 * options->rounds * options->runs;
}

static double left_of(uint32_t done, uint32_t most, double ns)
{
	return done && most > done ? ns / done * (most - done) : 0;
}

// "build 2 of at most 8; at most 3 min left", of the one that begins. Returns TEXT.
static char *progress_text(const struct tp_autotune *tune, char text[PROGRESS_TEXT])
{
	const struct tp_autotune_progress *progress = &tune->progress;
	const double seconds =
	    (left_of(progress->builds, progress->most_builds, progress->build_ns) +
		left_of(progress->runs, progress->most_runs, progress->run_ns)) /
	    1e9;
	const int size = snprintf(text, PROGRESS_TEXT, "build %u of at most %u",
	    progress->builds + 1, progress->most_builds);
	char *end = text + size;
	const size_t room = PROGRESS_TEXT - (size_t)size;
	if (!progress->builds)
		return text;
	if (seconds < 90)
		snprintf(end, room, "; at most about %.0f s left", seconds);
	else if (seconds < 90 * 60)
		snprintf(end, room, "; at most about %.0f min left", seconds / 60);
	else
		snprintf(end, room, "; at most about %.1f h left", seconds / 3600);
	return text;
}

int tp_autotune_make(struct tp_autotune *tune, enum tp_autotune_variant variant, const char *list,
    struct tp_err *err)
{
	const struct tp_autotune_path log = tp_autotune_file(tune, "build.log");
	char text[PROGRESS_TEXT];
	tp_autotune_say(tune, "building %s (%s)", tp_autotune_variant_texts[variant],
	    progress_text(tune, text));
	tune->builder.log = log.text;
	const uint64_t start_ns = tp_clock_monotonic_ns();
	const int code = tp_autotune_builder_build(&tune->builder, variant, list, err);
	tune->progress.builds++;
	tune->progress.build_ns += (double)(tp_clock_monotonic_ns() - start_ns);
	if (tune->options.verbose)
		show_file(log.text);
	return code;
}

int tp_autotune_attached(
    const struct tp_autotune *tune, const struct tp_autotune_ran *ran, struct tp_err *err)
{
	switch (ran->attach) {
	case TEEPERF_ATTACH_DONE:
		return 0;
	case TEEPERF_ATTACH_BAD_CLOCK:
		return tp_err_set(err, TP_ERR_VERSION, NULL,
		    "'%s' was compiled for another clock than it is recorded with: the build "
		    "command must not set one itself; give autotune its --clock",
		    tune->options.program[0]);
	case TEEPERF_ATTACH_BAD_MODULE:
		return tp_err_set(err, TP_ERR_VERSION, NULL,
		    "a part of '%s' was compiled by another version of teeperf: build all of it "
		    "again",
		    tune->options.program[0]);
	default:
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "'%s' ran without recording: does it run the built program, and keep its "
		    "environment?",
		    tune->options.program[0]);
	}
}
