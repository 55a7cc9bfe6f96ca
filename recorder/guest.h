/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program that somebody else has started: how we learn that it is over. Its process id in the log is one of
 * its own world, a virtual machine's or a library OS's, and says nothing here.
 */
#ifndef TP_GUEST_H
#define TP_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "recorder/region/region.h"

enum tp_guest_state {
	TP_GUEST_AWAITED = 0, /* none has come */
	TP_GUEST_RUNS,
	TP_GUEST_ENDED,   /* it says so (log.h, header.ended) */
	TP_GUEST_GONE,    /* the process that was to be watched has ended */
	TP_GUEST_LEFT,    /* nobody has the log mapped any more */
	TP_GUEST_MISSING, /* none has come in time */
};

struct tp_guest {
	const struct tp_region *region; /* NULL: its memory is not shared */
	uint64_t deadline_ns;           /* for it to come; UINT64_MAX: never */
	pid_t watched;                  /* 0: no process is watched */
	int watched_fd;                 /* a pidfd; -1: this kernel has none */
	pid_t user; /* a process that was seen to have the log mapped; 0: none */
	int user_fd;
	uint64_t look_ns; /* when to look for one */
};

/* Watch the region, if there is one, and process `pid`, if it is not 0: TP_ERR_NOT_FOUND if it does not exist. */
int tp_guest_start(struct tp_guest *guest, const struct tp_region *region, pid_t pid,
    uint64_t timeout_ms, struct tp_err *err);
void tp_guest_stop(struct tp_guest *guest);

/* Costs next to nothing, so call it often. */
enum tp_guest_state tp_guest_look(struct tp_guest *guest);

#endif
