// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf experiment: becomes the Python program that runs a plan (python/teeperf/experiment). That
// program calls 'teeperf experiment :WHAT' for what belongs to C: to run and measure a program
// (:run), to add up a trace (:trace FILE), to hash a file (:hash FILE), and for the intervals of
// many medians (:intervals).
#define _GNU_SOURCE
#include "cli/command/command.h"
#include "cli/driver/driver.h"
#include "recorder/measure/measure.h"
#include "recorder/measure/system.h"

#include "analyzer/statistics/bootstrap.h"
#include "analyzer/trace/tracefile.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/read_all.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <teeperf/version.h>
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

// ---- for the program in Python

enum { REQUEST_BYTES_MOST = 16 << 20 };

// Texts, NULL at the end.
struct texts {
	char **items;
	uint32_t count;
	uint32_t room;
};

struct request {
	struct tp_measurement what;
	struct texts argv;
	struct texts variables;
	struct texts events;
};

static bool add_text(struct texts *texts, char *text)
{
	if (!TP_GROW(texts->items, texts->room, texts->count + 2))
		return false;
	texts->items[texts->count++] = text;
	texts->items[texts->count] = NULL;
	return true;
}

// "KEY=VALUE", as measure.py writes them.
static bool read_item(struct request *request, char *item)
{
	struct tp_measurement *what = &request->what;
	char *value = strchr(item, '=');
	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(item, "argv"))
		return add_text(&request->argv, value);
	if (!strcmp(item, "env"))
		return add_text(&request->variables, value);
	if (!strcmp(item, "event"))
		return add_text(&request->events, value);
	if (!strcmp(item, "cwd"))
		what->cwd = value;
	else if (!strcmp(item, "output"))
		what->output = value;
	else if (!strcmp(item, "errors"))
		what->errors = value;
	else if (!strcmp(item, "timeout_ns"))
		what->timeout_ns = strtoull(value, NULL, 10);
	else if (!strcmp(item, "energy"))
		what->energy = value;
	else if (!strcmp(item, "energy_interval_ns"))
		what->energy_interval_ns = strtoull(value, NULL, 10);
	else if (!strcmp(item, "measured"))
		what->measured = true;
	else if (!strcmp(item, "system"))
		what->system = true;
	else
		return false;
	return true;
}

// The items of the request are on standard input, each with a NUL at its end.
static bool run_program(struct tp_buf *lines)
{
	struct request request = {0};
	struct tp_buf text;
	struct tp_err err;
	// The measured program ends with this process, and this one with the session.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tp_buf_init(&text);
	bool ok =
	    !tp_read_all(&text, STDIN_FILENO, NULL, "the request", REQUEST_BYTES_MOST, &err) &&
	    text.size && !text.data[text.size - 1];
	for (size_t at = 0; ok && at < text.size;) {
		char *item = text.data + at;
		at += strlen(item) + 1;
		ok = read_item(&request, item);
	}
	struct tp_measurement *what = &request.what;
	what->argv = request.argv.items;
	what->variables = request.variables.items;
	what->events = request.events.items;
	ok = ok && what->argv && what->cwd && what->output && what->errors &&
	     tp_measure(what, lines);
	free(request.argv.items);
	free(request.variables.items);
	free(request.events.items);
	tp_buf_release(&text);
	return ok;
}

static void add_trace(const struct tp_tracefile *trace, struct tp_buf *lines)
{
	uint64_t records = 0;
	uint64_t lost = 0;
	for (uint64_t i = 0; i < trace->chunk_count; i++)
		records += trace->chunks[i].word_count;
	for (uint32_t i = 0; i < trace->thread_count; i++)
		lost += trace->threads[i].lost;
	// Of the program alone, so that it can be compared with other variants.
	if (trace->has_end && trace->end.end_ns > trace->end.start_ns)
		tp_measure_metric(lines, "wall_time", "s",
		    (double)(trace->end.end_ns - trace->end.start_ns) / 1e9);
	if (trace->cpu.flags & TEEPERF_CPU_EXACT)
		tp_measure_metric(lines, "cpu_time", "s", (double)trace->cpu.cpu_ns / 1e9);
	if (trace->system.has) {
		const struct tp_system *system = &trace->system;
		struct tp_system_sums sums = {0};
		tp_system_sums_add(&sums, system->events, system->count);
		tp_system_sums_report(&sums,
		    system->head.lost_calls + system->head.lost_faults + system->head.lost_blocks,
		    lines);
	}
	tp_measure_metric(lines, "trace_records", "count", (double)records);
	tp_measure_metric(lines, "lost_events", "count", (double)lost);
	if (!records && !trace->system.count)
		tp_measure_note(lines,
		    "nothing of the program was recorded: it is not built with 'teeperf cc', or "
		    "its allowlist left no function");
	if (lost)
		tp_measure_note(lines,
		    "events were lost: the times are those of a program that wrote fewer than it "
		    "should have");
}

