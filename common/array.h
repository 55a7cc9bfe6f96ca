/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Arrays that grow, and searches in sorted ones: the caller has a pointer, a count, and how many
 * items there is room for.
 *
 *	if (!TP_GROW(list->items, list->room, list->count + 1))
 *		return TP_ERR_MEMORY;
 *	list->items[list->count++] = item;
 */
#ifndef TP_ARRAY_H
#define TP_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define TP_ARRAY_FIRST 16 /* items that there is room for at first */

/*
 * ITEMS of SIZE bytes each, with room for at least NEED and at most MOST of them: twice as many as
 * before, where that is enough. Sets *ROOM. NULL: no memory, or NEED is above MOST.
 */
static inline void *tp_array_grow(
    void *items, uint64_t *room, uint64_t need, uint64_t most, size_t size)
{
	uint64_t wanted = *room ? *room : TP_ARRAY_FIRST / 2;
	wanted = wanted > UINT64_MAX / 2 ? UINT64_MAX : 2 * wanted;
	wanted = wanted < need ? need : wanted > most ? most : wanted;
	if (need > most || wanted > SIZE_MAX / size)
		return NULL;
	void *larger = realloc(items, wanted * size);
	if (larger)
		*room = wanted;
	return larger;
}

/*
 * Have room for NEED items in the array ITEMS, which has ROOM, a variable of an unsigned type.
 * False: out of memory, or NEED does not fit that type; then nothing has changed.
 */
#define TP_GROW(items, room, need)                                                               \
	__extension__({                                                                          \
		const uint64_t tp_need = (need);                                                 \
		bool tp_is_there = tp_need <= (room);                                            \
		if (!tp_is_there) {                                                              \
			uint64_t tp_room = (room);                                               \
			void *tp_larger = tp_array_grow(                                         \
			    (items), &tp_room, tp_need, (__typeof__(room))-1, sizeof(*(items))); \
			if (tp_larger) {                                                         \
				(items) = tp_larger;                                             \
				(room) = (__typeof__(room))tp_room;                              \
				tp_is_there = true;                                              \
			}                                                                        \
		}                                                                                \
		tp_is_there;                                                                     \
	})

/* For sorting: -1, 0 or 1 if A is before B, equal, or after it. */
#define TP_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * The first number from FROM on, or END, for which BEFORE is false: an expression of the variable
 * AT that is true for all numbers up to some number and false for all above it.
 */
#define TP_LOWER_BOUND(from, end, at, before)                                                  \
	__extension__({                                                                        \
		__typeof__((from) + (end)) tp_low = (from);                                    \
		__typeof__((from) + (end)) tp_high = (end);                                    \
		while (tp_low < tp_high) {                                                     \
			const __typeof__((from) + (end)) at = tp_low + (tp_high - tp_low) / 2; \
			if (before)                                                            \
				tp_low = at + 1;                                               \
			else                                                                   \
				tp_high = at;                                                  \
		}                                                                              \
		tp_low;                                                                        \
	})

/* Numbers for qsort: the smallest first, or the greatest. */
static inline int tp_compare_u32(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static inline int tp_compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static inline int tp_compare_double(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;
	return (x > y) - (x < y);
}

static inline int tp_compare_u64_descending(const void *a, const void *b)
{
	return tp_compare_u64(b, a);
}

#endif
