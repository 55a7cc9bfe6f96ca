// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The single calls of a trace, to be read in any order.
#define _GNU_SOURCE
#include "call_store.h"

#include "common/array.h"
#include "common/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORKERS_MAX 64

// Which words of a thread's chunks begin a call, and how many do before each.
struct marks {
	const struct tp_thread *thread;
	uint32_t chunk_shift;
	uint64_t *first_word; // of each chunk, all words in a row
	uint64_t word_count;
	uint64_t *bits;
	uint64_t *ranks; // of each 64 of them
	uint64_t chunk;  // that was looked at last
	// The same for calls that came from other threads (moves.h), which come behind all others.
	uint64_t *moved;
	uint64_t *moved_ranks;
	uint64_t moved_words;
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

// Threads to load, for workers.
struct work {
	struct tp_call_store *store;
	atomic_uint next;
	pthread_mutex_t lock;
	int code; // under lock: the first error, and err
	struct tp_err err;
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
		return tp_err_set(err, TP_ERR_MEMORY, analysis->trace->source.name,
		    TP_ERR_NO_OFFSET, "no memory for the calls");
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
	free(marks->bits);
	free(marks->ranks);
	free(marks->moved);
	free(marks->moved_ranks);
}

static bool marks_init(struct marks *marks, const struct tp_thread *thread, uint32_t chunk_shift)
{
	*marks = (struct marks){.thread = thread, .chunk_shift = chunk_shift};
	marks->first_word = calloc(thread->chunk_count + 1, sizeof(*marks->first_word));
	if (!marks->first_word)
		return false;
	for (uint64_t i = 0; i < thread->chunk_count; i++) {
		marks->first_word[i] = marks->word_count;
		marks->word_count += thread->chunks[i].word_count;
	}
	const uint64_t count = marks->word_count / 64 + 1;
	marks->bits = calloc(count, sizeof(*marks->bits));
	marks->ranks = calloc(count, sizeof(*marks->ranks));
	return marks->bits && marks->ranks;
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
	const uint64_t word = id & TP_CALL_MOVED ? id & ~TP_CALL_MOVED : marks_word(marks, id);
	if (word == UINT64_MAX)
		return NULL;
	*bit = UINT64_C(1) << (word % 64);
	if (!(id & TP_CALL_MOVED))
		return &marks->bits[word / 64];
	const uint64_t before = marks->moved_words;
	if (!TP_GROW(marks->moved, marks->moved_words, word / 64 + 1))
		return NULL;
	if (marks->moved_words > before)
		memset(&marks->moved[before], 0, (marks->moved_words - before) * sizeof(uint64_t));
	return &marks->moved[word / 64];
}

// False: no memory.
static bool marks_rank(struct marks *marks)
{
	uint64_t before = 0;
	for (uint64_t i = 0; i < marks->word_count / 64 + 1; i++) {
		marks->ranks[i] = before;
		before += (uint64_t)__builtin_popcountll(marks->bits[i]);
	}
	marks->moved_ranks = calloc(marks->moved_words + 1, sizeof(*marks->moved_ranks));
	for (uint64_t i = 0; marks->moved_ranks && i < marks->moved_words; i++) {
		marks->moved_ranks[i] = before;
		before += (uint64_t)__builtin_popcountll(marks->moved[i]);
	}
	return marks->moved_ranks;
}

// As marks_row, of a call that came from another thread: how many such calls came before, and all others.
static uint64_t marks_moved_row(const struct marks *marks, uint64_t number)
{
	if (number / 64 >= marks->moved_words || !(marks->moved[number / 64] >> (number % 64) & 1))
		return UINT64_MAX;
	const uint64_t below = marks->moved[number / 64] & ((UINT64_C(1) << (number % 64)) - 1);
	return marks->moved_ranks[number / 64] + (uint64_t)__builtin_popcountll(below);
}

// How many calls began before the one with this id; UINT64_MAX if it is not marked.
static uint64_t marks_row(struct marks *marks, uint64_t id)
{
	if (id & TP_CALL_MOVED)
		return marks_moved_row(marks, id & ~TP_CALL_MOVED);
	const uint64_t word = marks_word(marks, id);
	if (word == UINT64_MAX || !(marks->bits[word / 64] >> (word % 64) & 1))
		return UINT64_MAX;
	const uint64_t below = marks->bits[word / 64] & ((UINT64_C(1) << (word % 64)) - 1);
	return marks->ranks[word / 64] + (uint64_t)__builtin_popcountll(below);
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

// The index of a new wide call, plus 1; 0: no memory.
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
	    .cost = call->cost,
	    .how = (uint8_t)call->how,
	    .away = call->away,
	};
	return to->wide_count;
}

