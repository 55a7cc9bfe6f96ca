// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a stream frame by frame.
#include "frames.h"

#include <stddef.h>
#include <string.h>

// 1: all SIZE bytes; 0: none, as the stream ends before them, where it may end.
static int fill(struct tp_frames *frames, void *to, uint64_t size, bool may_end, struct tp_err *err)
{
	char *at = to;
	uint64_t missing = size;
	while (missing) {
		const int64_t got = frames->read(frames->context, at, missing, err);
		if (got < 0)
			return (int)got;
		if (!got && missing == size && may_end)
			return 0;
		if (!got)
			return tp_err_set_at(err, TP_ERR_TRUNCATED, frames->name, frames->offset,
			    "the stream ends within a frame");
		at += got;
		missing -= (uint64_t)got;
		frames->offset += (uint64_t)got;
	}
	return 1;
}

static int bad(const struct tp_frames *frames, struct tp_err *err, const char *what, uint64_t value)
{
	return tp_err_set_at(err, TP_ERR_FORMAT, frames->name,
	    frames->offset - sizeof(frames->frame), "%s %llu", what, (unsigned long long)value);
}

static bool inside(const struct teeperf_log_header *log, uint64_t at, uint64_t count, uint64_t size)
{
	return at % 8 == 0 && at >= sizeof(*log) && at <= log->region_size &&
	       count <= (log->region_size - at) / size;
}

// START says where everything is that follows.
static int check_start(struct tp_frames *frames, struct tp_err *err)
{
	const struct teeperf_log_header *log = &frames->start;
	memcpy(&frames->start, frames->payload, sizeof(frames->start));
	if (log->magic != TEEPERF_LOG_MAGIC)
		return bad(frames, err, "START is not the header of a log: magic", log->magic);
	if (log->major != TEEPERF_LOG_MAJOR)
		return tp_err_set_at(err, TP_ERR_VERSION, frames->name, frames->offset,
		    "the log has version %u.%u, this recorder reads %d: use the teeperf that the "
		    "program was built with",
		    log->major, log->minor, TEEPERF_LOG_MAJOR);
	if (log->chunk_shift != TEEPERF_CHUNK_SHIFT_DEFAULT)
		return bad(
		    frames, err, "START names chunks of a size whose log2 is", log->chunk_shift);
	if (log->clock > TEEPERF_CLOCK_SOFT_COUNT)
		return bad(frames, err, "START names an unknown clock,", log->clock);
	if (!inside(log, log->modules_offset, log->module_capacity, sizeof(struct teeperf_module)))
		return bad(
		    frames, err, "START has its modules outside the log, at", log->modules_offset);
	if (!inside(log, log->threads_offset, log->thread_capacity, sizeof(struct teeperf_thread)))
		return bad(
		    frames, err, "START has its threads outside the log, at", log->threads_offset);
	frames->started = true;
	return 0;
}

// Bytes of payload, by the kind of the frame.
static const struct {
	uint64_t least, most, unit;
} lengths[] = {
    [TEEPERF_FRAME_START] = {TEEPERF_LOG_HEADER_SIZE, TEEPERF_LOG_HEADER_SIZE, 1},
    [TEEPERF_FRAME_WORDS] = {0, TEEPERF_FRAME_MAX, 8},
    [TEEPERF_FRAME_CHUNK] = {sizeof(struct teeperf_chunk), TEEPERF_FRAME_MAX, 8},
    [TEEPERF_FRAME_CLOCK] = {0, TEEPERF_FRAME_MAX, sizeof(struct teeperf_frame_point)},
    [TEEPERF_FRAME_END] = {8, 8, 1},
};

// Whether the frame, without its payload, can be what it says.
static int check_frame(const struct tp_frames *frames, struct tp_err *err)
{
	const struct teeperf_frame *frame = &frames->frame;
	const uint64_t length = frame->length;
	if (frame->magic != TEEPERF_FRAME_MAGIC)
		return tp_err_set_at(err, TP_ERR_FORMAT, frames->name,
		    frames->offset - sizeof(*frame), "no frame begins here%s",
		    frames->started ? "" : ": it is not a program's stream");
	if (frame->version != TEEPERF_FRAME_VERSION)
		return tp_err_set_at(err, TP_ERR_VERSION, frames->name, frames->offset,
		    "the stream has version %u, this recorder reads %d: use the teeperf that the "
		    "program was built with",
		    frame->version, TEEPERF_FRAME_VERSION);
	if (length > TEEPERF_FRAME_MAX)
		return bad(frames, err, "a frame's length is", length);
	if (frame->offset % 8 || frame->offset > UINT64_MAX - length)
		return bad(frames, err, "a frame's offset is", frame->offset);
	if ((frame->kind == TEEPERF_FRAME_START) == frames->started)
		return bad(frames, err, "a stream begins with one START; unexpected frame of kind",
		    frame->kind);
	if (!frame->kind || frame->kind >= sizeof(lengths) / sizeof(lengths[0]))
		return bad(frames, err, "unknown kind of frame", frame->kind);
	const bool fits = length >= lengths[frame->kind].least &&
			  length <= lengths[frame->kind].most &&
			  length % lengths[frame->kind].unit == 0;
	return fits ? 0 : bad(frames, err, "a frame of this kind cannot have the length", length);
}

int tp_frames_next(struct tp_frames *frames, struct tp_err *err)
{
	const struct teeperf_frame *frame = &frames->frame;
	if (frames->ended)
		return 0;
	int r = fill(frames, &frames->frame, sizeof(frames->frame), true, err);
	if (r <= 0)
		return r;
	r = check_frame(frames, err);
	if (r)
		return r;
	const uint64_t padded = (frame->length + 7) & ~UINT64_C(7);
	r = fill(frames, frames->payload, padded, false, err);
	if (r < 0)
		return r;
	if (frame->kind == TEEPERF_FRAME_START) {
		r = check_start(frames, err);
		if (r)
			return r;
	}
	const struct teeperf_chunk *chunk = (const void *)frames->payload;
	if (frame->kind == TEEPERF_FRAME_CHUNK && chunk->used != frame->length)
		return tp_err_set_at(err, TP_ERR_FORMAT, frames->name, frames->offset - padded,
		    "a chunk of %llu bytes claims to have %llu", (unsigned long long)frame->length,
		    (unsigned long long)chunk->used);
	if (frame->kind == TEEPERF_FRAME_END) {
		frames->ended = true;
		frames->end = frames->payload[0];
	}
	return frame->kind;
}
