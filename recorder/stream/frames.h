/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a stream (include/teeperf/stream.h) frame by frame. Who sends it may be hostile: no number
 * in it is believed, and whatever comes, memory stays at one frame.
 */
#ifndef TP_FRAMES_H
#define TP_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <teeperf/stream.h>

#include "common/err.h"

/* Up to SIZE bytes, waiting for them: how many, 0 at the end, or a negative enum tp_error. */
typedef int64_t tp_frames_read(void *context, void *to, uint64_t size, struct tp_err *err);

struct tp_frames {
	tp_frames_read *read;
	void *context;
	const char *name; /* of the stream, for errors; the caller's */
	uint64_t offset;  /* bytes read */
	bool started;     /* START was there: `start` is its payload, and sound */
	bool ended;       /* END was: `end` is its word */
	uint64_t end;
	struct teeperf_log_header start;
	struct teeperf_frame frame; /* the last one */
	uint64_t payload[TEEPERF_FRAME_MAX / 8];
};

/* The caller fills read, context and name; the rest is 0. */

/*
 * The next frame: its kind, with frame->length bytes of payload that fit the kind. 0: the stream is
 * over, behind END (frames->ended), or else between two frames. Below 0: TP_ERR_TRUNCATED if it
 * stops within one, TP_ERR_FORMAT or TP_ERR_VERSION if it breaks the rules, or what read returned;
 * do not go on then.
 */
int tp_frames_next(struct tp_frames *frames, struct tp_err *err);

#endif
