// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * How long a run takes with pieces of other lengths. Runnable threads share P processors evenly:
 * while n of them run, each goes on at the rate min(1, P / n). So all have the same clock of work,
 * and the piece that is over first is the one with the least end on it.
 */
#include "run.h"

#include <stdlib.h>

#define TURNS_NS 20000000

struct entry {
	double at;
	uint32_t thread;
};

// A heap, the least first. Each thread is in one of them at most once.
struct heap {
	struct entry *entries;
	uint32_t count;
};

static void heap_add(struct heap *heap, double at, uint32_t thread)
{
	uint32_t i = heap->count++;
	for (; i && heap->entries[(i - 1) / 2].at > at; i = (i - 1) / 2)
		heap->entries[i] = heap->entries[(i - 1) / 2];
	heap->entries[i] = (struct entry){at, thread};
}

static uint32_t heap_take(struct heap *heap)
{
	const uint32_t taken = heap->entries[0].thread;
	const struct entry last = heap->entries[--heap->count];
	uint32_t i = 0;
	for (uint32_t child = 1; child < heap->count; child = 2 * i + 1) {
		if (child + 1 < heap->count &&
		    heap->entries[child + 1].at < heap->entries[child].at)
			child++;
		if (heap->entries[child].at >= last.at)
			break;
		heap->entries[i] = heap->entries[child];
		i = child;
	}
	heap->entries[i] = last;
	return taken;
}

struct state {
	uint64_t at;   // its piece
	uint32_t next; // of those that wait for the same piece, + 1
};

struct simulation {
	const struct tp_run *run;
	const double *in;
	double part;
	struct state *states;
	double *lengths;     // of the pieces
	uint32_t *waiters;   // for each piece: threads that wait for its end, the first, + 1
	struct heap running; // by the clock of work
	struct heap waiting; // by time
	double now;
	double work;
	double last; // when a piece that runs was over
};

/*
 * The lengths of all pieces. Others got their turn for what a thread ran until then, not for the
 * one piece that it was in: what they took shrinks as the thread's time around it does, of pieces
 * that together ran for some turns of a scheduler.
 */
static void find_lengths(struct simulation *simulation, const struct tp_run_thread *thread)
{
	const uint64_t window = tp_timebase_ticks(&simulation->run->analysis->time, TURNS_NS);
	double *lengths = simulation->lengths + thread->first;
	const double *in = simulation->in ? simulation->in + thread->first : NULL;
	uint64_t begin = 0;
	uint64_t ran = 0;
	double inside = 0;
	for (uint64_t i = 0; i < thread->count; i++) {
		const struct tp_piece *piece = &thread->pieces[i];
		if (piece->kind == TP_PIECE_RUN) {
			ran += piece->to - piece->from;
			inside += piece->cost + (in ? simulation->part * in[i] : 0);
		}
		if (ran < window && i + 1 < thread->count)
			continue;
		const double around = 1 - (ran ? inside / (double)ran : 0);
		for (; begin <= i; begin++) {
			const struct tp_piece *each = &thread->pieces[begin];
			const double ticks = (double)(each->to - each->from);
			const double left =
			    ticks - each->cost - (in ? simulation->part * in[begin] : 0);
			const bool runs = each->kind == TP_PIECE_RUN;
			const double length = left + (each->length - ticks) * around;
			lengths[begin] = !runs ? each->length : length > 0 ? length : 0;
		}
		ran = 0;
		inside = 0;
	}
}

static uint32_t *waiters_of(struct simulation *simulation, uint32_t thread, uint64_t piece)
{
	return &simulation->waiters[simulation->run->threads[thread].first + piece];
}

// The thread is at the start of a piece: on to one that takes time.
static void go_on(struct simulation *simulation, uint32_t thread)
{
	struct state *state = &simulation->states[thread];
	const struct tp_run_thread *of = &simulation->run->threads[thread];
	for (; state->at < of->count; state->at++) {
		const struct tp_piece *piece = &of->pieces[state->at];
		if (piece->kind == TP_PIECE_RUN) {
			heap_add(&simulation->running,
			    simulation->work + simulation->lengths[of->first + state->at], thread);
			return;
		}
		if (piece->kind == TP_PIECE_STAND) {
			heap_add(&simulation->waiting, simulation->now + piece->length, thread);
			return;
		}
		if (simulation->states[piece->thread].at <= piece->piece) {
			uint32_t *waiters = waiters_of(simulation, piece->thread, piece->piece);
			state->next = *waiters;
			*waiters = thread + 1;
			return;
		}
		// It was woken before it began to wait.
	}
}

static void end_piece(struct simulation *simulation, uint32_t thread)
{
	uint32_t waiter = *waiters_of(simulation, thread, simulation->states[thread].at++);
	while (waiter) {
		const uint32_t number = waiter - 1;
		const struct state *other = &simulation->states[number];
		const struct tp_piece *piece = &simulation->run->threads[number].pieces[other->at];
		waiter = other->next;
		heap_add(&simulation->waiting, simulation->now + piece->length, number);
	}
	go_on(simulation, thread);
}

static void step(struct simulation *simulation)
{
	const uint32_t count = simulation->running.count;
	const uint32_t processors = simulation->run->processors;
	const double rate = count > processors ? (double)processors / count : 1;
	const bool runs = count != 0;
	const double over =
	    runs ? simulation->now + (simulation->running.entries[0].at - simulation->work) / rate
		 : 0;
	if (simulation->waiting.count && (!runs || simulation->waiting.entries[0].at < over)) {
		const double to = simulation->waiting.entries[0].at;
		simulation->work += runs ? (to - simulation->now) * rate : 0;
		simulation->now = to;
		end_piece(simulation, heap_take(&simulation->waiting));
		return;
	}
	simulation->work = simulation->running.entries[0].at;
	simulation->now = over;
	simulation->last = over;
	end_piece(simulation, heap_take(&simulation->running));
}

int tp_run_simulate(const struct tp_run *run, const double *in, double part, double *ticks)
{
	const size_t threads = (size_t)run->thread_count + 1;
	struct simulation simulation = {
	    .run = run,
	    .in = in,
	    .part = part,
	    .states = calloc(threads, sizeof(*simulation.states)),
	    .lengths = malloc((run->piece_count + 1) * sizeof(*simulation.lengths)),
	    .waiters = calloc(run->piece_count + 1, sizeof(*simulation.waiters)),
	    .running = {malloc(threads * sizeof(struct entry)), 0},
	    .waiting = {malloc(threads * sizeof(struct entry)), 0},
	};
	int code = TP_ERR_MEMORY;
	if (simulation.states && simulation.lengths && simulation.waiters &&
	    simulation.running.entries && simulation.waiting.entries) {
		for (uint32_t i = 0; i < run->thread_count; i++)
			find_lengths(&simulation, &run->threads[i]);
		for (uint32_t i = 0; i < run->thread_count; i++)
			go_on(&simulation, i);
		while (simulation.running.count || simulation.waiting.count)
			step(&simulation);
		code = 0;
	}
	free(simulation.states);
	free(simulation.lengths);
	free(simulation.waiters);
	free(simulation.running.entries);
	free(simulation.waiting.entries);
	*ticks = simulation.last + (double)run->idle;
	return code;
}
