/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Completes traces whose recorder was killed, from the logs that are still in memory. May itself be
 * killed at any time: done again it goes on where it stopped. docs/decisions/0014-recover.md.
 */
#ifndef TP_RECOVER_H
#define TP_RECOVER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analyzer/trace/tracefile.h"
#include "common/buf.h"
#include "common/err.h"
#include "recorder/drain/drain.h"

/*
 * The log that a killed recorder leaves, as a file that is only read. The program that wrote it may
 * have filled it with anything, and made it shorter. Nothing is mapped, so a file that ends early
 * reads as zeroes, and its layout comes from the trace.
 */
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
 * Open the log NAME, a file in TP_REGION_FOLDER. Only with TP_LOG_ORPHAN is log->fd valid, and to
 * be closed. *pid: of a process that has it mapped.
 */
enum tp_log_state tp_log_file_open(struct tp_log_file *log, const char *name, pid_t *pid);

/* Read all but the chunks' records. pre: err is not NULL. Release it in any case. */
int tp_log_file_read(
    struct tp_log_file *log, const struct teeperf_trace_log *section, struct tp_err *err);
void tp_log_file_release(struct tp_log_file *log);

/* COUNT hashes at OFFSET, to be freed; NULL: they are not in the log, or cannot be read. */
uint64_t *tp_log_file_hashes(const struct tp_log_file *log, uint64_t offset, uint64_t count);

/* One chunk, with its final `used`, into TP_REGION_CHUNK_SIZE bytes. */
int tp_log_file_chunk(const struct tp_log_file *log, const struct tp_chunk_key *chunk,
    struct teeperf_chunk *to, struct tp_err *err);

/* Remove the log and its note, and close it. */
void tp_log_file_remove(struct tp_log_file *log);

/* A trace without END, as far as that is needed to go on with it. */
struct tp_unfinished {
	struct tp_source source;
	struct teeperf_trace_header header;
	uint64_t good; /* offset behind the last whole section */
	bool has_end;
	bool has_log;
	struct teeperf_trace_log log;
	uint64_t chunk_count;      /* CHUNK and PACKED sections, damaged ones too */
	struct tp_chunk_key *keys; /* of those that are not damaged, in order */
	uint64_t key_count;
	uint64_t key_room;
	/* The payload of the last section of each type, but of chunks; empty: there was none. */
	struct tp_buf kept[TP_SECTION_TYPES];
};

/*
 * Open the trace PATH for reading and writing, through links only if `follow`, and read it. Fails
 * if it is not a trace, or if sections cannot be found up to its end: the rest would be cut off.
 * pre: err is not NULL. Release it in any case.
 */
int tp_unfinished_read(
    struct tp_unfinished *trace, const char *path, bool follow, struct tp_err *err);
void tp_unfinished_release(struct tp_unfinished *trace);

bool tp_unfinished_has_chunk(const struct tp_unfinished *trace, uint32_t thread, uint64_t sequence);

struct tp_recovered {
	char trace[PATH_MAX];
	bool ended;       /* the trace had its END already: there was nothing to add */
	bool gone;        /* of a sweep: the trace of the log is not there any more */
	uint64_t chunks;  /* that were added */
	uint64_t records; /* in these */
	uint64_t lost;    /* events, as the program counted them */
	uint64_t cut;     /* bytes of a half-written section that were taken off */
	bool soft;        /* the clock stopped with its recorder */
	/* By tp_recover only: what the trace lacks all the same, as no log has it any more. */
	struct tp_lacks lacks;
	bool damaged; /* it has other problems, which 'teeperf analyze' shows */
};

/* Complete the trace PATH and remove its log. pre: err is not NULL. */
int tp_recover(const char *path, struct tp_recovered *recovered, struct tp_err *err);

/* Facts about the log of a trace without END. */
enum tp_log_state tp_recover_look(const struct teeperf_trace_log *log, pid_t *pid);

/*
 * Do so for all logs of this user that were left behind, and remove those of which no trace is
 * left. `tell` is called for each that was taken care of, or could not be (err is not NULL; the log
 * is kept).
 */
void tp_recover_all(void (*tell)(const struct tp_recovered *recovered, const struct tp_err *err));

/*
 * Add to OUT, as sections of a trace, the chunks in the log as they are now, and its tables. A
 * trace that is read after that has all that was recorded until now in one or the other. False, and
 * nothing added: the log is not there, or is not to be read so (mode ring, whose trace comes at the
 * end; and a log whose chunks wait to be written by the thousand).
 */
bool tp_live_add(const struct teeperf_trace_log *log, struct tp_buf *out);

#endif
