/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls and own time of each function, from the chunks that the drain takes anyway. The drain's
 * thread adds, another one takes. A chunk is looked at by itself, so nothing is kept of threads:
 * what lies between two of its records belongs to the innermost call that the chunk shows there. Of
 * many chunks some are looked at, which stand for the others.
 */
#ifndef TP_BUDGET_LEARN_H
#define TP_BUDGET_LEARN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <teeperf/log.h>

/* The most functions that are learned; further ones are ignored. */
enum { TP_LEARN_FUNCTIONS = 12288, TP_LEARN_SLOTS = 1 << 15 };

struct tp_learn_sum {
	double calls;
	double ticks; /* of its own, waiting included */
};

struct tp_learn_function {
	uint32_t name;              /* low half of its address */
	struct tp_learn_sum usual;  /* outside of the window */
	struct tp_learn_sum window; /* of tp_learn_set_window */
	struct tp_learn_sum late;   /* before tp_learn_set_since: their chunk was full only now */
};

struct tp_learn {
	pthread_mutex_t lock;
	uint16_t *slots; /* number + 1 of a function, by name; 0: free */
	struct tp_learn_function *functions;
	uint32_t count;
	uint64_t from; /* the window, in ticks */
	uint64_t to;
	uint64_t since;      /* ticks */
	uint64_t chunks;     /* seen since tp_learn_take */
	uint64_t words;      /* in them */
	uint64_t words_read; /* in those that were looked at */
	uint64_t stride;     /* one in this number is */
};

/* False: no memory. Release it in any case. */
bool tp_learn_init(struct tp_learn *learn);
void tp_learn_release(struct tp_learn *learn);

/* The drain's: add CHUNK, a private copy whose `used` was checked. */
void tp_learn_see(struct tp_learn *learn, const struct teeperf_chunk *chunk);

/* Calls from FROM to TO, in ticks, are added apart from now on. */
void tp_learn_set_window(struct tp_learn *learn, uint64_t from, uint64_t to);

/* Calls before SINCE, in ticks, are added as late from now on. */
void tp_learn_set_since(struct tp_learn *learn, uint64_t since);

/*
 * What was added since the last time, scaled to all chunks, into FUNCTIONS, which has room for
 * TP_LEARN_FUNCTIONS; a function keeps its place. Returns how many there are, and in *calls the
 * calls of all of them, known or not.
 */
uint32_t tp_learn_take(struct tp_learn *learn, struct tp_learn_function *functions, double *calls);

#endif
