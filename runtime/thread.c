// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cold path of the sequence: a thread's first event, the end of a chunk, a new upper half of
// the clock, losses. Called at any instruction boundary of instrumented code, so it is built without
// vector registers and calls nothing outside the runtime but through tp_call_preserving.
// One file above 600 lines: each step of it may be interrupted by itself, and the order of all of them is what makes that safe.
#include "runtime.h"

#include "port.h"

TP_PER_THREAD struct teeperf_thread_block __teeperf_thread = {.counter = &tp_counter_never,
    .clock_high = TEEPERF_HIGH_NEVER,
    .bias = TP_BIAS_NO_CHUNK(UINT64_C(0))};
static TP_PER_THREAD struct tp_thread tp_thread = {.bias = TP_BIAS_NO_CHUNK(UINT64_C(0))};

struct tp_thread *tp_thread_self(void)
{
	return &tp_thread;
}

// SYNC, LOST and a record of two words fit between any two chunk switches; with a departure two more.
enum { ROOM_BYTES = 4 * 8, DEPARTURE_BYTES = 2 * 8 };

static uint64_t control_record(uint64_t value, enum teeperf_control control)
{
	return (value & UINT32_MAX) | (uint64_t)control << 32;
}

// The address of chunk number `number`: masked, so inside the log whatever the number is.
static uint64_t chunk_address(uint64_t number)
{
	return tp_process.chunks + ((number & tp_process.chunk_mask) << TP_CHUNK_SHIFT);
}

uint64_t tp_chunk_address(uint64_t chunk_plus_1)
{
	return chunk_address(chunk_plus_1 - 1);
}

static bool inside(uint64_t cursor, uint64_t chunk_plus_1)
{
	// A cursor at a chunk's end still belongs to that chunk, whose header it can never point to.
	return chunk_plus_1 && cursor - 8 - chunk_address(chunk_plus_1 - 1) < TP_CHUNK_SIZE;
}

static uint64_t end_of_chunk(const struct tp_thread *thread)
{
	return thread->chunk ? chunk_address(thread->chunk - 1) + TP_CHUNK_SIZE : 0;
}

static struct teeperf_thread *table_slot(const struct tp_thread *thread)
{
	return thread->index <= tp_process.thread_mask
		   ? &tp_process.threads[thread->index & tp_process.thread_mask]
		   : (struct teeperf_thread *)0;
}

// Bring the log's count of this thread's losses up to date.
static void publish_lost(struct tp_thread *thread)
{
	const uint64_t lost = thread->lost;
	const uint64_t more = lost - thread->lost_published;
	if (!more)
		return;
	thread->lost_published = lost;
	struct teeperf_thread *slot = table_slot(thread);
	if (slot)
		tp_store_relaxed(&slot->lost, lost);
	else if (TP_ONE_THREAD)
		tp_fetch_add_relaxed(&tp_process.header->lost_overflow, more);
	else
		tp_store_relaxed(&tp_process.header->lost_overflow,
		    tp_fetch_add_relaxed(&tp_process.lost_overflow, more) + more);
}

void tp_chunk_give_back(uint64_t chunk_plus_1, uint64_t used)
{
	if (!chunk_plus_1)
		return;
	const uint64_t number = (chunk_plus_1 - 1) & tp_process.chunk_mask;
	struct teeperf_chunk *chunk = (struct teeperf_chunk *)(uintptr_t)chunk_address(number);
	tp_store_relaxed(&chunk->used, used);
	tp_store_release(&tp_process.states[number], TEEPERF_CHUNK_DONE);
	if (tp_process.ring)
		tp_ring_supply(number);
	if (tp_process.chunk_done)
		tp_process.chunk_done(number);
}

// Mode ring: a thread that ends with a ticket leaves it to others: its chunk would be missing for ever.
static void give_up_ticket(struct tp_thread *thread)
{
	for (unsigned i = 0; thread->ticket && i < TP_TICKETS; i++)
		if (tp_claim_acq_rel(&tp_process.tickets[i], thread->ticket))
			thread->ticket = 0;
}

