// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the frames of a stream (stream.h), apart from the recorder's reader, and prints their
// contents.
//
//   stream_sum FILE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teeperf/stream.h>

static int fail(const char *what, unsigned long long at)
{
	printf("error=%s at frame %llu\n", what, at);
	return 1;
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	static union {
		uint64_t words[TEEPERF_FRAME_MAX / 8];
		struct teeperf_chunk chunk;
	} body;
	static uint64_t log[1 << 15]; // the part before the chunks
	// By thread and sequence number. Threads that record without end have many chunks where
	// their process is slow to end.
	enum { THREADS = 4096, SEQUENCES = 65536 };
	static unsigned char seen[THREADS][SEQUENCES / 8];
	const struct teeperf_log_header *header = (const void *)log;
	struct teeperf_frame head;
	unsigned long long frames = 0, chunks = 0, events = 0, counted = 0, points = 0, ended = 0;
	if (!file)
		return 2;
	while (fread(&head, sizeof(head), 1, file) == 1) {
		const uint64_t padded = (head.length + 7) & ~UINT64_C(7);
		if (head.magic != TEEPERF_FRAME_MAGIC || head.version != TEEPERF_FRAME_VERSION)
			return fail("magic", frames);
		if (head.length > TEEPERF_FRAME_MAX || head.offset % 8)
			return fail("length", frames);
		if ((head.kind == TEEPERF_FRAME_START) != (frames == 0) || ended)
			return fail("order", frames);
		if (padded && fread(&body, padded, 1, file) != 1)
			return fail("cut", frames);
		if (head.kind == TEEPERF_FRAME_START || head.kind == TEEPERF_FRAME_WORDS) {
			if (head.offset + head.length > sizeof(log) || head.length % 8)
				return fail("words", frames);
			memcpy((char *)log + head.offset, &body, head.length);
		} else if (head.kind == TEEPERF_FRAME_CHUNK) {
			const struct teeperf_chunk *chunk = &body.chunk;
			if (chunk->used != head.length || chunk->thread >= THREADS ||
			    chunk->sequence >= SEQUENCES)
				return fail("chunk", frames);
			unsigned char *bits = &seen[chunk->thread][chunk->sequence / 8];
			const unsigned char bit = (unsigned char)(1 << chunk->sequence % 8);
			if (*bits & bit)
				return fail("chunk, which was there before", frames);
			*bits |= bit;
			chunks++;
			for (uint64_t i = sizeof(*chunk) / 8; i < head.length / 8; i++) {
				uint64_t pairs = body.words[i] & UINT32_MAX;
				if (body.words[i] >> 32 != TEEPERF_CONTROL_COUNTS)
					pairs = 0;
				events += body.words[i] >> 32 >= TEEPERF_NAME_FIRST;
				for (; pairs-- && i + 2 < head.length / 8; i += 2)
					counted += body.words[i + 2];
			}
		} else if (head.kind == TEEPERF_FRAME_CLOCK) {
			points += head.length / sizeof(struct teeperf_frame_point);
		} else if (head.kind == TEEPERF_FRAME_END) {
			ended = body.words[0];
		} else {
			return fail("kind", frames);
		}
		frames++;
	}
	unsigned long long lost = header->lost_overflow + header->lost_early;
	const struct teeperf_thread *threads = (const void *)((char *)log + header->threads_offset);
	for (uint32_t i = 0; frames && i < header->thread_capacity; i++)
		lost += threads[i].lost;
	printf("frames=%s\nchunks=%llu\nevents=%llu\ncounted=%llu\nlost=%llu\nthreads=%llu\n"
	       "modules=%llu\npoints=%llu\n"
	       "ended=%llx\nclock=%u\nattach=%u\n",
	    frames ? "yes" : "none", chunks, events, counted, lost,
	    (unsigned long long)header->thread_count, (unsigned long long)header->module_count,
	    points, ended, header->clock, header->attach);
	return 0;
}
