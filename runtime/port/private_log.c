// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The log where no memory is shared with a host: the host's part, played in private memory.
// Complete chunks are sent in the order in which they became complete, by whoever comes first;
// built without vector registers.
#include "runtime/port.h"
#include "runtime/runtime.h"

#include <teeperf/stream.h>

// There is little memory where this is needed: 2 MiB and a bit, of which unused parts are never
// touched.
#ifndef TP_PRIVATE_CHUNKS
#define TP_PRIVATE_CHUNKS 32
#endif
enum { CHUNKS = TP_PRIVATE_CHUNKS, MODULES = 64, THREADS = 256 };
_Static_assert((CHUNKS & (CHUNKS - 1)) == 0, "a power of two");

static struct {
	union {
		struct teeperf_log_header header;
		uint8_t first[2 * TP_CHUNK_SIZE];
	};
	uint8_t chunks[CHUNKS][TP_CHUNK_SIZE];
} place __attribute__((aligned(1 << TP_CHUNK_SHIFT)));
static struct {
	uint64_t supply[CHUNKS];
	uint64_t states[CHUNKS];
	struct teeperf_module modules[MODULES];
	struct teeperf_thread threads[THREADS];
} *const tables = (void *)(place.first + TEEPERF_LOG_HEADER_SIZE);
_Static_assert(sizeof(*tables) <= sizeof(place.first) - TEEPERF_LOG_HEADER_SIZE, "tables");

// Numbers + 1 of complete chunks. A chunk is in it once, so there is always a place.
static uint64_t queue[CHUNKS];
static uint64_t queued, taken;
static uint64_t busy; // 1: somebody sends
static bool started;
static bool is_over;
static uint64_t leaving; // 1: the queue is left to the thread that sends the end

// ---- whose turn it is

// Call circle with keystone.c and posix_stream.c: a port makes its log here, and sends it.
static void begin_sending(void *mask)
{
	*(uint64_t *)mask = tp_port_flush_begin();
}

static void end_sending(void *mask)
{
	tp_port_flush_end(*(uint64_t *)mask);
}

static void nap(void *may)
{
	*(bool *)may = tp_port_flush_nap();
}

static bool claim(uint64_t *mask)
{
	tp_call_preserving(begin_sending, mask);
	if (tp_claim_seq_cst(&busy, 1))
		return true;
	tp_call_preserving(end_sending, mask);
	return false;
}

static void release(uint64_t *mask)
{
	tp_store_seq_cst(&busy, 0);
	tp_call_preserving(end_sending, mask);
}

// ---- frames

struct frame {
	struct teeperf_frame head;
	const void *body;
	bool sent;
};

static void hand_frame(void *argument)
{
	struct frame *frame = argument;
	struct teeperf_frame *head = &frame->head;
	frame->sent =
	    tp_port_flush(head, sizeof(*head), frame->body, (head->length + 7) & ~UINT64_C(7));
}

// pre: `body` is memory of a multiple of 8 bytes.
static bool send(enum teeperf_frame_kind kind, uint64_t offset, const void *body, uint64_t length)
{
	struct frame frame;
	frame.head.magic = TEEPERF_FRAME_MAGIC;
	frame.head.version = TEEPERF_FRAME_VERSION;
	frame.head.kind = (uint16_t)kind;
	frame.head.offset = offset;
	frame.head.length = length;
	frame.body = body;
	frame.sent = false;
	tp_call_preserving(hand_frame, &frame);
	return frame.sent;
}

static bool send_words(const void *from, const void *to)
{
	return send(TEEPERF_FRAME_WORDS, (uint64_t)((const uint8_t *)from - place.first), from,
	    (uint64_t)((const uint8_t *)to - (const uint8_t *)from));
}

static struct teeperf_frame_point point;

static void read_time(void *argument)
{
	(void)argument;
	point.ns = tp_port_flush_time_ns();
}

static void send_point(void)
{
	if (place.header.clock == TEEPERF_CLOCK_NONE)
		return;
	point.ticks = tp_hardware_clock();
	tp_call_preserving(read_time, NULL);
	if (point.ns)
		send(TEEPERF_FRAME_CLOCK, 0, &point, sizeof(point));
}

// The first frame; what follows one that was not sent makes no sense, so it is tried again.
static bool send_start(void)
{
	if (!started)
		started = send(TEEPERF_FRAME_START, 0, &place.header, sizeof(place.header));
	if (started && !point.ticks)
		send_point();
	return started;
}

