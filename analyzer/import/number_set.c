// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that get an index when they are first seen, found by multiplication with a secret.
#include "original_log.h"

#include "common/array.h"
#include "common/err.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

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
	tp_index_release(&set->index);
	memset(set, 0, sizeof(*set));
}

// Twice, so that the place does not only depend on the number's lower half.
static uint32_t hash_number(const struct tp_number_set *set, uint64_t number)
{
	const uint64_t half = number * set->secret;
	return (uint32_t)(((half ^ half >> 32) * set->secret) >> 32);
}

static uint32_t hash_item(const void *set, uint32_t number)
{
	return hash_number(set, ((const struct tp_number_set *)set)->items[number - 1]);
}

static uint32_t *find(const struct tp_number_set *set, uint64_t number)
{
	uint32_t *slot = tp_index_first(&set->index, hash_number(set, number));
	while (*slot && set->items[*slot - 1] != number)
		slot = tp_index_next(&set->index, slot);
	return slot;
}

uint32_t tp_number_set_add(struct tp_number_set *set, uint64_t number)
{
	const uint32_t known = set->count ? *find(set, number) : 0;
	if (known)
		return known - 1;
	if (set->failed || set->count >= set->most)
		return TP_NUMBER_NONE;
	if (!TP_GROW(set->items, set->room, set->count + UINT64_C(1)) ||
	    !tp_index_reserve(&set->index, set->count, hash_item, set)) {
		set->failed = TP_ERR_MEMORY;
		return TP_NUMBER_NONE;
	}
	set->items[set->count] = number;
	*find(set, number) = ++set->count;
	return set->count - 1;
}
