// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The chunks of a region: their memory, which of them the program gets, and which are out.
#define _GNU_SOURCE
#include "supply.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <teeperf/late.h>

uint64_t tp_supply_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int tp_supply_allocate(struct tp_region *region, uint64_t offset, uint64_t size)
{
	int error;
	do {
		error = posix_fallocate(region->fd, (off_t)(region->offset + offset), (off_t)size);
	} while (error == EINTR);
	return error;
}

void tp_supply_touch(struct tp_region *region, uint64_t offset, uint64_t size)
{
#ifdef MADV_POPULATE_WRITE
	if (madvise(region->map + offset, size, MADV_POPULATE_WRITE) == 0)
		return;
#endif
	// Older kernels: an addition of 0 touches each page without changing it.
	for (uint64_t at = offset; at < offset + size; at += 4096)
		tp_fetch_add_relaxed((uint64_t *)(void *)(region->map + at), 0);
}

uint64_t tp_supply_offset(const struct tp_region *region, uint32_t number)
{
	return (uint64_t)((char *)tp_region_chunk(region, number) - region->map);
}

int tp_supply_commit(struct tp_region *region, uint32_t wanted)
{
	const uint32_t first = region->committed;
	const uint32_t left = region->chunk_count - first;
	const uint32_t count = left < wanted ? left : wanted;
	const int error = tp_supply_allocate(
	    region, tp_supply_offset(region, first), (uint64_t)count * TP_REGION_CHUNK_SIZE);
	if (error)
		return error;
	pthread_mutex_lock(&region->lock);
	region->committed = first + count;
	pthread_mutex_unlock(&region->lock);
	return 0;
}

void tp_supply_touch_chunks(struct tp_region *region, uint32_t wanted)
{
	const uint32_t left = region->committed - region->touched;
	const uint32_t count = left < wanted ? left : wanted;
	tp_supply_touch(region, tp_supply_offset(region, region->touched),
	    (uint64_t)count * TP_REGION_CHUNK_SIZE);
	region->touched += count;
}

void tp_supply_from(struct tp_region *region, uint32_t first)
{
	for (uint32_t i = first; i < region->committed; i++)
		if (i + 1 != region->owned)
			tp_region_supply(region, i);
}

void tp_supply_put_out(struct tp_region *region, uint32_t number)
{
	region->older[number] = region->newest;
	region->newer[number] = TP_REGION_NONE;
	if (region->newest != TP_REGION_NONE)
		region->newer[region->newest] = number;
	region->newest = number;
}

// pre: the lock is held.
static void offer(struct tp_region *region, uint32_t number)
{
	const bool shared = region->mode == TEEPERF_MODE_RING;
	// What the program has made of the word decides about a slot, and about nothing else.
	const uint64_t ticket =
	    shared ? tp_fetch_add_relaxed(&region->header->head, 1) : region->head++;
	tp_supply_put_out(region, number);
	tp_store_release(&region->supply[ticket & (region->chunk_count - 1)],
	    TEEPERF_SUPPLY_SLOT(ticket, number));
	if (!shared)
		tp_store_release(&region->header->head, region->head);
}

// Whether the program has fewer chunks left than COUNT, by its own word. pre: the lock is held.
static bool has_fewer(const struct tp_region *region, uint32_t count)
{
	return (int64_t)(region->head - tp_load_relaxed(&region->header->tail)) < (int64_t)count;
}

// Usually chunks that come back are enough, and those that wait stay cold. pre: the lock is held.
static bool offer_waiting(struct tp_region *region)
{
	bool offered = false;
	if (!region->warm || has_fewer(region, region->warm / 2))
		while (
		    region->waiting_count && (!region->warm || has_fewer(region, region->warm))) {
			offer(region, region->waiting[--region->waiting_count]);
			offered = true;
		}
	return offered;
}

void tp_region_supply(struct tp_region *region, uint32_t number)
{
	pthread_mutex_lock(&region->lock);
	if (region->warm && !has_fewer(region, region->warm))
		region->waiting[region->waiting_count++] = number;
	else
		offer(region, number);
	// Without waiting for the thread that offers them else: it may be held up where memory is
	// scarce.
	offer_waiting(region);
	pthread_mutex_unlock(&region->lock);
}

