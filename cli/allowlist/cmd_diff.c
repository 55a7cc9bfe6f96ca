// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist diff: what another list would instrument, and what that would cost.
#include "analyzer/output/text.h"
#include "cli/allowlist/lists.h"
#include "allowlists/check/use.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tp_open_list_options open_options;
static bool all;
static bool json;

static const struct tp_option options[] = {
    TP_OPEN_LIST_OPTIONS(open_options, "compare for the functions in PATH",
	"predict overheads from the calls and times in TRACE"),
    TP_OPT_BOOL(0, "all", &all,
	"also show functions that were inlined or removed, which neither list affects"),
    TP_OPT_BOOL(0, "json", &json, "print everything as one JSON object"),
    TP_OPT_END,
};

// Two lists, compared; with their costs if there is a profile.
struct comparison {
	const struct tp_list_use *uses; // of A and B
	const struct tp_list_diff *diff;
	const struct tp_open_profile *profile;
	struct tp_list_cost costs[2];
};

static void add_level(struct tp_buf *buf, const struct tp_list_use *use, uint32_t function)
{
	const struct tp_verdict *verdict = &use->verdicts[function];
	tp_category_add(buf, verdict->category, verdict->sample);
}

static void add_signed_ns(struct tp_buf *buf, double ns)
{
	char text[TP_TEXT_NUMBER];
	tp_buf_addf(buf, "%c%s", ns < 0 ? '-' : '+',
	    tp_text_ns(text, (uint64_t)((ns < 0 ? -ns : ns) + 0.5)));
}

static void add_row(
    struct tp_table *table, const struct comparison *comparison, const struct tp_change *change)
{
	static const char *const signs[] = {"+", "-", "~"};
	const struct tp_inventory *inventory = comparison->uses[0].inventory;
	const struct tp_inventory_function *function = &inventory->functions[change->function];
	struct tp_buf cell;
	tp_buf_init(&cell);
	tp_table_add(table, signs[change->kind]);
	tp_table_add(table, function->demangled);
	for (int i = 0; i < 2; i++) {
		tp_buf_reset(&cell);
		add_level(&cell, &comparison->uses[i], change->function);
		tp_table_add(table, cell.data);
	}
	tp_buf_reset(&cell);
	tp_list_add_place(&cell, &comparison->uses[1].verdicts[change->function]);
	tp_table_add(table, cell.data);
	tp_table_add(table, change->effective ? "" : tp_presence_name(function->presence));
	if (comparison->profile->is_there) {
		char text[TP_TEXT_NUMBER];
		tp_table_add(table, tp_text_count(text, change->calls));
		tp_buf_reset(&cell);
		add_signed_ns(&cell, change->delta_ns);
		tp_table_add(table, cell.data);
	}
	if (cell.failed)
		table->cells.failed = true;
	tp_buf_release(&cell);
}

static void add_table(struct tp_buf *out, const struct comparison *comparison)
{
	static const char *const titles[] = {
	    "", "function", "from", "to", "by", "", "calls", "overhead"};
	const bool priced = comparison->profile->is_there;
	const struct tp_list_diff *diff = comparison->diff;
	struct tp_table table;
	tp_table_init(&table, priced ? "llllllrr" : "llllll", 1);
	table.color = tp_terminal_color();
	tp_table_add_titles(&table, titles);
	bool any = false;
	for (uint32_t i = 0; i < diff->count; i++) {
		if (!diff->changes[i].effective && !all)
			continue;
		add_row(&table, comparison, &diff->changes[i]);
		any = true;
	}
	if (any) {
		tp_table_render(&table, out);
		tp_buf_add_char(out, '\n');
	}
	tp_table_release(&table);
}

