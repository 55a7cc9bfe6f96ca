/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * When recording was switched off and on: the gaps in a recording, from the switches section of its
 * trace (docs/format.md, Switches).
 */
#ifndef TP_SWITCHES_H
#define TP_SWITCHES_H

#include "common/err.h"
#include "common/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ticks in [from, to) are not recorded. */
struct tp_gap {
	uint64_t from; /* 0 if recording began switched off */
	uint64_t to;   /* UINT64_MAX if it was never switched on again */
};

struct tp_gaps {
	const struct tp_gap *items; /* one after the other */
	uint32_t count;
};

/*
 * The gaps between the COUNT switches in WORDS, which may be unaligned; they live in the arena. If
 * the switches contradict themselves, none is believed, and that becomes a problem of FILE at
 * OFFSET: no gaps may hide what was recorded. 0 or TP_ERR_MEMORY.
 */
int tp_gaps_init(struct tp_gaps *gaps, const void *words, size_t count, const char *file,
    uint64_t offset, struct tp_problems *problems, struct tp_arena *arena);

/* How often recording was switched off while the program ran; *at_first: it began switched off. */
uint32_t tp_gaps_switches(const struct tp_gaps *gaps, bool *at_first);

#endif
