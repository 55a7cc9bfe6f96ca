// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf what-if: how long the run would take if a function were faster.
#include "analyzer/whatif/predict.h"
#include "cli/analyze/open_trace.h"
#include "cli/command/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Where the model is off by more, it has not understood the run.
#define TRUSTED 0.05

static const char *const formats[] = {"table", "csv", "json", NULL};

static struct tp_predict_options wanted;
static struct tp_option_list functions;
static const char *speedup_text;
static const char *limit_text;
static uint64_t processors;
static int format;
static struct tp_open_options open_options = {.symbol_cache = true};

static const struct tp_option options[] = {
    TP_OPT_LIST('f', "function", &functions, "PATTERN",
	"predict for each function that matches a glob or /REGEX/; can be repeated (default: the "
	"20 functions that ran longest)"),
    TP_OPT_STRING('s', "speedup", &speedup_text, "PERCENT[,PERCENT...]",
	"make them faster by this share of their time, such as 20% or 10,50; a negative share "
	"makes them slower (default: 20%; several for a single function)"),
    TP_OPT_BOOL(0, "with-callees", &wanted.callees,
	"make their callees faster, too, not just their own code"),
    TP_OPT_COUNT(0, "processors", &processors, "N",
	"predict for a machine with N processors (default: as many as the program had)"),
    TP_OPT_CHOICE(
	0, "format", &format, formats, "FORMAT", "output format: table (default), csv or json"),
    TP_OPT_STRING(0, "limit", &limit_text, "N",
	"predict for the N functions that ran longest, or for all if N is 0 (default: 20)"),
    TP_OPEN_COSTS(open_options),
    TP_OPT_BOOL(
	0, "strict", &open_options.strict, "exit with 1 if events were lost or are missing"),
    TP_OPEN_SYMBOLS(open_options),
    TP_OPEN_DEBUG_DIRS(open_options.debug_dirs),
    TP_OPT_FULL_NAMES(wanted.view.full_names),
    TP_OPT_COLOR,
    TP_OPT_PAGER,
    TP_OPT_NEEDS("--format table"),
    TP_OPT_STRING(0, "columns", &wanted.view.columns, "LIST", "show these columns, by title"),
    TP_OPT_END,
};

static int parse_speedups(void)
{
	for (const char *at = speedup_text; at; at = *at == ',' ? at + 1 : NULL) {
		char *end;
		const double percent = strtod(at, &end);
		const bool any = end != at;
		at = *end == '%' ? end + 1 : end;
		// Not >, which NaN is not.
		if (!any || (*at && *at != ',') || !(percent <= 100 && percent >= -1000))
			return tp_options_usage(
			    "--speedup: '%s' is not a list of percentages up to 100 such as 20%% "
			    "or 10,50",
			    speedup_text);
		if (wanted.speedup_count == TP_PREDICT_SPEEDUPS_MAX)
			return tp_options_usage(
			    "--speedup: more than %d percentages", TP_PREDICT_SPEEDUPS_MAX);
		wanted.speedups[wanted.speedup_count++] = percent / 100;
	}
	return TP_EXIT_DONE;
}

static int parse(void)
{
	wanted.view.format = (enum tp_format)format;
	wanted.view.width = tp_terminal_width();
	tp_text_use_ascii(!tp_terminal_utf8());
	wanted.view.color = tp_terminal_color();
	wanted.functions = functions.items;
	wanted.function_count = functions.count;
	if (limit_text && functions.count)
		return tp_options_usage(
		    "--limit is for the functions that are chosen without --function");
	if (!tp_parse_limit(limit_text, 20, &wanted.view.limit))
		return tp_options_usage("--limit: '%s' is not a whole number", limit_text);
	if (processors > 1 << 20)
		return tp_options_usage("--processors: the number is too large");
	wanted.processors = (uint32_t)processors;
	return parse_speedups();
}

static int show(const struct tp_open_trace *open)
{
	struct tp_predictions predictions;
	struct tp_out_file out;
	struct tp_err err;
	int code = tp_predict(&predictions, &open->analysis, &wanted, &err);
	if (code) {
		tp_predictions_release(&predictions);
		return tp_command_fail(&err);
	}
	const double off = predictions.replayed / predictions.measured - 1;
	if (fabs(off) > TRUSTED)
		tp_command_warn(
		    "with nothing changed, the model is %+.1f%% off the measured time, and its "
		    "predictions are as far off: record on an idle machine, with a hardware clock "
		    "and without losses, or give the number of processors that the program had "
		    "(--processors)",
		    100 * off);
	tp_pager_start(open->damaged ? TP_EXIT_FAILED : TP_EXIT_DONE);
	tp_stdout_open(&out);
	code = tp_predictions_show(&predictions, &open->analysis, &wanted, &out.buf, &err);
	tp_predictions_release(&predictions);
	return tp_stdout_close(&out, code, &err);
}

static int run(int argc, char **argv)
{
	int status = tp_default_trace(&argc, &argv, "only one trace at a time");
	if (!status)
		status = parse();
	if (status)
		return status;
	struct tp_open_trace open = {.trace.source.fd = -1};
	status = tp_open_trace(&open, argv[0], &open_options);
	if (!status) {
		if (wanted.view.format != TP_FORMAT_TABLE)
			tp_open_trace_warn(&open);
		status = show(&open);
	}
	const bool damaged = open.damaged;
	tp_open_trace_release(&open);
	return !status && damaged ? TP_EXIT_FAILED : status;
}

const struct tp_command tp_cmd_what_if = {
    .name = "what-if",
    .summary = "predict the run time if a function were faster",
    .usage = "[options] [FILE]",
    .operands = TP_OPERANDS_TRACES,
    .description =
	"Replay the recorded work and waits of all threads with one function faster, and predict "
	"how\n"
	"long the run would take. Speeding up a thread that no other thread waits for gains "
	"nothing;\n"
	"speeding up one that others wait for can gain more than its share of the time.\n"
	"Record with '--events sched', so that the trace shows which thread woke which.\n",
    .examples = "teeperf record --events sched ./server\n"
		"teeperf what-if\n"
		"teeperf what-if --function compress --speedup 20%\n"
		"teeperf what-if --function 'db::*' --speedup 10,50 --with-callees\n",
    .options = options,
    .run = run,
};