static double share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void add_costs(struct tp_buf *out, const struct comparison *comparison)
{
	const struct tp_list_cost *a = &comparison->costs[0];
	const struct tp_list_cost *b = &comparison->costs[1];
	char texts[2][TP_TEXT_NUMBER];
	tp_buf_addf(out, "calls       %s -> %s\n", tp_text_count(texts[0], a->calls),
	    tp_text_count(texts[1], b->calls));
	tp_buf_addf(out, "events      %s -> %s\n", tp_text_count(texts[0], (uint64_t)a->events),
	    tp_text_count(texts[1], (uint64_t)b->events));
	tp_buf_add_string(out, "overhead    ");
	tp_open_add_overhead(out, a->overhead_ns, a->time_ns);
	tp_buf_add_string(out, " -> ");
	tp_open_add_overhead(out, b->overhead_ns, b->time_ns);
	tp_buf_addf(out, " (events at %.1f ns, %s)\n", comparison->profile->cost.event_ns,
	    tp_cost_source_name(comparison->profile->cost.source));
	tp_buf_addf(out, "log         %.1f -> %.1f MB\n", a->log_bytes / 1e6, b->log_bytes / 1e6);
	if (a->all_ns > 0)
		tp_buf_addf(out,
		    "named time  %.1f %% -> %.1f %% by events, %.1f %% -> %.1f %% by samples\n",
		    share(a->named_ns, a->all_ns), share(b->named_ns, b->all_ns),
		    share(a->sampled_ns, a->all_ns), share(b->sampled_ns, b->all_ns));
}

static void add_summary(struct tp_buf *out, const struct comparison *comparison)
{
	const struct tp_list_diff *diff = comparison->diff;
	tp_buf_addf(out,
	    "%" PRIu32 " added, %" PRIu32 " removed, %" PRIu32 " recorded in another way\n",
	    diff->effective[TP_CHANGE_ADDED], diff->effective[TP_CHANGE_REMOVED],
	    diff->effective[TP_CHANGE_LEVEL]);
	if (diff->without_effect)
		tp_buf_addf(out, "%" PRIu32 " more without effect: inlined or removed%s\n",
		    diff->without_effect, all ? "" : " (--all shows them)");
	if (comparison->profile->is_there)
		add_costs(out, comparison);
}

static void add_json_level(
    struct tp_json *writer, const char *name, const struct tp_list_use *use, uint32_t function)
{
	const struct tp_verdict *verdict = &use->verdicts[function];
	tp_json_object(writer, name);
	tp_list_add_category_json(writer, "level", verdict->category, verdict->sample);
	tp_json_text(writer, "file", verdict->line ? verdict->file : NULL);
	tp_json_uint_if(writer, "line", verdict->line, verdict->line);
	tp_json_end(writer);
}

static void add_json_cost(struct tp_json *writer, const char *name, const struct tp_list_cost *cost)
{
	tp_json_line(writer, 2);
	tp_json_object(writer, name);
	tp_json_uint(writer, "calls", cost->calls);
	tp_json_real(writer, "events", 0, cost->events);
	tp_json_real(writer, "overhead_ns", 0, cost->overhead_ns);
	tp_json_real(writer, "log_bytes", 0, cost->log_bytes);
	tp_json_real(writer, "named_ns", 0, cost->named_ns);
	tp_json_real(writer, "sampled_ns", 0, cost->sampled_ns);
	tp_json_real(writer, "self_ns", 0, cost->all_ns);
	tp_json_real(writer, "time_ns", 0, cost->time_ns);
	tp_json_end(writer);
}

static void add_json_change(
    struct tp_json *writer, const struct comparison *comparison, const struct tp_change *change)
{
	const struct tp_inventory_function *function =
	    &comparison->uses[0].inventory->functions[change->function];
	tp_json_object(writer, NULL);
	tp_json_text(writer, "kind", tp_change_kind_name(change->kind));
	tp_json_text(writer, "linkage", function->name);
	tp_json_text(writer, "name", function->demangled);
	add_json_level(writer, "from", &comparison->uses[0], change->function);
	add_json_level(writer, "to", &comparison->uses[1], change->function);
	tp_json_text(writer, "presence", tp_presence_name(function->presence));
	tp_json_bool(writer, "effective", change->effective);
	if (comparison->profile->is_there) {
		tp_json_uint(writer, "calls", change->calls);
		tp_json_real(writer, "overhead_ns", 0, change->delta_ns);
	}
	tp_json_end(writer);
}

