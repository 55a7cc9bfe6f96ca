// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf experiment: run the experiments of a plan, and make tables and a page of what they
// measured.
#define _GNU_SOURCE
#include "cli/command/command.h"
#include "experiment/results.h"

#include "common/clean.h"
#include "common/units.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *output;
static const char *seed;
static bool dry_run;
static bool tables_only;
static bool replace;
static bool retry;

static const struct tp_option options[] = {
    TP_OPT_STRING('o', "output", &output, "DIR",
	"write results to DIR instead of the plan's output_directory"),
    TP_OPT_BOOL(
	'n', "dry-run", &dry_run, "print the experiments and their commands without running them"),
    TP_OPT_STRING(0, "seed", &seed, "N",
	"order the runs by this seed instead of the plan's or a random "
	"one"),
    TP_OPT_BOOL(0, "retry", &retry, "rerun experiments that failed or timed out"),
    TP_OPT_BOOL(0, "replace", &replace,
	"rerun experiments whose settings or program changed, and remove their old results"),
    TP_OPT_BOOL(0, "tables", &tables_only,
	"rebuild the tables and the page from existing results without running anything"),
    TP_OPT_END,
};

// A word of a command line: what begins with a dash is no file's name here.
static void add_word(struct tp_buf *out, const char *text)
{
	char word[TP_SHELL_WORD_SIZE];
	const size_t dashes = strspn(text, "-");
	tp_buf_addf(out, " %.*s", (int)dashes, text);
	if (text[dashes] || !dashes)
		tp_buf_add_string(out, tp_shell_word(word, text + dashes));
}

// ---- messages while it runs

struct progress {
	const struct tp_experiment *experiment;
	bool terminal;
	struct timespec started;
	uint32_t n;
	uint32_t count;
	char name[PATH_MAX];
};

static void clear_line(const struct progress *progress)
{
	if (progress->terminal)
		fputs("\r\x1b[K", stderr);
}

static void on_makes(void *context, const char *what)
{
	clear_line(context);
	tp_command_tell("%s\n", what);
}

// "3 min left", from how long the runs took so far.
static void print_left(const struct progress *progress)
{
	struct timespec now;
	if (progress->n < 2)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	const double passed = (double)(now.tv_sec - progress->started.tv_sec);
	const double left = passed / (progress->n - 1) * (progress->count - progress->n + 1);
	if (left < 90)
		fprintf(stderr, ", %.0f s left", left);
	else if (left < 5400)
		fprintf(stderr, ", %.0f min left", left / 60);
	else
		fprintf(stderr, ", %.1f h left", left / 3600);
}

static void on_begin(void *context, const struct tp_grid_cell *cell, const struct tp_run *run,
    uint32_t n, uint32_t count, char *const *argv)
{
	struct progress *progress = context;
	progress->n = n;
	progress->count = count;
	if (run->kind == TP_RUN_MEASURED)
		snprintf(progress->name, sizeof(progress->name), "%s, run %u of %" PRIu64,
		    cell->name, run->iteration, cell->task->repeat.samples);
	else
		snprintf(progress->name, sizeof(progress->name), "%s, %s", cell->name,
		    run->kind == TP_RUN_WARM_UP ? "warm-up" : "deep trace");
	clear_line(progress);
	if (progress->experiment->plan.debug) {
		struct tp_buf line;
		tp_buf_init(&line);
		for (; *argv; argv++)
			add_word(&line, *argv);
		fprintf(stderr, "+%s\n", line.data);
		tp_buf_release(&line);
	}
	if (!progress->terminal)
		return;
	fprintf(stderr, "[%u/%u] %s", n, count, progress->name);
	print_left(progress);
}

static void on_end(void *context, const struct tp_run *run, const struct tp_measured *measured)
{
	const struct progress *progress = context;
	char text[TP_TEXT_NUMBER] = "";
	clear_line(progress);
	// A terminal shows only the number of completed runs, and keeps the lines of failed ones.
	if (progress->terminal && (!measured->status || run->kind == TP_RUN_WARM_UP))
		return;
	for (uint32_t i = 0; i < measured->metric_count; i++)
		if (strcmp(measured->metrics[i].name, "wall_time") == 0)
			tp_text_ns_fixed(text, measured->metrics[i].value * 1e9);
	fprintf(stderr, "[%u/%u] %s: %s%s%s\n", progress->n, progress->count, progress->name, text,
	    measured->status && *text ? ", " : "", measured->status ? measured->how : "");
}

// ---- dry run

