// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When recording was switched off and on.
#include "switches.h"

#include "common/bytes.h"

#include <inttypes.h>

int tp_gaps_init(struct tp_gaps *gaps, const void *words, size_t count, const char *file,
    uint64_t offset, struct tp_problems *problems, struct tp_arena *arena)
{
	*gaps = (struct tp_gaps){0};
	struct tp_gap *items = tp_arena_alloc(arena, (count / 2 + 1) * sizeof(*items));
	if (!items)
		return TP_ERR_MEMORY;
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, words, count * 8);
	uint32_t found = 0;
	uint64_t last = 0;
	bool on = true;
	for (size_t i = 0; i < count; i++) {
		const uint64_t word = tp_bytes_u64(&bytes);
		const uint64_t time = word >> 1;
		const bool to_on = word & 1;
		if (time < last) {
			tp_problems_add_at(problems, TP_ERR_FORMAT, file, offset,
			    "switches section is not used: switch %zu is at %" PRIu64
			    ", before its predecessor at %" PRIu64,
			    i, time, last);
			return 0;
		}
		// What begins with a switch to on began switched off.
		if (i > 0 && to_on == on) {
			tp_problems_add_at(problems, TP_ERR_FORMAT, file, offset,
			    "switches section is not used: "
			    "switch %zu is to %s, like the one before "
			    "it",
			    i, on ? "on" : "off");
			return 0;
		}
		if (!to_on)
			items[found++] = (struct tp_gap){.from = time, .to = UINT64_MAX};
		else if (i == 0)
			items[found++] = (struct tp_gap){.to = time};
		else
			items[found - 1].to = time;
		last = time;
		on = to_on;
	}
	*gaps = (struct tp_gaps){.items = items, .count = found};
	return 0;
}

uint32_t tp_gaps_switches(const struct tp_gaps *gaps, bool *at_first)
{
	*at_first = gaps->count && gaps->items[0].from == 0;
	return gaps->count - *at_first;
}
