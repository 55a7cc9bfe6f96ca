// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf diff: compare the profiles in traces.
#include "analyzer/output/completeness.h"
#include "analyzer/output/diff_show.h"
#include "analyzer/output/notes.h"
#include "cli/command/command.h"
#include "cli/analyze/open_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX 32

static const char *const formats[] = {"table", "csv", "json", NULL};
static const char *const sorts[] = {"self", "inclusive", "calls", "relative", "name", NULL};
static const char *const kinds[] = {"function", "path", NULL};

static int format;
static int sort;
static int kind;
static struct tp_diff_options wanted = {.alpha = 0.05};
static int asked_time = -1; // enum tp_time; -1: it was not asked for
static const char *limit_text;
static const char *alpha_text;
static const char *min_share_text;
static struct tp_diff_rule rules[RULES_MAX];
static struct tp_option_list rule_list = {.most = RULES_MAX};
static struct tp_open_options open_options;

static const struct tp_option options[] = {
    TP_OPT_CHOICE(0, "by", &kind, kinds, "WHAT", "compare by function (default) or by path"),
    TP_OPT_CHOICE(0, "sort", &sort, sorts, "KEY",
	"sort by the change in self (default), inclusive or calls, by relative change, or by "
	"name"),
    TP_OPT_CHOICE(
	0, "format", &format, formats, "FORMAT", "output format: table (default), csv or json"),
    TP_OPT_LIMIT(&limit_text),
    TP_OPT_LIST(0, "fail-if", &rule_list, "RULE",
	"exit with 1 if a change matches RULE, such as 'self>+5%', 'calls>+0' or "
	"'parse_*:inclusive>+10us', if a trace has a note, such as 'note:starved', or if it is "
	"incomplete; can be repeated"),
    TP_OPEN_OPTIONS_TIME(
	open_options, TP_OPEN_TIME(&asked_time, "cpu where all traces know it, else wall")),
    TP_OPT_FULL_NAMES(wanted.view.full_names),
    TP_OPT_COLOR,
    TP_OPT_PAGER,
    TP_OPT_NEEDS("--format table"),
    TP_OPT_STRING(0, "columns", &wanted.view.columns, "LIST", "show these columns, by title"),
    TP_OPT_NEEDS("--fail-if"),
    TP_OPT_STRING(0, "alpha", &alpha_text, "P",
	"in rules, ignore differences whose p is P or more (default: 0.05)"),
    TP_OPT_STRING(0, "min-share", &min_share_text, "PERCENT",
	"in rules about times, ignore functions below this share of self time on both sides "
	"(default: 0.1)"),
    TP_OPT_END,
};

static int parse(void)
{
	double percent = 0.1;
	wanted.view.format = (enum tp_format)format;
	wanted.view.width = tp_terminal_width();
	tp_text_use_ascii(!tp_terminal_utf8());
	wanted.view.color = tp_terminal_color();
	wanted.sort = (enum tp_diff_sort)sort;
	wanted.rules = rules;
	if (!tp_parse_limit(
		limit_text, wanted.view.format == TP_FORMAT_TABLE ? 40 : 0, &wanted.view.limit))
		return tp_options_usage("--limit: '%s' is not a whole number", limit_text);
	if (!tp_parse_real(alpha_text, 1, &wanted.alpha) || wanted.alpha <= 0)
		return tp_options_usage(
		    "--alpha: '%s' is not a probability such as 0.05", alpha_text);
	if (!tp_parse_real(min_share_text, 100, &percent))
		return tp_options_usage("--min-share: '%s' is not a percentage", min_share_text);
	wanted.min_share = percent / 100;
	for (uint32_t i = 0; i < rule_list.count; i++) {
		struct tp_err err;
		if (!tp_note_rule_is_valid(rule_list.items[i]) &&
		    tp_diff_rule_init(&rules[wanted.rule_count++], rule_list.items[i], &err))
			return tp_options_usage("--fail-if: %s", err.what);
	}
	return TP_EXIT_DONE;
}

// Functions that were not recorded all the time: their numbers are of a part of it, which another
// run does not share.
static uint32_t count_partly(const struct tp_analysis *run)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < run->function_count; i++)
		count += run->functions[i].selected != NULL;
	return count;
}

