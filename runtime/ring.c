// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mode ring: which chunks a thread keeps. The list is private: nothing of it is read from the log,
// which is the host's. Built without vector registers, like thread.c.
#include "runtime.h"

/*
 * Of each chunk that a thread keeps, the number of the one that it took next. Only the thread that
 * keeps both looks at it, so threads never wait for one another. Here and not in the threads' own
 * storage, of which there is little: a thread's list may be as long as half the log.
 */
static uint16_t younger[TP_RING_LOG_CHUNKS];
_Static_assert(TP_RING_LOG_CHUNKS <= UINT64_C(1) << 16, "numbers of chunks fit");

static uint64_t index_of(uint64_t chunk_plus_1)
{
	return (chunk_plus_1 - 1) & tp_process.chunk_mask & (TP_RING_LOG_CHUNKS - 1);
}

uint64_t tp_kept_with(uint64_t kept, uint64_t newest, uint64_t chunk_plus_1)
{
	if (!tp_kept_count(kept) || !newest)
		return TP_KEPT_ONE | chunk_plus_1;
	younger[index_of(newest)] = (uint16_t)index_of(chunk_plus_1);
	return kept + TP_KEPT_ONE;
}

uint64_t tp_kept_without_oldest(uint64_t kept)
{
	const uint64_t count = tp_kept_count(kept);
	if (count < 2)
		return 0;
	return (count - 1) * TP_KEPT_ONE + younger[index_of(tp_kept_oldest(kept))] + 1;
}

/*
 * The way back of a chunk that nobody keeps: behind all others of the supply ring, so that what was
 * given back first is used again first, and last of all what was given back just now. As the host
 * does it, but for the ticket, which is drawn here.
 */
void tp_ring_supply(uint64_t number)
{
	const uint64_t ticket = tp_fetch_add_relaxed(&tp_process.header->head, 1);
	tp_store_release(&tp_process.supply[ticket & tp_process.chunk_mask],
	    TEEPERF_SUPPLY_SLOT(ticket, number));
}

/*
 * Whatever a chunk held is gone: the sequence takes a place that is not 0 for a handler's (abi.h).
 * From the end on, and last the word that tells that there is something: a handler may jump out of
 * here. A recorder that looks meanwhile sees the state.
 */
void tp_ring_clear(uint64_t number, struct teeperf_chunk *chunk)
{
	uint64_t *words = (uint64_t *)(void *)chunk;
	if (!tp_load_relaxed(&chunk->os_tid))
		return;
	tp_store_relaxed(&tp_process.states[number], TEEPERF_CHUNK_FREE);
	tp_barrier_store();
	const uint64_t used = tp_load_relaxed(&chunk->used);
	uint64_t i = (used && used < TP_CHUNK_SIZE ? used : TP_CHUNK_SIZE) / 8;
	while (i > sizeof(*chunk) / 8)
		tp_store_relaxed(&words[--i], 0);
	tp_barrier_signal();
	tp_store_relaxed(&chunk->os_tid, 0);
}
