/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Does with a region what a program would do that shared it, at the word of a stream: so the drain takes from
 * it what it would take from the program's own.
 */
#ifndef TP_MIRROR_H
#define TP_MIRROR_H

#include "frames.h"
#include "recorder/region/region.h"

struct tp_mirror {
	struct tp_region *region;
	uint64_t ticket; /* of the next chunk */
};

/* What START and WORDS say: the last frame of `frames`, whose START was sound. */
void tp_mirror_start(struct tp_mirror *mirror, const struct tp_frames *frames);
void tp_mirror_words(struct tp_mirror *mirror, const struct tp_frames *frames);

/* A chunk's worth of records. False: the drain has not freed a chunk for it yet; try again. */
bool tp_mirror_chunk(struct tp_mirror *mirror, const struct tp_frames *frames);

#endif
