/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Draining with the help of the clock's thread (clock/slices.h), where the drain shares a core with
 * the program. A chunk is complete in the log until it is in the trace, so whoever kills us leaves
 * what there is.
 */
#ifndef TP_RELAY_H
#define TP_RELAY_H

#include "common/err.h"
#include "recorder/clock/slices.h"
#include "recorder/region/region.h"

enum { TP_RELAY_ROOMS = 64 }; /* chunks that are copied ahead */

struct tp_relay {
	struct tp_slices *slices; /* the clock's; NULL: the drain does all of it */
	uint64_t *rooms;
	uint64_t waited_ns; /* for the clock's thread */
};

/* Called for each chunk, in their order, by the calling thread. */
struct tp_relay_steps {
	struct tp_region *region;
	/*
	 * Write the copy, whose checksum is known, and set the chunk's state; it is cleared next.
	 */
	void (*write)(
	    void *context, uint32_t number, const struct teeperf_chunk *copy, uint32_t checksum);
	/* It has been cleared. */
	void (*supply)(void *context, uint32_t number);
	void *context;
};

/* SLICES, which may be NULL, outlives the relay. */
int tp_relay_init(struct tp_relay *relay, struct tp_slices *slices, struct tp_err *err);
void tp_relay_release(struct tp_relay *relay);

/* Take COUNT complete chunks. Nothing is under way when it returns. */
void tp_relay_take(struct tp_relay *relay, const uint32_t *numbers, uint32_t count,
    const struct tp_relay_steps *steps);

#endif
