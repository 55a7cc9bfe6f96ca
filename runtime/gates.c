// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gates of all instrumented functions of this process.
#include "runtime.h"

/*
 * Modules come and go one at a time (under the loader's lock); gates are set at any time, also in a
 * signal handler. Who removes a module waits until nobody else walks the list, because the module
 * is unmapped then: a walk is a few stores long. A handler that ends the process, or jumps out, may
 * have interrupted a walk of its own thread, which does not go on.
 */
static struct teeperf_module_block *first;
static int64_t walkers;
uint32_t tp_gate_current = TEEPERF_GATE_SOFT;

static uint64_t left_out;
static uint64_t function_count;

static struct teeperf_module_block *next_of(struct teeperf_module_block *const *link)
{
	return __atomic_load_n(link, __ATOMIC_SEQ_CST);
}

// The next teeperf_functions of a module, the first behind NULL; the linker may have put zeroes
// between them.
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

/*
 * Nothing can be recorded for the time being: there is no chunk. With the counter word a thread
 * then reaches the cold path at a lower cost than by reading a clock first, and a thread that still
 * has a chunk records there, too.
 */
static uint64_t is_dry;

void tp_gates_dry(bool dry)
{
	tp_store_seq_cst(&is_dry, dry);
}

bool tp_gates_are_dry(void)
{
	return tp_load_relaxed(&is_dry);
}

uint64_t tp_gates_count(void)
{
	return function_count;
}

enum teeperf_gate tp_gate_open(void)
{
	if (tp_gates_are_dry())
		return TEEPERF_GATE_SOFT;
	if (tp_process.clock == TEEPERF_CLOCK_TSC_ORDERED)
		return TEEPERF_GATE_ORDERED;
	return tp_clock_is_hardware(tp_process.clock) ? TEEPERF_GATE_HARDWARE : TEEPERF_GATE_SOFT;
}

// Which functions the host wants, as it is looked at during one walk.
struct choice {
	uint32_t only; // enum teeperf_only
	uint64_t count;
	const uint64_t *list;
};

static uint64_t selection = TEEPERF_SELECTION_FIRST; // log.h

// As recording begins, by `only`.
static struct choice first_choice(void)
{
	return (struct choice){tp_process.only, tp_process.only_count, tp_process.only_list};
}

static struct choice choice_now(void)
{
	const struct tp_process *process = &tp_process;
	const uint64_t now = tp_load_seq_cst(&selection);
	if (now == TEEPERF_SELECTION_FIRST || !process->selection_capacity)
		return first_choice();
	const uint64_t count = TEEPERF_SELECTION_COUNT(now);
	const uint64_t most = process->selection_capacity;
	return (struct choice){TEEPERF_SELECTION_ONLY(now), count < most ? count : most,
	    process->selection_list + (TEEPERF_SELECTION_LIST(now) ? most : 0)};
}

