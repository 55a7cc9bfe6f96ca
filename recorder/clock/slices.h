/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Copying and clearing of chunks in slices that take less than a microsecond, for a thread that has
 * a little time now and then: the one of the soft clock, between two stores. There are no system
 * calls in a slice. One thread submits jobs, in whose order they are done; any thread may do a
 * slice, one at a time.
 */
#ifndef TP_SLICES_H
#define TP_SLICES_H

#include <stdbool.h>
#include <stdint.h>
#include <xxhash.h>

#include <teeperf/log.h>

enum {
	TP_SLICE_BYTES = 4096,
	TP_SLICE_JOBS = 256, /* that are not done; a power of two */
};

struct tp_slice_job {
	uint64_t *to;
	const uint64_t
	    *from;     /* the chunk to copy, and to compute the checksum of the copy; NULL: clear */
	uint64_t size; /* whole words */
	uint32_t checksum; /* of the copy, when the job is done */
};

struct tp_slices {
	uint64_t submitted;
	uint64_t done;
	uint64_t busy; /* 1: a thread is at a slice */
	/* Of the job that is being done; guarded by busy. */
	uint64_t at;
	bool copied;
	XXH3_state_t *sum;
	struct tp_slice_job jobs[TP_SLICE_JOBS];
};

/* All zero: there is nothing to do. False: no memory. */
bool tp_slices_init(struct tp_slices *slices);
/* pre: no thread does slices any more. */
void tp_slices_release(struct tp_slices *slices);

/*
 * Copy SIZE bytes of the chunk FROM, which another process may write, to TO, and let the copy say
 * that SIZE bytes of it are in use. Returns the job's number. pre: fewer than TP_SLICE_JOBS are not
 * done; SIZE is not less than a chunk's header.
 */
uint64_t tp_slices_copy(
    struct tp_slices *slices, uint64_t *to, const uint64_t *from, uint64_t size);
/* Clear SIZE bytes; else the same. */
uint64_t tp_slices_clear(struct tp_slices *slices, uint64_t *to, uint64_t size);

bool tp_slices_is_done(const struct tp_slices *slices, uint64_t number);
/* pre: the job is done, and TP_SLICE_JOBS have not been submitted since. */
uint32_t tp_slices_checksum(const struct tp_slices *slices, uint64_t number);

/* Do one slice. False: there is nothing to do, or another thread is at it. */
bool tp_slices_step(struct tp_slices *slices);

#endif