// A peak, half of which is forgotten in HALF_MS.
static double fade(double peak, double now, double passed_ms, double half_ms)
{
	const double left = peak * exp2(-passed_ms / half_ms);
	return now > left ? now : left;
}

bool tp_region_follow_pace(struct tp_region *region, uint64_t now_ns, uint64_t late_ns)
{
	// Enough is as much as the program takes in this time, and in this multiple of our
	// lateness.
	static const double warm_ms = 16;
	static const double warm_late = 4;
	static const double chunks_half_ms = 250;
	static const double late_half_ms = 1000;
	// The next look comes soon if the program may take so large a part of it in a long pause.
	static const double pause_ms = 4;
	static const double part = 0.125;
	struct tp_region_pace *pace = &region->pace;
	const uint64_t taken = tp_load_relaxed(&region->header->tail);
	const double passed_ms = (double)(now_ns - pace->look_ns) / 1e6;
	if (!pace->least || !taken)
		return false;
	if (pace->look_ns && taken >= pace->taken && passed_ms > 0) {
		const double chunks = (double)(taken - pace->taken) / passed_ms;
		pace->chunks = fade(pace->chunks, chunks, passed_ms, chunks_half_ms);
		pace->late_ms = fade(pace->late_ms, (double)late_ns / 1e6, passed_ms, late_half_ms);
	}
	pace->look_ns = now_ns;
	pace->taken = taken;
	const double enough = pace->chunks * (warm_ms + warm_late * pace->late_ms);
	const bool all = enough >= region->chunk_count;
	const uint32_t warm = all ? region->chunk_count : (uint32_t)enough;
	pthread_mutex_lock(&region->lock);
	const bool dry = region->waiting_count && has_fewer(region, 1);
	region->warm = dry ? 0 : warm > pace->least ? warm : pace->least;
	pthread_mutex_unlock(&region->lock);
	if (dry)
		pace->least = 0;
	return pace->chunks * pause_ms > part * region->warm;
}

uint32_t tp_region_low(uint64_t taken, uint64_t ms)
{
	// The first is the program's word.
	const uint64_t more =
	    taken < TP_REGION_LOW_CHUNKS ? TP_REGION_LOW_FACTOR * taken : TP_REGION_LOW_CHUNKS;
	const uint64_t low = taken ? TP_REGION_WORKING_CHUNKS - TP_REGION_LOW_FIRST_CHUNKS + more +
					 ms / TP_REGION_LOW_MS
				   : TP_REGION_LOW_FIRST_CHUNKS + ms / TP_REGION_LOW_IDLE_MS;
	return low < TP_REGION_LOW_CHUNKS ? (uint32_t)low : TP_REGION_LOW_CHUNKS;
}

// Whether the program is about to run out of what it has been given.
static bool is_low(struct tp_region *region)
{
	pthread_mutex_lock(&region->lock);
	const uint64_t head = region->mode == TEEPERF_MODE_RING
				  ? tp_load_relaxed(&region->header->head)
				  : region->head + region->waiting_count;
	pthread_mutex_unlock(&region->lock);
	// The tail is the program's word; a false one can only make us commit all that was asked
	// for.
	const uint64_t taken = tp_load_relaxed(&region->header->tail);
	const uint32_t low = region->eases_in
				 ? tp_region_low(taken, tp_supply_now_ms() - region->start_ms)
				 : region->low_chunks;
	return (int64_t)(head - taken) <= (int64_t)low;
}

bool tp_region_grow(struct tp_region *region)
{
	pthread_mutex_lock(&region->lock);
	const bool offered = offer_waiting(region);
	pthread_mutex_unlock(&region->lock);
	if (!region->stunted && region->committed < region->chunk_count &&
	    (region->committed < region->ahead || is_low(region))) {
		const uint32_t first = region->committed;
		const bool failed = tp_supply_commit(region, region->step_chunks) != 0;
		pthread_mutex_lock(&region->lock);
		region->stunted = failed;
		pthread_mutex_unlock(&region->lock);
		tp_supply_from(region, first);
		return true;
	}
	if (region->touched == region->committed ||
	    (region->touch_later && (tp_supply_now_ms() - region->start_ms < TP_REGION_TOUCH_MS ||
					!tp_load_relaxed(&region->header->tail))))
		return offered;
	tp_supply_touch_chunks(region, TP_REGION_STEP_CHUNKS);
	return true;
}