static void add_json(struct tp_buf *out, const struct comparison *comparison)
{
	const struct tp_list_diff *diff = comparison->diff;
	struct tp_json writer;
	tp_json_init(&writer, out, TP_JSON_SPACED);
	tp_json_object(&writer, NULL);
	tp_json_line(&writer, 2);
	tp_json_array(&writer, "changes");
	tp_json_lines(&writer);
	for (uint32_t i = 0; i < diff->count; i++)
		add_json_change(&writer, comparison, &diff->changes[i]);
	tp_json_end(&writer);
	tp_json_line(&writer, 2);
	tp_json_uint(&writer, "added", diff->effective[TP_CHANGE_ADDED]);
	tp_json_uint(&writer, "removed", diff->effective[TP_CHANGE_REMOVED]);
	tp_json_uint(&writer, "changed", diff->effective[TP_CHANGE_LEVEL]);
	tp_json_uint(&writer, "without_effect", diff->without_effect);
	if (comparison->profile->is_there) {
		add_json_cost(&writer, "from", &comparison->costs[0]);
		add_json_cost(&writer, "to", &comparison->costs[1]);
	} else {
		tp_json_line(&writer, 2);
		tp_json_null(&writer, "from");
		tp_json_null(&writer, "to");
	}
	tp_json_line(&writer, 0);
	tp_json_end(&writer);
	tp_buf_add_char(out, '\n');
}

// Compare, print, and say by the exit code whether there is a difference.
static int compare(const struct tp_list_use *uses, const struct tp_open_profile *profile)
{
	struct tp_list_diff diff;
	struct tp_err err;
	const struct tp_workload *workload = profile->is_there ? &profile->workload : NULL;
	if (tp_list_diff_init(&diff, &uses[0], &uses[1], workload, &profile->cost, &err))
		return tp_open_fail(&err);
	struct comparison comparison = {.uses = uses, .diff = &diff, .profile = profile};
	for (int i = 0; i < 2 && workload; i++)
		tp_list_cost(&comparison.costs[i], &uses[i], workload, &profile->cost);
	struct tp_buf out;
	tp_buf_init(&out);
	if (json) {
		add_json(&out, &comparison);
	} else {
		add_table(&out, &comparison);
		add_summary(&out, &comparison);
	}
	int status = diff.count > diff.without_effect ? TP_EXIT_FINDINGS : TP_EXIT_CLEAN;
	if (tp_write_out(&out, NULL))
		status = TP_EXIT_TROUBLE;
	tp_buf_release(&out);
	tp_list_diff_release(&diff);
	return status;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_CLEAN;
	if (!tp_open_list_parse(
		&open_options, &argc, &argv, 2, 2, "which two lists? name their files", &status))
		return status;
	if (!open_options.inventories.count)
		return tp_options_usage(
		    "for which functions? Name a program after '--', or an inventory with "
		    "--inventory");

	struct tp_allowlist *lists[2] = {NULL, NULL};
	struct tp_list_use uses[2] = {{0}, {0}};
	struct tp_inventory inventory = {0};
	struct tp_open_profile profile = {0};
	struct tp_err err;
	status = tp_open_inventory(&inventory, &open_options);
	for (int i = 0; i < 2 && !status; i++) {
		const char *const file = argv[i];
		status = tp_open_list(&lists[i], &file, 1);
		if (!status && tp_list_use_init(&uses[i], lists[i], &inventory, &err))
			status = tp_open_fail(&err);
	}
	if (!status)
		status = tp_open_profile(&profile, &inventory, &open_options);
	if (!status)
		status = compare(uses, &profile);
	tp_open_profile_release(&profile);
	for (int i = 0; i < 2; i++) {
		tp_list_use_release(&uses[i]);
		tp_allowlist_free(lists[i]);
	}
	tp_inventory_release(&inventory);
	return status;
}

const struct tp_command tp_allowlist_diff = {
    .name = "allowlist diff",
    .summary = "compare what two allowlists instrument, and the cost",
    .usage = "[options] A B [-- PROGRAM...]",
    .operands = TP_OPERANDS_LISTS,
    .description =
	"Show the functions of each PROGRAM that list A and list B treat differently: '+' if only\n"
	"B instruments the function, '-' if only A does, '~' if both do, at different levels. "
	"With\n"
	"--counts, also show the cost of the difference.\n"
	"\n"
	"Exit status: 0 no difference, 1 a difference, 2 trouble.\n",
    .examples = "  teeperf allowlist diff old.allow new.allow -- ./app\n"
		"  teeperf allowlist diff --counts counts.trace old.allow new.allow -- ./app\n",
    .options = options,
    .order = TP_OPTIONS_OWN,
    .run = run,
};
