/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What Gramine counts of SGX, which it prints to standard error where the manifest has
 * 'sgx.enable_stats = true':
 *
 *	----- Total SGX stats for process 87219 -----
 *	  # of EENTERs:        224
 *
 * and EEXITs, AEXs, sync signals, async signals (Gramine's documentation, Performance tuning). The
 * statistics of all processes are added; those of single threads, which stand before, are part of
 * them.
 */
#ifndef TP_GRAMINE_H
#define TP_GRAMINE_H

#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"
#include "recorder/kernel/meter.h"

enum { TP_GRAMINE_METERS = 5 };

/* All zero: nothing has come. */
struct tp_gramine {
	uint64_t sums[TP_GRAMINE_METERS];
	uint32_t processes; /* whose statistics have come */
	bool total;         /* the lines are those of a process */
	char line[96];      /* the beginning of the line at hand */
	uint32_t used;
};

/* Bytes of the stream, in order, in pieces of any size. They are not changed. */
void tp_gramine_feed(struct tp_gramine *gramine, const char *bytes, size_t size);

/* The meters and their values, or the note that there are none. */
void tp_gramine_read(const struct tp_gramine *gramine,
    struct teeperf_trace_meter meters[TP_GRAMINE_METERS],
    struct tp_meter_value values[TP_GRAMINE_METERS]);

/*
 * A process that passes on what the program prints to standard error, and listens. It ends when
 * nobody can write any more, whatever becomes of us: so a program never meets a broken pipe.
 */
struct tp_gramine_tap {
	int program;              /* the program's standard error; -1: closed */
	pid_t pid;                /* of the process; 0: none */
	struct tp_gramine *heard; /* shared with it */
};

/*
 * pre: no other thread runs, and no log is mapped, which the process would keep. On success end it
 * with tp_gramine_tap_stop.
 */
int tp_gramine_tap_start(struct tp_gramine_tap *tap, struct tp_err *err);

/* The program has it: close our end. */
void tp_gramine_tap_given(struct tp_gramine_tap *tap);

/*
 * Wait for the end of the stream, for at most WAIT_MS: the program has ended, but its children may
 * have it still.
 */
void tp_gramine_tap_finish(struct tp_gramine_tap *tap, uint32_t wait_ms);

/* Also of one that is all zero. */
void tp_gramine_tap_stop(struct tp_gramine_tap *tap);

#endif
