// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf autotune: builds and runs a program until an allowlist keeps to a budget, as measured.
#define _GNU_SOURCE
#include "cli/tune/autotune.h"

#include "cli/analyze/open_trace.h"
#include "cli/driver/list_file.h"
#include "common/units.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUNS = 5, ROUNDS = 5 };

// The cost of the lists is unknown.
#define EXIT_UNTOLD 2

static const char *const clock_words[] = {"auto", "tsc", "soft", NULL};
static const enum tp_clock_choice clocks[] = {
    TP_CLOCK_CHOICE_AUTO, TP_CLOCK_CHOICE_HARDWARE, TP_CLOCK_CHOICE_SOFT};
static const char *const sample_words[] = {"auto", "trace", "perf", NULL};
static const char *const time_words[] = {"wall", "cpu", NULL};
static const char *const formats[] = {"table", "json", NULL};

static struct tp_autotune tune = {.builder = {.idle = true}};
static const char *budget = "5%";
static const char *output = "teeperf.allow";
static const char *build_command;
static struct tp_option_list products = {.most = TP_AUTOTUNE_PRODUCTS_MAX};
static uint64_t runs = RUNS;
static uint64_t rounds = ROUNDS;
static int clock_index;
static int samples;
static int time_index;
static struct tp_option_list keep = {.most = TP_AUTOTUNE_LINES_MAX};
static struct tp_option_list never = {.most = TP_AUTOTUNE_LINES_MAX};
static bool sample = true;
static int format;

static const struct tp_option options[] = {
    TP_OPT_STRING('b', "budget", &budget, "SHARE",
	"allow this overhead, as a share of the time without instrumentation (default: 5%)"),
    TP_OPT_SIZE(0, "log-budget", &tune.options.log_budget, "SIZE",
	"also keep the log of a run below SIZE bytes"),
    TP_OPT_STRING(
	'o', "output", &output, "FILE", "write the list to FILE (default: teeperf.allow)"),
    TP_OPT_STRING(0, "build", &build_command, "COMMAND",
	"build with this shell command; only the program then follows the options"),
    TP_OPT_LIST('p', "product", &products, "FILE",
	"a program or library that the build makes; can be repeated (default: PROGRAM)"),
    TP_OPT_STRING(
	0, "input", &tune.options.input, "FILE", "standard input of PROGRAM (default: none)"),
    TP_OPT_COUNT('n', "runs", &runs, "N", "run PROGRAM N times with each list (default: 5)"),
    TP_OPT_COUNT(0, "rounds", &rounds, "N", "try at most N lists (default: 5)"),
    TP_OPT_CHOICE('c', "clock", &clock_index, clock_words, "auto|tsc|soft",
	"compile for and record with this clock"),
    TP_OPT_CHOICE(0, "samples", &samples, sample_words, "auto|trace|perf",
	"take self times from a trace of all calls, or from perf samples; auto uses a trace "
	"unless it would be too large"),
    TP_OPT_CHOICE(0, "time", &time_index, time_words, "wall|cpu",
	"apply the budget to wall or processor time"),
    TP_OPT_STRING(0, "from", &tune.options.from, "TRACE",
	"take calls and self times from TRACE instead of building to measure them; TRACE must be "
	"of this PROGRAM and input"),
    TP_OPT_BOOL(
	0, "idle", &tune.builder.idle, "build at idle priority (default; --no-idle turns it off)"),
    TP_OPT_LIST(0, "keep", &keep, "LINE",
	"record functions that match this allowlist line, such as 'fun:main', at any cost; can "
	"be repeated"),
    TP_OPT_LIST(0, "never", &never, "LINE",
	"leave out functions that match this allowlist line; can be "
	"repeated"),
    TP_OPT_BOOL(0, "sample", &sample,
	"sample functions that are too expensive for events (default; --no-sample leaves them "
	"out)"),
    TP_OPT_BOOL(0, "count-rest", &tune.options.count_rest,
	"count the calls of functions that are left out, within the budget"),
    TP_OPT_STRING(0, "work", &tune.options.work, "DIR", "keep logs, traces and the profile there"),
    TP_OPT_CHOICE(0, "format", &format, formats, "table|json", "format of the results"),
    TP_OPT_BOOL('v', "verbose", &tune.options.verbose,
	"show each step, and the output of the build and of PROGRAM"),
    TP_OPT_END,
};

// Where the words of the program begin, behind the "--" that ends those of the build.
static char **split(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--")) {
			argv[i] = NULL;
			return argv + i + 1;
		}
	}
	return NULL;
}

static int read_options(struct tp_autotune_options *wanted)
{
	struct tp_err err;
	if (tp_units_share(budget, &wanted->budget, &err))
		return tp_options_usage("option '--budget': %s", err.what);
	if (!runs || runs > TP_AUTOTUNE_RUNS_MAX)
		return tp_options_usage("option '--runs' takes 1 to %d", TP_AUTOTUNE_RUNS_MAX);
	if (!rounds || rounds > TP_AUTOTUNE_ROUNDS_MAX)
		return tp_options_usage("option '--rounds' takes 1 to %d", TP_AUTOTUNE_ROUNDS_MAX);
	wanted->runs = (uint32_t)runs;
	wanted->rounds = (uint32_t)rounds;
	wanted->clock = clocks[clock_index];
	wanted->samples = (enum tp_autotune_samples)samples;
	wanted->by_cpu = time_index == 1;
	wanted->keep = keep.items;
	wanted->keep_count = keep.count;
	wanted->never = never.items;
	wanted->never_count = never.count;
	wanted->no_sample = !sample;
	wanted->progress = wanted->verbose || isatty(STDERR_FILENO);
	return TP_EXIT_DONE;
}

