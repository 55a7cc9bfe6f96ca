/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Access to memory that the recorded program shares, with the order in the name. */
#ifndef TP_SHARED_H
#define TP_SHARED_H

#include <stdint.h>

static inline uint64_t tp_shared_load_relaxed(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint64_t tp_shared_load_acquire(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void tp_shared_store_relaxed(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static inline void tp_shared_store_release(uint64_t *p, uint64_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

static inline uint64_t tp_shared_add_relaxed(uint64_t *p, uint64_t more)
{
	return __atomic_fetch_add(p, more, __ATOMIC_RELAXED);
}

static inline uint32_t tp_shared_load32_acquire(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/*
 * A count in the log, where anybody who has it mapped may write. Above this it was not counted: at a thousand million
 * a second it would have taken three days.
 */
#define TP_SHARED_COUNT_MAX (UINT64_C(1) << 48)
static inline uint64_t tp_shared_count_acquire(const uint64_t *word)
{
	const uint64_t count = tp_shared_load_acquire(word);
	return count < TP_SHARED_COUNT_MAX ? count : 0;
}

#endif
