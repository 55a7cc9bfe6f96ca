/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace, opened: its facts in memory, its chunks grouped by thread and ordered, and what was
 * found wrong with it. The records themselves stay in the file.
 */
#ifndef TP_TRACEFILE_H
#define TP_TRACEFILE_H

#include "analyzer/trace/modules.h"
#include "analyzer/trace/sched.h"
#include "analyzer/trace/sections.h"
#include "common/err.h"
#include "analyzer/trace/meters.h"
#include "analyzer/trace/source.h"
#include "analyzer/trace/selections.h"
#include "analyzer/trace/switches.h"
#include "analyzer/trace/system.h"
#include "common/arena.h"
#include "common/chunks/chunk_codec.h"

#include <stdbool.h>
#include <teeperf/trace.h>

struct tp_chunk {
	uint64_t offset; /* of its first record in the file; packed: of the payload */
	uint64_t first_time;
	uint64_t sequence;
	uint64_t os_tid;
	uint64_t home;
	uint32_t thread;
	uint32_t word_count;  /* 8-byte words behind the chunk header */
	uint32_t packed_size; /* bytes of the packed payload, 0: the records are as they are */
	uint32_t checksum;    /* of its section */
};

/*
 * The name of what was running when a recorder attached: a record names no function so low. In
 * threads that are `attached` all that is called outermost is called from there.
 */
#define TP_NAME_ATTACHED 4
/* ... and that of calls whose own paths a limit has left out (profile.h). */
#define TP_NAME_MORE 8

struct tp_thread {
	uint32_t number;
	bool ended;
	bool attached; /* it was there before the recorder */
	uint64_t os_tid;
	uint64_t host_tid; /* what the host calls the thread that ran it; 0: not known */
	uint64_t lost;     /* events, by the thread's own count */
	uint64_t home;     /* what other threads call it (log.h); 0: unknown */
	uint64_t first;    /* sequence of its first chunk: not 0 if it began before a fork */
	uint64_t missing;  /* chunks that are not in the file, between others */
	uint64_t cut;      /* chunks that are not in the file, behind its last one */
	/* Of these, what the recorder could not write, by its own count. */
	struct teeperf_trace_missing unwritten;
	uint64_t overwritten; /* chunks that its ring had no room for any more; not missing */
	const struct tp_chunk *chunks;
	uint64_t chunk_count;
	bool has_cpu;      /* the next three are known */
	bool cpu_is_exact; /* cpu_ns is all; else what it had at the last look */
	uint64_t cpu_ns;   /* for so long it had a processor */
	bool has_delay;
	uint64_t delay_ns; /* ... and for so long, at least, it could have run and had none */
	const struct tp_off_list *off; /* when it had no processor; NULL: not known */
	/* Ticks: until then it lived and was recorded, if it had not ended before; 0: not known. */
	uint64_t until;
	char name[17]; /* empty if unknown */
};

/* What was recorded and is not in the file; what was never recorded is lost, and not part of it. */
struct tp_lacks {
	uint64_t chunks;
	uint64_t counted; /* of these, chunks of which the recorder has counted the events */
	uint64_t events;  /* enters and exits in those */
	uint64_t calls;   /* of functions that are only counted, in those */
	uint64_t more;    /* events that the other chunks may have at most */
	bool open;        /* nobody knows what else is missing */
};

struct tp_chunk_checks;

