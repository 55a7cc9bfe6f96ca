// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a forked child does with its copy of the runtime.
#include "runtime.h"

#include "port.h"

/*
 * Without a log of its own: what this thread knows of its parent's is forgotten. But a signal
 * handler may have forked in the middle of a sequence, which then still writes where it was about
 * to, or adds to a count. That is why the port also puts private memory in the log's place.
 */
static void go_without(struct teeperf_log_header *header)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	tp_process_off();
	block->clock_high = TEEPERF_HIGH_NEVER;
	tp_thread_forget_lost();
	tp_store_relaxed(&block->cursor, 0);
	tp_fetch_add_relaxed(&header->forked, 1);
	tp_port_hide_log(header, tp_process.region_size);
	// The recorder waits for whoever still has a log mapped.
	tp_port_hide_counter();
}

/*
 * With one, which has the shape of the parent's and lies in its place, nothing private has to
 * change: the thread goes on at the same place of the same chunk, even in the middle of a sequence,
 * and at the same positions (log.h). What its parent wrote in the chunk before is padding here.
 */
static void keep_chunk(uint64_t sequence)
{
	const struct teeperf_thread_block *block = &__teeperf_thread;
	struct teeperf_chunk *chunk = tp_chunk_at(tp_thread.chunk);
	const uint64_t now = tp_now();
	const bool same = now >> 32 == block->clock_high || block->clock_high == TEEPERF_HIGH_NEVER;
	tp_store_relaxed((uint64_t *)(void *)&chunk->thread, 0);
	tp_store_relaxed(&chunk->sequence, sequence);
	tp_store_relaxed(&chunk->os_tid, tp_thread.os_tid);
	tp_store_relaxed(&chunk->home, tp_thread.home);
	tp_store_relaxed(&chunk->first_time, same ? now : (uint64_t)block->clock_high << 32);
	uint64_t word = (tp_process.pid & UINT32_MAX) | (uint64_t)TEEPERF_CONTROL_FORK << 32;
	for (uint64_t at = (uint64_t)(uintptr_t)(chunk + 1); at != block->cursor; at += 8) {
		tp_store_relaxed((uint64_t *)(uintptr_t)at, word);
		word = (uint64_t)TEEPERF_CONTROL_PAD << 32;
	}
	tp_store_release(tp_chunk_state(tp_thread.chunk), TEEPERF_CHUNK_OWNED);
}

// Which chunk the thread goes on in, if there is one, and how many words of it the parent wrote.
static void find_chunk_to_keep(struct tp_port_fork *fork)
{
	const uint64_t cursor = tp_load_relaxed(&__teeperf_thread.cursor);
	const uint64_t offset = cursor - 8 - tp_chunk_address(tp_thread.chunk);
	if (!tp_thread.ready || !tp_thread.chunk || tp_thread.taking ||
	    offset < sizeof(struct teeperf_chunk) || offset >= TP_CHUNK_SIZE)
		return;
	fork->chunk = (uint32_t)((tp_thread.chunk - 1) & tp_process.chunk_mask) + 1;
	fork->padding = (uint32_t)(offset + 8 - sizeof(struct teeperf_chunk)) / 8;
}

static void begin_thread(bool keeps)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	const uint64_t sequence =
	    keeps ? (tp_thread.bias + tp_chunk_address(tp_thread.chunk)) >> TP_CHUNK_SHIFT
		  : tp_thread.sequence;
	// Chunks for counts, which hold no positions, may have taken the numbers behind it.
	if (keeps)
		tp_thread.sequence = sequence + 1;
	tp_thread.previous = tp_thread.drawn = tp_thread.ticket = tp_thread.taking = 0;
	tp_thread.kept = keeps && tp_process.ring ? TP_KEPT_ONE | tp_thread.chunk : 0;
	tp_thread_forget_lost();
	tp_thread.index = 0;
	tp_thread.forked = !keeps;
	// A thread that had ended, and whose destructors run on, begins as any other one.
	if (!tp_thread.ready)
		tp_thread.ended = 0;
	if (tp_thread.ready) {
		uint64_t name[2] = {0, 0};
		tp_port_thread_start(&tp_thread.os_tid, name);
		struct teeperf_thread *slot = &tp_process.threads[0];
		tp_thread_store_name(slot, name);
		tp_store_relaxed(&slot->first, sequence);
		tp_store_relaxed(&slot->chunks, tp_thread.sequence);
		tp_store_release(&slot->os_tid, tp_thread.os_tid);
		tp_process.next_thread = 1;
		tp_store_relaxed(&tp_process.header->thread_count, 1);
		block->counter = tp_process.counter;
		block->lost_place = &slot->lost;
	}
	if (keeps) {
		keep_chunk(sequence);
		return;
	}
	tp_thread.chunk = 0;
	tp_thread.bias = TP_BIAS_NO_CHUNK(tp_thread.sequence);
	block->clock_high = TEEPERF_HIGH_NEVER;
	tp_store_relaxed(&block->cursor, 0);
	tp_store_relaxed(&block->bias, tp_thread.bias);
	tp_store_relaxed(&block->end, 0);
}

static bool go_on(struct teeperf_log_header *header, enum tp_state state)
{
	struct tp_process *process = &tp_process;
	// The runtime that a handler interrupted may be about to draw a chunk of the parent's.
	if (tp_thread.busy)
		return false;
	const uint64_t known = process->next_module < process->module_limit ? process->next_module
									    : process->module_limit;
	const uint64_t functions = tp_load_relaxed(&header->function_count);
	const uint64_t left_out = tp_load_relaxed(&header->functions_left_out);
	struct tp_port_fork fork = {
	    .parent = process->pid,
	    .log = header,
	    .size = process->region_size,
	    .same = process->modules,
	    .same_size = known * sizeof(*process->modules),
	};
	const uint64_t *counter;
	find_chunk_to_keep(&fork);
	if (!tp_port_fork_log(&fork, &counter))
		return false;
	if (TEEPERF_CLOCK_IS_SOFT(process->clock))
		process->counter = counter;
	process->next_thread = 0;
	process->lost_early = 0;
	process->lost_overflow = 0;
	for (unsigned i = 0; i < TP_TICKETS; i++)
		tp_store_relaxed(&process->tickets[i], 0);
	begin_thread(fork.chunk != 0);
	process->parent = process->pid;
	process->pid = tp_port_process_id();
	tp_store_relaxed(&header->pid, process->pid);
	tp_store_relaxed(&header->keeps, process->ring);
	tp_store_relaxed(&header->function_count, functions);
	tp_store_relaxed(&header->functions_left_out, left_out);
	tp_store_release(&header->module_count, process->next_module);
	tp_switch_forked(state == TP_STATE_RECORDING);
	tp_store_release((uint64_t *)(void *)&header->listens, process->listens);
	tp_attach_report(TEEPERF_ATTACH_DONE);
	return true;
}

void tp_fork_child(void)
{
	struct teeperf_log_header *header = tp_process.header;
	const enum tp_state state = (enum tp_state)tp_load32_acquire(&tp_process.state);
	tp_gates_forked();
	tp_counts_forked();
	tp_late_forked();
	if (state != TP_STATE_RECORDING && state != TP_STATE_PAUSED)
		return;
	if (go_on(header, state))
		// Another thread may have been about to set them.
		tp_gates_set(state == TP_STATE_RECORDING ? tp_gate_open() : TEEPERF_GATE_OFF);
	else
		go_without(header);
}
