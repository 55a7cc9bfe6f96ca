// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames of a stream: each rule alone, and streams that are cut off at each byte.
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "recorder/stream/frames.h"

static uint8_t bytes[1 << 18];
static size_t size, at, most;
static struct tp_frames frames;
static struct tp_err err;

static int64_t read_bytes(void *context, void *to, uint64_t wanted, struct tp_err *error)
{
	assert_ptr_equal(context, bytes);
	if (most == 0)
		return tp_err_set_at(error, TP_ERR_SYSTEM, "stream", 0, "no reading today");
	size_t part = size - at < wanted ? size - at : wanted;
	part = part < most ? part : most;
	memcpy(to, bytes + at, part);
	at += part;
	return (int64_t)part;
}

static void begin(size_t pieces)
{
	memset(&frames, 0, sizeof(frames));
	memset(&err, 0, sizeof(err));
	frames.read = read_bytes;
	frames.context = bytes;
	frames.name = "stream";
	at = 0;
	most = pieces;
}

static struct teeperf_frame *put(uint16_t kind, uint64_t offset, uint64_t length, const void *from)
{
	struct teeperf_frame *frame = (void *)(bytes + size);
	*frame = (struct teeperf_frame){
	    TEEPERF_FRAME_MAGIC, TEEPERF_FRAME_VERSION, kind, offset, length};
	memset(frame + 1, 0, (length + 7) & ~UINT64_C(7));
	if (from)
		memcpy(frame + 1, from, length);
	size += sizeof(*frame) + ((length + 7) & ~UINT64_C(7));
	return frame;
}

static union {
	struct teeperf_log_header header;
	uint8_t bytes[TEEPERF_LOG_HEADER_SIZE];
} start;

static struct teeperf_log_header *put_start(void)
{
	size = 0;
	memset(&start, 0, sizeof(start));
	start.header = (struct teeperf_log_header){
	    .magic = TEEPERF_LOG_MAGIC,
	    .major = TEEPERF_LOG_MAJOR,
	    .chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT,
	    .region_size = 1 << 20,
	    .modules_offset = TEEPERF_LOG_HEADER_SIZE,
	    .threads_offset = (1 << 20) - 4 * sizeof(struct teeperf_thread),
	    .module_capacity = 4,
	    .thread_capacity = 4,
	};
	return (void *)(put(TEEPERF_FRAME_START, 0, sizeof(start), &start) + 1);
}

static union {
	struct teeperf_chunk chunk;
	uint64_t words[TEEPERF_FRAME_MAX / 8];
} chunk;

static struct teeperf_frame *put_chunk(uint64_t length)
{
	chunk.chunk.used = length;
	return put(TEEPERF_FRAME_CHUNK, 1 << 16, length, &chunk);
}

static const uint64_t end_word = TEEPERF_ENDED;

// The next frame is refused with this code, and the message has this text.
static void refused(int code, const char *text)
{
	begin(SIZE_MAX);
	int kind;
	while ((kind = tp_frames_next(&frames, &err)) > 0)
		;
	assert_int_equal(kind, code);
	assert_int_equal(err.code, code);
	if (!strstr(err.what, text))
		fail_msg("'%s' is not in '%s'", text, err.what);
	assert_string_equal(err.file, "stream");
	assert_true(err.offset <= size);
}

static void whole(void **state)
{
	(void)state;
	put_start();
	chunk.words[100] = 12345;
	put_chunk(TEEPERF_FRAME_MAX);
	put_chunk(sizeof(chunk.chunk));
	const uint64_t words[3] = {1, 2, 3};
	put(TEEPERF_FRAME_WORDS, UINT64_MAX - 31, sizeof(words), words);
	put(TEEPERF_FRAME_CLOCK, 0, 0, words);
	put(TEEPERF_FRAME_END, 0, 8, &end_word);
	const size_t end = size;
	put_start(); // another run
	size = 2 * end;
	for (size_t pieces = 1; pieces < 70000; pieces = pieces * 3 + 1) {
		begin(pieces);
		assert_int_equal(tp_frames_next(&frames, &err), TEEPERF_FRAME_START);
		assert_true(frames.started);
		assert_memory_equal(&frames.start, &start, sizeof(frames.start));
		assert_int_equal(tp_frames_next(&frames, &err), TEEPERF_FRAME_CHUNK);
		assert_int_equal(frames.payload[100], 12345);
		assert_int_equal(tp_frames_next(&frames, &err), TEEPERF_FRAME_CHUNK);
		assert_int_equal(frames.frame.length, sizeof(chunk.chunk));
		assert_int_equal(tp_frames_next(&frames, &err), TEEPERF_FRAME_WORDS);
		assert_int_equal(frames.payload[2], 3);
		assert_int_equal(tp_frames_next(&frames, &err), TEEPERF_FRAME_CLOCK);
		assert_false(frames.ended);
		assert_int_equal(tp_frames_next(&frames, &err), TEEPERF_FRAME_END);
		assert_int_equal(frames.end, end_word);
		// What follows is another run's, and stays where it is.
		assert_int_equal(tp_frames_next(&frames, &err), 0);
		assert_int_equal(tp_frames_next(&frames, &err), 0);
		assert_int_equal(at, end);
		assert_int_equal(frames.offset, end);
	}
}

