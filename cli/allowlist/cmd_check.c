// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist check: finds the mistakes in a list for a program.
#include "cli/allowlist/lists.h"
#include "common/units.h"
#include "allowlists/check/check.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tp_open_list_options open_options;
static const char *budget_text;
static bool as_json;
static struct tp_option_list ignored = {.most = TP_FINDING_KIND_COUNT};

static const struct tp_option options[] = {
    TP_OPEN_LIST_OPTIONS(open_options, "check against the inventory in PATH",
	"predict the overhead from the calls and times in TRACE"),
    TP_OPT_STRING(0, "budget", &budget_text, "PERCENT",
	"fail if the predicted overhead is above PERCENT; needs --counts"),
    TP_OPT_LIST(0, "ignore", &ignored, "KIND",
	"do not report findings of this kind, the word in brackets; can be repeated"),
    TP_OPT_BOOL(0, "json", &as_json, "print everything as one JSON object"),
    TP_OPT_END,
};

// The request of the options, without the files that are opened.
struct request {
	struct tp_list_check_options check;
	double budget; /* 0: none */
};

static int read_request(struct request *request)
{
	for (uint32_t i = 0; i < ignored.count; i++) {
		int kind = 0;
		while (kind < TP_FINDING_KIND_COUNT &&
		       strcmp(tp_finding_kind_name((enum tp_finding_kind)kind), ignored.items[i]))
			kind++;
		if (kind == TP_FINDING_KIND_COUNT)
			return tp_options_usage(
			    "--ignore: unknown kind '%s'; expected one of: no-match, inlined, "
			    "removed, partly-inlined, ambiguous, shadowed, suspicious, empty",
			    ignored.items[i]);
		request->check.lenient[kind] = true;
	}
	struct tp_err err;
	if (!budget_text)
		return TP_EXIT_CLEAN;
	if (!open_options.counts)
		return tp_options_usage("--budget needs calls: name a trace with --counts TRACE");
	if (tp_units_share(budget_text, &request->budget, &err))
		return tp_options_usage("--budget: %s", err.what);
	return TP_EXIT_CLEAN;
}

// Functions of the inventory by what the list makes of them.
struct tally {
	uint32_t events;
	uint32_t sampled;
	uint32_t counted;
	uint32_t none;
	uint32_t inlined;
	uint32_t removed;
	uint32_t otherwise; // were compiled at another level than the list gives them
	bool compiled; // some function was instrumented: the inventory is of a build with TeePerf
};

static bool is_otherwise(
    const struct tp_inventory_function *function, const struct tp_verdict *verdict)
{
	if (!tp_category_instruments(verdict->category))
		return tp_category_instruments(function->decision);
	return verdict->category != function->decision ||
	       (verdict->category == TP_CATEGORY_SAMPLE && verdict->sample != function->sample);
}

static struct tally count_functions(const struct tp_list_use *use)
{
	struct tally tally = {0};
	for (uint32_t i = 0; i < use->inventory->function_count; i++) {
		const struct tp_inventory_function *function = &use->inventory->functions[i];
		const enum tp_fate fate = tp_fate_of(function);
		const enum tp_category category = use->verdicts[i].category;
		if (fate <= TP_FATE_PARTLY) {
			tally.otherwise += is_otherwise(function, &use->verdicts[i]);
			tally.compiled |= tp_category_instruments(function->decision);
		}
		if (fate == TP_FATE_INLINED)
			tally.inlined++;
		else if (fate == TP_FATE_REMOVED)
			tally.removed++;
		else if (!tp_category_instruments(category))
			tally.none++;
		else if (category == TP_CATEGORY_COUNT)
			tally.counted++;
		else if (category == TP_CATEGORY_SAMPLE)
			tally.sampled++;
		else
			tally.events++;
	}
	return tally;
}

static void add_count(struct tp_buf *out, bool *any, uint32_t count, const char *what)
{
	if (!count)
		return;
	tp_buf_addf(out, "%s%" PRIu32 " %s", *any ? ", " : "", count, what);
	*any = true;
}

