// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Room for the counts of functions whose calls are only counted. Built without vector registers,
// like thread.c.
#include "runtime.h"

/*
 * The object files with counted functions. They come and go one at a time, under the loader's lock;
 * who removes one waits until no thread that ends walks the list, because the object is unmapped
 * then.
 */
static struct teeperf_counted *first;
static int64_t walkers;

// What an object file's pointer has its offset from.
static uintptr_t base(void)
{
#if TP_ONE_THREAD
	return 0;
#else
	return (uintptr_t)__builtin_thread_pointer();
#endif
}

static uint64_t *pointer_of(const struct teeperf_counted *counted)
{
	return (uint64_t *)(base() + (uintptr_t)counted->offset);
}

void __teeperf_counted(struct teeperf_counted *counted, void **pointer)
{
	// Where constructors may be called twice (abi.h).
	if (TP_ONE_THREAD && counted->offset)
		return;
	counted->offset = (int64_t)((uintptr_t)pointer - base());
	counted->next = first;
	__atomic_store_n(&first, counted, __ATOMIC_SEQ_CST);
}

void __teeperf_counted_gone(struct teeperf_counted *counted)
{
	struct teeperf_counted **link = &first;
	while (*link && *link != counted)
		link = &(*link)->next;
	if (!*link)
		return;
	__atomic_store_n(link, counted->next, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&walkers, __ATOMIC_SEQ_CST) > tp_thread.count_walks)
		;
}

void tp_counts_retake(void)
{
	for (; tp_thread.count_walks; tp_thread.count_walks--)
		__atomic_fetch_sub(&walkers, 1, __ATOMIC_SEQ_CST);
}

void tp_counts_gone(uint64_t start, uint64_t end)
{
	for (struct teeperf_counted *at = first; at; at = at->next)
		if ((uint64_t)(uintptr_t)at >= start && (uint64_t)(uintptr_t)at < end)
			__teeperf_counted_gone(at);
}

static void forget_pointers(void)
{
	tp_thread.count_walks++;
	tp_barrier_signal();
	__atomic_fetch_add(&walkers, 1, __ATOMIC_SEQ_CST);
	for (struct teeperf_counted *at = __atomic_load_n(&first, __ATOMIC_SEQ_CST); at;
	     at = __atomic_load_n(&at->next, __ATOMIC_SEQ_CST))
		*pointer_of(at) = 0;
	if (!tp_thread.count_walks)
		return; // as in tp_gates_set
	__atomic_fetch_sub(&walkers, 1, __ATOMIC_SEQ_CST);
	tp_barrier_signal();
	tp_thread.count_walks--;
}

static bool used;

bool tp_counts_used(void)
{
	return used;
}

void tp_counts_forget(void)
{
	forget_pointers();
	tp_thread.count_chunk_count = 0;
}

void tp_counts_forked(void)
{
	walkers = tp_thread.count_walks;
	tp_counts_forget();
}

// Room for a COUNTS record of `count` pairs, and a word before and behind it: its address, or 0.
static uint64_t make_room(const struct teeperf_counted *counted)
{
	const uint64_t count = counted->count;
	const uint64_t size = 8 * (1 + 1 + 2 * count + 1);
	uint64_t n = tp_thread.count_chunk_count;
	if (count > TEEPERF_COUNTED_MAX)
		return 0;
	if (n == 0 || tp_thread.count_used[n - 1] + size > TP_CHUNK_SIZE) {
		if (n == TP_COUNT_CHUNKS)
			return 0;
		const uint64_t taken = tp_thread_take_extra();
		if (!taken)
			return 0;
		tp_thread.count_chunks[n] = (uint32_t)taken;
		tp_thread.count_used[n] = sizeof(struct teeperf_chunk);
		tp_barrier_signal();
		tp_thread.count_chunk_count = (uint8_t)++n;
	}
	const uint64_t chunk = tp_thread.count_chunks[n - 1];
	// Another module may have been at these addresses before.
	const uint64_t module = tp_module_number((uint64_t)(uintptr_t)counted);
	uint64_t *word =
	    (uint64_t *)(uintptr_t)(tp_chunk_address(chunk) + tp_thread.count_used[n - 1]);
	// The place is taken at once and the pairs are 0 so far: a signal handler may jump out of
	// here.
	tp_thread.count_used[n - 1] += (uint32_t)size;
	tp_barrier_signal();
	tp_store_relaxed(word++, module | (uint64_t)TEEPERF_CONTROL_MODULE << 32);
	const uint64_t at = (uint64_t)(uintptr_t)word;
	tp_store_relaxed(word, count | (uint64_t)TEEPERF_CONTROL_COUNTS << 32);
	for (uint64_t i = 0; i < count; i++)
		tp_store_relaxed(&word[1 + 2 * i], (uint64_t)(uintptr_t)counted->functions[i]);
	// The host sees by the last word that is not 0 how much of a chunk is in use.
	tp_store_relaxed(&word[1 + 2 * count], (uint64_t)TEEPERF_CONTROL_PAD << 32);
	return at;
}

/*
 * The room that this thread has already, 0 if it has none: the pointer to it may be gone with
 * thread-local storage. What the host writes there meanwhile may be taken for another place of
 * this size in the thread's own chunk, and makes wrong counts only.
 */
static uint64_t find_room(const struct teeperf_counted *counted)
{
	const uint64_t count = counted->count;
	for (uint64_t n = 0; TP_THREADS_APART && count && n < tp_thread.count_chunk_count; n++) {
		const uint64_t chunk = tp_chunk_address(tp_thread.count_chunks[n]);
		const uint64_t end = chunk + tp_thread.count_used[n];
		for (uint64_t at = chunk + sizeof(struct teeperf_chunk);
		     at + 8 * (1 + 2 * count) <= end; at += 8) {
			const uint64_t *word = (const uint64_t *)(uintptr_t)at;
			if (tp_load_relaxed(word) ==
				(count | (uint64_t)TEEPERF_CONTROL_COUNTS << 32) &&
			    tp_load_relaxed(&word[1]) == (uint64_t)(uintptr_t)counted->functions[0])
				return at;
		}
	}
	return 0;
}

uint64_t tp_count(uint64_t argument)
{
	const struct teeperf_counted *counted = (const struct teeperf_counted *)(uintptr_t)argument;
	if (!tp_thread_enter(1))
		return 0;
	// A call before the object has registered has no place to leave the pointer.
	uint64_t at = counted->offset ? find_room(counted) : 0;
	if (!at && counted->offset)
		at = make_room(counted);
	__atomic_store_n(&used, true, __ATOMIC_RELAXED);
	if (at)
		*pointer_of(counted) = at;
	else
		tp_thread_lose(1);
	tp_thread_leave();
	return at;
}

void tp_counts_end(void)
{
	forget_pointers();
	for (uint64_t i = 0; i < tp_thread.count_chunk_count; i++)
		tp_chunk_give_back(tp_thread.count_chunks[i], tp_thread.count_used[i]);
	tp_thread.count_chunk_count = 0;
}
