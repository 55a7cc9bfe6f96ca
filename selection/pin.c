// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is decided before the budget is looked at: the user's --keep and --never, and what has no name.
#include "selection/generate_internal.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static bool has_kind(const char *pattern)
{
	static const char *const kinds[] = {
	    "fun:", "function:", "name:", "src:", "source:", "mainfile:", "mod:", "where:"};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(pattern, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

// A list of the patterns, one line each; a pattern without a kind is a name, mangled or not.
static int parse(struct tp_allowlist **list, const char *const *patterns, uint32_t count,
    const char *option, struct tp_err *err)
{
	struct tp_buf text;
	tp_buf_init(&text);
	for (uint32_t i = 0; i < count; i++)
		if (has_kind(patterns[i]))
			tp_buf_addf(&text, "%s\n", patterns[i]);
		else
			tp_buf_addf(&text, "fun:%s\nname:%s\n", patterns[i], patterns[i]);
	const int code = text.failed
			     ? tp_err_set(err, TP_ERR_MEMORY, option, TP_ERR_NO_OFFSET, "no memory")
			     : tp_allowlist_parse(list, text.data, text.size, option, err);
	tp_buf_release(&text);
	return code;
}

static struct tp_subject subject_of(const struct tp_workload_function *function)
{
	if (function->inventory)
		return tp_inventory_subject(function->inventory);
	return (struct tp_subject){
	    .function = function->nameless ? NULL : function->name,
	    .demangled = function->demangled,
	    .source = function->file[0] ? function->file : NULL,
	};
}

static void pin(
    struct tp_choice *choice, enum tp_category level, uint32_t sample, enum tp_reason reason)
{
	choice->pinned = true;
	choice->level = level;
	choice->sample = sample ? sample : 1;
	choice->reason = reason;
}

// Functions that are only inlined now can be forced to be there; nobody knows how often they are called.
static int add_forced(
    struct tp_generated *generated, const struct tp_allowlist *keep, struct tp_err *err)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < generated->inventory.function_count; i++) {
		const struct tp_inventory_function *function = &generated->inventory.functions[i];
		if (function->presence != TP_PRESENCE_INLINED)
			continue;
		const struct tp_subject subject = tp_inventory_subject(function);
		const struct tp_verdict verdict = tp_allowlist_match(keep, &subject);
		if (!verdict.line || verdict.category != TP_CATEGORY_FORCE)
			continue;
		const uint32_t at = tp_workload_add(&generated->workload, function->name);
		if (at == NONE)
			return tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET,
			    "no memory for the functions to force");
		struct tp_workload_function *added = &generated->workload.functions[at];
		added->inventory = function;
		added->demangled = function->demangled;
		added->file = function->file;
		added->line = function->line;
		count++;
	}
	if (count)
		tp_problems_add(&generated->notes, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "%u functions are to be kept from being inlined: what their events cost, and "
		    "what inlining gained, is not part of the prediction",
		    count);
	return 0;
}

static void decide(struct tp_generated *generated, const struct tp_allowlist *keep,
    const struct tp_allowlist *never, uint32_t *kept)
{
	const struct tp_workload *workload = &generated->workload;
	for (uint32_t i = 0; i < workload->function_count; i++) {
		const struct tp_workload_function *function = &workload->functions[i];
		const struct tp_subject subject = subject_of(function);
		struct tp_choice *choice = &generated->choices[i];
		*choice = (struct tp_choice){
		    .calls = (double)function->calls,
		    .value = function->self_ns,
		    .level = TP_CATEGORY_SKIP,
		    .sample = 1,
		};
		if (function->nameless) {
			pin(choice, TP_CATEGORY_SKIP, 1, TP_REASON_NAMELESS);
			continue;
		}
		if (never && tp_allowlist_match(never, &subject).line) {
			pin(choice, TP_CATEGORY_SKIP, 1, TP_REASON_NEVER);
			continue;
		}
		if (!keep)
			continue;
		const struct tp_verdict verdict = tp_allowlist_match(keep, &subject);
		if (!verdict.line)
			continue;
		const bool unwanted =
		    verdict.category == TP_CATEGORY_SKIP || verdict.category == TP_CATEGORY_FORBID;
		pin(choice, unwanted ? TP_CATEGORY_SKIP : verdict.category, verdict.sample,
		    unwanted ? TP_REASON_NEVER : TP_REASON_KEPT);
		(*kept)++;
	}
}

int tp_generate_pin(struct tp_generated *generated, struct tp_err *err)
{
	const struct tp_generate_options *options = &generated->options;
	struct tp_allowlist *keep = NULL;
	struct tp_allowlist *never = NULL;
	uint32_t kept = 0;
	int code = 0;
	if (options->keep_count)
		code = parse(&keep, options->keep, options->keep_count, "--keep", err);
	if (!code && options->never_count)
		code = parse(&never, options->never, options->never_count, "--never", err);
	if (!code && keep)
		code = add_forced(generated, keep, err);
	if (code)
		goto out;
	generated->choices =
	    calloc((size_t)generated->workload.function_count + 1, sizeof(*generated->choices));
	if (!generated->choices) {
		code = tp_err_set(
		    err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "no memory for the choices");
		goto out;
	}
	decide(generated, keep, never, &kept);
	if (keep && !kept)
		tp_problems_add(&generated->notes, TP_ERR_NOT_FOUND, NULL, TP_ERR_NO_OFFSET,
		    "--keep matches no function that is there");
out:
	tp_allowlist_free(keep);
	tp_allowlist_free(never);
	return code;
}
