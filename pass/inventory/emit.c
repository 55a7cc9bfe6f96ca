// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At the end of the pipeline: notes the functions that remain, and finds out where the others have
// gone.
#include "notes.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "pass/function.h"
#include "pass/llvm_compat.h"
#include "pass/pass.h"

static bool is_intrinsic(LLVMValueRef function)
{
	return !strncmp(tp_function_name(function, NULL), "llvm.", 5);
}

// What the look at one function adds to.
struct look {
	struct tp_notes *notes;
	uint32_t emitted;
};

static void add_call(void *context, LLVMValueRef callee, double frequency)
{
	const struct look *look = context;
	struct tp_notes *notes = look->notes;
	struct tp_emitted *emitted = &notes->emitted[look->emitted];
	if (is_intrinsic(callee))
		return;
	for (uint32_t i = emitted->first_call; i < notes->call_count; i++) {
		struct tp_noted_call *call = &notes->calls[i];
		if (call->callee == callee) {
			call->sites++;
			call->frequency += frequency;
			return;
		}
	}
	if (!TP_GROW(notes->calls, notes->call_room, notes->call_count + UINT64_C(1))) {
		notes->failed = true;
		return;
	}
	notes->calls[notes->call_count++] =
	    (struct tp_noted_call){.callee = callee, .sites = 1, .frequency = frequency};
	emitted->call_count++;
}

static void add_copy(struct tp_notes *notes, uint32_t noted, uint32_t into, bool guessed)
{
	if (TP_GROW(notes->copies, notes->copy_room, notes->copy_count + UINT64_C(1)))
		notes->copies[notes->copy_count++] =
		    (struct tp_noted_copy){noted, into, 1, guessed};
	else
		notes->failed = true;
}

// Of the noted functions of a copy's name, the one whose file it is, else the last.
static void find_copy(void *context, const char *name, size_t length, const char *file,
    size_t file_length, uint32_t line)
{
	const struct look *look = context;
	struct tp_notes *notes = look->notes;
	uint32_t found = TP_NOTE_NONE;
	(void)line;
	struct tp_buf escaped;
	tp_buf_init(&escaped);
	tp_note_add_string(&escaped, name, length);
	const size_t name_size = escaped.size;
	tp_buf_add_char(&escaped, '\0');
	tp_note_add_string(&escaped, file, file_length);
	if (!escaped.failed) {
		for (uint32_t i = tp_notes_find(notes, escaped.data, name_size); i != TP_NOTE_NONE;
		     i = tp_notes_find_next(notes, i)) {
			found = i;
			const uint32_t number = notes->noted[i].file;
			if (number != TP_NOTE_NONE &&
			    !strcmp(notes->files[number], escaped.data + name_size + 1))
				break;
		}
		if (found == TP_NOTE_NONE) {
			found = tp_notes_add_elsewhere(notes, escaped.data, name_size);
			notes->failed |= found == TP_NOTE_NONE;
		}
	}
	tp_buf_release(&escaped);
	if (found != TP_NOTE_NONE)
		add_copy(notes, found, look->emitted, false);
}

// By the two numbers at the beginning of tp_noted_copy and of caller.
static int compare_pairs(const void *a, const void *b)
{
	const uint32_t *x = a;
	const uint32_t *y = b;
	return x[0] == y[0] ? TP_COMPARE(x[1], y[1]) : TP_COMPARE(x[0], y[0]);
}

// Sort the copies, and make one of those with the same two functions.
static void combine_copies(struct tp_notes *notes)
{
	struct tp_noted_copy *copies = notes->copies;
	uint32_t kept = 0;
	if (!notes->copy_count)
		return;
	qsort(copies, notes->copy_count, sizeof(*copies), compare_pairs);
	for (uint32_t i = 1; i < notes->copy_count; i++) {
		if (!compare_pairs(&copies[kept], &copies[i]))
			copies[kept].sites += copies[i].sites;
		else
			copies[++kept] = copies[i];
	}
	notes->copy_count = kept + 1;
	for (uint32_t i = 0; i <= kept; i++)
		notes->noted[copies[i].noted].copies++;
}

// Who called whom before optimisation, by callee.
struct caller {
	uint32_t callee, caller;
};

// The noted function of the unit that has this name.
static uint32_t find_in_unit(
    const struct tp_notes *notes, const char *name, size_t size, uint32_t unit)
{
	uint32_t found = tp_notes_find(notes, name, size);
	while (found != TP_NOTE_NONE && notes->noted[found].unit != unit)
		found = tp_notes_find_next(notes, found);
	return found;
}

