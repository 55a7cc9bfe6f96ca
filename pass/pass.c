// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stage 2 over all functions of a module: the inventory of what is left, then the records.
#include "pass.h"

#include <stdlib.h>
#include <string.h>

#include "inject.h"
#include "function.h"
#include "pass/inventory/notes.h"
#include "llvm_compat.h"

static bool has_body(LLVMValueRef function)
{
	return !LLVMIsDeclaration(function) &&
	       LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage;
}

// How often calls of a function are recorded, by its decision; false if it gets no code of ours.
static bool is_target(
    const struct tp_pass *pass, LLVMValueRef function, uint32_t *sample, bool *watched)
{
	unsigned length;
	const char *decision = tp_function_decision(function, &length);
	const size_t prefix = strlen(TP_ATTRIBUTE_SAMPLE);
	*sample = 1;
	*watched = false;
	if (!has_body(function))
		return false;
	if (tp_function_is(function, TP_ATTRIBUTE_EVENT))
		return true;
	*sample = 0;
	if (tp_function_is(function, TP_ATTRIBUTE_COUNT))
		return true;
	if (tp_function_is(function, TP_ATTRIBUTE_SKIP)) {
		*watched = true;
		return tp_inject_catches(pass, function);
	}
	if (length <= prefix || memcmp(decision, TP_ATTRIBUTE_SAMPLE, prefix) != 0)
		return false;
	for (unsigned i = (unsigned)prefix; i < length; i++)
		*sample = *sample * 10 + (uint32_t)(decision[i] - '0');
	return *sample != 0;
}

// Those that are counted or sampled come first.
static struct tp_target *list_targets(struct tp_sequence *sequence, unsigned *counted)
{
	struct tp_target *targets = calloc(sequence->function_count + 1, sizeof(*targets));
	unsigned count = 0;
	for (int want = 1; targets && want >= 0; want--) {
		for (LLVMValueRef f = LLVMGetFirstFunction(sequence->module); f;
		     f = LLVMGetNextFunction(f)) {
			uint32_t sample;
			bool watched;
			if (!is_target(sequence->pass, f, &sample, &watched) ||
			    (sample != 1 && !watched) != (want == 1))
				continue;
			targets[count++] = tp_sequence_begin(sequence, f, sample, watched);
			sequence->has_records |= sample != 0;
		}
		if (want)
			*counted = count;
	}
	return targets;
}

static bool make_groups(struct tp_sequence *sequence, struct tp_count_group *groups,
    struct tp_target *targets, unsigned counted)
{
	for (unsigned at = 0; at < counted; at += TEEPERF_COUNTED_MAX) {
		const unsigned left = counted - at;
		if (!tp_count_group_init(groups++, sequence, &targets[at],
			left < TEEPERF_COUNTED_MAX ? left : TEEPERF_COUNTED_MAX))
			return false;
	}
	return true;
}

static bool instrument(struct tp_sequence *sequence)
{
	unsigned counted = 0;
	struct tp_target *targets = list_targets(sequence, &counted);
	struct tp_count_group *groups = calloc(counted / TEEPERF_COUNTED_MAX + 1, sizeof(*groups));
	const bool ok = targets && groups && make_groups(sequence, groups, targets, counted);
	for (unsigned i = 0; ok && i < sequence->function_count; i++) {
		tp_inject(sequence, &targets[i]);
		tp_function_set(targets[i].function, TP_ATTRIBUTE_DONE);
	}
	free(groups);
	free(targets);
	return ok;
}

// Turn the module's notes, if there are any, into its inventory. Returns whether it changed.
static bool emit_inventory(const struct tp_pass *pass, LLVMModuleRef module)
{
	struct tp_notes notes;
	tp_notes_take(&notes, pass, module);
	const bool found = notes.unit_count != 0;
	if (found && !notes.failed)
		tp_notes_look(&notes);
	if (found && !notes.failed)
		tp_warn_of_vanished(&notes);
	if (found && !notes.failed && pass->inventory)
		tp_notes_write(&notes);
	if (notes.failed)
		tp_llvm_error(module, "teeperf: no memory for the inventory");
	tp_notes_release(&notes);
	return found;
}

bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module)
{
	unsigned watched_count = 0;
	unsigned count = 0;
	// Decides again where a list looks at what optimisation has left.
	const bool has_notes = emit_inventory(pass, module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		uint32_t sample;
		bool watched;
		if (is_target(pass, f, &sample, &watched)) {
			count += !watched;
			watched_count += watched;
		}
	}
	const char *refusal = tp_sequence_refuse(module);
	if (!count && !watched_count)
		return (!refusal && tp_border_mark(module)) || has_notes;
	if (refusal) {
		if (count)
			tp_llvm_error(module, refusal);
		return has_notes;
	}
	tp_mark_module(module);
	struct tp_sequence sequence;
	const bool ok = tp_sequence_init(&sequence, pass, module, count);
	sequence.function_count = count + watched_count;
	if (!ok || !instrument(&sequence))
		tp_llvm_error(module, "teeperf: out of memory");
	tp_sequence_finish(&sequence);
	// Outside of the functions' own records.
	tp_border_mark(module);
	return true;
}