static int check_selected(const struct tp_analysis *run)
{
	const uint32_t count = count_partly(run);
	if (count && wanted.rule_count)
		return tp_command_refuse(TP_ERR_LIMIT, run->trace->source.name,
		    "%u function%s recorded for a part of the time only ('--budget', '--calibrate' "
		    "or 'teeperf ctl'), so --fail-if cannot judge it: record it with a fixed "
		    "choice, such as 'record --only'",
		    count, tp_by_count(count, " was", "s were"));
	if (count)
		tp_command_warn(
		    "%u function%s of '%s' %s recorded for a part of the time only ('--budget', "
		    "'--calibrate' or 'teeperf ctl'): their calls and times, and the self times of "
		    "their callers, are of that part",
		    count, tp_plural(count), run->trace->source.name,
		    tp_by_count(count, "was", "were"));
	return TP_EXIT_DONE;
}

// Whether these can be compared at all.
static int check(const struct tp_analysis *const *runs, uint32_t count)
{
	for (uint32_t i = 0; i < count && rule_list.count; i++) {
		if (tp_analysis_is_complete(runs[i]))
			continue;
		struct tp_buf text;
		struct tp_err err;
		tp_buf_init(&text);
		tp_completeness_add_text(runs[i], &text);
		tp_err_set(&err, TP_ERR_LIMIT, runs[i]->trace->source.name,
		    "is %s: --fail-if compares complete traces only; record it again",
		    text.data ? text.data : "incomplete");
		tp_buf_release(&text);
		return tp_command_fail(&err);
	}
	bool noted = false;
	for (uint32_t i = 0; i < count; i++)
		noted |= tp_open_has_notes(runs[i], &rule_list);
	if (noted)
		return TP_EXIT_FAILED;
	for (uint32_t i = 0; i < count; i++)
		if (check_selected(runs[i]))
			return TP_EXIT_FAILED;
	for (uint32_t i = 0; i < wanted.rule_count && runs[0]->timeless; i++)
		if (rules[i].total || rules[i].metric != TP_DIFF_CALLS)
			return tp_command_refuse(TP_ERR_LIMIT, runs[0]->trace->source.name,
			    "was recorded without a clock, so only rules about calls can judge it, "
			    "and not '%s'",
			    rules[i].text);
	for (uint32_t i = 1; i < count; i++) {
		const struct tp_analysis *one = runs[0];
		const struct tp_analysis *other = runs[i];
		if (one->timeless != other->timeless || one->time.known != other->time.known)
			return tp_command_refuse(TP_ERR_LIMIT, other->trace->source.name,
			    "its times are in %s, and those of '%s' in %s: record both with the "
			    "same --clock",
			    tp_view_unit(other), one->trace->source.name, tp_view_unit(one));
		if (one->compensation.applied != other->compensation.applied)
			tp_command_warn(
			    "times of '%s' are %s and those of '%s' are %s: --raw compares both as "
			    "recorded",
			    one->trace->source.name,
			    one->compensation.applied ? "compensated" : "as recorded",
			    other->trace->source.name,
			    other->compensation.applied ? "compensated" : "as recorded");
	}
	return TP_EXIT_DONE;
}

static int show(const struct tp_diff *diff, const struct tp_analysis *const *runs, bool damaged)
{
	struct tp_out_file out;
	struct tp_err err;
	struct tp_buf found;
	tp_buf_init(&found);
	const uint64_t count = tp_diff_judge(diff, &wanted, &found);
	tp_pager_start(count || damaged ? TP_EXIT_FAILED : TP_EXIT_DONE);
	tp_stdout_open(&out);
	const int code = tp_diff_show(diff, runs, &wanted, &out.buf, &err);
	const int status = tp_stdout_close(&out, code, &err);
	tp_pager_end();
	if (status) {
		tp_buf_release(&found);
		return status;
	}
	if (count)
		tp_command_tell("failed by --fail-if:\n%s", found.data);
	tp_buf_release(&found);
	return count ? TP_EXIT_FAILED : TP_EXIT_DONE;
}

// Programs that have nothing in common were not meant to be compared.
static void warn_of_strangers(const struct tp_diff *diff, bool by_path)
{
	for (uint32_t i = 0; i < diff->count; i++) {
		const struct tp_diff_change calls = tp_diff_change(diff, i, TP_DIFF_CALLS);
		if (calls.before > 0 && calls.after > 0)
			return;
	}
	if (diff->count)
		tp_command_warn(
		    "the two sides have no %s in common: are these runs of the same program?",
		    by_path ? "call path" : "function");
}

// By default, the time in which calls ran is compared where that is known: the rest depends on what
// else the machine had to do. Without it: *WHY gets the reason.
static enum tp_time choose_time(
    const struct tp_analysis *const *runs, uint32_t count, struct tp_err *why)
{
	if (asked_time >= 0 || runs[0]->timeless)
		return asked_time >= 0 ? (enum tp_time)asked_time : TP_TIME_WALL;
	uint32_t unknown = 0;
	for (uint32_t i = count; i-- > 0;) {
		struct tp_err err;
		if (!tp_analysis_check_parts(runs[i], &err))
			continue;
		unknown++;
		*why = err;
	}
	if (!unknown)
		return TP_TIME_CPU;
	wanted.why_wall = why->what;
	if (unknown < count)
		tp_command_warn("wall time is compared: '%s' %s", why->file, why->what);
	return TP_TIME_WALL;
}