static uint64_t inherit_ticket(void)
{
	for (unsigned i = 0; i < TP_TICKETS; i++)
		if (tp_load_relaxed(&tp_process.tickets[i])) {
			const uint64_t ticket = tp_take_acq_rel(&tp_process.tickets[i]);
			if (ticket)
				return ticket;
		}
	return 0;
}

// The supply ring belongs to the host: its word is masked and that is all the trust it gets.
static bool is_served(uint64_t slot, uint64_t ticket)
{
	return !((slot ^ TEEPERF_SUPPLY_SLOT(ticket, 0)) >> TEEPERF_SUPPLY_CHUNK_BITS);
}

static bool drew(struct tp_thread *thread, uint64_t slot)
{
	tp_barrier_signal();
	thread->drawn = (slot & tp_process.chunk_mask) + 1;
	return true;
}

// Each failure is another thread's success, so with all of a machine's processors drawing at once the last one fails as often
// as there are others. More than this is the host playing with the words: a loss then, as nobody waits.
enum { DRAW_TRIES = 1024 };

/*
 * Draw the next chunk. Its number is read first: with a ticket in hand and no number yet, a thread that does not get
 * to run would find its slot in use again, with another chunk's number. What a slot holds stays as long as nobody
 * has drawn its ticket.
 */
static bool draw_next(struct tp_thread *thread)
{
	struct teeperf_log_header *header = tp_process.header;
	for (int i = 0; i < DRAW_TRIES; i++) {
		const uint64_t ticket = tp_load_acquire(&header->tail);
		const uint64_t slot =
		    tp_load_acquire(&tp_process.supply[ticket & tp_process.chunk_mask]);
		if (is_served(slot, ticket)) {
			if (tp_change_acq_rel(&header->tail, ticket, ticket + 1))
				return drew(thread, slot);
		} else if (tp_load_relaxed(&header->tail) == ticket) {
			return false;
		}
	}
	return false;
}

/*
 * Mode ring, where threads supply, too: one that stands still before it has filled its slot must not keep the others
 * from those behind it. They draw such a ticket as it is, and keep it until it is served.
 */
static bool draw_ticket(struct tp_thread *thread)
{
	struct teeperf_log_header *header = tp_process.header;
	for (int i = 0; i < DRAW_TRIES; i++) {
		if (!thread->ticket)
			thread->ticket = inherit_ticket();
		if (!thread->ticket) {
			if (draw_next(thread))
				return true;
			if ((int64_t)(tp_load_relaxed(&header->head) -
				      tp_load_relaxed(&header->tail)) <= 0)
				return false;
			thread->ticket = tp_fetch_add_relaxed(&header->tail, 1) + 1;
		}
		const uint64_t ticket = thread->ticket - 1;
		const uint64_t slot =
		    tp_load_acquire(&tp_process.supply[ticket & tp_process.chunk_mask]);
		if (is_served(slot, ticket)) {
			thread->ticket = 0;
			return drew(thread, slot);
		}
		const uint64_t ahead = slot - TEEPERF_SUPPLY_SLOT(ticket, 0);
		if (ahead >> 63)
			return false;
		// Nobody came for it until its slot was needed again: it will never be served.
		thread->ticket = 0;
	}
	return false;
}

static bool draw(struct tp_thread *thread)
{
	return thread->drawn || (tp_process.ring ? draw_ticket(thread) : draw_next(thread));
}

// Mode ring: as with take_chunk, forgotten before it is given back.
static void give_back_oldest(struct tp_thread *thread)
{
	const uint64_t oldest = tp_kept_oldest(thread->kept);
	thread->kept = tp_kept_without_oldest(thread->kept);
	tp_barrier_signal();
	tp_chunk_give_back(oldest, TP_CHUNK_SIZE);
}

// The same, and its records are no part of the ring any more: those of newer chunks will be overwritten first.
static void drop_oldest(struct tp_thread *thread)
{
	const uint64_t number = (tp_kept_oldest(thread->kept) - 1) & tp_process.chunk_mask;
	thread->kept = tp_kept_without_oldest(thread->kept);
	tp_barrier_signal();
	tp_store_release(&tp_process.states[number], TEEPERF_CHUNK_FREE);
	tp_ring_supply(number);
}

