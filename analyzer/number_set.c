// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that get an index when they are first seen: open addressing by multiplication with a secret.
#include "number_set.h"

#include "common/err.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_BITS 6

void tp_number_set_init(struct tp_number_set *set, uint32_t most)
{
	*set = (struct tp_number_set){.most = most, .secret = UINT64_C(0x9e3779b97f4a7c15)};
	uint64_t random;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
		set->secret = random | 1;
}

void tp_number_set_release(struct tp_number_set *set)
{
	free(set->items);
	free(set->slots);
	memset(set, 0, sizeof(*set));
}

// The slot of NUMBER, or the free one where it belongs.
static uint32_t *find(const struct tp_number_set *set, uint64_t number)
{
	const uint32_t mask = (UINT32_C(1) << set->bits) - 1;
	uint32_t at = (uint32_t)((number * set->secret) >> (64 - set->bits));
	while (set->slots[at] && set->items[set->slots[at] - 1] != number)
		at = (at + 1) & mask;
	return &set->slots[at];
}

// Twice as much room.
static bool grow(struct tp_number_set *set)
{
	const uint32_t bits = set->bits ? set->bits + 1 : FIRST_BITS;
	const uint32_t capacity = UINT32_C(1) << (bits - 1);
	uint32_t *slots = calloc((size_t)1 << bits, sizeof(*slots));
	uint64_t *items = slots ? realloc(set->items, capacity * sizeof(*items)) : NULL;
	if (!items) {
		free(slots);
		return false;
	}
	free(set->slots);
	set->slots = slots;
	set->items = items;
	set->capacity = capacity;
	set->bits = bits;
	for (uint32_t i = 0; i < set->count; i++)
		*find(set, items[i]) = i + 1;
	return true;
}

uint32_t tp_number_set_add(struct tp_number_set *set, uint64_t number)
{
	uint32_t *slot = set->bits ? find(set, number) : NULL;
	if (slot && *slot)
		return *slot - 1;
	if (set->failed || set->count >= set->most || set->bits == 31)
		return TP_NUMBER_NONE;
	if (set->count == set->capacity) {
		if (!grow(set)) {
			set->failed = TP_ERR_MEMORY;
			return TP_NUMBER_NONE;
		}
		slot = find(set, number);
	}
	set->items[set->count] = number;
	*slot = ++set->count;
	return set->count - 1;
}
