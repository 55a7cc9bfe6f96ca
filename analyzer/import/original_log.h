/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The parser of logs that the original TEE-Perf (DSN 2019) has left: version 1, a header of 56
 * bytes and entries of 16 or 24, as docs/original-log.md describes them. The file is untrusted, and
 * so are the numbers in it.
 *
 * Whose functions a log is of: it names no file, but the address that one known function had in the
 * program: the program's file tells from that where it was loaded.
 */
#ifndef TP_ORIGINAL_LOG_H
#define TP_ORIGINAL_LOG_H

#include "analyzer/import/open.h"
#include "common/index.h"

/*
 * Numbers out of the file, each of which gets an index from 0 on when it is first seen. Nobody can
 * choose numbers that make it slow: where they go depends on a secret.
 */

/* No index: see tp_number_set_add. */
#define TP_NUMBER_NONE UINT32_MAX

struct tp_number_set {
	uint64_t *items; /* by index */
	uint32_t count;
	uint32_t most; /* never more than these */
	uint32_t room; /* for items */
	struct tp_index index;
	uint64_t secret; /* odd */
	int failed;      /* TP_ERR_MEMORY if there was no memory for one, else 0; sticky */
};

/* For at most MOST numbers. Release it in the end. */
void tp_number_set_init(struct tp_number_set *set, uint32_t most);
void tp_number_set_release(struct tp_number_set *set);
/* The index of NUMBER; TP_NUMBER_NONE if it is new and there is no room for it. */
uint32_t tp_number_set_add(struct tp_number_set *set, uint64_t number);

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
 * Whether SOURCE is such a log. As there is no magic, every field of the header has to be possible:
 * what another program made by chance is none.
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
 * Begin to read SOURCE, which has this HEADER by tp_original_look. A fault of the log as a whole
 * becomes a problem, a mere limit a note. 0 or TP_ERR_MEMORY. Release it in any case.
 */
int tp_original_log_init(struct tp_original_log *log, const struct tp_source *source,
    const struct tp_original_header *header, struct tp_problems *problems,
    struct tp_problems *notes, struct tp_err *err);
void tp_original_log_release(struct tp_original_log *log);

/* The next event: 1 and *event; 0 at the end; or a negative tp_error if the file cannot be read. */
int tp_original_log_next(
    struct tp_original_log *log, struct tp_original_event *event, struct tp_err *err);

/* ---- names */

/*
 * Which of the programs was recorded, by where its function __profiler_map_info was (MAP_INFO) and
 * where the FUNCTIONS of the log are: *module is it, and *found. If none fits, or none is given, a
 * note for the log FILE says what to do. 0, or a negative tp_error if a program cannot be read.
 */
int tp_original_names_find(const struct tp_original_options *options, uint64_t map_info,
    const struct tp_number_set *functions, const char *file, struct teeperf_module *module,
    bool *found, struct tp_problems *notes, struct tp_err *err);

/* What a record calls the function at this address: see docs/original-log.md, Names. */
static inline uint32_t tp_original_name(uint64_t address)
{
	return (uint32_t)((address + 3) & ~UINT64_C(3));
}

/*
 * Add lines of a SYMBOLS section: the functions in MODULE (which may be NULL) by its file, the
 * others are called by their addresses. What stands in the way becomes a note, and so it does if
 * several functions have one name.
 */
void tp_original_names_list(const struct tp_original_options *options,
    const struct tp_number_set *functions, const struct teeperf_module *module, const char *file,
    struct tp_buf *out, struct tp_problems *notes);

#endif
