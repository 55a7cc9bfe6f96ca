// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attaching to the shared log: validate what the host wrote, once, and keep a private copy.
// One file above 600 lines: each way in which a log or a module comes or goes is a few steps, in an
// order that the others rely on.
#include "runtime.h"

#include "port.h"

// An archive's member is linked if something refers to it, and the weak references of teeperf.h do
// not count.
__attribute__((used)) static void (*const with_contexts)(
    struct teeperf_context *here) = __teeperf_context_leave;
__attribute__((used)) static void (*const with_enter)(void) = __teeperf_exit;
__attribute__((used)) static void (*const with_border)(
    unsigned long long control, unsigned long long handle) = __teeperf_border;

/*
 * In `reserved` of a module's block (its low half word): a bit for each clock that its code was
 * compiled for, and whether the present log knows of it.
 */
enum { CLOCKS_MASK = 3, TOLD = 1 << 8 };

// Whether it recorded when the log went (tp_attach_leave).
static enum tp_state state_before;

// Code that cannot be recorded, and why: no log that comes later changes that. DONE: the program is
// over.
static enum teeperf_attach refused;

// Why the program's last call did not get it a log.
static enum teeperf_attach why_not;

// Who attaches is profiled, whoever put the calls there. (gcc gives a variable in such a section
// another type.)
#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
__asm__(".pushsection " TEEPERF_NOTE_SECTION ", \"a\", %note\n"
	".balign 4\n"
	".4byte 8, 4, " TEXT(TEEPERF_NOTE_TYPE) "\n"
						".asciz \"" TEEPERF_NOTE_NAME "\"\n"
						".4byte " TEXT(TEEPERF_ABI) "\n"
									    ".popsection\n");

struct tp_process tp_process;
// Its upper half differs from TEEPERF_HIGH_NEVER, and from that of any clock.
const uint64_t tp_counter_never = (uint64_t)(TEEPERF_HIGH_NEVER - 1) << 32;

// The log that we have claimed: its mapping stays ours, even in a forked child.
static struct teeperf_log_header *claimed;
static uint64_t ended; // what header.ended is to be, once the last module has gone

void tp_process_off(void)
{
	tp_store32_release(&tp_process.state, TP_STATE_OFF);
	tp_gates_set(TEEPERF_GATE_OFF);
}

static bool is_power_of_two(uint64_t value)
{
	return value && (value & (value - 1)) == 0;
}

// [offset, offset + count * size) lies within `limit` bytes, aligned to 8.
static bool fits(uint64_t offset, uint64_t count, uint64_t size, uint64_t limit)
{
	return offset % 8 == 0 && offset <= limit && count <= (limit - offset) / size;
}

// In mode ring: how many chunks a thread may keep.
static uint32_t keeps(uint64_t wanted, uint64_t chunk_count)
{
	const uint64_t most = wanted < chunk_count / 2 ? wanted : chunk_count / 2;
	return most < 2 ? 2 : (uint32_t)most;
}

// header.attach and header.machine, in one word.
static uint64_t report_of(enum teeperf_attach attach)
{
#if defined(__x86_64__)
	const uint64_t machine = 62; // EM_X86_64
#elif defined(__aarch64__)
	const uint64_t machine = 183; // EM_AARCH64
#elif defined(__riscv)
	const uint64_t machine = 243; // EM_RISCV
#endif
	return machine << 32 | attach;
}

void tp_attach_report(enum teeperf_attach attach)
{
	tp_store_release((uint64_t *)(void *)&tp_process.header->attach, report_of(attach));
}

// Two or more fields of the header, which begin with this one, at once.
static uint64_t load_word(const void *first)
{
	return tp_load_relaxed(first);
}

