// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as the stream of a hostile program: whatever arrives, in however small parts, the
// reader ends in order, its effects stay within the tables and chunks of the region, and a whole
// recording of it leaves a sound trace, no descriptor, and no other file.
// Runs: 1 of 20.
//
// An input is a byte of choices and a sequence of (kind, length, that many bytes), each a frame or
// something else.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder/session.h"
#include "test/fuzz/check_trace.h"

enum { STREAM_MAX = 1 << 21, PARTS_MAX = 40, MODULES = 64, THREADS = 256, CHUNKS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// ---- making a stream

static uint8_t *stream;
static size_t stream_size;

// BYTES and then zeroes, up to SIZE.
static void put(const void *bytes, size_t have, size_t size)
{
	if (size > STREAM_MAX - stream_size)
		return;
	have = have < size ? have : size;
	memcpy(stream + stream_size, bytes, have);
	memset(stream + stream_size + have, 0, size - have);
	stream_size += size;
}

static void put_frame(
    unsigned kind, uint64_t offset, uint64_t length, const void *bytes, size_t have)
{
	const struct teeperf_frame frame = {
	    TEEPERF_FRAME_MAGIC, TEEPERF_FRAME_VERSION, (uint16_t)kind, offset, length};
	put(&frame, sizeof(frame), sizeof(frame));
	if (length <= TEEPERF_FRAME_MAX)
		put(bytes, have, (length + 7) & ~UINT64_C(7));
}

static uint64_t number(const uint8_t *bytes, size_t size, size_t at, size_t count)
{
	uint64_t value = 0;
	for (size_t i = 0; i < count && at + i < size; i++)
		value |= (uint64_t)bytes[at + i] << (8 * i);
	return value;
}

static const struct teeperf_log_header good = {
    .magic = TEEPERF_LOG_MAGIC,
    .major = TEEPERF_LOG_MAJOR,
    .oldest_major = TEEPERF_LOG_OLDEST_MAJOR,
    .header_size = TEEPERF_LOG_HEADER_SIZE,
    .chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT,
    .chunk_count = 32,
    .region_size = UINT64_C(34) << TEEPERF_CHUNK_SHIFT_DEFAULT,
    .supply_offset = TEEPERF_LOG_HEADER_SIZE,
    .state_offset = TEEPERF_LOG_HEADER_SIZE + 32 * 8,
    .modules_offset = TEEPERF_LOG_HEADER_SIZE + 32 * 16,
    .threads_offset = TEEPERF_LOG_HEADER_SIZE + 32 * 16 + MODULES * sizeof(struct teeperf_module),
    .chunks_offset = UINT64_C(2) << TEEPERF_CHUNK_SHIFT_DEFAULT,
    .module_capacity = MODULES,
    .thread_capacity = THREADS,
    .clock = TEEPERF_CLOCK_TSC,
    .mode = TEEPERF_MODE_STREAM,
    .control = TEEPERF_ACTIVE,
    .attach = TEEPERF_ATTACH_DONE,
};

// Words of the header become what the program likes: (index, low byte, byte at 32, upper byte)
// each.
static void put_start(const uint8_t *bytes, size_t size)
{
	union {
		struct teeperf_log_header header;
		uint64_t words[TEEPERF_LOG_HEADER_SIZE / 8];
	} log = {good};
	for (; size >= 4; bytes += 4, size -= 4)
		log.words[bytes[0]] =
		    (uint64_t)bytes[1] | (uint64_t)bytes[2] << 32 | (uint64_t)bytes[3] << 56;
	put_frame(TEEPERF_FRAME_START, 0, sizeof(log), &log, sizeof(log));
}

// Records of three bytes: which function and kind, or which control record; and the time since the
// last.
static void put_chunk(const uint8_t *bytes, size_t size)
{
	static union {
		struct teeperf_chunk chunk;
		uint64_t words[TEEPERF_FRAME_MAX / 8];
	} chunk;
	memset(&chunk.chunk, 0, sizeof(chunk.chunk));
	chunk.chunk.thread = (uint32_t)number(bytes, size, 0, 1);
	chunk.chunk.sequence = number(bytes, size, 1, 1);
	chunk.chunk.os_tid = 1000 + number(bytes, size, 0, 1);
	if (number(bytes, size, 2, 1) & 1)
		chunk.chunk.thread <<= 24;
	uint64_t time = 0;
	uint64_t used = sizeof(chunk.chunk) / 8;
	for (size_t at = 3; at + 3 <= size; at += 3) {
		time += bytes[at + 1] | (uint64_t)bytes[at + 2] << 8;
		const uint64_t name =
		    bytes[at] < 0xf0 ? UINT64_C(0x10000) + bytes[at] : (uint64_t)(bytes[at] & 0xf);
		chunk.words[used++] = (time & UINT32_MAX) | name << 32;
	}
	chunk.chunk.used = used * 8 + 8 * (number(bytes, size, 2, 1) >> 5);
	const size_t length = used * 8;
	put_frame(TEEPERF_FRAME_CHUNK, good.chunks_offset, length, &chunk, length);
}

static void put_part(unsigned kind, const uint8_t *bytes, size_t size)
{
	const uint64_t places[] = {0, offsetof(struct teeperf_log_header, pid), good.modules_offset,
	    good.threads_offset, good.chunks_offset, UINT64_MAX - 0xffff};
	const uint64_t place =
	    places[number(bytes, size, 0, 1) % 6] + 8 * number(bytes, size, 1, 2);
	const size_t rest = size < 3 ? 0 : size - 3;
	static uint8_t same[TEEPERF_FRAME_MAX];
	switch (kind % 8) {
	case 0:
		put_start(bytes, size);
		break;
	case 1:
		put_frame(TEEPERF_FRAME_WORDS, place, rest & ~(size_t)7, bytes + 3, rest);
		break;
	case 2:
		put_chunk(bytes, size);
		break;
	case 3:
		put_frame(TEEPERF_FRAME_CLOCK, 0, size & ~(size_t)15, bytes, size);
		break;
	case 4:
		put_frame(TEEPERF_FRAME_END, 0, 8, bytes, size);
		break;
	case 5:
		put(bytes, size, size);
		break;
	case 6: // a frame that says what it likes
		put_frame((unsigned)number(bytes, size, 0, 2), number(bytes, size, 2, 8),
		    number(bytes, size, 10, 3), bytes, size);
		break;
	default: // much of the same
		memset(same, (int)number(bytes, size, 3, 1), sizeof(same));
		put_frame(TEEPERF_FRAME_WORDS, place, sizeof(same), same, sizeof(same));
		break;
	}
}

static void make_stream(const uint8_t *data, size_t size, bool begin)
{
	stream_size = 0;
	if (begin)
		put_start(NULL, 0);
	for (int i = 0; i < PARTS_MAX && size >= 2; i++) {
		const size_t length = data[1] < size - 2 ? data[1] : size - 2;
		put_part(data[0], data + 2, length);
		data += 2 + length;
		size -= 2 + length;
	}
}

// ---- the reader and its effects

struct piece {
	size_t at, most;
};

static int64_t read_piece(void *context, void *to, uint64_t size, struct tp_err *err)
{
	struct piece *piece = context;
	(void)err;
	size_t part = stream_size - piece->at;
	part = part < size ? part : size;
	part = part < piece->most ? part : piece->most;
	memcpy(to, stream + piece->at, part);
	piece->at += part;
	return (int64_t)part;
}

static struct tp_region region;

static void put_region_back(const struct teeperf_log_header *before)
{
	memcpy(region.header, before, sizeof(*before));
	memset(region.modules, 0, TP_REGION_MODULES * sizeof(struct teeperf_module));
	memset(region.threads, 0, TP_REGION_THREADS * sizeof(struct teeperf_thread));
}

// All frames, MOST bytes at a time: what the last call returns. *frames: how many there were.
static int read_all(size_t most, unsigned *count)
{
	static struct tp_frames frames;
	static struct teeperf_log_header before;
	uint64_t supply[CHUNKS];
	memset(&frames, 0, sizeof(frames));
	struct piece piece = {0, most};
	frames.read = read_piece;
	frames.context = &piece;
	frames.name = "fuzz";
	struct tp_mirror mirror = {.region = &region};
	struct tp_err err;
	int kind;
	memcpy(&before, region.header, sizeof(before));
	for (*count = 0; (kind = tp_frames_next(&frames, &err)) > 0; ++*count) {
		if ((kind == TEEPERF_FRAME_START) != (*count == 0))
			abort();
		if (kind == TEEPERF_FRAME_START)
			tp_mirror_start(&mirror, &frames);
		else if (kind == TEEPERF_FRAME_WORDS)
			tp_mirror_words(&mirror, &frames);
		// As the drain does it.
		region.supply[mirror.ticket % CHUNKS] =
		    TEEPERF_SUPPLY_SLOT(mirror.ticket, mirror.ticket % CHUNKS);
		memcpy(supply, region.supply, sizeof(supply));
		if (kind == TEEPERF_FRAME_CHUNK && !tp_mirror_chunk(&mirror, &frames))
			abort();
		if (memcmp(supply, region.supply, sizeof(supply)))
			abort();
	}
	const size_t first = offsetof(struct teeperf_log_header, pid);
	const size_t end = offsetof(struct teeperf_log_header, crossings);
	// The host's part stays as it was, except for the draws.
	before.tail = region.header->tail;
	if (memcmp(region.header, &before, first) ||
	    memcmp((char *)region.header + end, (char *)&before + end, sizeof(before) - end) ||
	    region.header->tail != mirror.ticket)
		abort();
	for (uint32_t i = 0; i < CHUNKS; i++)
		if (region.states[i] != TEEPERF_CHUNK_FREE &&
		    region.states[i] != TEEPERF_CHUNK_DONE)
			abort();
	before.tail = 0;
	put_region_back(&before);
	if (frames.offset > stream_size || (frames.ended && frames.offset % 8))
		abort();
	return kind;
}

// ---- a whole recording

static void read_trace(size_t choice)
{
	struct tp_tracefile trace;
	struct tp_err err;
	struct tp_analysis analysis = {0};
	const struct tp_analysis_options options = {.workers = 1};
	const int fd = open("fuzz.trace", O_RDONLY | O_CLOEXEC);
	const off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
	if (!bytes || size <= 0 || pread(fd, bytes, (size_t)size, 0) != size)
		abort();
	if (tp_tracefile_from_memory(&trace, "fuzz", bytes, (size_t)size, &err) || !trace.has_end ||
	    !trace.has_log)
		abort();
	if (tp_analysis_init(&analysis, &trace, &options, &err) == 0) {
		check_sums(&analysis);
		check_calls(&analysis);
	}
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	if (choice % 64 == 0)
		check_trace(bytes, (size_t)size, choice);
	free(bytes);
	close(fd);
}

static void record(size_t choice)
{
	static struct tp_stream inlet;
	static struct tp_session session;
	struct tp_session_counts counts;
	struct tp_err err;
	char name[32];
	bool again;
	const int fd = memfd_create("stream", MFD_CLOEXEC);
	if (fd < 0 || write(fd, stream, stream_size) != (ssize_t)stream_size)
		abort();
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	if (tp_stream_open(&inlet, name, 0, &err))
		abort();
	if (tp_stream_await(&inlet, &again, &err) == 0) {
		const struct tp_session_options options = {.output = "fuzz.trace",
		    .size_bytes = (uint64_t)CHUNKS * TP_REGION_CHUNK_SIZE,
		    .compress = choice % 4 == 1,
		    .mode = TEEPERF_MODE_STREAM,
		    .drain = choice % 4 == 2 ? TP_DRAIN_CHOICE_LATE : TP_DRAIN_CHOICE_NOW,
		    .stream = &inlet};
		if (tp_session_start(&session, &options, &err))
			abort();
		while (tp_session_wait(&session, 10) != TP_LAUNCH_ENDED)
			;
		if (tp_session_finish(&session, &counts, &err))
			abort();
		tp_session_forget(&session);
		read_trace(choice);
		if (unlink("fuzz.trace"))
			abort();
	} else if (again) {
		abort();
	}
	tp_stream_release(&inlet);
	close(fd);
}

// The lowest number that no descriptor has.
static int lowest(void)
{
	const int fd = dup(STDERR_FILENO);
	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_err err;
	if (!region.map) {
		const struct tp_region_options options = {
		    .chunk_count = CHUNKS, .mode = TEEPERF_MODE_STREAM, .clock = TEEPERF_CLOCK_TSC};
		stream = malloc(STREAM_MAX);
		if (!stream || tp_region_create(&region, &options, &err))
			abort();
		tp_region_unlink(&region);
	}
	if (!size)
		return 0;
	make_stream(data + 1, size - 1, data[0] & 1);
	unsigned whole;
	unsigned pieces;
	const int result = read_all(SIZE_MAX, &whole);
	if (read_all(1 + data[0] / 32, &pieces) != result || pieces != whole)
		abort();
	// It waits here and there.
	if (data[0] & 0x1e)
		return 0;
	const int next = lowest();
	record(size);
	if (lowest() != next)
		abort();
	return 0;
}
