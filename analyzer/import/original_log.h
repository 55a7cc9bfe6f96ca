/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The parser of logs that the original TEE-Perf (DSN 2019) has left: version 1, a header of 56 bytes and
 * entries of 16 or 24, as docs/original-log.md describes them. The file is untrusted.
 */
#ifndef TP_ORIGINAL_LOG_H
#define TP_ORIGINAL_LOG_H

#include "analyzer/trace/problems.h"
#include "analyzer/trace/source.h"

#include <stdbool.h>

#define TP_ORIGINAL_HEADER_SIZE 56

/* Little-endian. */
struct tp_original_header {
	uint64_t counter; /* at the end of the recording */
	uint64_t flags;
	uint64_t self; /* where the program had mapped the log */
	uint64_t pid;
	uint64_t size;     /* bytes that were mapped */
	uint64_t next;     /* number of the entry that would have come next */
	uint64_t map_info; /* address of __profiler_map_info in the program */
};

enum tp_original_kind {
	TP_ORIGINAL_NOT,    /* something else */
	TP_ORIGINAL_UNUSED, /* the recorder made it, and no program has written into it */
	TP_ORIGINAL_LOG,
};

/*
 * Whether SOURCE is such a log. As there is no magic, every field of the header has to be possible: what
 * another program made by chance is none.
 */
enum tp_original_kind tp_original_look(
    const struct tp_source *source, struct tp_original_header *header);

enum tp_original_type {
	TP_ORIGINAL_ENTER,
	TP_ORIGINAL_EXIT,
	TP_ORIGINAL_ON,   /* recording was switched on */
	TP_ORIGINAL_OFF,  /* ... or off */
	TP_ORIGINAL_LOST, /* an entry that was not written, or overwritten */
};

struct tp_original_event {
	enum tp_original_type type;
	uint64_t ticks;    /* below 2^63; not of LOST */
	uint64_t function; /* address at run time; of ENTER and EXIT */
	uint64_t thread;   /* pthread_self; 0: not known, or the log has one thread only */
};

struct tp_original_log {
	const struct tp_source *source;
	struct tp_original_header header;
	bool threads;   /* entries say their thread */
	uint64_t count; /* entries that the file holds whole */
	bool guessed;   /* by what there is room for: the header cannot be right */
	uint64_t lost;  /* entries that did not fit, or were cut off */
	/* Where the reader is. */
	uint64_t at;         /* number of the next entry */
	uint8_t *block;      /* a part of the file */
	uint64_t block_from; /* where that is in the file */
	uint64_t block_size;
	struct tp_original_event pending[2]; /* not handed out yet, newest first */
	uint32_t pending_count;
};

/*
 * Begin to read SOURCE, which has this HEADER by tp_original_look. What is wrong with the log as a whole is a
 * problem, what only limits it a note. 0 or TP_ERR_MEMORY. Release it in any case.
 */
int tp_original_log_init(struct tp_original_log *log, const struct tp_source *source,
    const struct tp_original_header *header, struct tp_problems *problems,
    struct tp_problems *notes, struct tp_err *err);
void tp_original_log_release(struct tp_original_log *log);

/* The next event: 1 and *event; 0 at the end; or a negative tp_error if the file cannot be read. */
int tp_original_log_next(
    struct tp_original_log *log, struct tp_original_event *event, struct tp_err *err);

#endif
