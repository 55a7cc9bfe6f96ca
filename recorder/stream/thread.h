/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Takes a stream (inlet.h) into a region (mirror.c), in a thread of its own. When the trace's disk
 * is slower than the program, the stream waits, and so the program does if its transport can make
 * it.
 */
#ifndef TP_STREAM_THREAD_H
#define TP_STREAM_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <teeperf/trace.h>

#include "frames.h"
#include "recorder/clock/host_clock.h"
#include "recorder/region/region.h"
#include "inlet.h"

/*
 * Does with a region what a program would do that shared it, at the word of a stream: so the drain
 * takes from it what it would take from the program's own.
 */
struct tp_mirror {
	struct tp_region *region;
	uint64_t ticket; /* of the next chunk */
};

/* What START and WORDS say: the last frame of `frames`, whose START was sound. */
void tp_mirror_start(struct tp_mirror *mirror, const struct tp_frames *frames);
void tp_mirror_words(struct tp_mirror *mirror, const struct tp_frames *frames);

/* A chunk's worth of records. False: the drain has not freed a chunk for it yet; try again. */
bool tp_mirror_chunk(struct tp_mirror *mirror, const struct tp_frames *frames);

struct tp_stream {
	struct tp_inlet inlet;
	struct tp_frames frames;
	struct tp_mirror mirror;
	/* Points of the clock that the program sent; valid when it is over. */
	struct teeperf_trace_point points[TP_CLOCK_POINTS];
	uint32_t point_count;
	bool failed; /* it ended with `error` */
	struct tp_err error;
	uint64_t over; /* 1: the rest is complete; other threads may load it */
	uint64_t stop;
	pthread_t thread;
};

/* Open the source, or listen (inlet.h). On success end it with tp_stream_release. */
int tp_stream_open(
    struct tp_stream *stream, const char *name, uint64_t timeout_ms, struct tp_err *err);

/*
 * Wait for the stream's first frame: what the log's clock is. TP_ERR_NOT_FOUND if none comes within
 * the timeout (UINT64_MAX: wait for ever), or at all, or tp_inlet_stop was called. `again`: a
 * connection failed that was no program's, and was closed; a call more waits for the next one.
 */
int tp_stream_await(struct tp_stream *stream, bool *again, struct tp_err *err);
void tp_stream_release(struct tp_stream *stream);

/* Start the thread. Someone must drain the region. On success end it with tp_stream_stop. */
int tp_stream_start(struct tp_stream *stream, struct tp_region *region, struct tp_err *err);

/* Stop at once if it is not over. */
void tp_stream_stop(struct tp_stream *stream);

#endif