/*
 * What has been written to the tables since the last time: modules that are new, the slot of a
 * chunk's thread, and the header's words, all of them small beside a chunk.
 */
static uint64_t modules_sent;

static void send_facts(uint64_t thread)
{
	uint64_t count = tp_load_acquire(&place.header.module_count);
	count = count < MODULES ? count : MODULES;
	if (count > modules_sent &&
	    send_words(&tables->modules[modules_sent], &tables->modules[count]))
		modules_sent = count;
	if (thread < THREADS)
		send_words(&tables->threads[thread], &tables->threads[thread + 1]);
	send_words(&place.header.pid, place.header.crossings);
}

// ---- chunks

static void supply(uint64_t number)
{
	struct teeperf_log_header *header = &place.header;
	const uint64_t head = header->head;
	tp_store_release(&tables->supply[head % CHUNKS], TEEPERF_SUPPLY_SLOT(head, number));
	tp_store_release(&header->head, head + 1);
}

// The events in a chunk, from this word on, that cannot be sent, and the calls that are counted
// there.
static void count_lost(const struct teeperf_chunk *chunk, uint64_t from)
{
	const uint64_t *words = (const uint64_t *)(const void *)chunk;
	uint64_t lost = 0;
	for (uint64_t i = from; i < chunk->used / 8; i++) {
		const uint64_t name = words[i] >> 32;
		if (name == TEEPERF_CONTROL_COUNTS) {
			for (uint64_t pairs = words[i] & UINT32_MAX; pairs--; i += 2)
				lost += words[i + 2];
		} else if (name == TEEPERF_CONTROL_LOST) {
			continue; // they are in the thread's number
		} else if (name >= TEEPERF_NAME_FIRST) {
			lost++;
			i += (name & TEEPERF_KIND_MASK) == TEEPERF_KIND_RESYNC;
		}
	}
	tp_store_relaxed(&place.header.lost_overflow,
	    tp_fetch_add_relaxed(&tp_process.lost_overflow, lost) + lost);
}

enum { RECORDS = sizeof(struct teeperf_chunk) / 8 }; // the word where they begin

// At the end: the words of a chunk that were sent before its thread was done with it. It is not
// sent again.
static uint64_t sent_words[CHUNKS];

/*
 * Send the chunk at this place in the log; count lost events. Chunks of a thread need not arrive in
 * their order: those with counts are begun early and complete at its end.
 */
static void send_records(uint64_t number, const struct teeperf_chunk *chunk)
{
	const uint64_t thread = chunk->thread;
	const uint64_t from = sent_words[number] ? sent_words[number] : RECORDS;
	bool sent = false;
	if (!sent_words[number] && send_start()) {
		send_facts(thread);
		sent = send(TEEPERF_FRAME_CHUNK, sizeof(place.first) + number * TP_CHUNK_SIZE,
		    chunk, chunk->used);
	}
	if (!sent)
		count_lost(chunk, from);
}

static void send_chunk(uint64_t number)
{
	struct teeperf_chunk *chunk = (struct teeperf_chunk *)(void *)place.chunks[number];
	send_records(number, chunk);
	sent_words[number] = 0;
	// As a chunk has to be that is handed out: 0 throughout.
	uint64_t *words = (uint64_t *)(void *)chunk;
	for (uint64_t i = TP_CHUNK_SIZE / 8; i--;)
		tp_store_relaxed(&words[i], 0);
	tp_store_release(&tables->states[number], TEEPERF_CHUNK_FREE);
	supply(number);
}

static bool send_next(void)
{
	uint64_t *slot = &queue[taken % CHUNKS];
	// 0 is also: whoever completed one is about to say which; then he comes here himself.
	const uint64_t number = tp_load_seq_cst(slot);
	if (!number)
		return false;
	tp_store_relaxed(slot, 0);
	taken++;
	send_chunk(number - 1);
	return true;
}

// A claim for each chunk: signals wait for one frame, not for all that others complete meanwhile.
static void serve(void)
{
	uint64_t mask;
	do {
		if (!claim(&mask))
			return; // whoever is at it looks again when he has left
		send_next();
		release(&mask);
	} while (!tp_load_seq_cst(&leaving) &&
		 tp_load_seq_cst(&queue[tp_load_relaxed(&taken) % CHUNKS]));
}

