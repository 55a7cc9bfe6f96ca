// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no budget decides: the user's --keep and --never, what has no name, and lists without a
// profile.
#include "allowlists/choose/generate_internal.h"
#include "allowlists/language/list.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static bool has_kind(const char *pattern)
{
	struct tp_span rest = tp_span_of(pattern);
	const struct tp_span word = tp_span_cut(&rest, ':');
	enum tp_rule_kind kind;
	return word.text[word.size] == ':' && tp_rule_kind_find(word, &kind);
}

// The patterns of an option as a list, and which of them match anything.
struct patterns {
	const char *option;
	const char *const *texts;
	uint32_t count;
	struct tp_allowlist *list; // two lines for each pattern; NULL without patterns
	bool *matched;
};

// A pattern without a kind is a name, mangled or not.
static int parse(struct patterns *patterns, struct tp_err *err)
{
	if (!patterns->count)
		return 0;
	struct tp_buf text;
	for (uint32_t i = 0; i < patterns->count; i++)
		if (strpbrk(patterns->texts[i], "\r\n"))
			return tp_err_set(err, TP_ERR_SYNTAX, NULL,
			    "%s takes one pattern, not several lines; it can be repeated",
			    patterns->option);
	tp_buf_init(&text);
	for (uint32_t i = 0; i < patterns->count; i++)
		if (has_kind(patterns->texts[i]))
			tp_buf_addf(&text, "%s\n\n", patterns->texts[i]);
		else
			tp_buf_addf(
			    &text, "fun:%s\nname:%s\n", patterns->texts[i], patterns->texts[i]);
	patterns->matched = calloc(patterns->count, sizeof(*patterns->matched));
	int code = text.failed || !patterns->matched ? TP_ERR_MEMORY : 0;
	if (code)
		tp_err_set(err, code, NULL, "out of memory for %s", patterns->option);
	else
		code = tp_allowlist_parse(
		    &patterns->list, text.data, text.size, patterns->option, err);
	tp_buf_release(&text);
	return code;
}

static void release(struct patterns *patterns)
{
	tp_allowlist_free(patterns->list);
	free(patterns->matched);
}

static void note_match(void *context, uint32_t index)
{
	struct patterns *patterns = context;
	patterns->matched[(tp_allowlist_line(patterns->list, index).line - 1) / 2] = true;
}

// What the patterns say of a function; .line is 0 if none matches.
static struct tp_verdict match(struct patterns *patterns, const struct tp_subject *subject)
{
	if (!patterns->list)
		return (struct tp_verdict){0};
	const struct tp_verdict verdict = tp_allowlist_match(patterns->list, subject);
	if (verdict.line)
		tp_allowlist_matches(patterns->list, subject, note_match, patterns);
	return verdict;
}

static void note_unmatched(struct tp_generated *generated, const struct patterns *patterns)
{
	for (uint32_t i = 0; i < patterns->count; i++)
		if (!patterns->matched[i])
			tp_problems_add(&generated->notes, TP_ERR_NOT_FOUND, NULL,
			    "%s '%s' matches no function", patterns->option, patterns->texts[i]);
}

static void pin(
    struct tp_choice *choice, enum tp_category level, uint32_t sample, enum tp_reason reason)
{
	choice->pinned = true;
	choice->level = level;
	choice->sample = sample ? sample : 1;
	choice->reason = reason;
}

// Functions that are only inlined now can be forced to be there; nobody knows how often they are
// called.
static int add_forced(struct tp_generated *generated, struct patterns *keep, struct tp_err *err)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < generated->inventory.function_count; i++) {
		const struct tp_inventory_function *function = &generated->inventory.functions[i];
		if (function->presence != TP_PRESENCE_INLINED)
			continue;
		const struct tp_subject subject = tp_inventory_subject(function);
		const struct tp_verdict verdict = match(keep, &subject);
		if (!verdict.line || verdict.category != TP_CATEGORY_FORCE)
			continue;
		const uint32_t at = tp_workload_add(&generated->workload, function->name);
		if (at == NONE)
			return tp_err_memory(err, NULL);
		struct tp_workload_function *added = &generated->workload.functions[at];
		added->inventory = function;
		added->demangled = function->demangled;
		added->file = function->file;
		added->line = function->line;
		count++;
	}
	if (count)
		tp_problems_add(&generated->notes, TP_ERR_NOT_FOUND, NULL,
		    "%u function%s to be kept from being inlined: the prediction lacks the cost of "
		    "their events and of the lost inlining",
		    count, tp_by_count(count, " is", "s are"));
	return 0;
}

