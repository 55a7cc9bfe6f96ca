// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gates of all instrumented functions of this process.
#include "runtime.h"

/*
 * Modules come and go one at a time (under the loader's lock); gates are set at any time, also in a
 * signal handler. Who removes a module waits until nobody walks the list, because the module is
 * unmapped then: a walk is a few stores long, and the handler that walks is never the thread that waits.
 */
static struct teeperf_module_block *first;
static uint64_t walkers;
uint32_t tp_gate_current = TEEPERF_GATE_SOFT;

static struct teeperf_module_block *next_of(struct teeperf_module_block *const *link)
{
	return __atomic_load_n(link, __ATOMIC_SEQ_CST);
}

// Call `visit` for each teeperf_functions of a module; the linker may have put zeroes between them.
static void for_each(struct teeperf_module_block *block,
    void (*visit)(struct teeperf_functions *functions, uint64_t *hashes, uint8_t gate),
    uint8_t gate)
{
	uint8_t *at = block->functions;
	while (at && block->functions_end - at >= TEEPERF_GATE_OFFSET) {
		struct teeperf_functions *functions = (struct teeperf_functions *)(void *)at;
		const uint64_t gates = (functions->count + UINT64_C(7)) & ~UINT64_C(7);
		if (functions->size)
			visit(functions, (uint64_t *)(void *)(functions->gates + gates), gate);
		at += functions->size ? functions->size : 8;
	}
}

enum teeperf_gate tp_gate_open(void)
{
	if (tp_process.clock == TEEPERF_CLOCK_TSC_ORDERED)
		return TEEPERF_GATE_ORDERED;
	return tp_clock_is_hardware(tp_process.clock) ? TEEPERF_GATE_HARDWARE : TEEPERF_GATE_SOFT;
}

// What has been left out has no hash any more.
static void set(struct teeperf_functions *functions, uint64_t *hashes, uint8_t gate)
{
	for (uint32_t i = 0; i < functions->count; i++)
		__atomic_store_n(&functions->gates[i], hashes[i] ? gate : (uint8_t)TEEPERF_GATE_OFF,
		    __ATOMIC_RELAXED);
}

// The list is the host's, and may be changing: what comes out is a choice of functions, nothing else.
static bool is_wanted(uint64_t hash)
{
	const struct tp_process *process = &tp_process;
	if (process->only != TEEPERF_ONLY_LISTED && process->only != TEEPERF_ONLY_REST)
		return true;
	uint32_t low = 0;
	uint32_t high = process->only_count;
	bool listed = false;
	while (low < high && !listed) {
		const uint32_t middle = low + (high - low) / 2;
		const uint64_t here = tp_load_relaxed(&process->only_list[middle]);
		listed = here == hash;
		if (here < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return listed == (process->only == TEEPERF_ONLY_LISTED);
}

static void leave_out(struct teeperf_functions *functions, uint64_t *hashes, uint8_t gate)
{
	(void)gate;
	for (uint32_t i = 0; i < functions->count; i++)
		if (hashes[i] >= TEEPERF_HASH_FIRST && !is_wanted(hashes[i]))
			hashes[i] = 0;
}

// All but gates[0]: where control comes back from above still has to be told to others.
static void leave_out_all(struct teeperf_functions *functions, uint64_t *hashes, uint8_t gate)
{
	(void)gate;
	for (uint32_t i = 0; i < functions->count; i++)
		if (hashes[i] >= TEEPERF_HASH_FIRST)
			hashes[i] = 0;
}

static uint64_t left_out;
static uint64_t function_count;

static void count(struct teeperf_functions *functions, uint64_t *hashes, uint8_t gate)
{
	(void)gate;
	for (uint32_t i = 0; i < functions->count; i++) {
		function_count += hashes[i] != TEEPERF_HASH_ALWAYS;
		left_out += hashes[i] == 0;
	}
}

static uint64_t names;

static void add_names(struct teeperf_functions *functions, uint64_t *hashes, uint8_t gate)
{
	(void)gate;
	tp_code_hash_step(&names, functions->count);
	for (uint32_t i = 0; i < functions->count; i++)
		tp_code_hash_step(&names, hashes[i]);
}

uint64_t tp_gates_names(struct teeperf_module_block *block)
{
	names = 0;
	for_each(block, add_names, 0);
	return names;
}

void tp_gates_narrow(struct teeperf_module_block *block, enum tp_admission admission,
    uint64_t *functions, uint64_t *out)
{
	for_each(block, leave_out, 0);
	if (admission == TP_ADMISSION_NEW)
		for_each(block, count, 0);
	if (admission == TP_ADMISSION_REFUSED)
		for_each(block, leave_out_all, 0);
	*functions = function_count;
	*out = left_out;
}

void tp_gates_set(enum teeperf_gate gate)
{
	__atomic_store_n(&tp_gate_current, (uint32_t)gate, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&walkers, 1, __ATOMIC_SEQ_CST);
	for (struct teeperf_module_block *at = next_of(&first); at; at = next_of(&at->next))
		for_each(at, set, (uint8_t)gate);
	__atomic_fetch_sub(&walkers, 1, __ATOMIC_SEQ_CST);
}

void tp_gates_forget(void)
{
	function_count = left_out = 0;
}

void tp_gates_each(void (*visit)(struct teeperf_module_block *block))
{
	for (struct teeperf_module_block *at = next_of(&first); at; at = next_of(&at->next))
		visit(at);
}

bool tp_gates_has(const struct teeperf_module_block *block)
{
	for (const struct teeperf_module_block *at = first; at; at = at->next)
		if (at == block)
			return true;
	return false;
}

bool tp_gates_none(void)
{
	return !first;
}

void tp_gates_add(struct teeperf_module_block *block)
{
	if (tp_gates_has(block))
		return;
	block->next = first;
	__atomic_store_n(&first, block, __ATOMIC_SEQ_CST);
	// Who sets gates from here on finds the block itself, but our stores may come behind his: look again.
	uint32_t gate;
	do {
		gate = __atomic_load_n(&tp_gate_current, __ATOMIC_SEQ_CST);
		for_each(block, set, (uint8_t)gate);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (gate != __atomic_load_n(&tp_gate_current, __ATOMIC_SEQ_CST));
}

void tp_gates_remove(struct teeperf_module_block *block)
{
	struct teeperf_module_block **link = &first;
	while (*link && *link != block)
		link = &(*link)->next;
	if (!*link)
		return;
	__atomic_store_n(link, block->next, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&walkers, __ATOMIC_SEQ_CST))
		;
}

void tp_gates_forked(void)
{
	walkers = 0;
}