/*
 * Mode ring: what to go on in. A new chunk if this thread does not keep all it may, and no more than is left for
 * others; or its own oldest. When chunks are scarce, each switch gives one back, so that threads that begin find
 * some; a thread that is idle gives none. Two stay in any case: see take_chunk.
 */
static bool draw_in_ring(struct tp_thread *thread)
{
	const struct teeperf_log_header *header = tp_process.header;
	if (thread->drawn)
		return true;
	const uint64_t count = tp_kept_count(thread->kept);
	const int64_t left =
	    (int64_t)(tp_load_relaxed(&header->head) - tp_load_relaxed(&header->tail));
	const int64_t spare = TEEPERF_RING_SPARE(tp_process.chunk_mask + 1);
	const bool may_grow = count < tp_process.ring && left > spare + (int64_t)count;
	if ((count < 2 || may_grow || thread->ticket) && draw(thread))
		return true;
	if (count < 2)
		return false;
	if (count > 2 && (count > tp_process.ring || left <= spare / 2))
		drop_oldest(thread);
	thread->drawn = tp_kept_oldest(thread->kept);
	tp_barrier_signal();
	thread->kept = tp_kept_without_oldest(thread->kept);
	return true;
}

static void write_header(
    const struct tp_thread *thread, uint64_t number, uint64_t time, uint64_t sequence)
{
	struct teeperf_chunk *chunk = (struct teeperf_chunk *)(uintptr_t)chunk_address(number);
	if (tp_process.ring)
		tp_ring_clear(number & tp_process.chunk_mask, chunk);
	// Linux maps the 64 KiB around what is read for the first time, but only a page around what is
	// written: for a new chunk one fault instead of 16, 1.1 instead of 2.3 ns a record.
	(void)tp_load_relaxed(&chunk->used);
	tp_store_relaxed((uint64_t *)(void *)&chunk->thread, thread->index & UINT32_MAX);
	tp_store_relaxed(&chunk->sequence, sequence);
	tp_store_relaxed(&chunk->os_tid, thread->os_tid);
	tp_store_relaxed(&chunk->home, thread->home);
	tp_store_relaxed(&chunk->first_time, time);
	tp_store_relaxed(&chunk->used, 0);
}

// Write the header of chunk `number` and point the cursor behind it.
static void start_chunk(struct teeperf_thread_block *block, struct tp_thread *thread,
    uint64_t number, uint64_t time, uint64_t sequence)
{
	const uint64_t start = chunk_address(number);
	write_header(thread, number, time, sequence);
	thread->bias = (sequence << TP_CHUNK_SHIFT) - start;
	thread->cursor = start + sizeof(struct teeperf_chunk);
	block->clock_high = (uint32_t)(time >> 32);
}

/*
 * Make a chunk with a header the thread's, for its records (NEXT) or beside them. A signal handler may
 * jump out of us (retake) anywhere: from the store to `taking` on, whoever enters the runtime next does
 * the rest (finish_taking), and before it nothing has happened.
 */
static void begin_taking(struct tp_thread *thread, bool next)
{
	thread->taking_next = next;
	thread->taking_sequence = thread->sequence;
	thread->full = thread->chunk;
	thread->taking_kept = next && tp_process.ring
				  ? tp_kept_with(thread->kept, thread->chunk, thread->drawn)
				  : thread->kept;
	tp_barrier_signal();
	thread->taking = thread->drawn;
	tp_barrier_signal();
}

static void finish_taking(struct tp_thread *thread)
{
	const uint64_t taking = thread->taking;
	// The oldest chunk has been chosen to go on in (draw_in_ring), and is still among those that are kept.
	if (thread->drawn && thread->drawn == tp_kept_oldest(thread->kept))
		thread->kept = tp_kept_without_oldest(thread->kept);
	if (!taking)
		return;
	thread->drawn = 0;
	if (thread->taking_next) {
		thread->chunk = taking;
		thread->previous = tp_process.ring ? 0 : thread->full;
	}
	thread->kept = thread->taking_kept;
	thread->sequence = thread->taking_sequence + 1;
	tp_store_release(
	    &tp_process.states[(taking - 1) & tp_process.chunk_mask], TEEPERF_CHUNK_OWNED);
	struct teeperf_thread *slot = table_slot(thread);
	if (slot)
		tp_store_relaxed(&slot->chunks, thread->sequence);
	tp_barrier_signal();
	thread->taking = 0;
}

