/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The stream: how a program that shares no memory with its recorder sends its log. It keeps a log
 * (log.h) in private memory, and plays the host's part in it itself. The parts that a recorder
 * would read are sent in frames, one after the other, in one direction, without a reply: into a
 * file, a pipe, an ocall, a socket. Specified in docs/format.md; test/lint compares that document
 * with this header.
 *
 * Everything is little-endian and fixed-width. The receiver trusts no number in it. A stream can
 * end anywhere: each whole chunk received counts.
 */
#ifndef TEEPERF_STREAM_H
#define TEEPERF_STREAM_H

#include <teeperf/log.h>

/* "TPFR", read as a little-endian word of 4 bytes. */
#define TEEPERF_FRAME_MAGIC UINT32_C(0x52465054)
/* A receiver refuses all others. */
#define TEEPERF_FRAME_VERSION 1
/* Most bytes of payload in one frame: a chunk. */
#define TEEPERF_FRAME_MAX 65536

enum teeperf_frame_kind {
	/*
	 * Always first, and only there. The first TEEPERF_LOG_HEADER_SIZE bytes of the log;
	 * `offset` 0. Says where the tables are, which clock is in use, and the known facts about
	 * the program.
	 */
	TEEPERF_FRAME_START = 1,
	/*
	 * The present contents of the log at `offset`, in words. The receiver uses the program's
	 * part of the header (from `pid` through `switches`), the table of modules, and that of
	 * threads, and skips words elsewhere. A slot of a table is sent before the count that
	 * includes it.
	 */
	TEEPERF_FRAME_WORDS = 2,
	/*
	 * A chunk that no thread writes any more: struct teeperf_chunk with its final `used`, which
	 * is the payload's length, and its records. `offset` is the chunk's, for information. Each
	 * chunk is sent once. Those of a thread come in any order, because one with counts is
	 * complete long after chunks begun later.
	 */
	TEEPERF_FRAME_CHUNK = 3,
	/*
	 * Points of the clock, struct teeperf_frame_point[], if the program has a clock of known
	 * rate to compare with; `offset` 0. Two, at the beginning and at the end, are enough.
	 */
	TEEPERF_FRAME_CLOCK = 4,
	/*
	 * Always last: the program has ended. One word, as header.ended; `offset` 0.
	 */
	TEEPERF_FRAME_END = 5,
};

/*
 * Payload follows, padded with zeroes to a multiple of 8. Frames of several threads are never
 * interleaved.
 */
struct teeperf_frame {
	uint32_t magic;   /* TEEPERF_FRAME_MAGIC */
	uint16_t version; /* TEEPERF_FRAME_VERSION */
	uint16_t kind;    /* enum teeperf_frame_kind */
	uint64_t offset;  /* in the log, a multiple of 8 */
	/* bytes of payload without padding, at most TEEPERF_FRAME_MAX; WORDS: whole words */
	uint64_t length;
};

struct teeperf_frame_point {
	uint64_t ticks; /* the log's clock */
	uint64_t ns;    /* a monotonic clock of the program, at the same moment */
};

TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_frame) == 24, "frame");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_frame_point) == 16, "frame point");

#endif
