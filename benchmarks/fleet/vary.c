// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Another run of a recorded program: vary [--raw] TRACE OUT SEED. Each call takes a time of its
// own, a function is slower or faster in the whole run, and some calls, with all that they call,
// did not happen. The same SEED makes the same file. It began SEED times 605 seconds after 14
// November 2023, so that a thousand take a week. --raw: without the costs of recording, so that
// times are as they are recorded.
//
// What did not happen becomes padding: records keep their places, which RESYNC names.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/trace.h>
#include <xxhash.h>

#define THREADS 1024
#define STARTED UINT64_C(1700000000)
#define STEP_S 605
#define PAD ((uint64_t)TEEPERF_CONTROL_PAD << 32)
#define LONGEST (1 << 21) // ticks of a stretch: the rest had no processor
#define FITS (UINT32_MAX / 5 * 3)
#define DROPPED_MOST (UINT32_MAX / 100) // of the calls of a function, in a run: a hundredth

struct open_call {
	uint64_t position;
	bool kept;
};

struct thread {
	bool begun;
	uint64_t old; // full time of the last record
	uint64_t now; // ... as it is written
	uint64_t random;
	uint64_t skip; // words that are no records
	struct open_call *stack;
	uint32_t depth;
	uint32_t room;
};

static struct thread threads[THREADS];
static uint64_t seed;
static uint64_t first = UINT64_MAX; // of all chunks
static uint64_t last;
static double scale; // of all times, so that long ones fit 32 bits
static uint64_t base;
static uint32_t chunk_shift;

static void fail(const char *what)
{
	fprintf(stderr, "vary: %s\n", what);
	exit(1);
}

static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint32_t draw(struct thread *thread)
{
	thread->random = mix(thread->random);
	return (uint32_t)thread->random;
}

// From 1 - SPAN to 1 + SPAN, of 32 random bits.
static double around_one(uint32_t bits, double span)
{
	return 1 + span * ((double)bits / 2147483648.0 - 1);
}

// Go on to the time OLD, in a call of NAME.
static void advance(struct thread *thread, uint64_t old, uint32_t name)
{
	if (old <= thread->old)
		return;
	const uint64_t passed = old - thread->old;
	const double ticks = (double)(passed < LONGEST ? passed : LONGEST) * scale *
			     around_one((uint32_t)mix(seed), 0.1) *
			     around_one((uint32_t)mix(mix(seed) + name), 0.1) *
			     around_one(draw(thread), 0.25);
	thread->old = old;
	thread->now += (uint64_t)(ticks + 0.5);
	if (thread->now >> 32 != base >> 32)
		fail("the recording is too long");
}

static void begin(struct thread *thread, const struct teeperf_chunk *chunk)
{
	thread->begun = true;
	thread->old = chunk->first_time;
	thread->now = base + (uint64_t)((double)(chunk->first_time - first) * scale);
	thread->random = mix(seed ^ mix(chunk->thread));
}

static void push(struct thread *thread, uint64_t position, bool kept)
{
	if (thread->depth == thread->room) {
		thread->room = thread->room ? 2 * thread->room : 64;
		thread->stack = realloc(thread->stack, thread->room * sizeof(*thread->stack));
		if (!thread->stack)
			fail("out of memory");
	}
	thread->stack[thread->depth++] = (struct open_call){position, kept};
}

// Whether a call that begins now happens.
static bool happens(struct thread *thread, uint32_t name)
{
	if (thread->depth && !thread->stack[thread->depth - 1].kept)
		return false;
	const uint64_t most = mix(seed * 31 + name) % DROPPED_MOST;
	return draw(thread) >= most || thread->depth < 2;
}

// A record of a function at *WORD. Returns the words that it has.
static uint32_t vary_record(
    struct thread *thread, uint64_t *word, uint64_t upper, uint64_t position)
{
	const uint32_t name = (uint32_t)(*word >> 32);
	const uint32_t kind = name & TEEPERF_KIND_MASK;
	bool kept = true;
	if (kind != TEEPERF_KIND_UNTIMED) {
		advance(thread, upper << 32 | (uint32_t)*word, name & ~TEEPERF_KIND_MASK);
		*word = (uint64_t)name << 32 | (uint32_t)thread->now;
	}
	if (kind == TEEPERF_KIND_ENTER) {
		kept = happens(thread, name);
		push(thread, position, kept);
	} else if (kind == TEEPERF_KIND_RESYNC) {
		const uint64_t to = word[1];
		while (to >= 64 && thread->depth && thread->stack[thread->depth - 1].position > to)
			thread->depth--;
		kept = !thread->depth || thread->stack[thread->depth - 1].position != to ||
		       thread->stack[thread->depth - 1].kept;
		if (!kept)
			word[0] = word[1] = PAD;
		return 2;
	} else if (thread->depth) {
		kept = thread->stack[--thread->depth].kept;
	}
	if (!kept)
		*word = PAD;
	return 1;
}