/*
 * Go on in a new chunk. The chunk that is left is not given back yet but one switch later: a signal
 * handler may switch chunks between the two instructions with which the interrupted code stores its
 * cursor and its record, and that code then still writes into the old chunk. A chunk is forgotten before
 * it is given back: if a handler jumps out between, the host finds it when the program has ended.
 * In mode ring nothing is given back, and the thread never goes on in the chunk that it leaves.
 */
static bool take_chunk(struct teeperf_thread_block *block, struct tp_thread *thread, uint64_t time)
{
	const uint64_t previous = thread->previous;
	thread->previous = 0;
	tp_barrier_signal();
	tp_chunk_give_back(previous, TP_CHUNK_SIZE);
	tp_switch_look();
	if (!(tp_process.ring ? draw_in_ring(thread) : draw(thread))) {
		const uint64_t chunk = thread->chunk;
		thread->cursor = 0;
		thread->bias = TP_BIAS_NO_CHUNK(thread->sequence);
		thread->kept = 0;
		tp_barrier_signal();
		thread->chunk = 0;
		// An interrupted sequence may still bring back its cursor: nothing goes there.
		block->clock_high = TEEPERF_HIGH_NEVER;
		tp_barrier_signal();
		tp_chunk_give_back(chunk, TP_CHUNK_SIZE);
		return false;
	}
	start_chunk(block, thread, thread->drawn - 1, time, thread->sequence);
	begin_taking(thread, true);
	finish_taking(thread);
	return true;
}

uint64_t tp_thread_take_extra(struct tp_thread *thread)
{
	if (!draw(thread))
		return 0;
	const uint64_t number = thread->drawn;
	write_header(thread, number - 1, tp_now(), thread->sequence);
	begin_taking(thread, false);
	finish_taking(thread);
	return number;
}

static void put(struct tp_thread *thread, uint64_t record)
{
	uint64_t *at = (uint64_t *)(uintptr_t)thread->cursor;
	thread->cursor += 8;
	tp_store_relaxed(at, record);
}

/*
 * Make sure that `room` bytes are free at the cursor and that the chunk's upper half is that of `time`. Where
 * chunks are not aligned to their size (teeperf_enter) the sequence comes here in the middle of each, too.
 */
static bool make_room_for(
    struct teeperf_thread_block *block, struct tp_thread *thread, uint64_t time, uint64_t room)
{
	const uint64_t end = end_of_chunk(thread);
	while (thread->cursor != end && end - thread->cursor < room)
		put(thread, control_record(0, TEEPERF_CONTROL_PAD));
	if (thread->cursor == end) {
		if (!take_chunk(block, thread, time))
			return false;
		if (thread->forked)
			put(thread, control_record(tp_process.parent, TEEPERF_CONTROL_FORK));
		thread->forked = 0;
	}
	if (block->clock_high != (uint32_t)(time >> 32)) {
		put(thread, control_record(time >> 32, TEEPERF_CONTROL_SYNC));
		block->clock_high = (uint32_t)(time >> 32);
	}
	const uint64_t untold = thread->lost - thread->lost_told;
	if (untold) {
		put(thread, control_record(
				untold > UINT32_MAX ? UINT32_MAX : untold, TEEPERF_CONTROL_LOST));
		thread->lost_told = thread->lost;
	}
	return true;
}

static bool make_room(struct teeperf_thread_block *block, struct tp_thread *thread, uint64_t time)
{
	return make_room_for(block, thread, time, ROOM_BYTES);
}

struct start {
	uint64_t os_tid;
	uint64_t name[2];
};

static void port_start(void *argument)
{
	struct start *start = argument;
	tp_port_thread_start(&start->os_tid, start->name);
}

