// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls and own time of each function, chunk by chunk.
#include "learn.h"

#include "common/chunks/records.h"

#include <stdlib.h>
#include <string.h>

enum {
	HEADER_WORDS = sizeof(struct teeperf_chunk) / 8,
	// calls of a chunk that are known to be open; those above them count for the last one
	DEPTH = 256,
	CHUNKS_EACH = 64, // looked at between two takings, more or less: half a million records
};

bool tp_learn_init(struct tp_learn *learn)
{
	*learn = (struct tp_learn){.lock = PTHREAD_MUTEX_INITIALIZER,
	    .slots = calloc(TP_LEARN_SLOTS, sizeof(*learn->slots)),
	    .functions = calloc(TP_LEARN_FUNCTIONS, sizeof(*learn->functions)),
	    .stride = 1};
	return learn->slots && learn->functions;
}

void tp_learn_release(struct tp_learn *learn)
{
	free(learn->slots);
	free(learn->functions);
	learn->slots = NULL;
	learn->functions = NULL;
}

// NULL: there is no room for one more. The program writes the names, and could choose such as make
// each search long.
static struct tp_learn_function *find(struct tp_learn *learn, uint32_t name)
{
	enum { LOOKS_MOST = 64 };
	uint32_t slot = (name >> 2) * UINT32_C(2654435761) >> 17;
	for (int looks = 0; learn->slots[slot]; slot = (slot + 1) % TP_LEARN_SLOTS) {
		if (++looks > LOOKS_MOST)
			return NULL;
		struct tp_learn_function *here = &learn->functions[learn->slots[slot] - 1];
		if (here->name == name)
			return here;
	}
	if (learn->count == TP_LEARN_FUNCTIONS)
		return NULL;
	learn->slots[slot] = (uint16_t)(learn->count + 1);
	learn->functions[learn->count].name = name;
	return &learn->functions[learn->count++];
}

// The calls of a chunk that are open, innermost last.
struct walk {
	struct tp_learn *learn;
	uint64_t last; // ticks of the record before, 0: none
	uint32_t depth;
	struct {
		struct tp_learn_function *function;
		uint64_t position;
	} open[DEPTH];
	struct tp_learn_function *untimed; // it has ended somewhere before the next record
};

static struct tp_learn_sum *sum_of(
    const struct tp_learn *learn, struct tp_learn_function *function, uint64_t time)
{
	if (time >= learn->from && time < learn->to)
		return &function->window;
	return time < learn->since ? &function->late : &function->usual;
}

// The time up to NOW is that of the innermost call, of LEAVING if the chunk does not know its
// begin.
static void credit(struct walk *walk, uint64_t now, struct tp_learn_function *leaving)
{
	struct tp_learn_function *function = walk->untimed ? walk->untimed
					     : walk->depth ? walk->open[walk->depth - 1].function
							   : leaving;
	if (function && walk->last && now > walk->last)
		sum_of(walk->learn, function, now)->ticks += (double)(now - walk->last);
	walk->untimed = NULL;
	walk->last = now;
}

static void leave(struct walk *walk, uint32_t name, uint64_t now, bool timed)
{
	struct tp_learn_function *function = find(walk->learn, name);
	if (timed)
		credit(walk, now, function);
	else
		walk->untimed = function;
	// Calls that were not seen to end have: control came back from above.
	uint32_t depth = walk->depth;
	while (depth && walk->open[depth - 1].function != function)
		depth--;
	walk->depth = depth ? depth - 1 : 0;
}

static void enter(struct walk *walk, uint32_t name, uint64_t now, uint64_t position)
{
	credit(walk, now, NULL);
	struct tp_learn_function *function = find(walk->learn, name);
	if (function)
		sum_of(walk->learn, function, now)->calls++;
	if (walk->depth < DEPTH) {
		walk->open[walk->depth].function = function;
		walk->open[walk->depth++].position = position;
	}
}

// The activation at a position runs on; those above it have ended. On another stack none of ours is
// known.
static void resume(struct walk *walk, uint64_t position, uint64_t now)
{
	credit(walk, now, NULL);
	if (position & TEEPERF_POSITION_LEAVES || position == TEEPERF_POSITION_ELSEWHERE)
		walk->depth = 0;
	while (walk->depth && walk->open[walk->depth - 1].position > position)
		walk->depth--;
}

static void read_records(struct tp_learn *learn, const struct teeperf_chunk *chunk)
{
	const uint64_t begin = (chunk->sequence << TEEPERF_CHUNK_SHIFT_DEFAULT) + sizeof(*chunk);
	struct tp_record_cursor at = tp_records_begin((const uint64_t *)(chunk + 1),
	    (uint32_t)(chunk->used / 8 - HEADER_WORDS), chunk->first_time);
	struct walk walk = {.learn = learn};
	for (struct tp_record record; tp_record_next(&at, &record);) {
		const uint32_t name = record.tagged & ~TEEPERF_KIND_MASK;
		if (record.form == TP_RECORD_ENTER)
			enter(&walk, name, record.time, begin + 8 * (uint64_t)record.at);
		else if (record.form == TP_RECORD_RESYNC && !record.cut)
			resume(&walk, *record.more, record.time);
		else if (record.form <= TP_RECORD_UNTIMED)
			leave(&walk, name, record.time, record.timed);
	}
}

void tp_learn_see(struct tp_learn *learn, const struct teeperf_chunk *chunk)
{
	const uint64_t words = chunk->used / 8 - HEADER_WORDS;
	pthread_mutex_lock(&learn->lock);
	learn->words += words;
	if (learn->chunks++ % learn->stride == 0) {
		learn->words_read += words;
		read_records(learn, chunk);
	}
	pthread_mutex_unlock(&learn->lock);
}

void tp_learn_set_window(struct tp_learn *learn, uint64_t from, uint64_t to)
{
	pthread_mutex_lock(&learn->lock);
	learn->from = from;
	learn->to = to;
	pthread_mutex_unlock(&learn->lock);
}

void tp_learn_set_since(struct tp_learn *learn, uint64_t since)
{
	pthread_mutex_lock(&learn->lock);
	learn->since = since;
	pthread_mutex_unlock(&learn->lock);
}

static struct tp_learn_sum scaled(struct tp_learn_sum sum, double factor)
{
	return (struct tp_learn_sum){sum.calls * factor, sum.ticks * factor};
}

uint32_t tp_learn_take(struct tp_learn *learn, struct tp_learn_function *functions, double *calls)
{
	pthread_mutex_lock(&learn->lock);
	const uint32_t count = learn->count;
	const double factor =
	    learn->words_read ? (double)learn->words / (double)learn->words_read : 1;
	for (uint32_t i = 0; i < count; i++) {
		struct tp_learn_function *from = &learn->functions[i];
		functions[i] = (struct tp_learn_function){from->name, scaled(from->usual, factor),
		    scaled(from->window, factor), scaled(from->late, factor)};
		from->usual = from->window = from->late = (struct tp_learn_sum){0, 0};
	}
	*calls = (double)learn->words / 2;
	learn->stride = learn->chunks / CHUNKS_EACH + 1;
	learn->chunks = learn->words = learn->words_read = 0;
	pthread_mutex_unlock(&learn->lock);
	return count;
}
