// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cold path of the sequence: a thread's first event, the end of a chunk, a new upper half of
// the clock, losses. Called at any instruction boundary of instrumented code, so it is built
// without vector registers and calls nothing outside the runtime but through tp_call_preserving.
// One file above 600 lines: each step of it may be interrupted by itself, and the order of all of
// them is what makes that safe.
#include "runtime.h"

#include "port.h"

uint64_t tp_lost_nowhere;

#if !TP_THREADS_APART
TP_PER_THREAD struct teeperf_thread_block __teeperf_thread = TP_BLOCK_AT_FIRST;
TP_PER_THREAD struct tp_thread_state tp_thread = TP_STATE_AT_FIRST;
#endif

// SYNC, LOST and a record of two words fit between any two chunk switches; with a departure two
// more.
enum { ROOM_BYTES = 4 * 8, DEPARTURE_BYTES = 2 * 8 };

static uint64_t control_record(uint64_t value, enum teeperf_control control)
{
	return (value & UINT32_MAX) | (uint64_t)control << 32;
}

uint64_t tp_chunk_address(uint64_t chunk_plus_1)
{
	return tp_process.chunks + (((chunk_plus_1 - 1) & tp_process.chunk_mask) << TP_CHUNK_SHIFT);
}

uint64_t *tp_chunk_state(uint64_t chunk_plus_1)
{
	return &tp_process.states[(chunk_plus_1 - 1) & tp_process.chunk_mask];
}

static bool inside(uint64_t cursor, uint64_t chunk_plus_1)
{
	// A cursor at a chunk's end still belongs to that chunk, whose header it can never point
	// to.
	return chunk_plus_1 && cursor - 8 - tp_chunk_address(chunk_plus_1) < TP_CHUNK_SIZE;
}

// Behind its header. The end of one chunk may be the beginning of the next, so a cursor there is of
// neither.
static uint64_t start_of_records(void)
{
	return tp_thread.chunk ? tp_chunk_address(tp_thread.chunk) + sizeof(struct teeperf_chunk)
			       : 0;
}

static uint64_t end_of_chunk(void)
{
	return tp_thread.chunk ? tp_chunk_address(tp_thread.chunk) + TP_CHUNK_SIZE : 0;
}

static struct teeperf_thread *table_slot(void)
{
	return tp_thread.index <= tp_process.thread_mask
		   ? &tp_process.threads[tp_thread.index & tp_process.thread_mask]
		   : NULL;
}

void tp_thread_store_name(struct teeperf_thread *slot, const uint64_t name[2])
{
	uint64_t *to = (uint64_t *)(void *)slot->name;
	tp_store_relaxed(&to[0], name[0]);
	tp_store_relaxed(&to[1], name[1]);
}

// The log gets SUM, which other threads add to meanwhile, and store as well: the last value that is
// stored is the newest.
static void publish(uint64_t *to, const uint64_t *sum)
{
	uint64_t now;
	do {
		now = tp_load_seq_cst(sum);
		tp_store_seq_cst(to, now);
	} while (now != tp_load_seq_cst(sum));
}

/*
 * Bring the log's count of this thread's losses up to date. A handler that loses more meanwhile has
 * reported it already: then our value is too small, and is stored again.
 */
static void publish_lost(void)
{
	struct teeperf_thread *slot = table_slot();
	uint64_t lost;
	do {
		lost = tp_thread_lost();
		if (slot) {
			tp_store_relaxed(&slot->lost, lost);
			continue;
		}
		const uint64_t more = lost - tp_swap_relaxed(&tp_thread.lost_added, lost);
		if (!more)
			continue;
		if (TP_ONE_THREAD) {
			tp_fetch_add_relaxed(&tp_process.header->lost_overflow, more);
			continue;
		}
		tp_fetch_add_seq_cst(&tp_process.lost_overflow, more);
		publish(&tp_process.header->lost_overflow, &tp_process.lost_overflow);
	} while (lost != tp_thread_lost());
}

void tp_chunk_give_back(uint64_t chunk_plus_1, uint64_t used)
{
	if (!chunk_plus_1)
		return;
	const uint64_t number = (chunk_plus_1 - 1) & tp_process.chunk_mask;
	tp_store_relaxed(&tp_chunk_at(chunk_plus_1)->used, used);
	tp_store_release(tp_chunk_state(chunk_plus_1), TEEPERF_CHUNK_DONE);
	if (tp_process.ring)
		tp_ring_supply(number);
	if (tp_process.chunk_done)
		tp_process.chunk_done(number);
}

