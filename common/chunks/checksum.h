/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The checksum of a trace's sections (trace.h). */
#ifndef TP_CHECKSUM_H
#define TP_CHECKSUM_H

#include <stdint.h>

/* The low half of the XXH3-64 of SIZE bytes, seed 0. DATA may be NULL if SIZE is 0. */
uint32_t tp_checksum(const void *data, uint64_t size);

#endif