static void list_callers(const struct tp_notes *notes, struct tp_buf *callers)
{
	for (uint32_t i = 0; i < notes->noted_count; i++) {
		for (const char *at = notes->noted[i].callees; at && *at;) {
			const size_t size = strcspn(at, "\t");
			const uint32_t callee = find_in_unit(notes, at, size, notes->noted[i].unit);
			const struct caller caller = {callee, i};
			if (callee != TP_NOTE_NONE)
				tp_buf_add(callers, &caller, sizeof(caller));
			at += size + (at[size] == '\t');
		}
	}
	if (callers->size)
		qsort(callers->data, callers->size / sizeof(struct caller), sizeof(struct caller),
		    compare_pairs);
}

struct guess {
	struct tp_notes *notes;
	const struct caller *callers;
	uint32_t count;
	uint32_t *stack;
	uint32_t *seen; // by which function, + 1
};

// The nearest callers of `noted` that are there: through those that are gone as well.
static void guess_one(struct guess *guess, uint32_t noted)
{
	uint32_t depth = 0;
	guess->stack[depth++] = noted;
	guess->seen[noted] = noted + 1;
	while (depth) {
		const uint32_t callee = guess->stack[--depth];
		uint32_t i =
		    TP_LOWER_BOUND(0U, guess->count, at, guess->callers[at].callee < callee);
		for (; i < guess->count && guess->callers[i].callee == callee; i++) {
			const uint32_t caller = guess->callers[i].caller;
			const uint32_t emitted = guess->notes->noted[caller].emitted;
			if (emitted != TP_NOTE_NONE) {
				add_copy(guess->notes, noted, emitted, true);
			} else if (guess->seen[caller] != noted + 1) {
				guess->seen[caller] = noted + 1;
				guess->stack[depth++] = caller;
			}
		}
	}
}

// Without debug information: a function that is gone was probably inlined into its callers.
static void guess_copies(struct tp_notes *notes)
{
	struct tp_buf callers;
	tp_buf_init(&callers);
	list_callers(notes, &callers);
	struct guess guess = {.notes = notes,
	    .callers = (const struct caller *)(void *)callers.data,
	    .count = (uint32_t)(callers.size / sizeof(struct caller)),
	    .stack = calloc(notes->noted_count + (size_t)1, sizeof(uint32_t)),
	    .seen = calloc(notes->noted_count + (size_t)1, sizeof(uint32_t))};
	notes->failed |= callers.failed || !guess.stack || !guess.seen;
	for (uint32_t i = 0; guess.count && !notes->failed && i < notes->noted_count; i++)
		if (notes->noted[i].emitted == TP_NOTE_NONE &&
		    notes->noted[i].file == TP_NOTE_NONE && notes->noted[i].unit != TP_NOTE_NONE)
			guess_one(&guess, i);
	free(guess.stack);
	free(guess.seen);
	tp_buf_release(&callers);
}

// Lists may look at facts, and name copies: now these are what they will stay.
static void decide_again(struct tp_notes *notes, struct tp_emitted *emitted)
{
	const struct tp_llvm_facts *known = &emitted->facts;
	const uint32_t noted = emitted->noted == TP_NOTE_NONE ? emitted->made_of : emitted->noted;
	const struct tp_facts facts = {
	    .instrs = known->instructions,
	    .blocks = known->blocks,
	    .loops = known->loops,
	    .depth = known->depth,
	    .calls = known->calls,
	    // LTO makes external functions internal: what it was compiled as counts.
	    .linkage = emitted->noted == TP_NOTE_NONE ? tp_note_linkage(emitted->function)
						      : notes->noted[emitted->noted].linkage,
	};
	const uint32_t unit = noted == TP_NOTE_NONE ? 0 : notes->noted[noted].unit;
	emitted->verdict =
	    tp_select_again(notes->pass, emitted->function, notes->units[unit].main_file, &facts);
	emitted->decided_again = true;
}

void tp_notes_look(struct tp_notes *notes)
{
	const struct tp_allowlist *list = notes->pass->allowlist;
	const bool by_facts = list && tp_allowlist_needs(list, TP_NEEDS_FACTS);
	for (uint32_t i = 0; i < notes->emitted_count; i++) {
		struct look look = {notes, i};
		struct tp_emitted *emitted = &notes->emitted[i];
		emitted->first_call = notes->call_count;
		tp_llvm_function_facts(emitted->function, &emitted->facts, add_call, &look);
		tp_llvm_inlined_functions(emitted->function, find_copy, &look);
		// A copy has what was decided about another name.
		if (by_facts || (list && emitted->origin))
			decide_again(notes, emitted);
	}
	guess_copies(notes);
	combine_copies(notes);
}