static void put_call(void *context, const struct tp_call *call)
{
	struct load *load = context;
	const uint64_t row = marks_row(&load->marks, call->id);
	if (row >= load->to->rows)
		return;
	const uint64_t parent = call->parent ? marks_row(&load->marks, call->parent) : UINT64_MAX;
	const bool wide = call->how || call->away || call->duration > UINT32_MAX ||
			  call->cost > UINT32_MAX || call->end - call->start != call->duration;
	load->to->calls[row] = (struct tp_packed_call){
	    .start = call->start,
	    .duration = (uint32_t)call->duration,
	    .self = (uint32_t)call->self,
	    .cost = (uint32_t)call->cost,
	    .path = call->node < load->node_count ? load->of_node[call->node] : 0,
	    .parent = parent < load->to->rows ? (uint32_t)parent : UINT32_MAX,
	    .wide = wide ? add_wide(load, call) : 0,
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
		return tp_err_set(err, TP_ERR_LIMIT, name, TP_ERR_NO_OFFSET,
		    "thread %u has more than 2^32 calls: take a part with --time-range or --min-time",
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
		    "cannot make a file for %llu MiB of calls (TMPDIR says where)",
		    (unsigned long long)(bytes >> 20));
	to->mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    fits ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (to->mapping == MAP_FAILED) {
		to->mapping = NULL;
		forget_memory(store, fits ? bytes : 0);
		return tp_err_set(
		    err, TP_ERR_MEMORY, name, TP_ERR_NO_OFFSET, "no memory for the calls");
	}
	to->mapped_bytes = bytes;
	to->in_memory = fits;
	to->calls = to->mapping;
	return 0;
}

static int load_thread(struct tp_call_store *store, uint32_t thread, struct tp_err *err)
{
	const struct tp_analysis *analysis = store->analysis;
	struct tp_stored_thread *to = &store->threads[thread];
	struct load load = {
	    .store = store,
	    .to = to,
	    .of_node = store->paths->of_node[thread],
	    .node_count = analysis->threads[thread].profile.node_count,
	    .sink = {.context = &load, .leave = mark_call},
	};
	to->rows = 0;
	to->wide_count = 0;
	int code = 0;
	if (!to->count)
		goto out;
	if (!marks_init(
		&load.marks, analysis->threads[thread].thread, analysis->trace->header.chunk_shift))
		code = tp_err_set(err, TP_ERR_MEMORY, analysis->trace->source.name,
		    TP_ERR_NO_OFFSET, "no memory for the calls");
	// A thread whose records end in an error was analysed up to there; its calls are, too.
	const bool damaged = analysis->threads[thread].code != 0;
	if (!code)
		code = tp_calls_each(analysis, thread, &load.sink, err);
	if (code && damaged && code == analysis->threads[thread].code)
		code = 0;
	if (!code)
		code = map_calls(&load, err);
	if (!code && to->rows) {
		load.no_memory = !marks_rank(&load.marks);
		load.sink.leave = put_call;
		if (!load.no_memory)
			code = tp_calls_each(analysis, thread, &load.sink, err);
		if (code && damaged && code == analysis->threads[thread].code)
			code = 0;
	}
	if (!code && load.no_memory)
		code = tp_err_set(err, TP_ERR_MEMORY, analysis->trace->source.name,
		    TP_ERR_NO_OFFSET, "no memory for the calls");
	if (!code && given_up(store))
		code = tp_err_set(err, TP_ERR_LIMIT, analysis->trace->source.name, TP_ERR_NO_OFFSET,
		    "interrupted");
out:
	marks_release(&load.marks);
	if (code)
		tp_call_store_forget(store, thread);
	to->loaded = !code;
	return code;
}

static void *worker(void *argument)
{
	struct work *work = argument;
	for (;;) {
		const unsigned next = atomic_fetch_add(&work->next, 1);
		if (next >= work->store->thread_count)
			return NULL;
		struct tp_err err;
		if (work->store->threads[next].loaded)
			continue;
		const int code = load_thread(work->store, next, &err);
		if (!code)
			continue;
		pthread_mutex_lock(&work->lock);
		if (!work->code) {
			work->code = code;
			work->err = err;
		}
		pthread_mutex_unlock(&work->lock);
		return NULL;
	}
}

int tp_call_store_load(struct tp_call_store *store, uint32_t thread, struct tp_err *err)
{
	if (thread != TP_CALL_STORE_ALL)
		return store->threads[thread].loaded ? 0 : load_thread(store, thread, err);
	struct work work = {.store = store, .lock = PTHREAD_MUTEX_INITIALIZER};
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t workers = cpus > 0 ? (uint32_t)cpus : 1;
	uint32_t missing = 0;
	for (uint32_t i = 0; i < store->thread_count; i++)
		missing += !store->threads[i].loaded;
	workers = workers < missing ? workers : missing;
	workers = workers < WORKERS_MAX ? workers : WORKERS_MAX;
	pthread_t threads[WORKERS_MAX];
	uint32_t started = 0;
	// This thread works as well, so a failed pthread_create costs only time.
	while (started + 1 < workers && pthread_create(&threads[started], NULL, worker, &work) == 0)
		started++;
	worker(&work);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	if (work.code && err)
		*err = work.err;
	return work.code;
}
