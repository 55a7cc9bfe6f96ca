// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist explain: all that is known of a function, and why it is or is not instrumented.
#include "cli/allowlist/lists.h"
#include "allowlists/check/explained.h"
#include "allowlists/check/check.h"
#include "common/clean.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tp_open_list_options open_options;
static bool all;
static bool json;

static const struct tp_option options[] = {
    TP_OPEN_LIST_OPTIONS(open_options, "look for the function in PATH",
	"show the cost of recording the function, from the calls and times in TRACE"),
    TP_OPT_BOOL(
	0, "all", &all, "explain every function that FUNCTION matches, instead of listing them"),
    TP_OPT_BOOL(0, "json", &json, "print a JSON array of objects"),
    TP_OPT_END,
};

// More than one function is listed, unless all of them have the very name that was asked for.
static bool is_plain_list(const struct tp_found *found)
{
	return found->count > 1 && found->by != TP_FOUND_LINKAGE && !all && !json;
}

static void add_listing(
    struct tp_buf *out, const struct tp_found *found, const struct tp_inventory *inventory)
{
	enum { SHOWN = 40 };
	tp_buf_addf(out, "%" PRIu32 " functions match (--all explains each):\n", found->count);
	for (uint32_t i = 0; i < found->count && i < SHOWN; i++) {
		const struct tp_inventory_function *function =
		    &inventory->functions[found->functions[i]];
		tp_buf_addf_clean(out, "  %s", function->demangled);
		if (strcmp(function->name, function->demangled) != 0)
			tp_buf_addf_clean(out, "  [%s]", function->name);
		tp_buf_addf(out, "  %s\n", tp_presence_name(function->presence));
	}
	if (found->count > SHOWN)
		tp_buf_addf(out, "  and %" PRIu32 " more\n", found->count - SHOWN);
}

// No function has the name WORD: suggest one with a similar name.
static void report_nothing(const char *word, const struct tp_inventory *inventory)
{
	const struct tp_inventory_function *nearest = tp_list_nearest(inventory, word);
	struct tp_buf text;
	tp_buf_init(&text);
	tp_buf_addf_clean(&text, "the inventory has no function '%s'", word);
	if (nearest)
		tp_buf_addf_clean(&text, "; did you mean '%s'?", nearest->demangled);
	tp_command_tell("%s\n", text.data);
	tp_buf_release(&text);
}

// The open files, for all functions that are explained.
struct request {
	const struct tp_inventory *inventory;
	const struct tp_allowlist *list; // or NULL
	const struct tp_open_profile *profile;
};

static int add_explanations(struct tp_buf *out, const struct request *request,
    const struct tp_found *found, struct tp_err *err)
{
	const struct tp_workload *workload =
	    request->profile->is_there ? &request->profile->workload : NULL;
	struct tp_json writer;
	tp_json_init(&writer, out, TP_JSON_SPACED);
	if (json) {
		tp_json_array(&writer, NULL);
		tp_json_lines(&writer);
	}
	for (uint32_t i = 0; i < found->count; i++) {
		struct tp_explained explained;
		const int code = tp_explained_init(&explained, request->inventory,
		    found->functions[i], request->list, workload, err);
		if (!code && json) {
			tp_explain_add_json(&writer, &explained, request->profile);
		} else if (!code) {
			tp_buf_add_string(out, i ? "\n" : "");
			tp_explain_add_text(out, &explained, request->profile);
		}
		tp_explained_release(&explained);
		if (code)
			return code;
	}
	if (json) {
		tp_json_end(&writer);
		tp_buf_add_char(out, '\n');
	}
	return 0;
}

static int explain(const char *word, const struct request *request)
{
	struct tp_found found;
	struct tp_err err;
	struct tp_buf out;
	tp_buf_init(&out);
	int status = TP_EXIT_CLEAN;
	int code = tp_function_find(&found, request->inventory, word, &err);
	if (!code && !found.count) {
		report_nothing(word, request->inventory);
		status = TP_EXIT_FINDINGS;
	} else if (!code && is_plain_list(&found)) {
		add_listing(&out, &found, request->inventory);
	} else if (!code) {
		code = add_explanations(&out, request, &found, &err);
	}
	if (code)
		status = tp_open_fail(&err);
	else if (tp_write_out(&out, NULL) || request->profile->trace.damaged)
		status = TP_EXIT_TROUBLE;
	tp_buf_release(&out);
	tp_found_release(&found);
	return status;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_CLEAN;
	if (!tp_open_list_parse(
		&open_options, &argc, &argv, 1, INT_MAX, "which function? name it", &status))
		return status;
	if (!open_options.inventories.count)
		return tp_options_usage(
		    "of which program? Name it after '--', or an inventory with --inventory");

	struct tp_allowlist *list = NULL;
	struct tp_inventory inventory = {0};
	struct tp_open_profile profile = {0};
	status = tp_open_inventory(&inventory, &open_options);
	if (!status && argc > 1)
		status = tp_open_list(&list, (const char *const *)argv + 1, (uint32_t)argc - 1);
	if (!status)
		status = tp_open_profile(&profile, &inventory, &open_options);
	if (!status) {
		const struct request request = {&inventory, list, &profile};
		status = explain(argv[0], &request);
	}
	tp_open_profile_release(&profile);
	tp_allowlist_free(list);
	tp_inventory_release(&inventory);
	return status;
}

const struct tp_command tp_allowlist_explain = {
    .name = "allowlist explain",
    .summary = "explain why a function is or is not instrumented",
    .usage = "[options] FUNCTION [LIST...] [-- PROGRAM...]",
    .operands = TP_OPERANDS_LISTS,
    .description =
	"Show where FUNCTION is defined, whether it was inlined or removed, which line of the "
	"LISTs\n"
	"decides about it, which lines that one overrides, its size, its callees and its callers;\n"
	"with --counts, also its calls, its times, and its cost at each level. Without a LIST, "
	"show\n"
	"what the compiler did. FUNCTION is a linkage name, a demangled name with or without\n"
	"parameters, a glob, or part of a name.\n"
	"\n"
	"Exit status: 0 done, 1 no such function, 2 trouble.\n",
    .examples = "  teeperf allowlist explain Lexer::next hot.allow -- ./app\n"
		"  teeperf allowlist explain --counts counts.trace parse hot.allow -- ./app\n",
    .options = options,
    .order = TP_OPTIONS_OWN,
    .run = run,
};
