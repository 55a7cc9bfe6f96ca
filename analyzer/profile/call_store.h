/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The single calls of a trace, to be read in any order: those of a thread one after another as they
 * began, each with its number. A thread is replayed when its calls are first asked for (twice: to
 * see which records begin calls, then to put each call where it belongs), several of them at once.
 *
 * Takes 32 bytes a call, and 72 more for those that are longer than 2^32 ticks, were left for
 * another stack, had no processor for a while, or did not return. Up to memory_limit that is
 * memory, beyond it an unlinked file in $TMPDIR or /var/tmp.
 */
#ifndef TP_CALL_STORE_H
#define TP_CALL_STORE_H

#include "analyzer/profile/calls.h"
#include "analyzer/profile/paths.h"

#include <stdatomic.h>

#define TP_CALL_STORE_MEMORY (UINT64_C(1) << 30)
#define TP_CALL_STORE_ALL UINT32_MAX
#define TP_CALL_NONE UINT64_MAX

struct tp_packed_call {
	uint64_t start;    /* ticks */
	uint32_t duration; /* UINT32_MAX: the next three do not say it */
	uint32_t self;     /* or its index in wide */
	uint32_t cost;     /* of duration */
	uint32_t self_cost;
	uint32_t path;
	uint32_t parent; /* row of its caller in this thread; UINT32_MAX: none */
};

/* What does not fit above. */
struct tp_wide_call {
	uint64_t end;
	uint64_t duration;
	uint64_t self;
	struct tp_net net;
	struct tp_off off;
	struct tp_off self_off;
	uint8_t how;
	bool away;
};

struct tp_stored_thread {
	uint64_t first; /* calls of the threads before this one */
	uint64_t count; /* calls that this thread has, by its profile */
	bool loaded;
	uint64_t rows; /* loaded: of them, those that are here; fewer only in a damaged trace */
	struct tp_packed_call *calls;
	struct tp_wide_call *wide;
	uint32_t wide_count;
	uint32_t wide_capacity;
	void *mapping;
	size_t mapped_bytes;
	bool in_memory; /* the mapping counts as memory_bytes */
};

struct tp_call_store {
	const struct tp_analysis *analysis;
	const struct tp_paths *paths;
	struct tp_stored_thread *threads; /* as in the analysis */
	uint32_t thread_count;
	uint64_t count; /* calls of all threads */
	uint64_t memory_limit;
	uint64_t memory_bytes; /* in memory so far; under lock */
	const atomic_bool
	    *give_up; /* NULL or set by another thread or a signal: loading ends early */
};

/* A call, unpacked. Times are ticks. */
struct tp_stored_call {
	uint64_t start;
	uint64_t end;
	uint64_t duration; /* as in struct tp_call */
	uint64_t self;
	struct tp_net net;
	struct tp_off off; /* of duration, without a processor */
	struct tp_off self_off;
	uint64_t parent; /* row in this thread, or TP_CALL_NONE */
	uint32_t path;
	uint8_t how; /* enum tp_call_end */
	bool away;
};

/*
 * ANALYSIS and PATHS, which are its, must outlive the store. 0 or TP_ERR_MEMORY; release in any
 * case.
 */
int tp_call_store_init(struct tp_call_store *store, const struct tp_analysis *analysis,
    const struct tp_paths *paths, struct tp_err *err);
void tp_call_store_release(struct tp_call_store *store);
/*
 * Make the calls of the thread with index THREAD available, or of TP_CALL_STORE_ALL. 0;
 * TP_ERR_LIMIT if *give_up was set; or another error. Calls that are available already stay.
 */
int tp_call_store_load(struct tp_call_store *store, uint32_t thread, struct tp_err *err);
/* Give the memory of a thread's calls back; they can be loaded again. */
void tp_call_store_forget(struct tp_call_store *store, uint32_t thread);

static inline bool tp_packed_is_wide(const struct tp_packed_call *call)
{
	return call->duration == UINT32_MAX;
}

/* Call number ROW (below rows) of the loaded thread. */
static inline void tp_call_store_get(
    const struct tp_stored_thread *thread, uint64_t row, struct tp_stored_call *call)
{
	const struct tp_packed_call *packed = &thread->calls[row];
	*call = (struct tp_stored_call){
	    .start = packed->start,
	    .end = packed->start + packed->duration,
	    .duration = packed->duration,
	    .self = packed->self,
	    .net = {packed->duration - packed->cost, packed->self - packed->self_cost},
	    .parent = packed->parent == UINT32_MAX ? TP_CALL_NONE : packed->parent,
	    .path = packed->path,
	};
	if (tp_packed_is_wide(packed)) {
		const struct tp_wide_call *wide = &thread->wide[packed->self];
		call->end = wide->end;
		call->duration = wide->duration;
		call->self = wide->self;
		call->net = wide->net;
		call->off = wide->off;
		call->self_off = wide->self_off;
		call->how = wide->how;
		call->away = wide->away;
	}
}

/* "returned", "unwound", ...: what SQL and CSV call enum tp_call_end. */
const char *tp_call_end_name(uint8_t how);

#endif
