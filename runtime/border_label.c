// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands of GlobalPlatform's TEE Client API, which is OP-TEE's. Nothing that both sides are given
// tells one command from another, but the log is a parameter of each. So this side gives a few
// bytes less than there are: how many is the label of the command (log.h, TEEPERF_LABEL_ROOM). The
// operation is as the program made it again when the call is over.
#include "runtime.h"

#include <stddef.h>

/* The beginnings of the API's structures, which are the same everywhere. */
struct shared_memory {
	void *buffer;
	size_t size;
	uint32_t flags;
};
struct memory_reference {
	struct shared_memory *parent;
	size_t size;
	size_t offset;
};
struct operation {
	uint32_t started;
	uint32_t types; /* four bits for each parameter */
	struct memory_reference parameters[4];
};
enum { TYPE_MASK = 0xf, TYPE_WHOLE = 0xc, TYPE_PARTIAL_INOUT = 0xf, BOTH_DIRECTIONS = 3 };

// A bit for each label that a command has which is in progress. 0 is none.
static uint64_t taken[TEEPERF_LABEL_ROOM / 64] = {1};

static uint32_t take_label(void)
{
	for (uint32_t i = 0; i < TEEPERF_LABEL_ROOM; i++) {
		uint64_t *word = &taken[i / 64];
		const uint64_t bit = UINT64_C(1) << i % 64;
		for (uint64_t now = tp_load_relaxed(word); !(now & bit);
		     now = tp_load_relaxed(word))
			if (tp_change_acq_rel(word, now, now | bit))
				return i;
	}
	return 0;
}

static void give_label_back(uint32_t label)
{
	uint64_t *word = &taken[label / 64];
	uint64_t now;
	do
		now = tp_load_relaxed(word);
	while (!tp_change_acq_rel(word, now, now & ~(UINT64_C(1) << label % 64)));
}

// Whether all of the log goes with the call, shared and not copied, as a parameter of this type.
static bool is_log(const struct memory_reference *reference, uint32_t type, uint64_t size)
{
	if ((type != TYPE_WHOLE && type != TYPE_PARTIAL_INOUT) || !reference->parent)
		return false;
	const struct shared_memory *memory = reference->parent;
	return memory->buffer == tp_process.tee_log && memory->size == size &&
	       (memory->flags & BOTH_DIRECTIONS) == BOTH_DIRECTIONS &&
	       (type == TYPE_WHOLE || (reference->offset == 0 && reference->size == size));
}

uint64_t tp_command_label(void *of)
{
	struct operation *operation = of;
	const uint64_t size = tp_load_acquire(&tp_process.tee_log_size);
	if (!operation || !size)
		return 0;
	for (uint32_t i = 0; i < 4; i++) {
		struct memory_reference *reference = &operation->parameters[i];
		const uint32_t type = operation->types >> 4 * i & TYPE_MASK;
		if (!is_log(reference, type, size))
			continue;
		const uint32_t label = take_label();
		if (!label)
			return 0;
		reference->offset = 0;
		reference->size = size - label;
		operation->types |= (uint32_t)TYPE_PARTIAL_INOUT << 4 * i;
		tp_thread.command = operation;
		tp_thread.command_parameter = (uint8_t)i;
		tp_thread.command_type = (uint8_t)type;
		tp_barrier_signal();
		tp_thread.label = (uint16_t)label;
		return TEEPERF_LABEL_HANDLE(label);
	}
	return 0;
}

void tp_command_over(bool returned)
{
	const uint32_t label = tp_thread.label;
	if (!label)
		return;
	tp_thread.label = 0;
	tp_barrier_signal();
	// Who has not come back from it may have left its stack: what was there is not touched, and
	// the TEE may still be about to look for the label, which nobody gets any more.
	if (!returned)
		return;
	struct operation *operation = tp_thread.command;
	const uint32_t shift = 4 * tp_thread.command_parameter;
	struct memory_reference *reference = &operation->parameters[tp_thread.command_parameter];
	const uint64_t size = tp_load_relaxed(&tp_process.tee_log_size);
	operation->types = (operation->types & ~((uint32_t)TYPE_MASK << shift)) |
			   (uint32_t)tp_thread.command_type << shift;
	if (reference->size == size - label)
		reference->size = size;
	give_label_back(label);
}
