// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The single calls of a trace, to be read in any order.
#define _GNU_SOURCE
#include "call_store.h"

#include "analyzer/profile/workers.h"
#include "common/array.h"
#include "common/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Numbers, and how many of them are below each.
struct numbers {
	uint64_t *bits;
	uint64_t *ranks; // of each 64 of them
	uint64_t words;
};

// Which words of a thread's chunks begin a call.
struct marks {
	const struct tp_thread *thread;
	uint32_t chunk_shift;
	uint64_t *first_word; // of each chunk, all words in a row
	uint64_t chunk;       // that was looked at last
	struct numbers own;
	struct numbers
	    moved; // calls that came from other threads (moves.h), which come behind all others
};

struct load {
	struct tp_call_store *store;
	struct tp_stored_thread *to;
	const uint32_t *of_node; // paths
	uint32_t node_count;
	struct marks marks;
	struct tp_call_sink sink;
	bool no_memory;
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

const char *tp_call_end_name(uint8_t how)
{
	static const char *const names[] = {
	    [TP_CALL_RETURNED] = "returned",
	    [TP_CALL_UNWOUND] = "unwound",
	    [TP_CALL_CUT] = "cut",
	    [TP_CALL_OPEN] = "open",
	    [TP_CALL_NO_RETURN] = "no return",
	};
	return how < sizeof(names) / sizeof(names[0]) ? names[how] : "";
}

int tp_call_store_init(struct tp_call_store *store, const struct tp_analysis *analysis,
    const struct tp_paths *paths, struct tp_err *err)
{
	*store = (struct tp_call_store){
	    .analysis = analysis,
	    .paths = paths,
	    .memory_limit = TP_CALL_STORE_MEMORY,
	    .threads = calloc((size_t)analysis->thread_count + 1, sizeof(*store->threads)),
	};
	if (!store->threads)
		return tp_err_memory(err, analysis->trace->source.name);
	store->thread_count = analysis->thread_count;
	for (uint32_t i = 0; i < store->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		struct tp_stored_thread *thread = &store->threads[i];
		for (uint32_t j = 1; j < profile->node_count; j++)
			if (profile->nodes[j].function)
				thread->count += profile->nodes[j].calls;
		thread->first = store->count;
		store->count += thread->count;
	}
	return 0;
}

void tp_call_store_release(struct tp_call_store *store)
{
	for (uint32_t i = 0; i < store->thread_count; i++)
		tp_call_store_forget(store, i);
	free(store->threads);
	*store = (struct tp_call_store){0};
}

static void forget_memory(struct tp_call_store *store, uint64_t bytes)
{
	pthread_mutex_lock(&memory_lock);
	store->memory_bytes -= bytes;
	pthread_mutex_unlock(&memory_lock);
}

void tp_call_store_forget(struct tp_call_store *store, uint32_t thread)
{
	struct tp_stored_thread *to = &store->threads[thread];
	if (to->mapping) {
		munmap(to->mapping, to->mapped_bytes);
		forget_memory(store, to->in_memory ? to->mapped_bytes : 0);
	}
	free(to->wide);
	*to = (struct tp_stored_thread){.first = to->first, .count = to->count};
}

// ---- marks

static void marks_release(struct marks *marks)
{
	free(marks->first_word);
	free(marks->own.bits);
	free(marks->own.ranks);
	free(marks->moved.bits);
	free(marks->moved.ranks);
}

static bool marks_init(struct marks *marks, const struct tp_thread *thread, uint32_t chunk_shift)
{
	uint64_t count = 0;
	*marks = (struct marks){.thread = thread, .chunk_shift = chunk_shift};
	marks->first_word = calloc(thread->chunk_count + 1, sizeof(*marks->first_word));
	if (!marks->first_word)
		return false;
	for (uint64_t i = 0; i < thread->chunk_count; i++) {
		marks->first_word[i] = count;
		count += thread->chunks[i].word_count;
	}
	marks->own.words = count / 64 + 1;
	marks->own.bits = calloc(marks->own.words, sizeof(*marks->own.bits));
	return marks->own.bits;
}

// The place of the record with this id among all words of the thread; UINT64_MAX: there is none.
static uint64_t marks_word(struct marks *marks, uint64_t id)
{
	const struct tp_chunk *chunks = marks->thread->chunks;
	const uint64_t sequence = id >> marks->chunk_shift;
	uint64_t at = marks->chunk;
	if (at >= marks->thread->chunk_count || chunks[at].sequence != sequence) {
		at = TP_LOWER_BOUND(
		    0, marks->thread->chunk_count, middle, chunks[middle].sequence < sequence);
		if (at >= marks->thread->chunk_count || chunks[at].sequence != sequence)
			return UINT64_MAX;
		marks->chunk = at;
	}
	const uint64_t offset = id & ((UINT64_C(1) << marks->chunk_shift) - 1);
	const uint64_t word = (offset - sizeof(struct teeperf_chunk)) / 8;
	return offset >= sizeof(struct teeperf_chunk) && word < chunks[at].word_count
		   ? marks->first_word[at] + word
		   : UINT64_MAX;
}

// The bit of the call with this id; NULL: there can be none, or there is no memory.
static uint64_t *marks_bits(struct marks *marks, uint64_t id, uint64_t *bit)
{
	struct numbers *moved = &marks->moved;
	const uint64_t word = id & TP_CALL_MOVED ? id & ~TP_CALL_MOVED : marks_word(marks, id);
	if (word == UINT64_MAX)
		return NULL;
	*bit = UINT64_C(1) << (word % 64);
	if (!(id & TP_CALL_MOVED))
		return &marks->own.bits[word / 64];
	const uint64_t before = moved->words;
	if (!TP_GROW(moved->bits, moved->words, word / 64 + 1))
		return NULL;
	if (moved->words > before)
		memset(&moved->bits[before], 0, (moved->words - before) * sizeof(uint64_t));
	return &moved->bits[word / 64];
}

// With *BEFORE numbers in front of them, to which these are added. False: no memory.
static bool rank(struct numbers *numbers, uint64_t *before)
{
	numbers->ranks = calloc(numbers->words + 1, sizeof(*numbers->ranks));
	for (uint64_t i = 0; numbers->ranks && i < numbers->words; i++) {
		numbers->ranks[i] = *before;
		*before += (uint64_t)__builtin_popcountll(numbers->bits[i]);
	}
	return numbers->ranks;
}

// How many calls began before the one with this id; UINT64_MAX if it is not marked.
static uint64_t marks_row(struct marks *marks, uint64_t id)
{
	const bool moved = id & TP_CALL_MOVED;
	const struct numbers *numbers = moved ? &marks->moved : &marks->own;
	const uint64_t number = moved ? id & ~TP_CALL_MOVED : marks_word(marks, id);
	if (number / 64 >= numbers->words || !(numbers->bits[number / 64] >> (number % 64) & 1))
		return UINT64_MAX;
	const uint64_t below = numbers->bits[number / 64] & ((UINT64_C(1) << (number % 64)) - 1);
	return numbers->ranks[number / 64] + (uint64_t)__builtin_popcountll(below);
}

// ---- loading a thread

static bool given_up(const struct tp_call_store *store)
{
	return store->give_up && atomic_load_explicit(store->give_up, memory_order_relaxed);
}

static void mark_call(void *context, const struct tp_call *call)
{
	struct load *load = context;
	uint64_t bit;
	uint64_t *bits = marks_bits(&load->marks, call->id, &bit);
	if (!bits)
		return;
	if (!(*bits & bit) && load->to->rows < load->to->count) {
		*bits |= bit;
		load->to->rows++;
	}
	load->sink.stop = given_up(load->store);
}

// The index of a new wide call; 0, too: no memory.
static uint32_t add_wide(struct load *load, const struct tp_call *call)
{
	struct tp_stored_thread *to = load->to;
	if (!TP_GROW(to->wide, to->wide_capacity, to->wide_count + UINT64_C(1))) {
		load->no_memory = true;
		return 0;
	}
	to->wide[to->wide_count++] = (struct tp_wide_call){
	    .end = call->end,
	    .duration = call->duration,
	    .self = call->self,
	    .net = call->net,
	    .off = call->off,
	    .self_off = call->self_off,
	    .how = (uint8_t)call->how,
	    .away = call->away,
	};
	return to->wide_count - 1;
}

static void put_call(void *context, const struct tp_call *call)
{
	struct load *load = context;
	const uint64_t row = marks_row(&load->marks, call->id);
	if (row >= load->to->rows)
		return;
	const uint64_t parent = call->parent ? marks_row(&load->marks, call->parent) : UINT64_MAX;
	const bool wide = call->how || call->away || call->duration >= UINT32_MAX ||
			  call->end - call->start != call->duration || call->off.blocked ||
			  call->off.preempted;
	load->to->calls[row] = (struct tp_packed_call){
	    .start = call->start,
	    .duration = wide ? UINT32_MAX : (uint32_t)call->duration,
	    .self = wide ? add_wide(load, call) : (uint32_t)call->self,
	    .cost = (uint32_t)(call->duration - call->net.inclusive),
	    .self_cost = (uint32_t)(call->self - call->net.self),
	    .path = call->node < load->node_count ? load->of_node[call->node] : 0,
	    .parent = parent < load->to->rows ? (uint32_t)parent : UINT32_MAX,
	};
	load->sink.stop = load->no_memory || given_up(load->store);
}

// A file without a name, of BYTES bytes that are there; -1 and errno.
static int temporary_file(uint64_t bytes, const char **directory)
{
	const int fd = tp_temporary_open(directory);
	if (fd < 0)
		return -1;
	// A hole that the disk has no room for would be a signal when it is written to.
	const int failed = posix_fallocate(fd, 0, (off_t)bytes);
	if (!failed)
		return fd;
	close(fd);
	errno = failed;
	return -1;
}

static int map_calls(struct load *load, struct tp_err *err)
{
	struct tp_call_store *store = load->store;
	struct tp_stored_thread *to = load->to;
	const char *name = store->analysis->trace->source.name;
	if (!to->rows)
		return 0;
	if (to->rows >= UINT32_MAX)
		return tp_err_set(err, TP_ERR_LIMIT, name,
		    "thread %u has more than 2^32 calls: select a part with --time-range or "
		    "--min-time",
		    store->analysis->threads[to - store->threads].thread->number);
	const uint64_t bytes = to->rows * sizeof(*to->calls);
	pthread_mutex_lock(&memory_lock);
	const bool fits =
	    bytes <= store->memory_limit && store->memory_bytes <= store->memory_limit - bytes;
	store->memory_bytes += fits ? bytes : 0;
	pthread_mutex_unlock(&memory_lock);
	const char *directory = NULL;
	const int fd = fits ? -1 : temporary_file(bytes, &directory);
	if (!fits && fd < 0)
		return tp_err_system(err, errno, directory,
		    "cannot create a file for %llu MiB of calls; set TMPDIR to another folder",
		    (unsigned long long)(bytes >> 20));
	to->mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    fits ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (to->mapping == MAP_FAILED) {
		to->mapping = NULL;
		forget_memory(store, fits ? bytes : 0);
		return tp_err_memory(err, name);
	}
	to->mapped_bytes = bytes;
	to->in_memory = fits;
	to->calls = to->mapping;
	return 0;
}

// Hand all calls to the sink, of a thread whose records end in an error up to there: so they were
// analysed.
static int each_call(struct load *load, uint32_t thread, struct tp_err *err)
{
	const struct tp_analysis *analysis = load->store->analysis;
	const int code = tp_calls_each(analysis, thread, &load->sink, err);
	return code == analysis->threads[thread].code ? 0 : code;
}

static int compare_starts(const void *a, const void *b, void *context)
{
	const struct tp_packed_call *calls = context;
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	const int order = TP_COMPARE(calls[x].start, calls[y].start);
	return order ? order : TP_COMPARE(x, y);
}

// Rows by their start, of which those from row OWN on are of calls that came from other threads:
// who looks for a time, or for what a call has called, goes by that. A call's caller may be one
// that has moved, and then begins at the same time at the latest: so it comes first. False: no
// memory.
static bool sort_by_start(struct tp_stored_thread *to, uint64_t own)
{
	const uint64_t moved = to->rows - own;
	uint32_t *order = malloc((moved + 1) * sizeof(*order));
	uint32_t *place = malloc((to->rows + 1) * sizeof(*place));
	struct tp_packed_call *calls = malloc((to->rows + 1) * sizeof(*calls));
	const bool memory = order && place && calls;
	for (uint64_t i = 0; memory && i < moved; i++)
		order[i] = (uint32_t)(own + i);
	if (memory && moved)
		qsort_r(order, moved, sizeof(*order), compare_starts, to->calls);
	for (uint64_t row = 0, i = 0, j = 0; memory && row < to->rows; row++) {
		const bool is_moved =
		    j < moved && (i == own || to->calls[order[j]].start <= to->calls[i].start);
		const uint64_t from = is_moved ? order[j++] : i++;
		calls[row] = to->calls[from];
		place[from] = (uint32_t)row;
	}
	for (uint64_t row = 0; memory && row < to->rows; row++) {
		to->calls[row] = calls[row];
		if (calls[row].parent != UINT32_MAX)
			to->calls[row].parent = place[calls[row].parent];
	}
	free(order);
	free(place);
	free(calls);
	return memory;
}

static int load_thread(struct tp_call_store *store, uint32_t thread, struct tp_err *err)
{
	const struct tp_analysis *analysis = store->analysis;
	const char *name = analysis->trace->source.name;
	struct tp_stored_thread *to = &store->threads[thread];
	struct load load = {
	    .store = store,
	    .to = to,
	    .of_node = store->paths->of_node[thread],
	    .node_count = analysis->threads[thread].profile.node_count,
	    .sink = {.context = &load, .leave = mark_call},
	};
	uint64_t before = 0;
	to->rows = 0;
	to->wide_count = 0;
	int code = 0;
	if (!to->count)
		goto out;
	load.no_memory = !marks_init(
	    &load.marks, analysis->threads[thread].thread, analysis->trace->header.chunk_shift);
	if (!load.no_memory)
		code = each_call(&load, thread, err);
	if (!code && !load.no_memory)
		code = map_calls(&load, err);
	if (!code && to->rows) {
		load.no_memory = !rank(&load.marks.own, &before);
		const uint64_t own = before;
		load.no_memory = load.no_memory || !rank(&load.marks.moved, &before);
		load.sink.leave = put_call;
		if (!load.no_memory)
			code = each_call(&load, thread, err);
		if (!code && !load.no_memory && to->rows > own)
			load.no_memory = !sort_by_start(to, own);
	}
	if (!code && load.no_memory)
		code = tp_err_memory(err, name);
	if (!code && given_up(store))
		code = tp_err_set(err, TP_ERR_LIMIT, name, "interrupted");
out:
	marks_release(&load.marks);
	if (code)
		tp_call_store_forget(store, thread);
	to->loaded = !code;
	return code;
}

static int load_missing(void *context, uint32_t thread, struct tp_err *err)
{
	struct tp_call_store *store = context;
	return store->threads[thread].loaded ? 0 : load_thread(store, thread, err);
}

int tp_call_store_load(struct tp_call_store *store, uint32_t thread, struct tp_err *err)
{
	return thread == TP_CALL_STORE_ALL ? tp_workers_each(store->thread_count,
						 tp_workers_count(), load_missing, store, err)
					   : load_missing(store, thread, err);
}