static void thread_start(struct teeperf_thread_block *block, struct tp_thread *thread)
{
	struct start start = {0};
	if (!thread->ended)
		thread->index = tp_fetch_add_relaxed(&tp_process.next_thread, 1);
	if (!thread->home)
		thread->home = tp_fetch_add_relaxed(&tp_process.next_home, 1) + 1;
	tp_call_preserving(port_start, &start);
	thread->os_tid = start.os_tid;
	struct teeperf_thread *slot = table_slot(thread);
	if (slot) {
		uint64_t *name = (uint64_t *)(void *)slot->name;
		tp_store_relaxed(&name[0], start.name[0]);
		tp_store_relaxed(&name[1], start.name[1]);
		// Where there is one thread the slot has its id already (attach.c).
		if (TP_ONE_THREAD)
			thread->os_tid = tp_load_relaxed(&slot->os_tid);
		tp_store_release(&slot->os_tid, thread->os_tid);
	}
	block->counter = tp_process.counter;
	thread->ready = 1;
	// Other threads may be storing their own, smaller number at the same time: the host takes the
	// table's filled slots as the truth, and this word as a hint that is right in the end.
	tp_store_relaxed(
	    &tp_process.header->thread_count, tp_load_relaxed(&tp_process.next_thread));
}

/*
 * A signal handler came between the two instructions with which the interrupted sequence loads and
 * stores its cursor, and recorded: the cursor was taken back, into what the handler wrote or into the
 * chunk before. Go on behind what is there: chunks are zero where nothing is written. (The host may
 * have written there, too: then that is what the host gets.)
 */
static void find_way(struct tp_thread *thread)
{
	const uint64_t cursor = thread->cursor;
	if (!thread->chunk) {
		thread->cursor = 0;
		return;
	}
	if (inside(cursor, thread->chunk) &&
	    (cursor == end_of_chunk(thread) || !tp_load_relaxed((uint64_t *)(uintptr_t)cursor)))
		return;
	const uint64_t start = chunk_address(thread->chunk - 1) + sizeof(struct teeperf_chunk);
	uint64_t at = start - sizeof(struct teeperf_chunk) + TP_CHUNK_SIZE;
	while (at > start && !tp_load_relaxed((uint64_t *)(uintptr_t)(at - 8)))
		at -= 8;
	thread->cursor = at;
}

// 0: there was none, or a handler jumped out of the runtime (retake) and we still have it.
static void adopt_cursor(struct tp_thread *thread, uint64_t cursor)
{
	if (cursor)
		thread->cursor = cursor;
	tp_barrier_signal();
}

/*
 * Enter the runtime: false (and the loss counted) when this thread must not record now. The cursor is
 * ours while we are inside: a signal handler finds 0, comes here too, and `busy` drops its events.
 */
bool tp_thread_enter(struct teeperf_thread_block *block, struct tp_thread *thread, uint64_t events)
{
	if (thread->busy) {
		thread->lost += events;
		if (thread->ready)
			publish_lost(thread); // the interrupted call may never come to it (retake)
		return false;
	}
	// Where recording is switched off, a record may still be on its way, and a thread may end.
	const uint32_t state = tp_load32_acquire(&tp_process.state);
	if ((state != TP_STATE_RECORDING && state != TP_STATE_PAUSED) || !tp_thread_may_record()) {
		if (state != TP_STATE_OFF)
			tp_fetch_add_relaxed(&tp_process.lost_early, events);
		return false;
	}
	// Without a cursor a handler that comes now comes to `busy` with its first event: all of its events
	// are recorded, or none. It may have moved the cursor since we looked: find_way.
	adopt_cursor(thread, tp_load_relaxed(&block->cursor));
	tp_store_relaxed(&block->cursor, 0);
	tp_barrier_signal();
	thread->busy = 1;
	tp_barrier_signal();
	tp_store_relaxed(&block->bias, TP_BIAS_BUSY);
	tp_barrier_signal();
	// One that came just before `busy` has left its cursor there.
	adopt_cursor(thread, tp_take_acq_rel(&block->cursor));
	finish_taking(thread);
	find_way(thread);
	if (!thread->ready)
		thread_start(block, thread);
	return true;
}