static void vary_chunk(struct teeperf_chunk *chunk)
{
	if (chunk->thread >= THREADS || chunk->used < sizeof(*chunk))
		fail("a chunk of a thread that is not possible");
	struct thread *thread = &threads[chunk->thread];
	uint64_t *words = (uint64_t *)(chunk + 1);
	const uint64_t count = (chunk->used - sizeof(*chunk)) / 8;
	uint64_t upper = chunk->first_time >> 32;
	if (!thread->begun)
		begin(thread, chunk);
	advance(thread, chunk->first_time, 0);
	chunk->first_time = thread->now;
	for (uint64_t i = 0; i < count;) {
		const uint32_t name = (uint32_t)(words[i] >> 32);
		if (thread->skip) {
			thread->skip--;
			i++;
		} else if (name >= TEEPERF_NAME_FIRST) {
			i += vary_record(thread, &words[i], upper,
			    (chunk->sequence << chunk_shift) + sizeof(*chunk) + 8 * i);
		} else {
			if (name == TEEPERF_CONTROL_COUNTS)
				thread->skip = 2 * (words[i] & UINT32_MAX);
			if (name >= TEEPERF_CONTROL_CALL_OUT)
				fail("a trace with borders, or stacks that move");
			if (name == TEEPERF_CONTROL_SYNC) {
				upper = (uint32_t)words[i];
				words[i] = PAD;
			}
			i++;
		}
	}
}

// Nobody finds the costs under another name.
static void hide_costs(char *text, uint64_t size)
{
	for (uint64_t i = 0; i + 5 < size; i++)
		if ((!i || text[i - 1] == '\n') && strncmp(text + i, "cost_", 5) == 0)
			text[i] = 'x';
}

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) != 0)
		fail("cannot read the trace");
	*size = (size_t)ftell(file);
	rewind(file);
	char *data = malloc(*size + 16);
	if (!data || fread(data, 1, *size, file) != *size)
		fail("cannot read all of the trace");
	fclose(file);
	return data;
}

// The section behind AT; NULL: there are no more.
static struct teeperf_section *section_at(char *data, size_t size, size_t at)
{
	struct teeperf_section *section = (struct teeperf_section *)(data + at);
	if (at + sizeof(*section) > size)
		return NULL;
	if (section->magic != TEEPERF_SECTION_MAGIC || section->size > size - at - sizeof(*section))
		fail("a damaged trace");
	if (section->type == TEEPERF_SECTION_PACKED)
		fail("a compressed trace");
	return section;
}

static size_t next_section(const struct teeperf_section *section, size_t at)
{
	return at + sizeof(*section) + ((section->size + 7) & ~UINT64_C(7));
}

int main(int argc, char **argv)
{
	const bool raw = argc > 1 && strcmp(argv[1], "--raw") == 0;
	argv += raw;
	argc -= raw;
	if (argc != 4) {
		fputs("usage: vary [--raw] TRACE OUT SEED\n", stderr);
		return 129;
	}
	size_t size;
	char *data = read_file(argv[1], &size);
	struct teeperf_trace_header *header = (struct teeperf_trace_header *)data;
	struct teeperf_section *section;
	seed = strtoull(argv[3], NULL, 10);
	if (size < sizeof(*header) || header->magic != TEEPERF_TRACE_MAGIC)
		fail("no trace");
	chunk_shift = header->chunk_shift;
	for (size_t at = header->header_size; (section = section_at(data, size, at));
	     at = next_section(section, at))
		if (section->type == TEEPERF_SECTION_CHUNK) {
			const struct teeperf_chunk *chunk = (struct teeperf_chunk *)(section + 1);
			first = chunk->first_time < first ? chunk->first_time : first;
			last = chunk->first_time > last ? chunk->first_time : last;
		}
	base = ((first >> 32) + 1) << 32;
	scale = last - first > FITS ? (double)FITS / (double)(last - first) : 1;
	for (size_t at = header->header_size; (section = section_at(data, size, at));
	     at = next_section(section, at)) {
		if (section->type == TEEPERF_SECTION_CHUNK)
			vary_chunk((struct teeperf_chunk *)(section + 1));
		else if (section->type == TEEPERF_SECTION_HOST && raw)
			hide_costs((char *)(section + 1), section->size);
		else
			continue;
		section->checksum = (uint32_t)XXH3_64bits(section + 1, section->size);
	}
	header->created_unix_ns = (STARTED + seed * STEP_S) * UINT64_C(1000000000);
	FILE *out = fopen(argv[2], "wb");
	if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0)
		fail("cannot write");
	return 0;
}