static void cut_off_anywhere(void **state)
{
	(void)state;
	put_start();
	const size_t first = size;
	put_chunk(200);
	const size_t second = size;
	put(TEEPERF_FRAME_END, 0, 8, &end_word);
	const size_t all = size;
	for (size = 0; size <= all; size++) {
		begin(size % 5 + 1);
		int kind;
		while ((kind = tp_frames_next(&frames, &err)) > 0)
			;
		const bool between = !size || size == first || size == second || size == all;
		assert_int_equal(kind, between ? 0 : TP_ERR_TRUNCATED);
		assert_int_equal(frames.ended, size == all);
		if (!between)
			assert_int_equal(err.offset, size);
	}
}

static void wrong_starts(void **state)
{
	(void)state;
	put_start()->magic++;
	refused(TP_ERR_FORMAT, "START is not the header of a log");
	put_start()->major++;
	refused(TP_ERR_VERSION, "use the teeperf that the program was built with");
	put_start()->chunk_shift++;
	refused(TP_ERR_FORMAT, "chunks of a size");
	put_start()->clock = 1000;
	refused(TP_ERR_FORMAT, "unknown clock");
	put_start()->modules_offset = sizeof(start) - 8;
	refused(TP_ERR_FORMAT, "modules outside");
	put_start()->modules_offset += 4;
	refused(TP_ERR_FORMAT, "modules outside");
	put_start()->module_capacity = UINT32_MAX;
	refused(TP_ERR_FORMAT, "modules outside");
	put_start()->threads_offset += 8;
	refused(TP_ERR_FORMAT, "threads outside");
	put_start()->threads_offset = UINT64_MAX - 7;
	refused(TP_ERR_FORMAT, "threads outside");
	put_start();
	put(TEEPERF_FRAME_START, 0, sizeof(start), &start);
	refused(TP_ERR_FORMAT, "begins with one START");
	size = 0;
	put(TEEPERF_FRAME_END, 0, 8, &end_word);
	refused(TP_ERR_FORMAT, "begins with one START");
	put_start();
	((struct teeperf_frame *)(void *)bytes)->length -= 8;
	refused(TP_ERR_FORMAT, "cannot have the length");
}

static void wrong_frames(void **state)
{
	(void)state;
	put_start();
	put_chunk(64)->magic++;
	refused(TP_ERR_FORMAT, "no frame begins here");
	assert_null(strstr(err.what, "it is not a program's stream"));
	size = 0;
	put_chunk(64)->magic = 0;
	refused(TP_ERR_FORMAT, "it is not a program's stream");
	put_start();
	put_chunk(64)->version++;
	refused(TP_ERR_VERSION, "the stream has version 2");
	static const struct {
		uint16_t kind;
		uint64_t offset, length;
		const char *text;
	} cases[] = {
	    {TEEPERF_FRAME_WORDS, 0, TEEPERF_FRAME_MAX + 8, "a frame's length"},
	    {TEEPERF_FRAME_WORDS, 0, UINT64_MAX, "a frame's length"},
	    {TEEPERF_FRAME_WORDS, 4, 8, "a frame's offset"},
	    {TEEPERF_FRAME_WORDS, UINT64_MAX - 7, 8, "a frame's offset"},
	    {TEEPERF_FRAME_WORDS, 0, 12, "cannot have the length"},
	    {TEEPERF_FRAME_CHUNK, 0, 56, "cannot have the length"},
	    {TEEPERF_FRAME_CHUNK, 0, 68, "cannot have the length"},
	    {TEEPERF_FRAME_CLOCK, 0, 24, "cannot have the length"},
	    {TEEPERF_FRAME_END, 0, 0, "cannot have the length"},
	    {TEEPERF_FRAME_END, 0, 16, "cannot have the length"},
	    {0, 0, 0, "unknown kind of frame"},
	    {6, 0, 0, "unknown kind of frame"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_start();
		const size_t here = size;
		struct teeperf_frame *frame = put(cases[i].kind, cases[i].offset, 0, NULL);
		frame->length = cases[i].length;
		size += 1 << 17;
		refused(TP_ERR_FORMAT, cases[i].text);
		assert_int_equal(err.offset, here);
	}
	// A chunk that says that it has less, or more, than was sent.
	for (int more = -8; more <= 8; more += 16) {
		put_start();
		struct teeperf_chunk *sent = (void *)(put_chunk(128) + 1);
		sent->used += (uint64_t)(int64_t)more;
		refused(TP_ERR_FORMAT, "a chunk of 128 bytes claims to have 1");
	}
}

static void errors_of_reading(void **state)
{
	(void)state;
	put_start();
	begin(0);
	assert_int_equal(tp_frames_next(&frames, &err), TP_ERR_SYSTEM);
	assert_string_equal(err.what, "no reading today");
	begin(10000);
	assert_int_equal(tp_frames_next(&frames, &err), TEEPERF_FRAME_START);
	most = 0;
	assert_int_equal(tp_frames_next(&frames, &err), TP_ERR_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whole),
	    cmocka_unit_test(cut_off_anywhere),
	    cmocka_unit_test(wrong_starts),
	    cmocka_unit_test(wrong_frames),
	    cmocka_unit_test(errors_of_reading),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
