// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module driver: options, then the two stages over all functions.
#include "pass.h"

#include <stdlib.h>
#include <string.h>

#include "llvm_compat.h"

// The option if given, else the environment's value, else NULL; empty counts as not given.
static const char *setting(const char *option, const char *variable)
{
	const char *value = option && *option ? option : getenv(variable);
	return value && *value ? value : NULL;
}

// The index of `value` in NULL-ended `words` (0 for NULL), or an error.
static int choose(const char *value, const char *variable, const char *const *words,
    const char *expected, struct tp_err *err)
{
	if (!value)
		return 0;
	for (int i = 0; words[i]; i++)
		if (!strcmp(value, words[i]))
			return i;
	return tp_err_set(err, TP_ERR_SYNTAX, NULL, TP_ERR_NO_OFFSET,
	    "teeperf: '%s' is no value for %s: expected %s", value, variable, expected);
}

int tp_pass_init(struct tp_pass *pass, const struct tp_pass_options *options, struct tp_err *err)
{
	static const char *const clocks[] = {"auto", "tsc", "soft", NULL};
	static const char *const exits[] = {"timed", "untimed", NULL};
	static const char *const levels[] = {"event", "count", NULL};
	static const char *const shapes[] = {"inline", "call", NULL};
	static const char *const tails[] = {"call", "keep", NULL};
	*pass = (struct tp_pass){0};
	const int clock = choose(setting(options->clock, "TEEPERF_CLOCK"),
	    "TEEPERF_CLOCK (-teeperf-clock)", clocks, "auto, tsc or soft", err);
	if (clock < 0)
		return clock;
	const int exit = choose(setting(options->exits, "TEEPERF_EXITS"),
	    "TEEPERF_EXITS (-teeperf-exits)", exits, "timed or untimed", err);
	if (exit < 0)
		return exit;
	const int level = choose(setting(options->level, "TEEPERF_LEVEL"),
	    "TEEPERF_LEVEL (-teeperf-level)", levels, "event or count", err);
	if (level < 0)
		return level;
	const int shape = choose(setting(options->shape, "TEEPERF_SHAPE"),
	    "TEEPERF_SHAPE (-teeperf-shape)", shapes, "inline or call", err);
	if (shape < 0)
		return shape;
	const int tail = choose(setting(options->tail_calls, "TEEPERF_TAIL_CALLS"),
	    "TEEPERF_TAIL_CALLS (-teeperf-tail-calls)", tails, "call or keep", err);
	if (tail < 0)
		return tail;
	pass->clock = (enum teeperf_compiled_clock)clock;
	pass->untimed_exits = exit == 1;
	pass->count_only = level == 1;
	pass->shape = (enum tp_shape)shape;
	pass->tail_calls = (enum tp_tail_calls)tail;
	const char *file = setting(options->allowlist, "TEEPERF_ALLOWLIST");
	return file ? tp_allowlist_load(&pass->allowlist, file, err) : 0;
}

bool tp_pass_is_tagged(LLVMModuleRef module)
{
	return LLVMGetModuleFlag(module, TP_FLAG_TAGGED, strlen(TP_FLAG_TAGGED)) != NULL;
}

static bool has_body(LLVMValueRef function)
{
	return !LLVMIsDeclaration(function) &&
	       LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage;
}

// Whether some function is to be instrumented as DECISION.
static bool any(LLVMModuleRef module, const char *decision)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (has_body(f) && tp_select_is(f, decision))
			return true;
	return false;
}

static void count_calls(struct tp_sequence *sequence)
{
	LLVMValueRef some[TEEPERF_COUNTED_MAX];
	unsigned count = 0;
	for (LLVMValueRef f = LLVMGetFirstFunction(sequence->module); f;
	     f = LLVMGetNextFunction(f)) {
		if (!has_body(f) || !tp_select_is(f, TP_ATTRIBUTE_COUNT))
			continue;
		tp_select_set(f, TP_ATTRIBUTE_DONE);
		some[count++] = f;
		if (count == TEEPERF_COUNTED_MAX) {
			tp_count_calls(sequence, some, count);
			count = 0;
		}
	}
	if (count)
		tp_count_calls(sequence, some, count);
}

bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module)
{
	const bool has_records = any(module, TP_ATTRIBUTE_EVENT);
	if (!has_records && !any(module, TP_ATTRIBUTE_COUNT))
		return false;
	const char *refusal = tp_sequence_refuse(module);
	if (refusal) {
		tp_llvm_error(module, refusal);
		return false;
	}
	struct tp_sequence sequence;
	tp_sequence_init(&sequence, pass, module);
	sequence.has_records = has_records;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		if (!has_body(f) || !tp_select_is(f, TP_ATTRIBUTE_EVENT))
			continue;
		tp_inject(&sequence, f);
		tp_select_set(f, TP_ATTRIBUTE_DONE);
	}
	count_calls(&sequence);
	tp_sequence_add_constructor(&sequence);
	return true;
}
