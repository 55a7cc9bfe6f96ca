// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes a stream into a region, in a thread of its own.
#define _GNU_SOURCE
#include "thread.h"

#include <string.h>
#include <time.h>

enum { STOP_MS = 2000 };

int tp_stream_open(
    struct tp_stream *stream, const char *name, uint64_t timeout_ms, struct tp_err *err)
{
	memset(stream, 0, sizeof(*stream));
	return tp_inlet_open(&stream->inlet, name, timeout_ms, err);
}

int tp_stream_await(struct tp_stream *stream, bool *again, struct tp_err *err)
{
	struct tp_inlet *inlet = &stream->inlet;
	*again = false;
	stream->frames.read = tp_inlet_read;
	stream->frames.context = inlet;
	stream->frames.name = inlet->name;
	stream->frames.offset = 0;
	stream->frames.started = false;
	int r = tp_frames_next(&stream->frames, err);
	if (r > 0) {
		tp_inlet_close_listener(inlet);
		return 0;
	}
	// A frame that is cut off because time is up is not the connection's fault.
	const bool broken = inlet->over || (r < 0 && r != TP_ERR_TRUNCATED);
	if (!r && inlet->over && inlet->listener >= 0)
		r = tp_err_set(
		    err, TP_ERR_NOT_FOUND, inlet->name, "a client connected and sent nothing");
	else if (!r)
		r = tp_err_set(err, TP_ERR_NOT_FOUND, inlet->name,
		    "no program has sent anything: is it built with a streaming port, and is "
		    "TEEPERF_STREAM set?");
	*again = broken && tp_inlet_again(inlet);
	return r;
}

void tp_stream_release(struct tp_stream *stream)
{
	tp_inlet_release(&stream->inlet);
}

static void take_points(struct tp_stream *stream)
{
	const struct teeperf_frame_point *points = (const void *)stream->frames.payload;
	const uint64_t count = stream->frames.frame.length / sizeof(*points);
	for (uint64_t i = 0; i < count; i++) {
		const struct teeperf_trace_point *last =
		    stream->point_count ? &stream->points[stream->point_count - 1] : NULL;
		if (last && (points[i].ticks < last->ticks || points[i].ns < last->monotonic_ns))
			continue; // no clock goes back
		// Between the first and the last they say little: later ones replace the last.
		if (stream->point_count == TP_CLOCK_POINTS)
			stream->point_count--;
		stream->points[stream->point_count++] =
		    (struct teeperf_trace_point){points[i].ticks, points[i].ns};
	}
}

// Wait for a free chunk. A stream that must stop does not wait for ever.
static bool take_chunk(struct tp_stream *stream)
{
	const struct timespec nap = {.tv_nsec = 1000 * 1000};
	for (uint32_t waited = 0; !tp_mirror_chunk(&stream->mirror, &stream->frames);) {
		if (tp_load_relaxed(&stream->stop) && waited++ == STOP_MS)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

static void *run(void *argument)
{
	struct tp_stream *stream = argument;
	int kind = 0;
	bool goes_on = true;
	while (goes_on && (kind = tp_frames_next(&stream->frames, &stream->error)) > 0) {
		switch ((enum teeperf_frame_kind)kind) {
		case TEEPERF_FRAME_START:
		case TEEPERF_FRAME_END:
			break;
		case TEEPERF_FRAME_WORDS:
			tp_mirror_words(&stream->mirror, &stream->frames);
			break;
		case TEEPERF_FRAME_CHUNK:
			goes_on = take_chunk(stream);
			break;
		case TEEPERF_FRAME_CLOCK:
			take_points(stream);
			break;
		}
	}
	stream->failed = kind < 0 && !tp_load_relaxed(&stream->stop);
	tp_store_release(&stream->over, 1);
	return NULL;
}

int tp_stream_start(struct tp_stream *stream, struct tp_region *region, struct tp_err *err)
{
	stream->mirror = (struct tp_mirror){.region = region};
	tp_mirror_start(&stream->mirror, &stream->frames);
	const int error = pthread_create(&stream->thread, NULL, run, stream);
	return error ? tp_err_system(err, error, NULL, "cannot start the stream's thread") : 0;
}

void tp_stream_stop(struct tp_stream *stream)
{
	tp_store_relaxed(&stream->stop, 1);
	tp_inlet_stop(&stream->inlet);
	pthread_join(stream->thread, NULL);
}
