// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copying and clearing of chunks in slices that take less than a microsecond.
#include "slices.h"

#include <string.h>

#include <teeperf/atomic.h>

bool tp_slices_init(struct tp_slices *slices)
{
	*slices = (struct tp_slices){.sum = XXH3_createState()};
	return slices->sum != NULL;
}

void tp_slices_release(struct tp_slices *slices)
{
	XXH3_freeState(slices->sum);
	slices->sum = NULL;
}

static uint64_t submit(struct tp_slices *slices, const struct tp_slice_job *job)
{
	const uint64_t number = slices->submitted;
	slices->jobs[number % TP_SLICE_JOBS] = *job;
	tp_store_release(&slices->submitted, number + 1);
	return number;
}

uint64_t tp_slices_copy(struct tp_slices *slices, uint64_t *to, const uint64_t *from, uint64_t size)
{
	return submit(slices, &(struct tp_slice_job){.to = to, .from = from, .size = size});
}

uint64_t tp_slices_clear(struct tp_slices *slices, uint64_t *to, uint64_t size)
{
	return submit(slices, &(struct tp_slice_job){.to = to, .size = size});
}

bool tp_slices_is_done(const struct tp_slices *slices, uint64_t number)
{
	return tp_load_acquire(&slices->done) > number;
}

uint32_t tp_slices_checksum(const struct tp_slices *slices, uint64_t number)
{
	return slices->jobs[number % TP_SLICE_JOBS].checksum;
}

static void copy(uint64_t *to, const uint64_t *from, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes / 8; i++)
		to[i] = tp_load_relaxed(&from[i]);
}

// The next slice of JOB. True if it was the last one.
static bool do_slice(struct tp_slices *slices, struct tp_slice_job *job)
{
	const uint64_t left = job->size - slices->at;
	const uint64_t bytes = left < TP_SLICE_BYTES ? left : TP_SLICE_BYTES;
	uint64_t *to = job->to + slices->at / 8;
	if (!job->from)
		memset(to, 0, bytes);
	else if (!slices->copied)
		copy(to, job->from + slices->at / 8, bytes);
	else
		XXH3_64bits_update(slices->sum, to, bytes);
	slices->at += bytes;
	if (slices->at < job->size)
		return false;
	slices->at = 0;
	if (!job->from)
		return true;
	slices->copied = !slices->copied;
	if (slices->copied) {
		((struct teeperf_chunk *)(void *)job->to)->used = job->size;
		XXH3_64bits_reset(slices->sum);
		return false;
	}
	job->checksum = (uint32_t)XXH3_64bits_digest(slices->sum);
	return true;
}

bool tp_slices_step(struct tp_slices *slices)
{
	if (tp_load_relaxed(&slices->done) == tp_load_acquire(&slices->submitted))
		return false;
	if (__atomic_exchange_n(&slices->busy, 1, __ATOMIC_ACQUIRE))
		return false;
	const uint64_t number = slices->done;
	const bool any = number != tp_load_acquire(&slices->submitted);
	if (any && do_slice(slices, &slices->jobs[number % TP_SLICE_JOBS]))
		tp_store_release(&slices->done, number + 1);
	tp_store_release(&slices->busy, 0);
	return any;
}