void tp_thread_leave(struct teeperf_thread_block *block, struct tp_thread *thread)
{
	publish_lost(thread);
	tp_barrier_signal();
	thread->busy = 0;
	tp_barrier_signal();
	// A handler that comes from here on records; if it takes a new chunk, the cursor may be taken back
	// (find_way), but bias and end have to be those of its chunk.
	do {
		tp_store_relaxed(&block->bias, thread->bias);
		tp_store_relaxed(&block->end, end_of_chunk(thread));
		tp_barrier_signal();
		tp_store_relaxed(&block->cursor, thread->cursor);
		tp_barrier_signal();
	} while (tp_load_relaxed(&block->bias) != thread->bias ||
		 tp_load_relaxed(&block->end) != end_of_chunk(thread));
}

/*
 * The runtime was left for good: a signal handler interrupted it and jumped out, or ended the thread.
 * Only that can bring us into activations that are older than the interruption, or to the thread's
 * end; those of the handler itself have no record, so no position.
 */
static void retake(struct tp_thread *thread)
{
	thread->busy = 0;
	tp_barrier_signal();
}

uint64_t tp_slow(uint64_t name)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	struct tp_thread *thread = &tp_thread;
	// Before there is a log all is lost: what begins then begins before all records.
	if (!tp_thread_enter(block, thread, 1))
		return thread->busy ? 0 : TEEPERF_POSITION_OFF;
	const uint64_t time = tp_now();
	uint64_t position;
	if (make_room(block, thread, time)) {
		position = thread->cursor + thread->bias;
		const bool untimed = (name & TEEPERF_KIND_MASK) == TEEPERF_KIND_UNTIMED;
		put(thread, (untimed ? 0 : time & UINT32_MAX) | name << 32);
	} else {
		position = thread->cursor + thread->bias - TEEPERF_POSITION_BETWEEN;
		thread->lost++;
	}
	tp_thread_leave(block, thread);
	return position;
}

uint64_t tp_resync(uint64_t position, uint64_t name, uint64_t departure)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	struct tp_thread *thread = &tp_thread;
	// Without a position it is an activation of a signal handler that came while this thread was in here.
	if (!position || position >= TP_POSITION_LIMIT ||
	    tp_load32_acquire(&tp_process.state) != TP_STATE_RECORDING)
		return 0;
	retake(thread);
	if (!tp_thread_enter(block, thread, 1))
		return 0;
	const uint64_t time = tp_now();
	const bool departs = departure != TP_NO_DEPARTURE;
	uint64_t place = 0;
	if (make_room_for(block, thread, time, ROOM_BYTES + (departs ? DEPARTURE_BYTES : 0))) {
		if (departs) {
			put(thread, control_record(departure >> 32, TEEPERF_CONTROL_LEFT));
			put(thread, control_record(departure, TEEPERF_CONTROL_LEFT));
		}
		place = thread->cursor + thread->bias;
		// Both words at once: what follows the first is never taken for a record.
		uint64_t *at = (uint64_t *)(uintptr_t)thread->cursor;
		thread->cursor += 16;
		tp_store_relaxed(&at[0], (time & UINT32_MAX) | (name | TEEPERF_KIND_RESYNC) << 32);
		tp_store_relaxed(&at[1], position);
	} else {
		thread->lost++;
	}
	tp_thread_leave(block, thread);
	return place;
}

void __teeperf_resync(uint64_t position, uint64_t name)
{
	tp_resync(position, name, TP_NO_DEPARTURE);
}

void tp_thread_border(uint32_t control, uint64_t number)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	struct tp_thread *thread = &tp_thread;
	if (!tp_thread_enter(block, thread, 1))
		return;
	const uint64_t time = tp_now();
	if (make_room(block, thread, time)) {
		if (control != TEEPERF_CONTROL_CROSSING)
			put(thread, control_record(time & UINT32_MAX, control));
		if (number)
			put(thread, control_record(number, TEEPERF_CONTROL_CROSSING));
	} else {
		thread->lost++;
	}
	tp_thread_leave(block, thread);
}