static void add_summary(struct tp_buf *out, const struct tp_list_use *use,
    const struct tp_list_check *check, const struct tp_open_profile *profile,
    const struct tp_list_cost *cost)
{
	const struct tally tally = count_functions(use);
	if (check->count)
		tp_buf_add_char(out, '\n');
	tp_buf_addf(out, "%" PRIu32 " line%s", use->line_count, tp_plural(use->line_count));
	if (use->inventory->function_count) {
		bool any = false;
		tp_buf_addf(out, ", %" PRIu32 " functions: ", use->inventory->function_count);
		add_count(out, &any, tally.events, "recorded");
		add_count(out, &any, tally.sampled, "sampled");
		add_count(out, &any, tally.counted, "counted");
		add_count(out, &any, tally.none, "not instrumented");
		add_count(out, &any, tally.inlined, "inlined");
		add_count(out, &any, tally.removed, "removed");
	} else {
		tp_buf_add_string(out, ", not compared with a program: name one after '--'");
	}
	tp_buf_add_char(out, '\n');
	if (tally.compiled && tally.otherwise)
		tp_buf_addf(out,
		    "%" PRIu32
		    " of them were compiled differently: compile with this list for it to take "
		    "effect\n",
		    tally.otherwise);
	if (profile->is_there) {
		char calls[TP_TEXT_NUMBER];
		tp_buf_addf(
		    out, "predicted overhead: %s calls, ", tp_text_count(calls, cost->calls));
		tp_open_add_overhead(out, cost->overhead_ns, cost->time_ns);
		tp_buf_addf(out, " (events at %.1f ns, %s)\n", profile->cost.event_ns,
		    tp_cost_source_name(profile->cost.source));
	}
	tp_findings_add_counts(out, check);
	tp_buf_add_char(out, '\n');
}

static void add_json(struct tp_buf *out, const struct tp_list_use *use,
    const struct tp_list_check *check, const struct tp_open_profile *profile,
    const struct tp_list_cost *cost)
{
	const struct tally tally = count_functions(use);
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_SPACED);
	tp_json_object(&json, NULL);
	tp_json_line(&json, 2);
	tp_findings_add_json(&json, "findings", check, use);
	tp_json_line(&json, 2);
	tp_json_uint(&json, "errors", check->counts[TP_SEVERITY_ERROR]);
	tp_json_uint(&json, "warnings", check->counts[TP_SEVERITY_WARNING]);
	tp_json_uint(&json, "notes", check->counts[TP_SEVERITY_NOTE]);
	tp_json_line(&json, 2);
	tp_json_uint(&json, "lines", use->line_count);
	tp_json_line(&json, 2);
	tp_json_object(&json, "functions");
	tp_json_uint(&json, "all", use->inventory->function_count);
	tp_json_uint(&json, "recorded", tally.events);
	tp_json_uint(&json, "sampled", tally.sampled);
	tp_json_uint(&json, "counted", tally.counted);
	tp_json_uint(&json, "not_instrumented", tally.none);
	tp_json_uint(&json, "inlined", tally.inlined);
	tp_json_uint(&json, "removed", tally.removed);
	tp_json_uint(&json, "compiled_otherwise", tally.otherwise);
	tp_json_end(&json);
	tp_json_line(&json, 2);
	if (profile->is_there) {
		tp_json_object(&json, "cost");
		tp_json_uint(&json, "calls", cost->calls);
		tp_json_real(&json, "overhead_ns", 0, cost->overhead_ns);
		tp_json_real(&json, "time_ns", 0, cost->time_ns);
		tp_json_real(&json, "log_bytes", 0, cost->log_bytes);
		tp_json_real(&json, "event_ns", 3, profile->cost.event_ns);
		tp_json_end(&json);
	} else {
		tp_json_null(&json, "cost");
	}
	tp_json_line(&json, 0);
	tp_json_end(&json);
	tp_buf_add_char(out, '\n');
}