static void decide(struct tp_generated *generated, struct patterns *keep, struct patterns *never)
{
	const struct tp_workload *workload = &generated->workload;
	for (uint32_t i = 0; i < workload->function_count; i++) {
		const struct tp_workload_function *function = &workload->functions[i];
		const struct tp_subject subject = tp_workload_subject(function);
		struct tp_choice *choice = &generated->choices[i];
		*choice = (struct tp_choice){
		    .calls = (double)function->calls,
		    .value = function->self_ns,
		    .sure = function->sure_ns,
		    .level = TP_CATEGORY_SKIP,
		    .sample = 1,
		};
		if (function->nameless) {
			pin(choice, TP_CATEGORY_SKIP, 1, TP_REASON_NAMELESS);
			continue;
		}
		const struct tp_verdict verdict = match(keep, &subject);
		if (match(never, &subject).line)
			pin(choice, TP_CATEGORY_SKIP, 1, TP_REASON_NEVER);
		else if (verdict.line && (verdict.category == TP_CATEGORY_SKIP ||
					     verdict.category == TP_CATEGORY_FORBID))
			pin(choice, TP_CATEGORY_SKIP, 1, TP_REASON_NEVER);
		else if (verdict.line)
			pin(choice, verdict.category, verdict.sample, TP_REASON_KEPT);
	}
}

int tp_generate_pin(struct tp_generated *generated, struct tp_err *err)
{
	const struct tp_generate_options *options = &generated->options;
	struct patterns keep = {
	    .option = "--keep", .texts = options->keep, .count = options->keep_count};
	struct patterns never = {
	    .option = "--never", .texts = options->never, .count = options->never_count};
	int code = parse(&keep, err);
	if (!code)
		code = parse(&never, err);
	if (!code && keep.list)
		code = add_forced(generated, &keep, err);
	if (code)
		goto out;
	generated->choices =
	    calloc((size_t)generated->workload.function_count + 1, sizeof(*generated->choices));
	if (!generated->choices) {
		code = tp_err_memory(err, NULL);
		goto out;
	}
	decide(generated, &keep, &never);
	note_unmatched(generated, &keep);
	note_unmatched(generated, &never);
out:
	release(&keep);
	release(&never);
	return code;
}

/* ---- seeds ---------------------------------------------------------------------------------- */

// A first list without any profile: main, and functions that are large or have a loop. How often
// these are called is not known, so the list has no cost.
//
// A smaller function without a loop is probably called more often than it is worth. The size is in
// instructions or, before anything is compiled, in statements and expressions.
#define SIZE_MIN 100

static void choose_by_size(struct tp_choice *choice, const struct tp_inventory_function *function)
{
	const uint64_t size = function->presence == TP_PRESENCE_SOURCE ? function->instrs_start
								       : function->facts.instrs;
	choice->level = TP_CATEGORY_ALLOW;
	if (strcmp(function->name, "main") == 0) {
		choice->reason = TP_REASON_ENTRY;
	} else if (function->system) {
		choice->level = TP_CATEGORY_SKIP;
		choice->reason = TP_REASON_SYSTEM;
	} else if (size < SIZE_MIN && function->facts.loops) {
		choice->reason = TP_REASON_LOOP;
	} else {
		choice->reason = TP_REASON_SIZE;
		if (size < SIZE_MIN)
			choice->level = TP_CATEGORY_SKIP;
	}
}

void tp_generate_seed(struct tp_generated *generated)
{
	for (uint32_t i = 0; i < generated->workload.function_count; i++) {
		const struct tp_inventory_function *function =
		    generated->workload.functions[i].inventory;
		struct tp_choice *choice = &generated->choices[i];
		if (!choice->pinned && function)
			choose_by_size(choice, function);
		if (choice->level == TP_CATEGORY_ALLOW || choice->level == TP_CATEGORY_FORCE)
			generated->chosen.event_count++;
	}
}
