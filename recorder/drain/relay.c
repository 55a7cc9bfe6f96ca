// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draining with the help of the clock's thread, where the drain shares a core with the program:
// that thread copies and clears, only the system calls remain here.
#include "relay.h"

#include "drain.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK_WORDS = TP_REGION_CHUNK_SIZE / 8, WAIT_NS = 50 * 1000 };

int tp_relay_init(struct tp_relay *relay, struct tp_slices *slices, struct tp_err *err)
{
	relay->slices = slices;
	if (!slices)
		return 0;
	relay->rooms = aligned_alloc(4096, (size_t)TP_RELAY_ROOMS * TP_REGION_CHUNK_SIZE);
	if (!relay->rooms) {
		relay->slices = NULL;
		return tp_err_memory(err, NULL);
	}
	// Page faults are not for the clock's thread.
	memset(relay->rooms, 0, (size_t)TP_RELAY_ROOMS * TP_REGION_CHUNK_SIZE);
	return 0;
}

void tp_relay_release(struct tp_relay *relay)
{
	free(relay->rooms);
	*relay = (struct tp_relay){0};
}

// A chunk on its way.
struct parcel {
	uint32_t number;
	uint64_t size;
	uint64_t copy; // its jobs
	uint64_t clear;
	struct teeperf_chunk *room;
};

// [0, cleared) are done with, [cleared, written) are being cleared, [written, copied) copied.
struct parcels {
	const struct tp_relay_steps *steps;
	uint32_t copied;
	uint32_t written;
	uint32_t cleared;
	struct parcel parcels[TP_RELAY_ROOMS];
};

static struct parcel *parcel(struct parcels *parcels, uint32_t at)
{
	return &parcels->parcels[at % TP_RELAY_ROOMS];
}

static uint64_t *words(struct teeperf_chunk *chunk)
{
	return (uint64_t *)(void *)chunk;
}

static void copy_next(struct tp_relay *relay, struct parcels *parcels, uint32_t number)
{
	struct parcel *next = parcel(parcels, parcels->copied);
	struct teeperf_chunk *chunk = tp_region_chunk(parcels->steps->region, number);
	const uint64_t room = parcels->copied % TP_RELAY_ROOMS;
	next->number = number;
	next->size = tp_drain_clamp_used(tp_load_relaxed(&chunk->used));
	next->room = (void *)(relay->rooms + room * CHUNK_WORDS);
	next->copy = tp_slices_copy(relay->slices, words(next->room), words(chunk), next->size);
	parcels->copied++;
}

static void write_next(struct tp_relay *relay, struct parcels *parcels)
{
	const struct tp_relay_steps *steps = parcels->steps;
	struct parcel *next = parcel(parcels, parcels->written);
	steps->write(steps->context, next->number, next->room,
	    tp_slices_checksum(relay->slices, next->copy));
	next->clear = tp_slices_clear(
	    relay->slices, words(tp_region_chunk(steps->region, next->number)), next->size);
	parcels->written++;
}

static void supply_next(struct parcels *parcels)
{
	const struct tp_relay_steps *steps = parcels->steps;
	steps->supply(steps->context, parcel(parcels, parcels->cleared)->number);
	parcels->cleared++;
}

// Let the clock's thread go on. If it gets no time we do a job here, where it may take longer.
static void wait(struct tp_relay *relay)
{
	struct tp_slices *slices = relay->slices;
	const uint64_t done = tp_load_relaxed(&slices->done);
	const uint64_t before = tp_clock_monotonic_ns();
	nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
	const uint64_t slept = tp_clock_monotonic_ns() - before;
	relay->waited_ns += slept < 2 * WAIT_NS ? slept : 2 * WAIT_NS; // longer was not our wish
	while (tp_load_relaxed(&slices->done) == done && tp_slices_step(slices))
		;
}

void tp_relay_take(struct tp_relay *relay, const uint32_t *numbers, uint32_t count,
    const struct tp_relay_steps *steps)
{
	const struct tp_slices *slices = relay->slices;
	struct parcels parcels = {.steps = steps};
	while (parcels.cleared < count) {
		while (parcels.copied < count && parcels.copied - parcels.cleared < TP_RELAY_ROOMS)
			copy_next(relay, &parcels, numbers[parcels.copied]);
		const bool clear =
		    parcels.cleared < parcels.written &&
		    tp_slices_is_done(slices, parcel(&parcels, parcels.cleared)->clear);
		const bool copied =
		    parcels.written < parcels.copied &&
		    tp_slices_is_done(slices, parcel(&parcels, parcels.written)->copy);
		if (clear)
			supply_next(&parcels);
		if (copied)
			write_next(relay, &parcels);
		if (!clear && !copied)
			wait(relay);
	}
}