// Fill tp_process from a header that the host may be changing as we read: each word is read once.
// The counter word is the header's, or that of the log of our TEE, unless `counter` says otherwise.
static bool adopt(void *base, uint64_t size, const uint64_t *counter)
{
	struct teeperf_log_header *header = base;
	struct tp_process *process = &tp_process;
	if (size < TEEPERF_LOG_HEADER_SIZE || tp_load_relaxed(&header->magic) != TEEPERF_LOG_MAGIC)
		return false;
	const uint64_t versions = load_word(&header->major);
	const uint64_t geometry = load_word(&header->chunk_shift);
	const uint64_t capacities = load_word(&header->module_capacity);
	const uint64_t kinds = load_word(&header->clock);
	const uint64_t supply = tp_load_relaxed(&header->supply_offset);
	const uint64_t states = tp_load_relaxed(&header->state_offset);
	const uint64_t modules = tp_load_relaxed(&header->modules_offset);
	const uint64_t threads = tp_load_relaxed(&header->threads_offset);
	const uint64_t chunks = tp_load_relaxed(&header->chunks_offset);
	const uint64_t list = tp_load_relaxed(&header->only_offset);
	const uint64_t only = load_word(&header->only_count);
	const uint64_t ring = load_word(&header->ring);
	const uint64_t selections = tp_load_relaxed(&header->selection_offset);
	const uint64_t selection_capacity = tp_load_relaxed(&header->selection_capacity);

	const uint64_t chunk_count = geometry >> 32;
	const uint64_t module_capacity = capacities & UINT32_MAX;
	const uint64_t thread_capacity = capacities >> 32;
	if ((versions & UINT16_MAX) != TEEPERF_LOG_MAJOR ||
	    (geometry & UINT32_MAX) != TP_CHUNK_SHIFT)
		return false;
	if (!is_power_of_two(chunk_count) || chunk_count > UINT64_C(1) << TEEPERF_SUPPLY_CHUNK_BITS)
		return false;
	if (!is_power_of_two(thread_capacity) || chunks % TP_CHUNK_SIZE)
		return false;
	if (!fits(supply, chunk_count, 8, size) || !fits(states, chunk_count, 8, size) ||
	    !fits(modules, module_capacity, sizeof(struct teeperf_module), size) ||
	    !fits(threads, thread_capacity, sizeof(struct teeperf_thread), size) ||
	    !fits(chunks, chunk_count, TP_CHUNK_SIZE, size) ||
	    !fits(list, only & UINT32_MAX, 8, size) ||
	    !fits(selections, selection_capacity, 2 * 8, size))
		return false;
	const bool in_rings = kinds >> 32 == TEEPERF_MODE_RING;
	if (in_rings && chunk_count > TP_RING_LOG_CHUNKS)
		return false;

	char *bytes = base;
	process->header = header;
	process->region_size = size;
	process->supply = (uint64_t *)(void *)(bytes + supply);
	process->states = (uint64_t *)(void *)(bytes + states);
	process->modules = (struct teeperf_module *)(void *)(bytes + modules);
	process->threads = (struct teeperf_thread *)(void *)(bytes + threads);
	process->chunks = (uint64_t)(uintptr_t)bytes + chunks;
	process->only_list = (const uint64_t *)(const void *)(bytes + list);
	process->only_count = (uint32_t)only;
	process->only = (uint32_t)(only >> 32);
	process->selection_list = (const uint64_t *)(const void *)(bytes + selections);
	process->selection_capacity = selection_capacity;
	process->chunk_mask = chunk_count - 1;
	process->thread_mask = (uint32_t)(thread_capacity - 1);
	process->module_limit = (uint32_t)module_capacity;
	process->clock = (uint32_t)kinds;
	process->full = kinds >> 32 == TEEPERF_MODE_FULL;
	process->ring = in_rings ? keeps(ring & UINT32_MAX, chunk_count) : 0;
	process->counter = TEEPERF_CLOCK_IS_SOFT(process->clock)
			       ? (counter           ? counter
				     : process->tee ? &process->tee->counter
						    : &header->counter)
			   : process->clock == TEEPERF_CLOCK_NONE ? &tp_counter_places
								  : &tp_counter_never;
	return true;
}

// Whether code compiled for `compiled` can run on the log's clock.
static bool clock_agrees(uint64_t compiled)
{
	if (TEEPERF_CLOCK_IS_SOFT(tp_process.clock) || tp_process.clock == TEEPERF_CLOCK_NONE)
		return compiled != TEEPERF_COMPILED_HARDWARE;
	if (tp_process.clock == TEEPERF_CLOCK_TSC_ORDERED)
		return tp_clock_is_hardware(tp_process.clock) && compiled == TEEPERF_COMPILED_AUTO;
	return tp_clock_is_hardware(tp_process.clock) && compiled != TEEPERF_COMPILED_SOFT;
}

static bool claim(void)
{
	return tp_claim_acq_rel(&tp_process.header->pid, tp_process.pid);
}