// OPEN has COUNT traces, the first BEFORE of them on one side.
static int compare(const struct tp_open_trace *open, uint32_t count, uint32_t before, bool damaged)
{
	const struct tp_analysis *runs[TP_DIFF_RUNS_MAX];
	struct tp_diff diff = {0};
	struct tp_err err;
	for (uint32_t i = 0; i < count; i++)
		runs[i] = &open[i].analysis;
	int status = check(runs, count);
	struct tp_err why;
	enum tp_time time = TP_TIME_WALL;
	if (!status)
		time = choose_time(runs, count, &why);
	for (uint32_t i = 0; !status && time && i < count; i++)
		if (tp_analysis_check_parts(runs[i], &err))
			status = tp_command_fail(&err);
	if (!status && tp_diff_init(&diff, runs, count, before, kind == 1, time, &err))
		status = tp_command_fail(&err);
	if (!status) {
		warn_of_strangers(&diff, kind == 1);
		status = show(&diff, runs, damaged);
	}
	tp_diff_release(&diff);
	return status;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	int sides[2];
	char **files[2];
	// What follows -- is the other side; each may have options before and behind.
	sides[0] = 0;
	while (sides[0] < argc && strcmp(argv[sides[0]], "--") != 0)
		sides[0]++;
	sides[1] = argc - sides[0];
	files[0] = argv;
	files[1] = argv + sides[0];
	const bool parted = sides[1] > 0;
	for (int side = 0; side < (parted ? 2 : 1); side++)
		if (!tp_options_parse(&sides[side], &files[side], &status))
			return status;
	if (!parted) {
		if (sides[0] != 2)
			return tp_options_usage(
			    "which traces? name two, or several on each side of --");
		sides[0] = sides[1] = 1;
		files[1] = files[0] + 1;
	}
	if (sides[0] < 1 || sides[1] < 1 || sides[0] + sides[1] > TP_DIFF_RUNS_MAX)
		return tp_options_usage(
		    "give at least one trace on each side of --, and at most %d in all",
		    TP_DIFF_RUNS_MAX);
	status = parse();
	if (status)
		return status;
	const uint32_t count = (uint32_t)(sides[0] + sides[1]);
	// Which calls are too short is decided by the time that counts; else that of each is known.
	if (open_options.min_time && asked_time > 0)
		open_options.time = asked_time;
	struct tp_open_trace *open = calloc(count, sizeof(*open));
	uint32_t opened = 0;
	bool damaged = false;
	for (; open && !status && opened < count; opened++) {
		const int at = (int)opened;
		status = tp_open_trace(&open[opened],
		    at < sides[0] ? files[0][at] : files[1][at - sides[0]], &open_options);
		damaged |= open[opened].damaged;
		if (!status)
			tp_open_trace_warn(&open[opened]);
	}
	if (!open)
		status = tp_command_refuse(TP_ERR_MEMORY, NULL, "out of memory");
	if (!status)
		status = compare(open, count, (uint32_t)sides[0], damaged);
	while (opened)
		tp_open_trace_release(&open[--opened]);
	while (wanted.rule_count)
		tp_diff_rule_release(&rules[--wanted.rule_count]);
	free(open);
	return !status && damaged ? TP_EXIT_FAILED : status;
}

const struct tp_command tp_cmd_diff = {
    .name = "diff",
    .summary = "compare recorded runs",
    .usage = "[options] BEFORE AFTER | BEFORE... -- AFTER...",
    .operands = TP_OPERANDS_TRACES,
    .description =
	"Compare the profiles of traces: calls, self time and inclusive time of each function or\n"
	"call path. Functions are matched by module and by their name in the symbol table, so the\n"
	"program may have been rebuilt, and its file renamed. With several runs on each side, "
	"means\n"
	"are compared, and p is the probability that such a difference arises by chance.\n",
    .examples =
	"teeperf diff old.trace new.trace\n"
	"teeperf diff old1.trace old2.trace old3.trace -- new1.trace new2.trace new3.trace\n"
	"teeperf diff --fail-if 'self>+5%' --fail-if 'total>+1%' old.trace new.trace\n",
    .options = options,
    .order = TP_OPTIONS_OWN,
    .run = run,
};
