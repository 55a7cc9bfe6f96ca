// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 'teeperf record --budget': what it goes with, and what became of it.
#define _GNU_SOURCE
#include "record.h"

#include "common/linkage_name.h"
#include "common/units.h"
#include "recorder/budget/budget.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static struct tp_budget budget;

// Why the functions of such a recording cannot be chosen while it runs, NULL: they can.
static const char *refusal(const struct tp_record_options *options)
{
	const struct tp_session_options *wanted = &options->wanted;
	if ((!wanted->argv && !options->attach.pid && !options->attach.all) ||
	    options->attach.file || options->attach.stream_name)
		return "needs a PROGRAM to start, or '--pid': the processor time of others is "
		       "unknown";
	if (options->attach.port_name || options->inner)
		return "cannot be combined with '--port' and '--tee': the TEE's own time is "
		       "unknown";
	if (wanted->follow_fork)
		return "cannot be combined with '--follow-fork', where the choice of functions "
		       "cannot be changed";
	if (wanted->mode == TEEPERF_MODE_RING)
		return "cannot be combined with '--mode ring', where nothing is read before the "
		       "end";
	if (wanted->drain == TP_DRAIN_CHOICE_LATE || wanted->drain == TP_DRAIN_CHOICE_END)
		return "needs records at once: leave '--drain' out, or give '--drain now'";
	if (options->clock_choice == TP_CLOCK_CHOICE_NONE)
		return "needs a clock: record with another '--clock'";
	return NULL;
}

int tp_record_budget_check(struct tp_record_options *options)
{
	struct tp_err err;
	double share;
	if (!options->budget)
		return 0;
	if (tp_units_share(options->budget, &share, &err))
		return tp_options_usage("option '--budget': %s", err.what);
	if (share >= 1)
		return tp_options_usage(
		    "option '--budget' takes less than 100%%: with more, record "
		    "without a budget");
	const char *why = refusal(options);
	if (why)
		return tp_options_usage("option '--budget' %s", why);
	options->wanted.drain = TP_DRAIN_CHOICE_NOW;
	// The program must look for orders soon, even while it records little. A running one learns
	// of them in another way.
	if (!options->control && options->wanted.argv)
		options->control = "";
	tp_budget_init(&budget, share);
	options->wanted.guide = &budget.guide;
	return 0;
}

static void tell_switched(const struct tp_session *session)
{
	const struct tp_budget_result *result = &budget.result;
	const struct tp_budget_facts *facts = &session->budget;
	char asked[TP_TEXT_NUMBER];
	char shown[PATH_MAX];
	char text[TP_TEXT_NUMBER];
	tp_command_tell("budget %s: ", tp_text_share_exact(asked, facts->share));
	if (facts->overhead >= 0)
		fprintf(stderr,
		    "events cost %s of the running time after the first second, by an estimate; ",
		    tp_text_share(text, facts->overhead));
	else
		fprintf(stderr, "the program ran too briefly to measure the cost of events; ");
	fprintf(stderr, "%u of %u functions %s switched off for a part of the time",
	    result->switched, result->functions, tp_by_count(result->switched, "was", "were"));
	for (uint32_t i = 0; i < TP_BUDGET_DEAREST && result->dearest[i].name[0]; i++) {
		char *name = tp_demangle(result->dearest[i].name);
		fprintf(stderr, "%s%s (%s)",
		    i                      ? ", "
		    : result->switched > 1 ? ", the most expensive: "
					   : ": ",
		    tp_shown_name(shown, name ? name : result->dearest[i].name),
		    tp_text_share(text, result->dearest[i].share));
		free(name);
	}
	fputc('\n', stderr);
}

void tp_record_budget_tell(const struct tp_session *session, bool quiet)
{
	const struct tp_budget_result *result = &budget.result;
	char text[TP_TEXT_NUMBER];
	if (!session->options.guide)
		return;
	if (result->refused.code)
		tp_command_warn("the budget was not kept, and everything was recorded: %s",
		    result->refused.what);
	else if (!quiet)
		tell_switched(session);
	if (result->stopped.code)
		tp_command_warn("the budget was not kept to the end: %s", result->stopped.what);
	if (result->nameless_share > budget.share)
		tp_command_warn(
		    "the budget was not kept: %u functions without a name, which cannot be "
		    "switched, cost %s of the running time; keep the symbols of the program and "
		    "its libraries",
		    result->nameless, tp_text_share(text, result->nameless_share));
	else if (session->budget.overhead > budget.share && 2 * result->others_share > budget.share)
		tp_command_warn(
		    "the budget was exceeded: jumps (longjmp, exceptions, coroutines), which are "
		    "always recorded, cost %s of the running time",
		    tp_text_share(text, result->others_share));
	else if (session->budget.overhead > budget.share)
		tp_command_warn(
		    "the budget was exceeded: functions became expensive faster than they could be "
		    "switched off, or the program did not read its selection");
}