/*
 * Where each instance of a program runs one thread, instances take turns: the log is one's for the
 * time of a call, and each is a thread of its own in it, whose id tells it whose the slot is.
 */
static uint64_t own_slot;

static uint64_t own_tid(void)
{
	return (tp_process.pid & INT32_MAX) | 1;
}

static uint64_t *own_word(void)
{
	return own_slot <= tp_process.thread_mask
		   ? &tp_process.threads[own_slot & tp_process.thread_mask].os_tid
		   : NULL;
}

static bool has_slot(void)
{
	const uint64_t *word = own_word();
	return tp_process.log && word && tp_load_relaxed(word) == own_tid();
}

// The next slot, and the next entry for modules. What the host may have written there is a number,
// and bounded where it is used.
static void take_slot(void)
{
	own_slot = tp_load_relaxed(&tp_process.header->thread_count) & UINT32_MAX;
	tp_process.next_thread = own_slot;
	tp_process.next_module = tp_load_relaxed(&tp_process.header->module_count) & UINT32_MAX;
	uint64_t *word = own_word();
	if (word)
		tp_store_release(word, own_tid());
	tp_store_relaxed(&tp_process.header->thread_count, own_slot + 1);
}

// A log is only looked at where it is known to be memory that the host may write.
static bool is_outside(void *base, uint64_t size)
{
	return (uintptr_t)base % sizeof(uint64_t) == 0 && size <= UINT64_MAX - (uintptr_t)base &&
	       tp_port_is_outside(base, size);
}

static bool adopt_outside(void *base, uint64_t size, const uint64_t *counter)
{
	return is_outside(base, size) && adopt(base, size, counter);
}

// The log that the environment names, or one of our own if another process has it and the host
// gives more.
static bool find_log(void)
{
	void *named;
	void *base;
	uint64_t named_size;
	uint64_t size;
	const uint64_t *counter;
	tp_process.pid = tp_port_process_id();
	const bool mapped = tp_port_map_log(&named, &named_size);
	const bool there = mapped && adopt_outside(named, named_size, NULL);
	if (there && claim())
		return true;
	struct teeperf_log_header *taken = tp_process.header;
	const bool given = tp_port_own_log(&base, &size, &counter);
	const bool own = given && adopt_outside(base, size, counter) && claim();
	if (there && !own)
		tp_fetch_add_relaxed(&taken->refused, 1);
	// The host waits for who has a log mapped.
	if (mapped)
		tp_port_unmap_log(named, named_size);
	if (given && !own) {
		tp_port_unmap_log(base, size);
		tp_port_hide_counter();
	}
	return own;
}

// With a log of ours: begin to record in it.
static void begin(enum tp_state state)
{
	struct teeperf_log_header *header = tp_process.header;
	static uint64_t told_early;
	const uint64_t early = tp_process.lost_early;
	if (TP_ONE_THREAD)
		tp_fetch_add_relaxed(&header->lost_early, early - told_early);
	else
		tp_store_relaxed(&header->lost_early, early);
	told_early = early;
	tp_store_relaxed(&header->keeps, tp_process.ring);
	tp_gates_dry(false);
	tp_gates_set(state == TP_STATE_RECORDING ? tp_gate_open() : TEEPERF_GATE_OFF);
	tp_store32_release(&tp_process.state, state);
}

static void listen(void)
{
	uint32_t value;
	const enum teeperf_listens listens = tp_port_listen(&value);
	tp_process.listens = (uint64_t)value << 32 | listens;
	tp_store_release((uint64_t *)(void *)&tp_process.header->listens, tp_process.listens);
}

// Ports whose logs may come at any time have their own (port/posix_late.c).
__attribute__((weak)) bool tp_port_is_late(void)
{
	return false;
}

__attribute__((weak)) void tp_port_remember(const void *anchor)
{
	(void)anchor;
}

__attribute__((weak)) void tp_port_forget(const void *anchor)
{
	(void)anchor;
}

// The first module registers: find the log. Constructors run one at a time, so no lock is needed.
static void attach(void)
{
	const bool found = find_log();
	if (found)
		claimed = tp_process.header;
	const bool ready = (found || tp_port_is_late()) && tp_port_attached();
	tp_process.late = ready && !found;
	if (!ready || !found) {
		tp_process_off();
		return;
	}
	begin(tp_switch_start());
	listen();
	tp_switch_serve();
	tp_attach_report(TEEPERF_ATTACH_DONE);
}

