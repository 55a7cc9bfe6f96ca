// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gates of all instrumented modules of this process.
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

void tp_gates_set(enum teeperf_gate gate)
{
	__atomic_store_n(&tp_gate_current, (uint32_t)gate, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&walkers, 1, __ATOMIC_SEQ_CST);
	for (struct teeperf_module_block *at = next_of(&first); at; at = next_of(&at->next))
		__atomic_store_n(&at->gate, (uint8_t)gate, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&walkers, 1, __ATOMIC_SEQ_CST);
}

void tp_gates_add(struct teeperf_module_block *block)
{
	// A module with code for two clocks has two constructors.
	for (struct teeperf_module_block *at = first; at; at = at->next)
		if (at == block)
			return;
	block->next = first;
	__atomic_store_n(&first, block, __ATOMIC_SEQ_CST);
	// Who sets gates from here on finds the block itself, but our store may come behind his: look again.
	uint32_t gate;
	do {
		gate = __atomic_load_n(&tp_gate_current, __ATOMIC_SEQ_CST);
		__atomic_store_n(&block->gate, (uint8_t)gate, __ATOMIC_SEQ_CST);
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
