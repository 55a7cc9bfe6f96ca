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

// The next teeperf_functions of a module, the first behind NULL; the linker may have put zeroes between them.
static struct teeperf_functions *behind(
    const struct teeperf_module_block *block, struct teeperf_functions *functions)
{
	uint8_t *at = functions ? (uint8_t *)functions + functions->size : block->functions;
	for (; at && block->functions_end - at >= TEEPERF_GATE_OFFSET; at += 8) {
		functions = (struct teeperf_functions *)(void *)at;
		if (functions->size)
			return functions;
	}
	return NULL;
}

static uint64_t *hashes_of(struct teeperf_functions *functions)
{
	const uint64_t gates = (functions->count + UINT64_C(7)) & ~UINT64_C(7);
	return (uint64_t *)(void *)(functions->gates + gates);
}

enum teeperf_gate tp_gate_open(void)
{
	if (tp_process.clock == TEEPERF_CLOCK_TSC_ORDERED)
		return TEEPERF_GATE_ORDERED;
	return tp_clock_is_hardware(tp_process.clock) ? TEEPERF_GATE_HARDWARE : TEEPERF_GATE_SOFT;
}

// What has been left out has no hash any more.
static void set(const struct teeperf_module_block *block, uint8_t gate)
{
	for (struct teeperf_functions *f = behind(block, NULL); f; f = behind(block, f))
		for (uint32_t i = 0; i < f->count; i++)
			__atomic_store_n(&f->gates[i],
			    hashes_of(f)[i] ? gate : (uint8_t)TEEPERF_GATE_OFF, __ATOMIC_RELAXED);
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

// Of a module that is refused all but gates[0]: where control comes back from above still has to be told to others.
static void leave_out(const struct teeperf_module_block *block, bool all)
{
	for (struct teeperf_functions *f = behind(block, NULL); f; f = behind(block, f)) {
		uint64_t *hashes = hashes_of(f);
		for (uint32_t i = 0; i < f->count; i++)
			if (hashes[i] >= TEEPERF_HASH_FIRST && (all || !is_wanted(hashes[i])))
				hashes[i] = 0;
	}
}

static uint64_t left_out;
static uint64_t function_count;

static void count(const struct teeperf_module_block *block)
{
	for (struct teeperf_functions *f = behind(block, NULL); f; f = behind(block, f))
		for (uint32_t i = 0; i < f->count; i++) {
			function_count += hashes_of(f)[i] != TEEPERF_HASH_ALWAYS;
			left_out += hashes_of(f)[i] == 0;
		}
}

uint64_t tp_gates_names(const struct teeperf_module_block *block)
{
	uint64_t names = 0;
	for (struct teeperf_functions *f = behind(block, NULL); f; f = behind(block, f)) {
		tp_code_hash_step(&names, f->count);
		for (uint32_t i = 0; i < f->count; i++)
			tp_code_hash_step(&names, hashes_of(f)[i]);
	}
	return names;
}

void tp_gates_narrow(const struct teeperf_module_block *block, enum tp_admission admission,
    uint64_t *functions, uint64_t *out)
{
	leave_out(block, false);
	if (admission == TP_ADMISSION_NEW)
		count(block);
	if (admission == TP_ADMISSION_REFUSED)
		leave_out(block, true);
	*functions = function_count;
	*out = left_out;
}

void tp_gates_set(enum teeperf_gate gate)
{
	__atomic_store_n(&tp_gate_current, (uint32_t)gate, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&walkers, 1, __ATOMIC_SEQ_CST);
	for (struct teeperf_module_block *at = next_of(&first); at; at = next_of(&at->next))
		set(at, (uint8_t)gate);
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
		set(block, (uint8_t)gate);
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