static bool read_trace(const char *path, struct tp_buf *lines)
{
	struct tp_tracefile *trace = malloc(sizeof(*trace));
	struct tp_err err;
	if (!trace)
		return false;
	if (tp_tracefile_open(trace, path, &err))
		tp_measure_note(lines, "the trace cannot be read: %s", err.what);
	else
		add_trace(trace, lines);
	tp_tracefile_close(trace);
	free(trace);
	return true;
}

static bool hash_file(const char *path, struct tp_buf *lines)
{
	static unsigned char block[1 << 16];
	uint64_t hash = TEEPERF_HASH_START;
	size_t size;
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	while ((size = fread(block, 1, sizeof(block), file)) > 0)
		hash = tp_hash_bytes(hash, block, size);
	const bool ok = !ferror(file);
	fclose(file);
	tp_buf_addf(lines, "%016" PRIx64 "\n", hash);
	return ok;
}

// The interval of the median of each line on standard input, "SEED VALUE...", the values sorted.
static bool add_intervals(struct tp_buf *lines)
{
	struct tp_buf text;
	struct tp_err err;
	double *values = NULL;
	uint32_t room = 0;
	tp_buf_init(&text);
	bool ok =
	    !tp_read_all(&text, STDIN_FILENO, NULL, "the values", REQUEST_BYTES_MOST * 16, &err);
	for (char *at = text.data; ok && at && *at;) {
		uint32_t count = 0;
		double low;
		double high;
		const uint64_t first = strtoull(at, &at, 10);
		for (; ok && *at && *at != '\n'; count++) {
			ok = TP_GROW(values, room, count + 1);
			char *end = at;
			if (ok)
				values[count] = strtod(at, &end);
			ok = end != at;
			at = end;
		}
		at += *at == '\n';
		ok = ok && tp_bootstrap_median(values, count, first, &low, &high);
		if (ok)
			tp_buf_addf(lines, "%.17g %.17g\n", low, high);
	}
	free(values);
	tp_buf_release(&text);
	return ok;
}

static int run_part(int argc, char **argv)
{
	struct tp_buf lines;
	bool ok = false;
	tp_buf_init(&lines);
	if (!strcmp(argv[0], ":run") && argc == 1)
		ok = run_program(&lines);
	else if (!strcmp(argv[0], ":trace") && argc == 2)
		ok = read_trace(argv[1], &lines);
	else if (!strcmp(argv[0], ":hash") && argc == 2)
		ok = hash_file(argv[1], &lines);
	else if (!strcmp(argv[0], ":intervals") && argc == 1)
		ok = add_intervals(&lines);
	fwrite(lines.data, 1, lines.size, stdout);
	ok = ok && !lines.failed;
	tp_buf_release(&lines);
	return ok ? TP_EXIT_DONE : TP_EXIT_FAILED;
}

// ---- the program in Python

static int run(int argc, char **argv)
{
	struct tp_err err;
	if (argc && argv[0][0] == ':')
		return run_part(argc, argv);
	if (argc != 1)
		return tp_options_usage(
		    argc ? "one plan at a time" : "no plan was given: name its file");
	if (seed) {
		char *end;
		errno = 0;
		(void)strtoull(seed, &end, 10);
		if (*end || errno || *seed < '0' || *seed > '9')
			return tp_options_usage("option '--seed' takes a whole number");
	}
	if (dry_run && tables_only)
		return tp_options_usage("options '--dry-run' and '--tables' cannot be combined");
	const char *words[] = {TEEPERF_VERSION, argv[0], output ? output : "", seed ? seed : "",
	    dry_run ? "dry_run" : "-", tables_only ? "tables" : "-", replace ? "replace" : "-",
	    retry ? "retry" : "-", NULL};
	tp_driver_python("experiment", words, &err);
	return tp_command_fail(&err);
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