// A module is refused if its records would be ambiguous, or if there is no room to describe it.
static void admit(struct teeperf_module_block *block, enum tp_admission admission)
{
	uint64_t functions;
	uint64_t left_out;
	tp_gates_admit(block, admission, &functions, &left_out);
	tp_store_relaxed(&tp_process.header->functions_left_out, left_out);
	tp_store_relaxed(&tp_process.header->function_count, functions);
}

// ---- modules that come and go beside a log that does

static uint64_t late_change; // 1: a log comes or goes
static uint64_t changes;     // modules that come or go

// A call that puts a log in place or takes it away is short, and waits for nobody.
static void begin_change(void)
{
	tp_fetch_add_seq_cst(&changes, 1);
	while (tp_load_seq_cst(&late_change))
		;
}

static void end_change(void)
{
	tp_fetch_add_seq_cst(&changes, UINT64_MAX);
}

bool tp_late_begin(void)
{
	// Two recorders may call at once, in two threads.
	if (!tp_claim_seq_cst(&late_change, 1))
		return false;
	if (!tp_load_seq_cst(&changes))
		return true;
	tp_store_seq_cst(&late_change, 0);
	return false;
}

void tp_late_end(void)
{
	tp_store_seq_cst(&late_change, 0);
}

bool tp_late_is_changing(void)
{
	return tp_load_relaxed(&late_change) != 0;
}

void tp_late_forked(void)
{
	// A handler may have forked that interrupted us; then the thread is still there.
	tp_store_relaxed(&tp_process.inside, tp_thread.inside != 0);
	tp_store_relaxed(&late_change, 0);
	tp_store_relaxed(&changes, 0);
	// The former logs belong to the parent, whose threads may return to their old places there.
	tp_thread.own_log = 0;
	if (!tp_process.late || tp_load32_acquire(&tp_process.state) != TP_STATE_OFF)
		return;
	tp_process.header = NULL;
	tp_store_relaxed(&__teeperf_thread.cursor, 0);
	tp_store_relaxed(&__teeperf_thread.end, 0);
}

// Whether there is a log, and it is there for this thread.
static bool has_log(void)
{
	const uint32_t state = tp_load32_acquire(&tp_process.state);
	return (state == TP_STATE_RECORDING || state == TP_STATE_PAUSED) && tp_thread_may_record();
}

static void add_module(uint64_t abi_and_clock, struct teeperf_module_block *block)
{
	if (tp_load32_acquire(&tp_process.state) == TP_STATE_START) {
		tp_process.first_compiled = abi_and_clock & 0xff;
		attach();
	}
	if (abi_and_clock >> 8 != TEEPERF_ABI) {
		if (has_log())
			tp_attach_report(TEEPERF_ATTACH_BAD_MODULE);
		refused = TEEPERF_ATTACH_BAD_MODULE;
		tp_process_off();
		return;
	}
	// For a log that comes when nobody may be asked any more.
	if (tp_process.late)
		tp_port_remember(block);
	const bool there = has_log();
	const bool agrees = !there || clock_agrees(abi_and_clock & 0xff);
	// For a log that comes later.
	block->reserved |= UINT64_C(1) << (abi_and_clock & CLOCKS_MASK);
	// A library that is loaded after the host's last word obeys it from its first call on.
	if (there && agrees)
		tp_switch_look();
	// A module with code for two clocks has two constructors.
	if (there && agrees && !tp_gates_has(block)) {
		admit(block, tp_module_add(block));
		block->reserved |= TOLD;
	}
	tp_gates_add(block, tp_thread_may_record());
	if (!agrees) {
		tp_attach_report(TEEPERF_ATTACH_BAD_CLOCK);
		refused = TEEPERF_ATTACH_BAD_CLOCK;
		tp_process_off();
	}
}

void __teeperf_module(uint64_t abi_and_clock, struct teeperf_module_block *block)
{
	begin_change();
	add_module(abi_and_clock, block);
	end_change();
}

// A log that goes meanwhile stays mapped.
static void tell_end_now(void)
{
	struct teeperf_log_header *header = claimed;
	if (!header)
		return;
	if (tp_process.finish)
		tp_process.finish(ended);
	tp_store_release(&header->ended, ended);
}