static int write_list(const struct tp_autotune_round *best)
{
	const struct tp_buf list = {.data = best->list, .size = best->list_size};
	struct tp_err err;
	return tp_list_file_write(output, &list, &err) ? tp_command_fail(&err) : TP_EXIT_DONE;
}

static int print_report(void)
{
	if (format != 1) {
		tp_autotune_report_text(&tune, output);
		return TP_EXIT_DONE;
	}
	struct tp_buf out;
	tp_buf_init(&out);
	tp_autotune_report_json(&tune, output, &out);
	const int status = tp_write_out(&out, NULL);
	tp_buf_release(&out);
	return status;
}

static int report(void)
{
	int status;
	const struct tp_autotune_round *best = &tune.rounds[tune.best];
	tp_open_warn_all(&tune.notes);
	if (!tp_autotune_has_best(&tune)) {
		status = print_report();
		tp_command_warn(
		    "no list is kept, as its cost could not be measured: run nothing else, let "
		    "PROGRAM run longer, or give more --runs, or --time cpu");
		return status ? status : EXIT_UNTOLD;
	}
	status = write_list(best);
	if (status)
		return status;
	if (best->lost)
		tp_command_warn(
		    "%llu events of a run were lost, so its cost is too low: give a --log-budget",
		    (unsigned long long)best->lost);
	status = print_report();
	if (status)
		return status;
	if (best->tried.measured.median <= tune.options.budget)
		return TP_EXIT_DONE;
	if (tune.ended == TP_AUTOTUNE_NO_EVENTS)
		tp_command_warn(
		    "the events of the last list can hardly cost that much: it is noise, or the "
		    "start of the recording; let PROGRAM run longer, give more --runs, and run "
		    "nothing else");
	else
		tp_command_warn(
		    "no list was within the budget: give more --rounds, a larger --budget, or "
		    "fewer functions to --keep");
	return TP_EXIT_FAILED;
}

// Leave as a program does that is interrupted.
static int die_of(int number)
{
	signal(number, SIG_DFL);
	raise(number);
	return 128 + number;
}

// Hours of builds are not for nothing because the last one fails, or is interrupted.
static void save_best(void)
{
	const struct tp_autotune_round *best = &tune.rounds[tune.best];
	if (!tune.round_count || !tp_autotune_has_best(&tune) ||
	    best->tried.measured.median > tune.options.budget || write_list(best))
		return;
	tp_command_tell("the best list so far, within the budget, is in '%s'\n", output);
}

// Before the first build: whether the list can be written.
static int check_output(void)
{
	struct tp_err err;
	struct stat there;
	const bool is_there = stat(output, &there) == 0;
	if (is_there && !S_ISREG(there.st_mode))
		return TP_EXIT_DONE; // a FIFO would wait for its reader
	const int fd = open(output, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		tp_err_system(&err, errno, output, "cannot write the list");
		return tp_command_fail(&err);
	}
	close(fd);
	if (!is_there)
		unlink(output);
	return TP_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	int status;
	char *shell[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)build_command, NULL};
	char **program = argv;
	if (!build_command) {
		program = split(argc, argv);
		if (!argc || !argv[0])
			return tp_options_usage(
			    "no build command was given: BUILD -- PROGRAM, or --build COMMAND");
	}
	if (!program || !program[0])
		return tp_options_usage("no program to run was given after the '--' of the build");
	status = read_options(&tune.options);
	if (!status)
		status = check_output();
	if (status)
		return status;
	tune.options.program = program;
	tune.builder.argv = build_command ? shell : argv;
	tune.builder.clock = clock_index ? clock_words[clock_index] : NULL;
	if (!products.count && tp_option_list_add(&products, program[0]))
		return TP_EXIT_FAILED;
	struct tp_err err;
	int code = tp_autotune_builder_init(&tune.builder, products.items, products.count, &err);
	tp_autotune_catch();
	if (!code)
		code = tp_autotune_all(&tune, &err);
	const int number = tp_autotune_caught();
	if (number || code)
		save_best();
	if (number)
		status = TP_EXIT_FAILED;
	else if (code)
		status = tp_command_fail(&err);
	else
		status = report();
	tp_autotune_release(&tune, code && !number);
	return number ? die_of(number) : status;
}

const struct tp_command tp_cmd_autotune = {
    .name = "autotune",
    .summary = "find an allowlist within a budget by building and measuring",
    .usage = "[options] -- BUILD [ARGS...] -- PROGRAM [ARGS...]",
    .operands = TP_OPERANDS_PROGRAM,
    .description =
	"Builds PROGRAM without instrumentation, with call counts, and with events for all "
	"functions,\n"
	"and runs each build. Chooses the functions that fit the budget, builds with that list, "
	"and\n"
	"measures its real cost in turns with the uninstrumented program. Each measurement "
	"corrects\n"
	"the next choice. Writes the list that names the most time within the budget, and leaves\n"
	"PROGRAM built with it.\n"
	"\n"
	"BUILD must compile with 'teeperf cc' and 'teeperf c++', and rebuild everything each "
	"time,\n"
	"as 'make -B CC=\"teeperf cc\"' does. Files record how they were built, so stale ones are\n"
	"noticed. PROGRAM must do the same work in each run. Keep the machine otherwise idle "
	"during\n"
	"measurements. Exits with 1 if no list fits the budget, and with 2, without a list, if "
	"the\n"
	"cost cannot be measured.\n",
    .examples = "  teeperf autotune -- make -B CC='teeperf cc' -- ./app input.txt\n"
		"  teeperf autotune --budget 10% --build 'ninja -t clean && ninja' -- ./app\n",
    .options = options,
    .order = TP_OPTIONS_FIRST,
    .run = run,
};
