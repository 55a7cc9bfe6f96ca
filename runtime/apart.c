// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where each thread's state is if thread-local storage does not last (abi.h): in enclaves it is new
// at each call that comes from the host, while the thread control structure, and with it the thread
// pointer, is the same. So a thread here is one of those, with all the calls that came by it.
#include "runtime.h"

// An enclave says in its configuration how many it has; more cost it more than this table does.
enum { THREADS = 256 };
static struct tp_apart threads[THREADS];

const struct tp_apart tp_apart_unknown = {.block = TP_BLOCK_AT_FIRST, .state = TP_STATE_AT_FIRST};
struct tp_apart tp_apart_beyond = {.block = TP_BLOCK_AT_FIRST, .state = TP_STATE_AT_FIRST};
_Thread_local struct tp_apart *tp_apart = (struct tp_apart *)&tp_apart_unknown;

// It gets its number last: what comes in between, an exception's handler, takes another one.
static bool claim(struct tp_apart *free, uint64_t id)
{
	enum { ABOUT_TO_BE = 1 };
	if (tp_load_relaxed(&free->id) || !tp_change_acq_rel(&free->id, 0, ABOUT_TO_BE))
		return false;
	// Word by word: vector registers are the program's, so this must not become a call of
	// memcpy.
	const uint64_t *from = (const uint64_t *)(const void *)&tp_apart_unknown;
	for (uint64_t i = 0; i < offsetof(struct tp_apart, id) / 8; i++)
		tp_store_relaxed(&((uint64_t *)(void *)free)[i], from[i]);
	tp_store_release(&free->id, id);
	return true;
}

struct tp_apart *tp_apart_find(void)
{
	const uint64_t id = (uint64_t)(uintptr_t)__builtin_thread_pointer();
	// Structures are some pages apart, so their page numbers spread well enough.
	const uint64_t first = id >> 12;
	for (uint64_t i = 0; i < THREADS; i++) {
		struct tp_apart *at = &threads[(first + i) % THREADS];
		if (tp_load_relaxed(&at->id) == id || claim(at, id))
			return tp_apart = at;
	}
	return &tp_apart_beyond;
}