static void chunk_done(uint64_t number)
{
	const uint64_t at = __atomic_fetch_add(&queued, 1, __ATOMIC_SEQ_CST);
	tp_store_seq_cst(&queue[at % CHUNKS], number + 1);
	serve();
}

// Send the present queue only; threads that go on could complete chunks for ever.
static void send_queued(void)
{
	for (uint64_t i = 0; i < CHUNKS && send_next(); i++)
		;
}

/*
 * A copy, as its thread may go on. `used` is 0 while a thread has it: the written part ends with
 * the last word that is not 0. Copy from the end, so that nothing is missing before a later word.
 */
static void send_owned(uint64_t number)
{
	static union {
		struct teeperf_chunk chunk;
		uint64_t words[TP_CHUNK_SIZE / 8];
	} copy;
	const uint64_t *from = (const uint64_t *)(const void *)place.chunks[number];
	uint64_t used = 0;
	for (uint64_t i = TP_CHUNK_SIZE / 8; i--;) {
		copy.words[i] = tp_load_relaxed(&from[i]);
		if (!used && copy.words[i])
			used = i + 1;
	}
	used = used > RECORDS ? used : RECORDS;
	copy.chunk.used = used * 8;
	send_records(number, &copy.chunk);
	sent_words[number] = used;
}

// The program is over: chunks of threads that have not ended, as they are, the oldest first.
static void send_all_owned(void)
{
	// Threads that go on may take new ones as fast as we send.
	for (uint64_t sent = 0; sent < CHUNKS; sent++) {
		uint64_t first = CHUNKS;
		uint64_t least = UINT64_MAX;
		for (uint64_t number = 0; number < CHUNKS; number++) {
			const struct teeperf_chunk *chunk = (const void *)place.chunks[number];
			if (sent_words[number] || chunk->sequence >= least ||
			    tp_load_acquire(&tables->states[number]) != TEEPERF_CHUNK_OWNED)
				continue;
			least = chunk->sequence;
			first = number;
		}
		if (first == CHUNKS)
			return;
		send_queued(); // its thread's, of before
		if (tp_load_acquire(&tables->states[first]) == TEEPERF_CHUNK_OWNED)
			send_owned(first);
	}
}

// Wait for a thread that sends, but not for ever: it may be stopped, or nobody takes its frame.
static bool claim_at_end(uint64_t *mask)
{
	enum { NAPS = 300 };
	tp_store_seq_cst(&leaving, 1);
	for (unsigned i = 0; i < NAPS; i++) {
		if (claim(mask))
			return true;
		bool may = false;
		tp_call_preserving(nap, &may);
		if (is_over || !may)
			break;
	}
	tp_store_seq_cst(&leaving, 0);
	return false;
}

static void finish(uint64_t ended)
{
	static uint64_t word;
	uint64_t mask;
	if (is_over || !claim_at_end(&mask))
		return;
	is_over = true;
	word = ended;
	send_queued();
	if (send_start()) {
		send_all_owned();
		send_queued();
		modules_sent = 0; // when they were unloaded is new
		send_facts(THREADS);
		send_words(tables->threads, &tables->threads[THREADS]);
		send_point();
		send(TEEPERF_FRAME_END, 0, &word, sizeof(word));
	}
	// `busy` stays: nothing follows.
	tp_call_preserving(end_sending, &mask);
}

void tp_private_log_make(uint32_t clock, uint64_t hz, void **base, uint64_t *size)
{
	struct teeperf_log_header *header = &place.header;
	teeperf_log_init(header, CHUNKS, clock, TEEPERF_MODE_STREAM);
	header->region_size = sizeof(place);
	header->supply_offset = (uint64_t)((uint8_t *)tables->supply - place.first);
	header->state_offset = (uint64_t)((uint8_t *)tables->states - place.first);
	header->modules_offset = (uint64_t)((uint8_t *)tables->modules - place.first);
	header->threads_offset = (uint64_t)((uint8_t *)tables->threads - place.first);
	header->chunks_offset = sizeof(place.first);
	header->module_capacity = MODULES;
	header->thread_capacity = THREADS;
	header->clock_hz = hz;
	header->control = TEEPERF_ACTIVE;
	for (uint64_t i = 0; i < CHUNKS; i++)
		supply(i);
	header->magic = TEEPERF_LOG_MAGIC;
	tp_process.chunk_done = chunk_done;
	tp_process.finish = finish;
	*base = &place;
	*size = sizeof(place);
}
