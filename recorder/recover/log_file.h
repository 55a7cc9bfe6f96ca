/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The log of a recorder that was killed, as a file that is only read: the program that wrote it may have
 * filled it with anything, and made it shorter. Nothing is mapped, so a file that ends early reads as
 * zeroes, and its layout comes from the trace.
 */
#ifndef TP_LOG_FILE_H
#define TP_LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <teeperf/trace.h>

#include "common/err.h"
#include "recorder/drain/drain.h"

struct tp_log_file {
	int fd; /* locked; the caller closes it */
	char path[96];
	uint64_t size;                       /* of the file */
	uint64_t memory;                     /* of it, bytes that have memory */
	struct teeperf_log_header constants; /* only what the trace's section tells is filled */
	struct teeperf_log_header *header;   /* a copy: the program's word */
	struct teeperf_module *modules;      /* module_count of them */
	struct teeperf_thread *threads;      /* thread_count of them */
	uint32_t module_count;
	uint32_t thread_count;
	struct tp_chunk_key
	    *chunks; /* that were not drained; whole: DONE, else their threads still owned them */
	uint32_t chunk_count;
};

enum tp_log_state {
	TP_LOG_ORPHAN = 0, /* locked by us now */
	TP_LOG_GONE,       /* there is none, or it is not ours */
	TP_LOG_RECORDING,  /* its recorder lives */
	TP_LOG_RUNNING,    /* its recorder does not, but a process still has it mapped */
};

/*
 * Open the log NAME, a file in TP_REGION_FOLDER. Only with TP_LOG_ORPHAN is log->fd valid, and to be
 * closed. *pid: of a process that has it mapped.
 */
enum tp_log_state tp_log_file_open(struct tp_log_file *log, const char *name, pid_t *pid);

/* Open the log NAME to look at it while it is written: everything in it may change. log->fd is to be closed. */
bool tp_log_file_open_live(struct tp_log_file *log, const char *name);

/*
 * One chunk as it is now, whole records only, into TP_REGION_CHUNK_SIZE bytes; false: it is another one by now, or cannot
 * be read.
 */
bool tp_log_file_chunk_now(
    const struct tp_log_file *log, const struct tp_chunk_key *chunk, struct teeperf_chunk *to);

/* Read all but the chunks' records. pre: err is not NULL. Release it in any case. */
int tp_log_file_read(
    struct tp_log_file *log, const struct teeperf_trace_log *section, struct tp_err *err);
void tp_log_file_release(struct tp_log_file *log);

/* One chunk, with its final `used`, into TP_REGION_CHUNK_SIZE bytes. */
int tp_log_file_chunk(const struct tp_log_file *log, const struct tp_chunk_key *chunk,
    struct teeperf_chunk *to, struct tp_err *err);

/* Remove the log and its note, and close it. */
void tp_log_file_remove(struct tp_log_file *log);

#endif