/*
 * Hand over all that this thread has of the log, so that nothing of it points there. Between tp_thread_enter
 * and tp_thread_leave. What comes after begins a new chunk.
 */
static void hand_over(struct teeperf_thread_block *block, struct tp_thread *thread)
{
	tp_chunk_give_back(thread->previous, TP_CHUNK_SIZE);
	while (tp_kept_count(thread->kept) > 1)
		give_back_oldest(thread);
	thread->kept = 0;
	if (thread->chunk)
		tp_chunk_give_back(
		    thread->chunk, thread->cursor - chunk_address(thread->chunk - 1));
	// Call circle with counts.c: it takes its chunks from here, and they go back with the others.
	tp_counts_end(thread);
	thread->previous = 0;
	thread->chunk = 0;
	thread->cursor = 0;
	thread->bias = TP_BIAS_NO_CHUNK(thread->sequence);
	block->clock_high = TEEPERF_HIGH_NEVER;
	give_up_ticket(thread);
}

bool tp_thread_may_record(void)
{
	return !tp_process.by_call || tp_thread.entered;
}

void tp_thread_arrive(void)
{
	struct tp_thread *thread = &tp_thread;
	if (thread->log != tp_process.log) {
		// Another log than the last one: in this one we have no number yet.
		thread->ready = 0;
		thread->ended = 0;
		thread->sequence = thread->ticket = thread->drawn = thread->kept = 0;
		thread->lost = thread->lost_told = thread->lost_published = 0;
		thread->bias = TP_BIAS_NO_CHUNK(UINT64_C(0));
		tp_store_relaxed(&__teeperf_thread.bias, thread->bias);
		thread->log = tp_process.log;
	}
	if (thread->ready)
		__teeperf_thread.counter = tp_process.counter;
	tp_barrier_signal();
	thread->entered = 1;
}

void tp_thread_depart(void)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	struct tp_thread *thread = &tp_thread;
	retake(thread);
	if (thread->ready && tp_thread_enter(block, thread, 0)) {
		// A chunk that was drawn and not begun goes back empty.
		const uint64_t drawn = thread->drawn ? tp_thread_take_extra(thread) : 0;
		tp_chunk_give_back(drawn, sizeof(struct teeperf_chunk));
		hand_over(block, thread);
		tp_thread_leave(block, thread);
	}
	thread->entered = 0;
	tp_barrier_signal();
	block->counter = &tp_counter_never;
	block->clock_high = TEEPERF_HIGH_NEVER;
	tp_store_relaxed(&block->cursor, 0);
	tp_store_relaxed(&block->end, 0);
}

// A thread may have renamed itself since it began.
static void tell_name_and_cpu(struct teeperf_thread *slot)
{
	uint64_t name[2] = {0, 0};
	tp_port_thread_name(name);
	uint64_t *to = (uint64_t *)(void *)slot->name;
	tp_store_relaxed(&to[0], name[0]);
	tp_store_relaxed(&to[1], name[1]);
	tp_store_relaxed(&slot->cpu_ns, tp_port_thread_cpu());
}

void tp_thread_tell_cpu(void)
{
	struct tp_thread *thread = &tp_thread;
	struct teeperf_thread *slot =
	    thread->ready ? table_slot(thread) : (struct teeperf_thread *)0;
	if (slot)
		tell_name_and_cpu(slot);
}

void tp_thread_end(void)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	struct tp_thread *thread = &tp_thread;
	if (!thread->ready)
		return;
	retake(thread);
	if (!tp_thread_enter(block, thread, 0))
		return;
	struct teeperf_thread *slot = table_slot(thread);
	if (slot) {
		tell_name_and_cpu(slot);
		tp_store_release(&slot->ended, 1);
	}
	if (thread->chunk && make_room(block, thread, tp_now()))
		put(thread, control_record(0, TEEPERF_CONTROL_THREAD_END));
	// Destructors that run after us may still log: they start a new chunk of this thread, and
	// thread_start arranges for one more end.
	hand_over(block, thread);
	thread->ready = 0;
	thread->ended = 1;
	tp_thread_leave(block, thread);
}