uint32_t tp_region_collect(struct tp_region *region, uint32_t states, uint32_t *numbers)
{
	uint32_t first = region->chunk_count;
	pthread_mutex_lock(&region->lock);
	// Newest first: a chunk that is seen complete proves that its thread's older ones, looked
	// at later, are so too.
	for (uint32_t at = region->newest; at != TP_REGION_NONE; at = region->older[at]) {
		const uint64_t state = tp_load_acquire(&region->states[at]);
		if (state < 32 && states >> state & 1)
			numbers[--first] = at;
	}
	pthread_mutex_unlock(&region->lock);
	const uint32_t count = region->chunk_count - first;
	memmove(numbers, numbers + first, count * sizeof(*numbers));
	return count;
}

void tp_region_withdraw(struct tp_region *region, uint32_t number)
{
	pthread_mutex_lock(&region->lock);
	const uint32_t older = region->older[number];
	const uint32_t newer = region->newer[number];
	if (older != TP_REGION_NONE)
		region->newer[older] = newer;
	if (newer != TP_REGION_NONE)
		region->older[newer] = older;
	else
		region->newest = older;
	pthread_mutex_unlock(&region->lock);
}

uint32_t tp_region_limit(struct tp_region *region)
{
	pthread_mutex_lock(&region->lock);
	const uint32_t limit = region->stunted ? region->committed : region->chunk_count;
	pthread_mutex_unlock(&region->lock);
	return limit;
}

static void punch(struct tp_region *region, uint64_t start, uint64_t end)
{
	if (end > start)
		fallocate(region->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		    (off_t)(region->offset + start), (off_t)(end - start));
}

// The sequence of each thread's newest chunk, + 1.
static uint64_t *newest_of_threads(const struct tp_region *region)
{
	uint64_t *newest = calloc(region->thread_capacity, sizeof(*newest));
	for (uint32_t i = 0; newest && i < region->committed; i++) {
		const struct teeperf_chunk *chunk = tp_region_chunk(region, i);
		const uint32_t thread = tp_region_chunk_thread(chunk);
		const uint64_t sequence = tp_load_relaxed(&chunk->sequence) + 1;
		if (tp_load_relaxed(&region->states[i]) == TEEPERF_CHUNK_OWNED &&
		    thread < region->thread_capacity && newest[thread] < sequence)
			newest[thread] = sequence;
	}
	return newest;
}

// How much of a chunk keeps its thread from going on there: all up to its last record, if it is the
// newest.
static uint64_t bytes_to_keep(
    const struct tp_region *region, uint32_t number, const uint64_t *newest)
{
	const struct teeperf_chunk *chunk = tp_region_chunk(region, number);
	const uint64_t *words = (const uint64_t *)(const void *)chunk;
	const uint32_t thread = tp_region_chunk_thread(chunk);
	if (tp_load_relaxed(&region->states[number]) != TEEPERF_CHUNK_OWNED)
		return 0;
	if (newest && thread < region->thread_capacity &&
	    tp_load_relaxed(&chunk->sequence) + 1 != newest[thread])
		return 0;
	uint64_t count = TP_REGION_CHUNK_SIZE / 8;
	while (count && !tp_load_relaxed(&words[count - 1]))
		count--;
	return count * 8;
}

void tp_region_empty(struct tp_region *region)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t *newest = newest_of_threads(region);
	for (uint32_t i = 0; i < region->committed; i++) {
		const uint64_t start = tp_supply_offset(region, i);
		const uint64_t kept = bytes_to_keep(region, i, newest);
		// For readers that look for the end: reading dropped memory would allocate it again
		// (runtime/port/posix_late.c).
		if (kept)
			tp_store_relaxed(&tp_region_chunk(region, i)->used, kept);
		else
			tp_store_relaxed(&region->states[i], TEEPERF_CHUNK_FREE);
		// Behind the last record the program stores some words yet: where a full tmpfs has
		// no memory that would crash it.
		const uint64_t left =
		    kept ? (kept + TEEPERF_LATE_WORDS * 8 + page - 1) / page * page : 0;
		if (left < TP_REGION_CHUNK_SIZE)
			punch(region, start + left, start + TP_REGION_CHUNK_SIZE);
	}
	free(newest);
	tp_store_release(&region->header->magic, TEEPERF_LOG_OVER);
}