void __teeperf_over(int code)
{
	tp_thread_end();
	ended = TEEPERF_ENDED | TEEPERF_ENDED_HAS_CODE |
		(uint64_t)(uint32_t)code << TEEPERF_ENDED_CODE_SHIFT;
	if (tp_thread_may_record())
		tell_end_now();
	refused = TEEPERF_ATTACH_DONE;
	tp_process_off();
}

// The runtime may be linked into an executable whose libraries' destructors run behind its own.
static void tell_end(void)
{
	if (ended && tp_gates_none())
		tell_end_now();
}

static void remove_module(struct teeperf_module_block *block)
{
	if (has_log())
		tp_module_remove(block);
	tp_gates_remove(block);
	tp_port_forget(block);
	tell_end();
}

void __teeperf_module_gone(struct teeperf_module_block *block)
{
	begin_change();
	remove_module(block);
	end_change();
}

void tp_process_ended(uint64_t word)
{
	ended = word;
	tell_end();
}

// ---- memory of a module that a loader of the program's own gives back (loaded.c)

static uint64_t going_start; // of the module that goes
static uint64_t going_end;

static void drop(struct teeperf_module_block *block)
{
	const uint64_t at = (uint64_t)(uintptr_t)block;
	if (at >= going_start && at < going_end)
		remove_module(block);
}

void __teeperf_module_remove(struct teeperf_loaded *loaded)
{
	struct teeperf_module module;
	begin_change();
	// If its destructors have not run: nothing of ours may be in memory that goes.
	if (tp_loaded_take(loaded, &module)) {
		going_start = module.start;
		going_end = module.end;
		tp_gates_each(drop);
		tp_counts_gone(going_start, going_end);
	}
	end_change();
}

// ---- a log that comes when the program runs already

static void forget_told(struct teeperf_module_block *block)
{
	block->reserved &= ~(TOLD | TP_BLOCK_REFUSED);
}

static bool all_agree;

static void check_clock(struct teeperf_module_block *block)
{
	for (uint64_t clock = 0; clock < CLOCKS_MASK; clock++)
		if (block->reserved >> clock & 1 && !clock_agrees(clock))
			all_agree = false;
}

static void tell(struct teeperf_module_block *block)
{
	if (!(block->reserved & TOLD))
		admit(block, tp_module_add(block));
	block->reserved |= TOLD;
}

// A log that this process has not had before, or not as its last one.
static void begin_log(void)
{
	struct tp_process *process = &tp_process;
	process->log++;
	process->next_thread = 0;
	process->lost_overflow = 0;
	for (unsigned i = 0; i < TP_TICKETS; i++)
		tp_store_relaxed(&process->tickets[i], 0);
	tp_modules_forget();
	tp_gates_forget();
	tp_gates_each(forget_told);
	if (TP_ONE_THREAD)
		take_slot();
}

// A log that we have had before, and have still or again.
static enum tp_state come_back(void)
{
	return TP_ONE_THREAD ? tp_switch_again(state_before) : state_before;
}

static void tell_why(struct teeperf_log_header *header, enum teeperf_attach why)
{
	tp_change_acq_rel((uint64_t *)(void *)&header->attach, TEEPERF_ATTACH_NONE, report_of(why));
}

void tp_attach_refuse(void *base, uint64_t size, enum teeperf_attach why)
{
	why_not = why;
	if (base && why != TEEPERF_ATTACH_DONE && is_outside(base, size) &&
	    size >= TEEPERF_LOG_HEADER_SIZE &&
	    tp_load_relaxed(&((struct teeperf_log_header *)base)->magic) == TEEPERF_LOG_MAGIC)
		tell_why(base, why);
}

const char *__teeperf_why(void)
{
	switch (why_not) {
	case TEEPERF_ATTACH_BAD_CLOCK:
		return "it was compiled for a clock other than the log's";
	case TEEPERF_ATTACH_BAD_MODULE:
		return "part of it was compiled by another version of teeperf than its runtime";
	case TEEPERF_ATTACH_NO_MODULE:
		return "it has no code compiled by 'teeperf cc', or its allowlist selects no "
		       "function";
	case TEEPERF_ATTACH_BAD_LOG:
		return "the memory is not a complete log of this version of teeperf";
	case TEEPERF_ATTACH_NOT_SHARED:
		return "the log is not entirely in memory that the host may read and write";
	case TEEPERF_ATTACH_TAKEN:
		return "another program uses the log, or this one has entered already";
	case TEEPERF_ATTACH_DONE:
		return "the program has ended";
	case TEEPERF_ATTACH_NONE:
		break;
	}
	return "no log";
}

