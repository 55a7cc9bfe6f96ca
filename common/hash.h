/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Hashes for tables in memory (common/index.h) and for keys that are written down: FNV-1a of 64
 * bits (include/teeperf/abi.h), which may never change, and one multiplication for numbers, which
 * may.
 */
#ifndef TP_HASH_H
#define TP_HASH_H

#include <string.h>
#include <teeperf/abi.h>

/* Go on with HASH, at first TEEPERF_HASH_START. */
static inline uint64_t tp_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	return teeperf_hash_bytes(hash, bytes, size);
}

/* The same with TEXT and the NUL at its end, so that "ab" and "c" are not "a" and "bc". */
static inline uint64_t tp_hash_string(uint64_t hash, const char *text)
{
	return teeperf_hash_bytes(hash, text, strlen(text) + 1);
}

/* TEXT alone. */
static inline uint64_t tp_hash_text(const char *text)
{
	return teeperf_hash_bytes(TEEPERF_HASH_START, text, strlen(text));
}

/*
 * The upper half of a product is well mixed. Numbers that somebody may choose need a secret:
 * analyzer/import/number_set.c.
 */
static inline uint32_t tp_hash_number(uint64_t number)
{
	return (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static inline uint32_t tp_hash_pair(uint32_t first, uint32_t second)
{
	return tp_hash_number((uint64_t)first << 32 | second);
}

#endif
