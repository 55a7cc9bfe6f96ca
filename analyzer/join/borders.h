/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where a thread goes over the border between a host program and its TEE (log.h, TEEPERF_CONTROL_CALL_OUT), and
 * which call on one side is which on the other. Any sequence of records is accepted.
 */
#ifndef TP_BORDERS_H
#define TP_BORDERS_H

#include "analyzer/trace/chunk_read.h"

#define TP_BORDER_NONE UINT32_MAX

struct tp_border {
	uint64_t time;
	uint32_t chunk;  /* index of the thread's chunk that has the record */
	uint32_t word;   /* of the record there */
	uint32_t number; /* of the crossing, 0: not known */
	/*
	 * Of a call (CALL_OUT, CALL_IN): the border that ends it, the count of borders if none does. Of others the
	 * one that they end, or TP_BORDER_NONE.
	 */
	uint32_t partner;
	uint32_t
	    match; /* CALL_OUT of the host, CALL_IN of the TEE: index of the pair, or TP_BORDER_NONE */
	uint16_t kind; /* enum teeperf_control; 0: it says nothing that another one does not */
	bool cut;      /* of a call: it is not its return that ends it */
};

/* All of one thread, in order. */
struct tp_borders {
	struct tp_border *items;
	uint32_t count;
	uint64_t last; /* time of the thread's last record */
	bool resyncs;  /* there are records with positions */
};

/* Of trace->threads[THREAD]. 0 or a negative tp_error; release it in any case. */
int tp_borders_find(struct tp_borders *borders, const struct tp_tracefile *trace, uint32_t thread,
    struct tp_err *err);
void tp_borders_release(struct tp_borders *borders);

/* When a call of these borders has ended; UINT64_MAX: it has not. */
uint64_t tp_border_end(const struct tp_borders *borders, uint32_t call);

/* A call of the host into the TEE, and what it is there. */
struct tp_border_pair {
	uint32_t host_thread; /* indices in the traces' threads and in those threads' borders */
	uint32_t host_border;
	uint32_t tee_thread;
	uint32_t tee_border;
};

struct tp_border_match {
	struct tp_border_pair *pairs;
	uint32_t count;
	uint64_t
	    ambiguous;  /* calls of the TEE for which several of the host's come into question */
	uint64_t alone; /* ... and none */
};

/*
 * Pair them, in borders[].match too: by their numbers; those without one by their times, if these leave no doubt:
 * the host's call lies around the TEE's. HOST and TEE are arrays, one for each thread. 0 or TP_ERR_MEMORY; release
 * it in any case.
 */
int tp_border_match_find(struct tp_border_match *match, struct tp_borders *host,
    uint32_t host_count, struct tp_borders *tee, uint32_t tee_count, struct tp_err *err);
void tp_border_match_release(struct tp_border_match *match);

#endif