static void add_line(struct tp_buf *out, const struct tp_experiment *experiment,
    const struct tp_grid_cell *cell, enum tp_cmdline_what what, const char *title)
{
	struct tp_cmdline line;
	struct tp_err err;
	const struct tp_cmdline_place place = {.experiment = experiment, .cell = cell};
	if (!tp_cmdline_make(&line, &place, what, &err) && line.argv) {
		tp_buf_addf(out, "    %s", title);
		if (what == TP_CMDLINE_PROGRAM && *line.variables)
			tp_buf_add_string(out, " env");
		for (char **variable = line.variables; what == TP_CMDLINE_PROGRAM && *variable;
		     variable++)
			add_word(out, *variable);
		for (char **argument = line.argv; *argument; argument++)
			add_word(out, *argument);
		tp_buf_add_char(out, '\n');
	}
	tp_cmdline_release(&line);
}

static int print_grid(struct tp_experiment *experiment)
{
	const struct tp_grid *grid = &experiment->grid;
	struct tp_err err;
	struct tp_buf out;
	// Any order: only how many there are is shown.
	if (tp_grid_order(&experiment->grid, 0, &err))
		return tp_command_fail(&err);
	tp_buf_init(&out);
	uint32_t left_out = 0;
	for (uint32_t i = 0; i < grid->run_count; i++)
		left_out += grid->cells[grid->runs[i].cell].skipped != NULL;
	tp_buf_addf(&out, "%u experiments, %u runs, results in ", grid->cell_count,
	    grid->run_count - left_out);
	tp_buf_add_clean(&out, experiment->output);
	tp_buf_add_char(&out, '\n');
	for (uint32_t i = 0; i < grid->cell_count; i++) {
		const struct tp_grid_cell *cell = &grid->cells[i];
		const struct tp_repeat *repeat = &cell->task->repeat;
		tp_buf_addf(&out, "%s: %" PRIu64 " run%s", cell->name, repeat->samples,
		    repeat->samples == 1 ? "" : "s");
		if (repeat->warm_up)
			tp_buf_addf(&out, ", %" PRIu64 " to warm up", repeat->warm_up);
		tp_buf_addf(&out, "%s%s\n", cell->skipped ? "; not here: " : "",
		    cell->skipped ? cell->skipped : "");
		if (cell->variant->build.executable.text)
			add_line(&out, experiment, cell, TP_CMDLINE_BUILD, "build:   ");
		add_line(&out, experiment, cell, TP_CMDLINE_PRE_RUN, "pre_run: ");
		add_line(&out, experiment, cell, TP_CMDLINE_PROGRAM, "run:     ");
		add_line(&out, experiment, cell, TP_CMDLINE_POST_RUN, "post_run:");
	}
	fwrite(out.data, 1, out.size, stdout);
	const bool failed = out.failed;
	tp_buf_release(&out);
	return failed ? tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory") : TP_EXIT_DONE;
}

// ---- results

static void print_notes(const struct tp_results *results)
{
	for (uint32_t i = 0; i < results->note_count; i++) {
		const struct tp_result_note *note = &results->notes[i];
		const uint32_t count = note->runs ? note->runs : note->cells;
		tp_command_tell("note: %s (%u %s%s)\n", note->text, count,
		    note->runs ? "run" : "experiment", count == 1 ? "" : "s");
	}
}

static int write_results(const struct tp_experiment *experiment)
{
	struct tp_results results;
	struct tp_err err;
	char name[PATH_MAX];
	int code = tp_results_read(&results, experiment, &err);
	if (!code && results.count)
		code = tp_results_write(&results, &err);
	if (!code) {
		print_notes(&results);
		if (results.count)
			printf("%s/report.html\n", tp_shown_name(name, experiment->output));
		else
			tp_command_tell("no results yet\n");
	}
	const bool bad = results.bad[TP_RUN_FAILED] || results.bad[TP_RUN_TIMED_OUT];
	if (!code && bad)
		tp_command_warn(
		    "%u runs failed and %u timed out: medians leave them out; their output is in "
		    "their folders, and --retry runs them again",
		    results.bad[TP_RUN_FAILED], results.bad[TP_RUN_TIMED_OUT]);
	tp_results_release(&results);
	return code ? tp_command_fail(&err) : bad ? TP_EXIT_FAILED : TP_EXIT_DONE;
}

static void find_self(char path[PATH_MAX])
{
	const ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
	snprintf(path + (size > 0 ? size : 0), (size_t)(PATH_MAX - (size > 0 ? size : 0)), "%s",
	    size > 0 ? "" : "teeperf");
}