// The list is the host's, and may be changing: what comes out is a choice of functions, nothing
// else.
static bool is_wanted(const struct choice *choice, uint64_t hash)
{
	if ((choice->only != TEEPERF_ONLY_LISTED && choice->only != TEEPERF_ONLY_REST) ||
	    hash == TEEPERF_HASH_ALWAYS)
		return true;
	uint64_t low = 0;
	uint64_t high = choice->count;
	bool listed = false;
	while (low < high && !listed) {
		const uint64_t middle = low + (high - low) / 2;
		const uint64_t here = tp_load_relaxed(&choice->list[middle]);
		listed = here == hash;
		if (here < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return listed == (choice->only == TEEPERF_ONLY_LISTED);
}

// In a module that is refused, all gates but gates[0] stay closed: others must still learn where
// control returns from above. A gate that is right already is not written: other processors keep
// its cache line.
static void set(const struct teeperf_module_block *block, uint8_t gate)
{
	const struct choice choice = choice_now();
	const bool refused = block->reserved & TP_BLOCK_REFUSED;
	for (struct teeperf_functions *f = behind(block, NULL); f; f = behind(block, f))
		for (uint32_t i = 0; i < f->count; i++) {
			const uint64_t hash = hashes_of(f)[i];
			const bool may = (!refused || hash == TEEPERF_HASH_ALWAYS) &&
					 gate != TEEPERF_GATE_OFF && is_wanted(&choice, hash);
			const uint8_t wanted = may ? gate : (uint8_t)TEEPERF_GATE_OFF;
			if (__atomic_load_n(&f->gates[i], __ATOMIC_RELAXED) != wanted)
				__atomic_store_n(&f->gates[i], wanted, __ATOMIC_RELAXED);
		}
}

// By `only`, whatever has been chosen since: the trace tells that with its times.
static void count(const struct teeperf_module_block *block)
{
	const struct choice choice = first_choice();
	for (struct teeperf_functions *f = behind(block, NULL); f; f = behind(block, f))
		for (uint32_t i = 0; i < f->count; i++) {
			function_count += hashes_of(f)[i] != TEEPERF_HASH_ALWAYS;
			left_out += !is_wanted(&choice, hashes_of(f)[i]);
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

void tp_gates_admit(struct teeperf_module_block *block, enum tp_admission admission,
    uint64_t *functions, uint64_t *out)
{
	if (admission == TP_ADMISSION_NEW)
		count(block);
	if (admission == TP_ADMISSION_REFUSED)
		block->reserved |= TP_BLOCK_REFUSED;
	else
		block->reserved &= ~TP_BLOCK_REFUSED;
	*functions = function_count;
	*out = left_out;
}

void tp_gates_set(enum teeperf_gate gate)
{
	__atomic_store_n(&tp_gate_current, (uint32_t)gate, __ATOMIC_SEQ_CST);
	__atomic_store_n(&__teeperf_mark_gate, gate != TEEPERF_GATE_OFF, __ATOMIC_RELAXED);
	tp_thread.gate_walks++;
	tp_barrier_signal();
	__atomic_fetch_add(&walkers, 1, __ATOMIC_SEQ_CST);
	for (struct teeperf_module_block *at = next_of(&first); at; at = next_of(&at->next))
		set(at, (uint8_t)gate);
	// A handler that jumped about within itself has undone it (tp_gates_retake).
	if (!tp_thread.gate_walks)
		return;
	__atomic_fetch_sub(&walkers, 1, __ATOMIC_SEQ_CST);
	tp_barrier_signal();
	tp_thread.gate_walks--;
}

void tp_gates_select(uint64_t wanted)
{
	tp_store_seq_cst(&selection, wanted);
	tp_gates_set((enum teeperf_gate)__atomic_load_n(&tp_gate_current, __ATOMIC_SEQ_CST));
}

void tp_gates_forget(void)
{
	function_count = left_out = 0;
	tp_store_seq_cst(&selection, TEEPERF_SELECTION_FIRST);
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

void tp_gates_add(struct teeperf_module_block *block, bool there)
{
	if (tp_gates_has(block))
		return;
	block->next = first;
	__atomic_store_n(&first, block, __ATOMIC_SEQ_CST);
	// Who sets gates from here on finds the block itself, but our stores may come behind his:
	// look again. Without a log that is there for us there are no lists: what the module has
	// records from the log's next coming on, which sets all gates.
	uint32_t gate;
	uint64_t selected;
	do {
		gate = __atomic_load_n(&tp_gate_current, __ATOMIC_SEQ_CST);
		selected = tp_load_seq_cst(&selection);
		set(block, there ? (uint8_t)gate : (uint8_t)TEEPERF_GATE_OFF);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (gate != __atomic_load_n(&tp_gate_current, __ATOMIC_SEQ_CST) ||
		 selected != tp_load_seq_cst(&selection));
}

void tp_gates_remove(struct teeperf_module_block *block)
{
	struct teeperf_module_block **link = &first;
	while (*link && *link != block)
		link = &(*link)->next;
	if (!*link)
		return;
	__atomic_store_n(link, block->next, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&walkers, __ATOMIC_SEQ_CST) > tp_thread.gate_walks)
		;
}

void tp_gates_retake(void)
{
	for (; tp_thread.gate_walks; tp_thread.gate_walks--)
		__atomic_fetch_sub(&walkers, 1, __ATOMIC_SEQ_CST);
}

void tp_gates_forked(void)
{
	walkers = tp_thread.gate_walks;
}