struct tp_tracefile {
	struct tp_source source;
	struct tp_problems problems;
	struct tp_problems notes; /* what limits the results, and is no damage */
	struct tp_arena arena;    /* holds all that the pointers below point to, chunks apart */
	struct teeperf_trace_header header;
	struct tp_chunk *chunks; /* by thread, then by sequence */
	uint64_t chunk_count;
	uint64_t chunk_room;
	/*
	 * Whoever reads all chunks may have them checked then, and read the file once: set it
	 * between tp_tracefile_begin and _load, and ask tp_tracefile_is_whole in the end.
	 */
	bool defers;
	struct tp_chunk_checks *checks; /* NULL: all chunks were checked */
	struct tp_thread *threads;      /* by number */
	uint32_t thread_count;
	const struct teeperf_module *modules; /* path is NUL-terminated */
	uint32_t module_count;
	struct tp_module_map map;         /* whose names are */
	struct teeperf_trace_clock clock; /* all zero without has_clock */
	bool has_clock;
	const struct teeperf_trace_point *points; /* clock.point_count */
	const char *directory;                    /* where the program was started, or NULL */
	const char *const *arguments;             /* NULL-terminated, NULL if unknown */
	const char *host;                         /* "key=value\n" lines, or NULL */
	bool rings;                               /* each thread kept its last chunks only */
	const char *symbols;                      /* text of the symbols section, or NULL */
	struct tp_gaps gaps;                      /* when recording was switched off */
	struct tp_selections selections;          /* which functions were recorded when */
	struct tp_windows windows;                /* times of them that are a fair sample */
	struct tp_system system;                  /* what the kernel did for the program */
	struct teeperf_trace_log log;             /* valid if has_log */
	bool has_log;
	struct tp_sched_read sched;   /* when threads ran and waited */
	struct teeperf_trace_cpu cpu; /* of the process; all zero if nothing is known */
	struct teeperf_trace_end end; /* valid if has_end */
	bool has_end;
	struct tp_meter_table counters;
	struct tp_meter_table energy;
	struct tp_lacks lacks;
	/* The last section of each type that is kept (sections.def). */
	struct tp_section_parts kept[TP_SECTION_TYPES];
};

/*
 * Open the trace FILE (open) or the one in memory, which must outlive it (from_memory). Damage is
 * listed in problems; the call fails only if not even the header can be used. Close it in any case.
 */
int tp_tracefile_open(struct tp_tracefile *trace, const char *file, struct tp_err *err);
/*
 * The two steps of it, for those who do something with the source in between: translate it
 * (import_open.h), or give it MORE sections behind those of the file (section.h), which outlive the
 * trace. Of two chunks that are one, that of the file counts.
 */
int tp_tracefile_begin(struct tp_tracefile *trace, const char *file, struct tp_err *err);
int tp_tracefile_load(struct tp_tracefile *trace, struct tp_err *err);
int tp_tracefile_from_memory(struct tp_tracefile *trace, const char *name, const void *data,
    size_t size, struct tp_err *err);
void tp_tracefile_close(struct tp_tracefile *trace);
/*
 * Of a trace that defers, check the chunks that were not read. False: there is damage, of chunks or
 * other; what was made of the trace is of no use, and only without `defers` its problems are
 * reported as they are.
 */
bool tp_tracefile_is_whole(const struct tp_tracefile *trace);

/* The value of KEY in the host section, without control characters; false if it is not there. */
bool tp_tracefile_host(const struct tp_tracefile *trace, const char *key, char *value, size_t size);
/* The last component of the program's name, or "program". Lives as long as the trace. */
const char *tp_tracefile_program(const struct tp_tracefile *trace);

/*
 * ---- what a trace says about itself, held against its contents; differences become problems of it
 * (verify.c)
 */

/*
 * Sort the chunks by thread and sequence, drop duplicates, report gaps, and fill trace->threads
 * from the chunks and from the COUNT entries of the thread table. 0 or TP_ERR_MEMORY.
 */
int tp_verify_threads(struct tp_tracefile *trace, const struct teeperf_thread *table, size_t count,
    struct tp_err *err);

/*
 * Compare the end section with what was read, and fill trace->lacks. STOPPED: reading broke off,
 * which was reported. After tp_verify_threads.
 */
void tp_verify_end(struct tp_tracefile *trace, bool stopped);

/*
 * tp_verify_threads has sorted the chunks: from now on they are checked when they are read. 0 or
 * TP_ERR_MEMORY.
 */
int tp_chunk_checks_make(struct tp_tracefile *trace, struct tp_err *err);

/* ---- records */

struct tp_chunk_reader {
	const struct tp_tracefile *trace;
	uint64_t *words;             /* of the chunk read last */
	uint64_t *block;             /* where they are, raw ones behind their chunk's header */
	uint8_t *packed;             /* NULL until there is a packed chunk */
	struct tp_unpacker unpacker; /* the same */
};

/* TRACE must outlive the reader. Release it in any case. */
int tp_chunk_reader_init(
    struct tp_chunk_reader *reader, const struct tp_tracefile *trace, struct tp_err *err);
void tp_chunk_reader_release(struct tp_chunk_reader *reader);

/* Read the chunk->word_count records of CHUNK into reader->words. 0, or a negative tp_error. */
int tp_chunk_reader_read(
    struct tp_chunk_reader *reader, const struct tp_chunk *chunk, struct tp_err *err);

#endif