// Mode ring: a thread that ends with a ticket leaves it to others: its chunk would be missing for
// ever.
static void give_up_ticket(void)
{
	for (unsigned i = 0; tp_thread.ticket && i < TP_TICKETS; i++)
		if (tp_claim_acq_rel(&tp_process.tickets[i], tp_thread.ticket))
			tp_thread.ticket = 0;
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

static bool drew(uint64_t slot)
{
	tp_barrier_signal();
	tp_thread.drawn = (slot & tp_process.chunk_mask) + 1;
	return true;
}

// Each failure is another thread's success, so with all of a machine's processors drawing at once
// the last one fails as often as there are others. More than this is the host playing with the
// words: a loss then, as nobody waits.
enum { DRAW_TRIES = 1024 };

/*
 * Draw the next chunk. Its number is read first: with a ticket in hand and no number yet, a thread
 * that does not get to run would find its slot in use again, with another chunk's number. What a
 * slot holds stays as long as nobody has drawn its ticket.
 */
static bool draw_next(void)
{
	struct teeperf_log_header *header = tp_process.header;
	for (int i = 0; i < DRAW_TRIES; i++) {
		const uint64_t ticket = tp_load_acquire(&header->tail);
		const uint64_t slot =
		    tp_load_acquire(&tp_process.supply[ticket & tp_process.chunk_mask]);
		if (is_served(slot, ticket)) {
			if (tp_change_acq_rel(&header->tail, ticket, ticket + 1))
				return drew(slot);
		} else if (tp_load_relaxed(&header->tail) == ticket) {
			return false;
		}
	}
	return false;
}

/*
 * Mode ring, where threads supply, too: one that stands still before it has filled its slot must
 * not keep the others from those behind it. They draw such a ticket as it is, and keep it until it
 * is served.
 */
static bool draw_ticket(void)
{
	struct teeperf_log_header *header = tp_process.header;
	for (int i = 0; i < DRAW_TRIES; i++) {
		if (!tp_thread.ticket)
			tp_thread.ticket = inherit_ticket();
		if (!tp_thread.ticket) {
			if (draw_next())
				return true;
			if ((int64_t)(tp_load_relaxed(&header->head) -
				      tp_load_relaxed(&header->tail)) <= 0)
				return false;
			tp_thread.ticket = tp_fetch_add_relaxed(&header->tail, 1) + 1;
		}
		const uint64_t ticket = tp_thread.ticket - 1;
		const uint64_t slot =
		    tp_load_acquire(&tp_process.supply[ticket & tp_process.chunk_mask]);
		if (is_served(slot, ticket)) {
			tp_thread.ticket = 0;
			return drew(slot);
		}
		const uint64_t ahead = slot - TEEPERF_SUPPLY_SLOT(ticket, 0);
		if (ahead >> 63)
			return false;
		// Nobody came for it until its slot was needed again: it will never be served.
		tp_thread.ticket = 0;
	}
	return false;
}

static bool draw(void)
{
	return tp_thread.drawn || (tp_process.ring ? draw_ticket() : draw_next());
}

// Mode ring: as with take_chunk, forgotten before it is given back.
static void give_back_oldest(void)
{
	const uint64_t oldest = tp_kept_oldest(tp_thread.kept);
	tp_thread.kept = tp_kept_without_oldest(tp_thread.kept);
	tp_barrier_signal();
	tp_chunk_give_back(oldest, TP_CHUNK_SIZE);
}

// The same, and its records are no part of the ring any more: those of newer chunks will be
// overwritten first.
static void drop_oldest(void)
{
	const uint64_t oldest = tp_kept_oldest(tp_thread.kept);
	tp_thread.kept = tp_kept_without_oldest(tp_thread.kept);
	tp_barrier_signal();
	tp_store_release(tp_chunk_state(oldest), TEEPERF_CHUNK_FREE);
	tp_ring_supply((oldest - 1) & tp_process.chunk_mask);
}

/*
 * Mode ring: what to go on in. A new chunk if this thread does not keep all it may, and no more
 * than is left for others; or its own oldest. When chunks are scarce, each switch gives one back,
 * so that threads that begin find some; a thread that is idle gives none. Two stay in any case: see
 * take_chunk.
 */
static bool draw_in_ring(void)
{
	const struct teeperf_log_header *header = tp_process.header;
	if (tp_thread.drawn)
		return true;
	const uint64_t count = tp_kept_count(tp_thread.kept);
	const int64_t left =
	    (int64_t)(tp_load_relaxed(&header->head) - tp_load_relaxed(&header->tail));
	const int64_t spare = TEEPERF_RING_SPARE(tp_process.chunk_mask + 1);
	const bool may_grow = count < tp_process.ring && left > spare + (int64_t)count;
	if ((count < 2 || may_grow || tp_thread.ticket) && draw())
		return true;
	if (count < 2)
		return false;
	if (count > 2 && (count > tp_process.ring || left <= spare / 2))
		drop_oldest();
	tp_thread.drawn = tp_kept_oldest(tp_thread.kept);
	tp_barrier_signal();
	tp_thread.kept = tp_kept_without_oldest(tp_thread.kept);
	return true;
}

// The header of the chunk that was drawn.
static void write_header(uint64_t time)
{
	struct teeperf_chunk *chunk = tp_chunk_at(tp_thread.drawn);
	if (tp_process.ring)
		tp_ring_clear((tp_thread.drawn - 1) & tp_process.chunk_mask, chunk);
	// Linux maps the 64 KiB around the first read, but only a page around a write: for a new
	// chunk one fault instead of 16, 1.1 instead of 2.3 ns a record.
	(void)tp_load_relaxed(&chunk->used);
	tp_store_relaxed((uint64_t *)(void *)&chunk->thread, tp_thread.index & UINT32_MAX);
	tp_store_relaxed(&chunk->sequence, tp_thread.sequence);
	tp_store_relaxed(&chunk->os_tid, tp_thread.os_tid);
	tp_store_relaxed(&chunk->home, tp_thread.home);
	tp_store_relaxed(&chunk->first_time, time);
	tp_store_relaxed(&chunk->used, 0);
}

static void finish_taking(void)
{
	const uint64_t taking = tp_thread.taking;
	// The oldest chunk has been chosen to go on in (draw_in_ring), and is still among those
	// that are kept.
	if (tp_thread.drawn && tp_thread.drawn == tp_kept_oldest(tp_thread.kept))
		tp_thread.kept = tp_kept_without_oldest(tp_thread.kept);
	if (!taking)
		return;
	tp_thread.drawn = 0;
	if (tp_thread.taking_next) {
		tp_thread.chunk = taking;
		tp_thread.previous = tp_process.ring ? 0 : tp_thread.full;
	}
	tp_thread.kept = tp_thread.taking_kept;
	tp_thread.sequence = tp_thread.taking_sequence + 1;
	tp_store_release(tp_chunk_state(taking), TEEPERF_CHUNK_OWNED);
	struct teeperf_thread *slot = table_slot();
	if (slot)
		tp_store_relaxed(&slot->chunks, tp_thread.sequence);
	tp_barrier_signal();
	tp_thread.taking = 0;
}

/*
 * Make the drawn chunk, which has a header, the thread's, for its records (NEXT) or beside them. A
 * signal handler may jump out of us (retake) anywhere: from the store to `taking` on, whoever
 * enters the runtime next does the rest (finish_taking), and before it nothing has happened.
 */
static void take_drawn(bool next)
{
	tp_thread.taking_next = next;
	tp_thread.taking_sequence = tp_thread.sequence;
	tp_thread.full = tp_thread.chunk;
	tp_thread.taking_kept = next && tp_process.ring
				    ? tp_kept_with(tp_thread.kept, tp_thread.chunk, tp_thread.drawn)
				    : tp_thread.kept;
	tp_barrier_signal();
	tp_thread.taking = tp_thread.drawn;
	tp_barrier_signal();
	finish_taking();
}

// How many events are lost without a look for a chunk, behind one that was in vain.
enum { SKIPS_FIRST = 8, SKIPS_MOST = 256 };
// How many are lost in a row, also for each function's gate, before gates are set: that takes some
// 2 ns a gate.
enum { DRY_FIRST = 4096, DRY_SHARE = 16 };

// By addition, as handlers and what they interrupted count in the same word.
static void set_skips(int32_t skips)
{
	tp_fetch_add_relaxed(
	    &__teeperf_thread.lost, (uint64_t)(int64_t)(skips - tp_thread_skips()));
}

static void look_always(void)
{
	tp_thread.skips = 0;
	tp_barrier_signal();
	set_skips(0);
}

/*
 * There was no chunk: arch/ loses the next events without coming here, twice as many each time. Not
 * those of a thread that is not in the table, whose losses are added up.
 */
static void be_patient(int32_t skips)
{
	const uint64_t in_a_row = tp_thread_lost() - tp_thread.lost_told;
	if (tp_process.full && tp_clock_is_hardware(tp_process.clock) && in_a_row >= DRY_FIRST &&
	    in_a_row / DRY_SHARE >= tp_gates_count())
		// Call circle with switch.c: a switch asks whether the thread may record, and a
		// thread that records looks at the switches.
		tp_switch_dry(true);
	if (__teeperf_thread.lost_place == &tp_lost_nowhere)
		return;
	__teeperf_thread.log = (uint64_t)(uintptr_t)tp_process.header;
	tp_thread.skips = !skips ? SKIPS_FIRST : skips < SKIPS_MOST ? 2 * skips : SKIPS_MOST;
}

// Nothing goes where it was: an interrupted sequence may still bring back its cursor.
static void forget_chunk(void)
{
	look_always();
	tp_thread.cursor = 0;
	tp_thread.bias = TP_BIAS_NO_CHUNK(tp_thread.sequence);
	tp_thread.kept = 0;
	tp_barrier_signal();
	tp_thread.chunk = 0;
	__teeperf_thread.clock_high = TEEPERF_HIGH_NEVER;
	tp_barrier_signal();
}

/*
 * Go on in a new chunk. The chunk that is left is not given back yet but one switch later: a signal
 * handler may switch chunks between the two instructions with which the interrupted code stores its
 * cursor and its record, and that code then still writes into the old chunk. A chunk is forgotten
 * before it is given back: if a handler jumps out between, the host finds it when the program has
 * ended. In mode ring nothing is given back, and the thread never goes on in the chunk that it
 * leaves.
 */
static bool take_chunk(uint64_t time)
{
	const uint64_t previous = tp_thread.previous;
	tp_thread.previous = 0;
	tp_barrier_signal();
	tp_chunk_give_back(previous, TP_CHUNK_SIZE);
	tp_switch_look();
	if (!(tp_process.ring ? draw_in_ring() : draw())) {
		const uint64_t chunk = tp_thread.chunk;
		const int32_t skips = tp_thread.skips;
		forget_chunk();
		tp_chunk_give_back(chunk, TP_CHUNK_SIZE);
		be_patient(skips);
		return false;
	}
	tp_switch_dry(false);
	write_header(time);
	const uint64_t start = tp_chunk_address(tp_thread.drawn);
	tp_thread.bias = (tp_thread.sequence << TP_CHUNK_SHIFT) - start;
	tp_thread.cursor = start + sizeof(struct teeperf_chunk);
	__teeperf_thread.clock_high = (uint32_t)(time >> 32);
	look_always();
	take_drawn(true);
	return true;
}

uint64_t tp_thread_take_extra(void)
{
	if (!draw())
		return 0;
	const uint64_t number = tp_thread.drawn;
	write_header(tp_now());
	take_drawn(false);
	return number;
}

static void put(uint64_t record)
{
	uint64_t *at = (uint64_t *)(uintptr_t)tp_thread.cursor;
	tp_thread.cursor += 8;
	tp_store_relaxed(at, record);
}

/*
 * Make sure that `room` bytes are free at the cursor and that the chunk's upper half is that of
 * `time`.
 */
static bool make_room_for(uint64_t time, uint64_t room)
{
	const uint64_t end = end_of_chunk();
	while (tp_thread.cursor != end && end - tp_thread.cursor < room)
		put(control_record(0, TEEPERF_CONTROL_PAD));
	if (tp_thread.cursor == end) {
		if (!take_chunk(time))
			return false;
		if (tp_thread.forked)
			put(control_record(tp_process.parent, TEEPERF_CONTROL_FORK));
		tp_thread.forked = 0;
	}
	if (__teeperf_thread.clock_high != (uint32_t)(time >> 32)) {
		put(control_record(time >> 32, TEEPERF_CONTROL_SYNC));
		__teeperf_thread.clock_high = (uint32_t)(time >> 32);
		// A thread that makes few records has this chunk for long.
		tp_switch_look();
	}
	const uint64_t lost = tp_thread_lost();
	const int64_t untold = (int64_t)(lost - tp_thread.lost_told);
	if (untold > 0) {
		put(control_record(
		    untold > UINT32_MAX ? UINT32_MAX : (uint64_t)untold, TEEPERF_CONTROL_LOST));
		tp_thread.lost_told = lost;
	}
	return true;
}

static bool make_room(uint64_t time)
{
	return make_room_for(time, ROOM_BYTES);
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

static void thread_start(void)
{
	struct start start = {0};
	if (!tp_thread.ended)
		tp_thread.index = tp_fetch_add_relaxed(&tp_process.next_thread, 1);
	if (!tp_thread.home)
		tp_thread.home = tp_fetch_add_relaxed(&tp_process.next_home, 1) + 1;
	tp_call_preserving(port_start, &start);
	tp_thread.os_tid = start.os_tid;
	struct teeperf_thread *slot = table_slot();
	if (slot) {
		tp_thread_store_name(slot, start.name);
		// Where there is one thread the slot has its id already (attach.c).
		if (TP_ONE_THREAD)
			tp_thread.os_tid = tp_load_relaxed(&slot->os_tid);
		// It had another log before.
		if (tp_thread.sequence && !tp_thread.ended) {
			tp_store_relaxed(&slot->first, tp_thread.sequence);
			tp_store_relaxed(&slot->chunks, tp_thread.sequence);
		}
		tp_store_release(&slot->os_tid, tp_thread.os_tid);
	}
	__teeperf_thread.lost_place = slot ? &slot->lost : &tp_lost_nowhere;
	__teeperf_thread.counter = tp_process.counter;
	tp_thread.own_log = tp_process.late ? (uint64_t)(uintptr_t)tp_process.header : 0;
	tp_thread.own_chunks = tp_process.chunks;
	tp_thread.ready = 1;
	// For the host the table's filled slots are the truth, and this word is a hint.
	publish(&tp_process.header->thread_count, &tp_process.next_thread);
}

/*
 * A signal handler came between the two instructions with which the interrupted sequence loads and
 * stores its cursor, and recorded: the cursor was taken back, into the handler's records or into
 * the chunk before. Go on behind these records: chunks are zero where nothing is written. (The host
 * may have written there, too: then it gets wrong records.)
 */
static void find_way(void)
{
	const uint64_t cursor = tp_thread.cursor;
	if (!tp_thread.chunk) {
		tp_thread.cursor = 0;
		return;
	}
	if (inside(cursor, tp_thread.chunk) &&
	    (cursor == end_of_chunk() || !tp_load_relaxed((uint64_t *)(uintptr_t)cursor)))
		return;
	const uint64_t start = tp_chunk_address(tp_thread.chunk) + sizeof(struct teeperf_chunk);
	uint64_t at = start - sizeof(struct teeperf_chunk) + TP_CHUNK_SIZE;
	while (at > start && !tp_load_relaxed((uint64_t *)(uintptr_t)(at - 8)))
		at -= 8;
	tp_thread.cursor = at;
}

// 0: there was none, or a handler jumped out of the runtime (retake) and we still have it.
static void adopt_cursor(uint64_t cursor)
{
	if (cursor)
		tp_thread.cursor = cursor;
	tp_barrier_signal();
}

// Where logs come and go, one that somebody uses stays what it is: who takes it away, or brings
// another one, looks at the sum of all threads when the state says that nobody may come in.
static void count_in(void)
{
	if (!tp_process.late)
		return;
	// In this order, and back in the other one: a handler that comes between counts itself.
	if (!tp_thread.inside)
		tp_fetch_add_seq_cst(&tp_process.inside, 1);
	tp_barrier_signal();
	tp_thread.inside++;
}

static void count_out(void)
{
	if (!tp_thread.inside)
		return;
	tp_thread.inside--;
	tp_barrier_signal();
	if (!tp_thread.inside)
		tp_fetch_add_seq_cst(&tp_process.inside, UINT64_MAX);
}

static bool has_other_log(void)
{
	return tp_thread.log != tp_process.log;
}

// Ports whose logs may go have their own (port/posix_late.c).
__attribute__((weak)) void tp_port_drop(uint64_t address, uint64_t size)
{
	(void)address;
	(void)size;
}

static void drop_own_chunk(void *unused)
{
	(void)unused;
	tp_port_drop(
	    tp_thread.own_chunks + ((tp_thread.chunk - 1) << TP_CHUNK_SHIFT), TP_CHUNK_SIZE);
}

/*
 * Give back the chunk that this thread has in a log that is not the process's any more. The words
 * there kept the thread from going on there, so its end is forgotten first. The log of a recorder
 * that was killed stays: it may be recovered.
 */
static void drop_last_log(void)
{
	const struct teeperf_log_header *log =
	    (const struct teeperf_log_header *)(uintptr_t)tp_thread.own_log;
	tp_store_relaxed(&__teeperf_thread.end, 0);
	tp_barrier_signal();
	if (log && tp_thread.chunk && tp_load_acquire(&log->magic) != TEEPERF_LOG_MAGIC)
		tp_call_preserving(drop_own_chunk, NULL);
	tp_thread.own_log = 0;
}

void tp_thread_forget_lost(void)
{
	look_always();
	__teeperf_thread.lost_place = &tp_lost_nowhere;
	tp_store_relaxed(&__teeperf_thread.lost, 0);
	tp_thread.lost_told = tp_thread.lost_added = 0;
}

/*
 * The log that this thread wrote is not the process's any more: nothing of it is in the new one.
 * Its positions go on, as calls that are open have those from before. pre: busy.
 */
static void start_over(void)
{
	tp_thread.cursor = 0;
	drop_last_log();
	tp_thread.chunk = tp_thread.previous = tp_thread.drawn = tp_thread.ticket = 0;
	tp_thread.taking = tp_thread.full = tp_thread.kept = 0;
	tp_thread.bias = TP_BIAS_NO_CHUNK(tp_thread.sequence);
	tp_thread.ready = tp_thread.ended = tp_thread.forked = 0;
	tp_thread_forget_lost();
	__teeperf_thread.clock_high = TEEPERF_HIGH_NEVER;
	tp_counts_forget();
	tp_barrier_signal();
	tp_thread.log = tp_process.log;
}

// Without a place even for the number of its losses.
static void lose_beyond(uint64_t events)
{
	const uint32_t state = tp_load32_acquire(&tp_process.state);
	if (tp_process.by_call || (state != TP_STATE_RECORDING && state != TP_STATE_PAUSED)) {
		tp_fetch_add_relaxed(&tp_process.lost_early, events);
		return;
	}
	tp_fetch_add_seq_cst(&tp_process.lost_overflow, events);
	publish(&tp_process.header->lost_overflow, &tp_process.lost_overflow);
}

/*
 * Enter the runtime: false (and the loss counted) when this thread must not record now. The cursor
 * is ours while we are inside: a signal handler finds 0, comes here too, and `busy` drops its
 * events.
 */
bool tp_thread_enter(uint64_t events)
{
	if (tp_thread_is_beyond()) {
		lose_beyond(events);
		return false;
	}
	if (tp_thread.busy) {
		tp_thread_lose(events);
		if (tp_thread.ready)
			publish_lost(); // the interrupted call may never reach it (retake)
		return false;
	}
	// Where recording is switched off, a record may still be on its way, and a thread may end.
	count_in();
	const uint32_t state = tp_load32_acquire(&tp_process.state);
	if ((state != TP_STATE_RECORDING && state != TP_STATE_PAUSED) || !tp_thread_may_record()) {
		if (state != TP_STATE_OFF)
			tp_fetch_add_relaxed(&tp_process.lost_early, events);
		count_out();
		return false;
	}
	// Without a cursor, a handler that interrupts now sees `busy` at its first event: all of
	// its events are recorded, or none. It may have moved the cursor since we looked: find_way.
	adopt_cursor(tp_load_relaxed(&__teeperf_thread.cursor));
	tp_store_relaxed(&__teeperf_thread.cursor, 0);
	tp_barrier_signal();
	tp_thread.busy = 1;
	tp_barrier_signal();
	tp_store_relaxed(&__teeperf_thread.bias, TP_BIAS_BUSY);
	tp_barrier_signal();
	// One that came just before `busy` has left its cursor there.
	adopt_cursor(tp_take_acq_rel(&__teeperf_thread.cursor));
	if (has_other_log())
		start_over();
	finish_taking();
	find_way();
	if (!tp_thread.ready)
		thread_start();
	return true;
}

void tp_thread_leave(void)
{
	publish_lost();
	tp_barrier_signal();
	tp_thread.busy = 0;
	tp_barrier_signal();
	// A handler that comes from here on records; if it takes a new chunk, the cursor may be
	// taken back (find_way), but bias and end have to be those of its chunk, and with one
	// nothing is skipped.
	do {
		if (tp_thread_skips() != tp_thread.skips)
			set_skips(tp_thread.skips);
		tp_store_relaxed(&__teeperf_thread.bias, tp_thread.bias);
		tp_store_relaxed(&__teeperf_thread.start, start_of_records());
		tp_store_relaxed(&__teeperf_thread.end, end_of_chunk());
		tp_barrier_signal();
		tp_store_relaxed(&__teeperf_thread.cursor, tp_thread.cursor);
		tp_barrier_signal();
	} while (tp_load_relaxed(&__teeperf_thread.bias) != tp_thread.bias ||
		 tp_load_relaxed(&__teeperf_thread.start) != start_of_records() ||
		 tp_load_relaxed(&__teeperf_thread.end) != end_of_chunk() ||
		 tp_thread_skips() > tp_thread.skips);
	count_out();
}

/*
 * The runtime was left for good: a signal handler interrupted it and jumped out, or ended the
 * thread. Only that can bring us into activations that are older than the interruption, or to the
 * thread's end; those of the handler itself have no record, so no position.
 */
static void retake(void)
{
	tp_gates_retake();
	tp_counts_retake();
	tp_switch_retake();
	tp_thread.busy = 0;
	tp_barrier_signal();
	while (tp_thread.inside)
		count_out();
}

uint64_t tp_slow(uint64_t name)
{
	// Before there is a log all is lost: what begins then begins before all records.
	if (!tp_thread_enter(1))
		return tp_thread.busy ? 0 : TEEPERF_POSITION_OFF;
	const uint64_t time = tp_now();
	uint64_t position;
	if (make_room(time)) {
		position = tp_thread.cursor + tp_thread.bias;
		const bool untimed = (name & TEEPERF_KIND_MASK) == TEEPERF_KIND_UNTIMED;
		put((untimed ? 0 : time & UINT32_MAX) | name << 32);
	} else {
		position = tp_thread.cursor + tp_thread.bias - TEEPERF_POSITION_BETWEEN;
		tp_thread_lose(1);
	}
	tp_thread_leave();
	return position;
}

uint64_t tp_resync(uint64_t position, uint64_t name, uint64_t departure)
{
	// Without a position it is an activation of a signal handler that came while this thread
	// was in here.
	if (!position || position >= TP_POSITION_LIMIT)
		return 0;
	retake();
	if (tp_load32_acquire(&tp_process.state) != TP_STATE_RECORDING || !tp_thread_enter(1))
		return 0;
	const uint64_t time = tp_now();
	const bool departs = departure != TP_NO_DEPARTURE;
	uint64_t place = 0;
	if (make_room_for(time, ROOM_BYTES + (departs ? DEPARTURE_BYTES : 0))) {
		if (departs) {
			put(control_record(departure >> 32, TEEPERF_CONTROL_LEFT));
			put(control_record(departure, TEEPERF_CONTROL_LEFT));
		}
		place = tp_thread.cursor + tp_thread.bias;
		// Both words at once: what follows the first is never taken for a record.
		uint64_t *at = (uint64_t *)(uintptr_t)tp_thread.cursor;
		tp_thread.cursor += 16;
		tp_store_relaxed(&at[0], (time & UINT32_MAX) | (name | TEEPERF_KIND_RESYNC) << 32);
		tp_store_relaxed(&at[1], position);
	} else {
		tp_thread_lose(1);
	}
	tp_thread_leave();
	return place;
}

void __teeperf_resync(uint64_t position, uint64_t name)
{
	tp_resync(position, name, TP_NO_DEPARTURE);
}

void tp_thread_border(uint32_t control, uint64_t number)
{
	if (!tp_thread_enter(1))
		return;
	const uint64_t time = tp_now();
	if (make_room(time)) {
		if (control != TEEPERF_CONTROL_CROSSING)
			put(control_record(time & UINT32_MAX, control));
		if (number)
			put(control_record(number, TEEPERF_CONTROL_CROSSING));
	} else {
		tp_thread_lose(1);
	}
	tp_thread_leave();
}

// Four bytes of the name, the first one lowest.
static uint32_t piece_of(const char *name, uint32_t at, uint32_t length)
{
	uint32_t piece = 0;
	for (uint32_t i = 0; i < 4 && at + i < length; i++)
		piece |= (uint32_t)(unsigned char)name[at + i] << 8 * i;
	return piece;
}

void tp_thread_mark(uint32_t control, const char *name, uint32_t length)
{
	if (!tp_thread_enter(1))
		return;
	const uint64_t time = tp_now();
	const uint64_t pieces = (length + 3) / 4;
	// All in one chunk: half a name would be another one. So the record is written after its
	// name, and the cursor moves last: if a handler jumps out of here in between, the next
	// record takes the free place, and pieces behind a record that is no mark mean nothing.
	if (make_room_for(time, ROOM_BYTES + pieces * 8)) {
		uint64_t *at = (uint64_t *)(uintptr_t)tp_thread.cursor;
		for (uint32_t i = 0; i < pieces; i++)
			tp_store_relaxed(&at[i + 1],
			    control_record(piece_of(name, i * 4, length), TEEPERF_CONTROL_TEXT));
		tp_barrier_signal();
		tp_store_release(at, control_record(time, (enum teeperf_control)control));
		tp_barrier_signal();
		tp_thread.cursor += (pieces + 1) * 8;
	} else {
		tp_thread_lose(1);
	}
	tp_thread_leave();
}

/*
 * Hand over all that this thread has of the log, so that nothing of it points there. Between
 * tp_thread_enter and tp_thread_leave. What comes after begins a new chunk.
 */
static void hand_over(void)
{
	tp_chunk_give_back(tp_thread.previous, TP_CHUNK_SIZE);
	while (tp_kept_count(tp_thread.kept) > 1)
		give_back_oldest();
	tp_thread.kept = 0;
	if (tp_thread.chunk)
		tp_chunk_give_back(
		    tp_thread.chunk, tp_thread.cursor - tp_chunk_address(tp_thread.chunk));
	// Call circle with counts.c: it takes its chunks from here, and they go back with the
	// others.
	tp_counts_end();
	tp_thread.previous = 0;
	forget_chunk();
	give_up_ticket();
}

bool tp_thread_may_record(void)
{
	return !tp_process.by_call || tp_thread.entered;
}

void tp_thread_arrive(void)
{
	if (tp_thread.log != tp_process.log) {
		// Another log than the last one: in this one we have no number yet.
		tp_thread.ready = 0;
		tp_thread.ended = 0;
		tp_thread.sequence = tp_thread.ticket = tp_thread.drawn = tp_thread.kept = 0;
		tp_thread_forget_lost();
		tp_thread.bias = TP_BIAS_NO_CHUNK(UINT64_C(0));
		tp_store_relaxed(&__teeperf_thread.bias, tp_thread.bias);
		tp_thread.log = tp_process.log;
	}
	if (tp_thread.ready) {
		// The log may be at another address than last time.
		struct teeperf_thread *slot = table_slot();
		__teeperf_thread.lost_place = slot ? &slot->lost : &tp_lost_nowhere;
		__teeperf_thread.counter = tp_process.counter;
	}
	tp_barrier_signal();
	tp_thread.entered = 1;
}

void tp_thread_depart(void)
{
	retake();
	if (tp_thread.ready && tp_thread_enter(0)) {
		// A chunk that was drawn and not begun goes back empty.
		const uint64_t drawn = tp_thread.drawn ? tp_thread_take_extra() : 0;
		tp_chunk_give_back(drawn, sizeof(struct teeperf_chunk));
		hand_over();
		tp_thread_leave();
	}
	look_always();
	__teeperf_thread.lost_place = &tp_lost_nowhere;
	tp_thread.entered = 0;
	tp_barrier_signal();
	__teeperf_thread.counter = &tp_counter_never;
	__teeperf_thread.clock_high = TEEPERF_HIGH_NEVER;
	tp_store_relaxed(&__teeperf_thread.cursor, 0);
	tp_store_relaxed(&__teeperf_thread.start, 0);
	tp_store_relaxed(&__teeperf_thread.end, 0);
}

// A thread may have renamed itself since it began.
static void tell_name_and_cpu(struct teeperf_thread *slot)
{
	uint64_t name[2] = {0, 0};
	tp_port_thread_name(name);
	tp_thread_store_name(slot, name);
	tp_store_relaxed(&slot->cpu_ns, tp_port_thread_cpu());
}

void tp_thread_tell_cpu(void)
{
	// Nobody takes the log away meanwhile; one that was there for the time of a call, or was
	// left, has gone.
	count_in();
	const bool left = tp_process.late && tp_load32_acquire(&tp_process.state) == TP_STATE_OFF;
	const bool has_log = tp_thread.ready && tp_thread_may_record() && !has_other_log() && !left;
	struct teeperf_thread *slot = has_log ? table_slot() : NULL;
	if (slot)
		tell_name_and_cpu(slot);
	count_out();
}

void tp_thread_end(void)
{
	retake();
	if (!tp_thread.ready)
		return;
	if (has_other_log()) {
		drop_last_log();
		return;
	}
	if (!tp_thread_enter(0))
		return;
	struct teeperf_thread *slot = table_slot();
	if (slot) {
		tell_name_and_cpu(slot);
		tp_store_release(&slot->ended, 1);
	}
	if (tp_thread.chunk && make_room(tp_now()))
		put(control_record(0, TEEPERF_CONTROL_THREAD_END));
	// Destructors that run after us may still log: they start a new chunk of this thread, and
	// thread_start arranges for one more end.
	hand_over();
	tp_thread.ready = 0;
	tp_thread.ended = 1;
	tp_thread_leave();
}