bool tp_attach_region(void *base, uint64_t size, bool by_call)
{
	static bool port_is_ready;
	struct tp_process *process = &tp_process;
	const uint32_t state = tp_load32_acquire(&process->state);
	if (refused || state == TP_STATE_START) {
		tp_attach_refuse(base, size, refused ? refused : TEEPERF_ATTACH_NO_MODULE);
		return false;
	}
	why_not = TEEPERF_ATTACH_TAKEN;
	if (state != TP_STATE_AWAY && state != TP_STATE_OFF)
		return false;
	if (!port_is_ready && !tp_port_attached())
		return false;
	port_is_ready = true;
	process->pid = tp_port_process_id();
	why_not = TEEPERF_ATTACH_NOT_SHARED;
	if (!is_outside(base, size))
		return false;
	if (!adopt(base, size, NULL)) {
		tp_attach_refuse(base, size, TEEPERF_ATTACH_BAD_LOG);
		return false;
	}
	why_not = TEEPERF_ATTACH_TAKEN;
	const bool claimed_now = claim();
	const bool fresh = TP_ONE_THREAD ? !has_slot() : claimed_now;
	const bool is_ours = process->log && tp_load_relaxed(&process->header->pid) == process->pid;
	if (!claimed_now && !is_ours) {
		tp_fetch_add_relaxed(&process->header->refused, 1);
		return false;
	}
	if (fresh)
		begin_log();
	all_agree = true;
	tp_gates_each(check_clock);
	if (!all_agree) {
		tp_attach_report(TEEPERF_ATTACH_BAD_CLOCK);
		refused = why_not = TEEPERF_ATTACH_BAD_CLOCK;
		return false;
	}
	process->by_call = by_call;
	claimed = process->header;
	tp_thread_arrive();
	// Another instance was at its addresses meanwhile.
	if (TP_ONE_THREAD && !fresh && tp_modules_displaced()) {
		tp_modules_forget();
		process->next_module = tp_load_relaxed(&process->header->module_count) & UINT32_MAX;
		tp_gates_each(forget_told);
	}
	tp_gates_each(tell);
	begin(fresh ? tp_switch_start() : come_back());
	if (fresh) {
		listen();
		tp_attach_report(TEEPERF_ATTACH_DONE);
	}
	tp_switch_look();
	tp_switch_serve();
	return true;
}

void tp_attach_leave(void)
{
	state_before = (enum tp_state)tp_load32_acquire(&tp_process.state);
	// For good, if it is that.
	if (state_before != TP_STATE_OFF)
		tp_store32_release(&tp_process.state, TP_STATE_AWAY);
	claimed = NULL;
	tp_process.counter = &tp_counter_never;
	// The lists go with the log.
	tp_process.only = TEEPERF_ONLY_ALL;
	tp_process.only_list = tp_process.selection_list = NULL;
	tp_process.only_count = 0;
	tp_process.selection_capacity = 0;
	if (TP_ONE_THREAD)
		tp_change_acq_rel(&tp_process.header->pid, tp_process.pid, 0);
}

// ---- a log that comes at any time, beside threads that run (port/posix_late.c)

enum teeperf_attach tp_attach_late(void *base, uint64_t size)
{
	struct tp_process *process = &tp_process;
	if (refused)
		return refused;
	process->pid = tp_port_process_id();
	if (!adopt_outside(base, size, NULL))
		return TEEPERF_ATTACH_BAD_LOG;
	all_agree = true;
	tp_gates_each(check_clock);
	if (!all_agree) {
		tp_attach_report(TEEPERF_ATTACH_BAD_CLOCK);
		return TEEPERF_ATTACH_BAD_CLOCK;
	}
	if (!claim())
		return TEEPERF_ATTACH_TAKEN;
	begin_log();
	process->by_call = false;
	claimed = process->header;
	tp_gates_each(tell);
	begin(tp_switch_start());
	tp_attach_report(TEEPERF_ATTACH_DONE);
	return TEEPERF_ATTACH_DONE;
}

void tp_attach_late_end(void)
{
	tp_process_off();
	claimed = NULL;
}
