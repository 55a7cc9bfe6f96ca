/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The checksum of a trace's sections (trace.h). It has to find damage, not forgery: decision 0006
 * has why it is XXH3, no CRC.
 */
#ifndef TP_CHECKSUM_H
#define TP_CHECKSUM_H

#include <stdint.h>
#include <xxhash.h>

/* The low half of the XXH3-64 of SIZE bytes, seed 0. DATA may be NULL if SIZE is 0. */
static inline uint32_t tp_checksum(const void *data, uint64_t size)
{
	return (uint32_t)XXH3_64bits(data, size);
}

#endif
