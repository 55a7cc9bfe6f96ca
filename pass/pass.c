// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stage 2 over all functions of a module: the inventory of the remaining functions, then the
// records and the mark.
#include "pass.h"

#include <stdlib.h>
#include <string.h>

#include "bodies.h"
#include "inject.h"
#include "function.h"
#include "pass/inventory/notes.h"
#include "llvm_compat.h"
#include "tail_calls.h"

static bool has_body(LLVMValueRef function)
{
	return !LLVMIsDeclaration(function) &&
	       LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage;
}

// Make a target of the function by its decision; false if it gets no code of ours.
static bool make_target(const struct tp_pass *pass, LLVMValueRef function, struct tp_target *target)
{
	unsigned length;
	const char *decision = tp_function_decision(function, &length);
	const size_t prefix = strlen(TP_ATTRIBUTE_SAMPLE);
	*target = (struct tp_target){.function = function};
	if (!has_body(function))
		return false;
	if (tp_function_is(function, TP_ATTRIBUTE_COUNT))
		return true;
	target->sample = tp_function_is(function, TP_ATTRIBUTE_EVENT);
	target->watched = tp_function_is(function, TP_ATTRIBUTE_SKIP);
	if (target->watched)
		return tp_inject_catches(pass, function);
	if (length > prefix && !memcmp(decision, TP_ATTRIBUTE_SAMPLE, prefix))
		for (unsigned i = (unsigned)prefix; i < length; i++)
			target->sample = target->sample * 10 + (uint32_t)(decision[i] - '0');
	return target->sample != 0;
}

// What gets code of ours. Those that are counted or sampled come first.
struct targets {
	struct tp_target *all;
	unsigned count, counted, watched;
};

static bool list_targets(const struct tp_pass *pass, LLVMModuleRef module, struct targets *targets)
{
	unsigned room = 1;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		room++;
	targets->all = calloc(room, sizeof(*targets->all));
	if (!targets->all)
		return false;
	for (int want = 1; want >= 0; want--)
		for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
			struct tp_target *target = &targets->all[targets->count];
			if (!make_target(pass, f, target) ||
			    (target->sample != 1 && !target->watched) != (want == 1))
				continue;
			targets->count++;
			targets->counted += want == 1;
			targets->watched += target->watched;
		}
	return true;
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

static bool instrument(struct tp_sequence *sequence, const struct targets *targets)
{
	const unsigned group_count = targets->counted / TEEPERF_COUNTED_MAX + 1;
	struct tp_count_group *groups = calloc(group_count, sizeof(*groups));
	bool ok = groups && tp_tail_calls_mark(sequence->pass, sequence->module);
	for (unsigned i = 0; ok && i < targets->count; i++)
		if (targets->all[i].sample)
			tp_tail_calls_split(targets->all[i].function);
	for (unsigned i = 0; i < targets->count; i++)
		tp_sequence_begin(sequence, &targets->all[i]);
	ok = ok && make_groups(sequence, groups, targets->all, targets->counted);
	for (unsigned i = 0; ok && i < targets->count; i++) {
		if (tp_bodies_can(sequence->pass, &targets->all[i]))
			ok = tp_bodies_inject(sequence, &targets->all[i]);
		else
			tp_inject(sequence, &targets->all[i]);
		tp_function_set(targets->all[i].function, TP_ATTRIBUTE_DONE);
	}
	free(groups);
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
		tp_llvm_error(module, "teeperf: out of memory for the inventory");
	tp_notes_release(&notes);
	return found;
}

/*
 * The note that marks the object as made for profiling (abi.h, teeperf_note). One for each object,
 * not one for each module in a COMDAT: --gc-sections removes a group's sections, since nothing
 * refers to a note.
 */
static void add_note(LLVMModuleRef module, const char *name, unsigned type)
{
	if (LLVMGetNamedGlobal(module, name))
		return;
	const LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
	LLVMValueRef fields[] = {
	    LLVMConstInt(i32, sizeof(((struct teeperf_note *)0)->name), 0),
	    LLVMConstInt(i32, sizeof(((struct teeperf_note *)0)->abi), 0),
	    LLVMConstInt(i32, type, 0),
	    LLVMConstStringInContext(context, TEEPERF_NOTE_NAME, sizeof(TEEPERF_NOTE_NAME), 1),
	    LLVMConstInt(i32, TEEPERF_ABI, 0),
	};
	LLVMValueRef value = LLVMConstStructInContext(context, fields, 5, 0);
	LLVMValueRef note = LLVMAddGlobal(module, LLVMTypeOf(value), name);
	LLVMSetInitializer(note, value);
	LLVMSetGlobalConstant(note, 1);
	LLVMSetLinkage(note, LLVMInternalLinkage);
	LLVMSetSection(note, TEEPERF_NOTE_SECTION);
	LLVMSetAlignment(note, 4);
	tp_llvm_keep(module, note);
}

static void mark_module(LLVMModuleRef module)
{
	add_note(module, TEEPERF_SYMBOL_PREFIX "mark", TEEPERF_NOTE_TYPE);
}

static const char bitcode[] = TEEPERF_SYMBOL_PREFIX "bitcode";

void tp_pass_mark_bitcode(LLVMModuleRef module)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		unsigned length;
		tp_function_decision(f, &length);
		if (has_body(f) && length && !tp_function_is(f, TP_ATTRIBUTE_NEVER) &&
		    !tp_function_is(f, TP_ATTRIBUTE_SKIP)) {
			add_note(module, bitcode, TEEPERF_NOTE_TYPE_BITCODE);
			return;
		}
	}
}

// A linker that has merged modules has numbered what had the same name.
static bool unmark_bitcode(LLVMModuleRef module)
{
	struct tp_buf notes;
	tp_buf_init(&notes);
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
		size_t size;
		if (!strncmp(LLVMGetValueName2(g, &size), bitcode, sizeof(bitcode) - 1))
			tp_buf_add(&notes, &g, sizeof(g));
	}
	const bool found = notes.size != 0;
	if (notes.failed)
		tp_llvm_error(module, "teeperf: out of memory");
	else if (found)
		tp_llvm_delete_kept(module, (LLVMValueRef *)(void *)notes.data,
		    (unsigned)(notes.size / sizeof(LLVMValueRef)));
	tp_buf_release(&notes);
	return found;
}

static void add_records(
    const struct tp_pass *pass, LLVMModuleRef module, const struct targets *targets)
{
	struct tp_sequence sequence;
	mark_module(module);
	tp_border_note(module);
	bool ok = tp_sequence_init(&sequence, pass, module, targets->count - targets->watched);
	if (ok) {
		ok = instrument(&sequence, targets);
		tp_sequence_finish(&sequence);
	}
	if (!ok)
		tp_llvm_error(module, "teeperf: out of memory");
}

bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module)
{
	// Decides again where a list looks at what optimisation has left.
	bool changed = unmark_bitcode(module);
	changed = emit_inventory(pass, module) || changed;
	struct targets targets = {.count = 0};
	if (!list_targets(pass, module, &targets))
		tp_llvm_error(module, "teeperf: out of memory");
	const char *refusal = tp_sequence_refuse(module, pass->threads);
	if (refusal && targets.count > targets.watched)
		tp_llvm_error(module, refusal);
	if (!refusal && targets.count) {
		add_records(pass, module, &targets);
		changed = true;
	}
	free(targets.all);
	// Outside of the functions' own records.
	return (!refusal && tp_border_mark(module)) || changed;
}