static int run_all(struct tp_experiment *experiment, const char *plan)
{
	struct tp_err err;
	struct progress progress = {.experiment = experiment, .terminal = isatty(STDERR_FILENO)};
	const struct tp_experiment_watch watch = {&progress, on_begin, on_end, on_makes};
	char word[TP_SHELL_WORD_SIZE];
	clock_gettime(CLOCK_MONOTONIC, &progress.started);
	if (!tables_only)
		tp_command_tell("seed %" PRIu64 "%s\n", experiment->seed,
		    experiment->seed_is_new ? ", kept for the next session" : "");
	const int code = tables_only ? 0 : tp_experiment_run(experiment, &watch, &err);
	clear_line(&progress);
	const int number = tables_only ? 0 : tp_signals_caught();
	int status = TP_EXIT_FAILED;
	if (code && !number)
		tp_command_fail(&err);
	// What there is, is shown; but not after an error before the first run.
	if (!code || experiment->made)
		status = write_results(experiment);
	if (number) {
		tp_command_tell(
		    "interrupted by signal %d, %u runs are left: 'teeperf experiment %s' "
		    "continues\n",
		    number, experiment->left, tp_shell_word(word, plan));
		signal(number, SIG_DFL);
		raise(number);
	}
	return code ? TP_EXIT_FAILED : status;
}

static int run(int argc, char **argv)
{
	char self[PATH_MAX];
	struct tp_err err;
	struct tp_experiment experiment;
	struct tp_experiment_options wanted = {
	    .output = output, .replace = replace, .retry = retry, .teeperf = self};
	if (argc != 1)
		return tp_options_usage(
		    argc ? "one plan at a time" : "no plan was given: name its file");
	if (seed) {
		char *end;
		errno = 0;
		wanted.seed = strtoull(seed, &end, 10);
		wanted.has_seed = true;
		if (*end || errno || *seed < '0' || *seed > '9')
			return tp_options_usage("option '--seed' takes a whole number");
	}
	if (dry_run && tables_only)
		return tp_options_usage("options '--dry-run' and '--tables' cannot be combined");
	wanted.plan = argv[0];
	find_self(self);
	int status = TP_EXIT_FAILED;
	int code = tp_experiment_open(&experiment, &wanted, &err);
	if (!code && dry_run)
		status = print_grid(&experiment);
	else if (!code && !(code = tp_experiment_begin(&experiment, &err)))
		status = run_all(&experiment, argv[0]);
	if (code == TP_ERR_SYNTAX)
		tp_command_tell_place(&err, "error");
	else if (code)
		tp_command_fail(&err);
	tp_experiment_close(&experiment);
	return status;
}

const struct tp_command tp_cmd_experiment = {
    .name = "experiment",
    .summary = "run a grid of experiments and tabulate the results",
    .usage = "[options] PLAN.toml",
    .operands = "*.toml",
    .description =
	"Runs each task of the plan with each combination of its factors, natively, under\n"
	"'teeperf record', 'perf stat' or Gramine, as often as the plan says and in random order.\n"
	"Measures time, memory, reads and writes, processor and kernel counters, and energy.\n"
	"Writes tables (CSV, SQLite, Parquet) and a page with plots.\n"
	"\n"
	"To resume a session that was interrupted or killed, repeat the command: runs that have a\n"
	"result are not repeated. Exits with 1 if a run failed.\n"
	"\n"
	"docs/experiments.md describes plans. Their keys:\n"
	"  [globals]        output_directory, sample_size, warm_up, timeout, seed, deep_trace,\n"
	"                   extra_perf_events, system_events, energy, energy_sample_interval, "
	"debug,\n"
	"                   disk_read_nj_per_byte, disk_write_nj_per_byte, num_threads, "
	"enclave_size\n"
	"  [factors]        NAME = [VALUES]\n"
	"  [variants.NAME]  kind, executable, options, env, build_executable, build_args,\n"
	"                   allowlist, manifest, keep_traces\n"
	"  [[tasks]]        name, executable, args, env, cwd, variants, factors, num_threads,\n"
	"                   enclave_size, storage_type, pre_run_executable, pre_run_args,\n"
	"                   post_run_executable, post_run_args, sample_size, warm_up, timeout,\n"
	"                   deep_trace\n",
    .examples = "  teeperf experiment --dry-run plan.toml\n"
		"  teeperf experiment plan.toml\n",
    .options = options,
    .run = run,
};
