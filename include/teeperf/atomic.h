/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory access with the order in the name: every access to the log goes through these. Not
 * installed.
 */
#ifndef TEEPERF_ATOMIC_H
#define TEEPERF_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t tp_load_relaxed(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint64_t tp_load_acquire(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void tp_store_relaxed(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static inline void tp_store_release(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

static inline uint64_t tp_fetch_add_relaxed(uint64_t *p, uint64_t more)
{
	return __atomic_fetch_add(p, more, __ATOMIC_RELAXED);
}

/* What it was. */
static inline uint64_t tp_swap_relaxed(uint64_t *p, uint64_t value)
{
	return __atomic_exchange_n(p, value, __ATOMIC_RELAXED);
}

/* What it was. Then a look at what others store: see tp_store_seq_cst. */
static inline uint64_t tp_fetch_add_seq_cst(uint64_t *p, uint64_t more)
{
	return __atomic_fetch_add(p, more, __ATOMIC_SEQ_CST);
}

/* Set *p from 0 to value; false if it was not 0. */
static inline bool tp_claim_acq_rel(uint64_t *p, uint64_t value)
{
	uint64_t expected = 0;
	return __atomic_compare_exchange_n(
	    p, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline bool tp_claim_seq_cst(uint64_t *p, uint64_t value)
{
	uint64_t expected = 0;
	return __atomic_compare_exchange_n(
	    p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Stored by one, then a look at what the other stores: one of both sees it. */
static inline void tp_store_seq_cst(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t tp_load_seq_cst(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

/* Set *p to 0; what it was. */
static inline uint64_t tp_take_acq_rel(uint64_t *p)
{
	return __atomic_exchange_n(p, 0, __ATOMIC_ACQ_REL);
}

static inline uint32_t tp_load32_acquire(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* As tp_change32_acq_rel. */
static inline bool tp_change_acq_rel(uint64_t *p, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Set *p to `to` if it is `from`: whether it was. */
static inline bool tp_change32_acq_rel(uint32_t *p, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline void tp_store32_release(uint32_t *p, uint32_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

/* Earlier stores are seen before later ones. */
static inline void tp_barrier_store(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Order against signal handlers of the same thread only; no instruction. */
static inline void tp_barrier_signal(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
