/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes a trace file (include/teeperf/trace.h) section by section. The file is whole after each
 * section. After the first failed write no more chunks are written but counted, what the file holds
 * stays readable, and small sections are still tried: they may fit where a chunk did not.
 */
#ifndef TP_TRACE_WRITER_H
#define TP_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <teeperf/atomic.h>
#include <teeperf/trace.h>

#include "common/chunks/chunk_codec.h"
#include "common/err.h"

/*
 * What a trace lacks because it could not be written: chunks, and the events in them, thread by
 * thread.
 */
struct tp_missing {
	uint64_t chunks; /* of all threads */
	uint64_t events;
	uint64_t calls;
	struct teeperf_trace_missing
	    *threads; /* by number; without those that there was no memory for */
	uint32_t count;
	uint32_t capacity;
};

/* All zero: nothing is missing. */
void tp_missing_release(struct tp_missing *missing);

/* CHUNK, SIZE bytes with its header, is not in the trace. Nothing in it is believed. */
void tp_missing_add(struct tp_missing *missing, const struct teeperf_chunk *chunk, uint64_t size);

struct tp_trace_writer {
	char *path;
	char *old_path; /* where a file that was in the way went, NULL if none was */
	/* until there is a chunk: that is not PATH.old yet, which is an older one */
	bool aside;
	int fd;
	bool regular; /* a file proper: can be cut back and patched */
	bool made;    /* it was not there before */
	bool failed;
	struct tp_err error; /* the first failure */
	uint64_t offset;     /* bytes written; other threads may load it */
	uint64_t write_ns;   /* time spent in writing */
	uint64_t chunks;     /* CHUNK and PACKED sections written; other threads may load it */
	struct tp_missing missing; /* chunks that were not written because of a failure */
	/*
	 * Behind chunks that made room: switches of threads, and system events, that are not in the
	 * file any more.
	 */
	uint64_t cut_switches;
	uint64_t cut_events;
	uint32_t unwritten; /* bit N: the last section of type N was not written, either */
	struct teeperf_trace_header header;
	struct tp_packer packer; /* of no use without a context */
	bool hurry;              /* write chunks as they are for now */
	uint64_t hurried;        /* chunks that were written so */
};

/*
 * Create the file at `path` and write its header. A regular file that is there is renamed to
 * PATH.old first, or, if there is one, when a chunk is written: a recording of nothing is discarded
 * and leaves both; pipes and devices are written into, but not with `only_new`, for a name that we
 * made up; a link to a regular file is refused. Chunks are packed with `level` of zstd, unless that
 * makes one larger; 0: they are written as they are. On success end it with tp_trace_writer_close
 * or tp_trace_writer_discard.
 */
int tp_trace_writer_open(
    struct tp_trace_writer *writer, const char *path, bool only_new, int level, struct tp_err *err);

/*
 * Go on with the trace that is open for writing as `fd`, whose sections end at `offset`: the rest
 * is cut off. `fd` is the writer's from here on, also on failure. End it with
 * tp_trace_writer_close.
 */
int tp_trace_writer_resume(struct tp_trace_writer *writer, const char *path, int fd,
    uint64_t offset, const struct teeperf_trace_header *header, int level, struct tp_err *err);

/* Add a section of `size` bytes. Failures are kept in writer->error. */
void tp_trace_writer_add(struct tp_trace_writer *writer, enum teeperf_section_type type,
    const void *payload, uint64_t size);

/* Add CHUNK as it is, whose `used` bytes have this checksum. pre: chunks are not packed. */
void tp_trace_writer_add_chunk(
    struct tp_trace_writer *writer, const struct teeperf_chunk *chunk, uint32_t checksum);

/* Put the program's machine into the file's header, where the file can be patched. */
void tp_trace_writer_set_machine(struct tp_trace_writer *writer, uint32_t machine);

/* Whether the file is still under its path; true if we did not make it. pre: it is open. */
bool tp_trace_writer_in_place(const struct tp_trace_writer *writer);

/*
 * After a failure, behind which no chunk is written: have room for BYTES of further sections, so
 * that the file can say what it lacks. If there is none, the last chunks in the file make room, and
 * are missing as well; so are all sections behind the first of them, which the caller writes again.
 * In missing.c.
 */
void tp_trace_writer_make_room(struct tp_trace_writer *writer, uint64_t bytes);

/*
 * Cut the file back to its first BYTES, which end with a section; without that, nothing more is
 * written.
 */
bool tp_trace_writer_cut(struct tp_trace_writer *writer, uint64_t bytes);

/*
 * Close; 0 or the first failure, also copied to *err: it is one if the file is not what was written
 * under its path.
 */
int tp_trace_writer_close(struct tp_trace_writer *writer, struct tp_err *err);

/* Close, remove the file and put back all that was there: nothing was recorded. */
void tp_trace_writer_discard(struct tp_trace_writer *writer);

#endif
