/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The encodings of Parquet's values besides PLAIN, both ways: DELTA_BINARY_PACKED of whole numbers,
 * dictionaries, and runs of small numbers ("RLE / bit-packed hybrid").
 * Format: https://github.com/apache/parquet-format, Encodings.md.
 */
#ifndef TP_PARQUET_ENCODE_H
#define TP_PARQUET_ENCODE_H

#include "common/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Add COUNT numbers of SIZE bytes (4 or 8), side by side in memory, as DELTA_BINARY_PACKED. */
void tp_parquet_add_delta(struct tp_buf *out, const void *numbers, uint32_t size, uint32_t count);

/*
 * Add COUNT numbers below 2^WIDTH (WIDTH up to 32) as runs and packed groups, without their size in
 * front.
 */
void tp_parquet_add_hybrid(
    struct tp_buf *out, const uint32_t *numbers, uint32_t count, uint32_t width);

/* Bits that numbers up to MOST take. */
static inline uint32_t tp_parquet_width(uint32_t most)
{
	return most ? 32 - (uint32_t)__builtin_clz(most) : 0;
}

/* The different values of a column, and which of them each value is. */
struct tp_parquet_dictionary {
	struct tp_buf values; /* PLAIN */
	uint32_t count;
	uint32_t *codes; /* of each value */
	bool no_memory;  /* it is not made for that reason */
};

/*
 * Of COUNT values, SIZE bytes each or, with 0, texts behind their lengths: the PLAIN page PLAIN.
 * False: there are too many different ones to be worth it, or no memory, which it then says.
 * Release it in any case.
 */
bool tp_parquet_dictionary_make(struct tp_parquet_dictionary *dictionary,
    const struct tp_buf *plain, uint32_t size, uint32_t count);
void tp_parquet_dictionary_release(struct tp_parquet_dictionary *dictionary);

/*
 * Read COUNT numbers of SIZE bytes, with their sign, from BYTES bytes at DATA into NUMBERS. *USED:
 * bytes that they took. False: there is something else.
 */
bool tp_parquet_read_delta(
    const void *data, size_t bytes, uint32_t size, uint32_t count, int64_t *numbers, size_t *used);
/* The same of numbers of WIDTH bits as runs and packed groups. */
bool tp_parquet_read_hybrid(
    const void *data, size_t bytes, uint32_t width, uint32_t count, uint32_t *numbers);

#endif