// An error if the predicted overhead is above the budget; 0 or a tp_error.
static int check_budget(
    struct tp_list_check *check, const struct tp_list_cost *cost, double budget, struct tp_err *err)
{
	if (cost->time_ns <= 0)
		return tp_list_check_add(check, TP_FINDING_BUDGET, TP_SEVERITY_ERROR,
		    "the overhead cannot be compared with the budget: the trace lacks the "
		    "program's run time",
		    "say it with --time", err);
	if (cost->overhead_ns <= budget * cost->time_ns)
		return 0;
	struct tp_buf what;
	tp_buf_init(&what);
	tp_buf_addf(&what, "the predicted overhead, %.2f %%, is above the budget of %.4g %%",
	    100 * cost->overhead_ns / cost->time_ns, 100 * budget);
	const int code = tp_list_check_add(check, TP_FINDING_BUDGET, TP_SEVERITY_ERROR, what.data,
	    "'teeperf allowlist generate' makes a list within the budget", err);
	tp_buf_release(&what);
	return code;
}

static int report(const struct request *request, const struct tp_list_use *use,
    const struct tp_open_profile *profile)
{
	struct tp_list_check check;
	struct tp_list_cost cost = {0};
	struct tp_err err;
	struct tp_buf out;
	tp_buf_init(&out);
	int status = TP_EXIT_CLEAN;
	int code = tp_list_check_init(&check, use, &request->check, &err);
	if (profile->is_there)
		tp_list_cost(&cost, use, &profile->workload, &profile->cost);
	if (!code && request->budget > 0)
		code = check_budget(&check, &cost, request->budget, &err);
	if (code) {
		status = tp_open_fail(&err);
		goto out;
	}
	if (as_json) {
		add_json(&out, use, &check, profile, &cost);
	} else {
		const bool color = tp_terminal_color();
		for (uint32_t i = 0; i < check.count; i++)
			tp_finding_add_text(&out, &check.findings[i], use, color);
		add_summary(&out, use, &check, profile, &cost);
	}
	// A prediction from a part of the calls is too low.
	if (tp_write_out(&out, NULL) || check.counts[TP_SEVERITY_ERROR] || profile->trace.damaged)
		status = TP_EXIT_TROUBLE;
	else if (check.counts[TP_SEVERITY_WARNING])
		status = TP_EXIT_FINDINGS;
out:
	tp_list_check_release(&check);
	tp_buf_release(&out);
	return status;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_CLEAN;
	if (!tp_open_list_parse(
		&open_options, &argc, &argv, 1, INT_MAX, "which list? name its file", &status))
		return status;
	struct request request = {.check.is_general = tp_open_list_is_shipped};
	status = read_request(&request);
	if (status)
		return status;

	struct tp_allowlist *list = NULL;
	struct tp_inventory inventory = {0};
	struct tp_open_profile profile = {0};
	struct tp_list_use use = {0};
	struct tp_err err;
	status = tp_open_list(&list, (const char *const *)argv, (uint32_t)argc);
	if (!status)
		status = tp_open_inventory(&inventory, &open_options);
	if (!status)
		status = tp_open_profile(&profile, &inventory, &open_options);
	if (!status && tp_list_use_init(&use, list, &inventory, &err))
		status = tp_open_fail(&err);
	if (!status)
		status = report(&request, &use, &profile);
	tp_list_use_release(&use);
	tp_open_profile_release(&profile);
	tp_inventory_release(&inventory);
	tp_allowlist_free(list);
	return status;
}

const struct tp_command tp_allowlist_check = {
    .name = "allowlist check",
    .summary = "check an allowlist against a program",
    .usage = "[options] LIST... [-- PROGRAM...]",
    .operands = TP_OPERANDS_LISTS,
    .description =
	"Check the LISTs, read as one, against what the compiler saw of each PROGRAM. Warn about "
	"lines\n"
	"that match nothing, that match only functions that were inlined or removed, or that do "
	"not\n"
	"mean what they seem to. Each warning suggests a correction. Without a program, only the\n"
	"lines themselves are checked.\n"
	"\n"
	"Exit status: 0 no warnings, 1 warnings, 2 errors.\n",
    .examples = "  teeperf allowlist check hot.allow -- ./app ./libparse.so\n"
		"  teeperf allowlist check --counts counts.trace --budget 5% hot.allow -- ./app\n",
    .options = options,
    .order = TP_OPTIONS_OWN,
    .run = run,
};
