/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Moves what the program recorded from the region to the trace file: a thread that takes complete
 * chunks, recycles them in stream mode, and keeps the file's tables recent enough that the file is
 * of use if the recorder is killed. While it runs, the writer and the clock log are its own.
 */
#ifndef TP_DRAIN_H
#define TP_DRAIN_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "recorder/clock/counter_thread.h"
#include "recorder/clock/cpu_times.h"
#include "recorder/region/doorbell.h"
#include "recorder/clock/host_clock.h"
#include "recorder/kernel/sched.h"
#include "recorder/kernel/bpf.h"
#include "recorder/region/region.h"
#include "relay.h"
#include "trace_writer.h"

/*
 * All switches of a recording (docs/format.md), gathered from the log, which keeps only the last
 * ones.
 */

/* A program that switches all the time must not fill our memory. */
enum { TP_SWITCHES_MAX = 1 << 20 };

struct tp_switch_log {
	struct tp_buf words; /* uint64_t[], as in the log */
	uint64_t seen;       /* header.switch_count at the last look */
	uint64_t gaps; /* of no length, which are two switches each: other functions were chosen */
	uint64_t missed; /* switches of which there is no entry; where they are it counts as on */
	bool start_on;
};

/* `on`: what recording begins with. */
void tp_switch_log_init(struct tp_switch_log *log, bool on);
void tp_switch_log_release(struct tp_switch_log *log);

/* Take over new chunks. True if there were any. */
bool tp_switch_log_follow(struct tp_switch_log *log, const struct teeperf_log_header *header);

/* Whether the program records, by its own words: `start` until it says something. */
bool tp_switch_log_state(const struct teeperf_log_header *header, bool start);

/*
 * Which functions record, changed while the recording runs (log.h, trace.h: SELECTIONS). One thread
 * at a time asks; the drain follows when the program has obeyed.
 */
struct tp_selection_log {
	pthread_mutex_t lock;
	struct tp_buf
	    entries; /* for the trace: what the program has obeyed; empty: nothing but `only` */
	struct tp_buf asked;   /* the same of what it has not obeyed yet, without its time */
	struct tp_buf windows; /* for the trace, too: struct teeperf_trace_window[] */
	uint64_t word;         /* header.selection, as we know it */
	uint64_t obeyed;       /* the last that was obeyed, 0: none */
	uint32_t only;         /* what the word says: enum teeperf_only ... */
	uint32_t count;        /* ... and its list */
	uint64_t *hashes;
};

void tp_selection_log_init(struct tp_selection_log *log);
void tp_selection_log_release(struct tp_selection_log *log);

enum tp_selection_verb { TP_SELECTION_ONLY, TP_SELECTION_ADD, TP_SELECTION_DROP };
/*
 * Ask the program to record only the functions of WANTED, whose hashes ascend; or, whatever the
 * kind, those as well, or not any more. 0; TP_ERR_LIMIT: it has not obeyed the last one, or there
 * is no room for the list.
 */
int tp_selection_ask(struct tp_selection_log *log, struct tp_region *region,
    enum tp_selection_verb verb, const struct tp_region_only *wanted, struct tp_err *err);
/* Whether the program has obeyed all that was asked for. */
bool tp_selection_is_obeyed(struct tp_selection_log *log);
/*
 * The selection before the last one began a window, and the last one has ended it. pre: the program
 * has obeyed.
 */
void tp_selection_note_window(struct tp_selection_log *log);
/* Bytes of the windows that were noted so far. */
uint64_t tp_selection_windows_bytes(struct tp_selection_log *log);
/* The drain's: take over what the program has obeyed. True if there was something. */
bool tp_selection_log_follow(struct tp_selection_log *log, const struct teeperf_log_header *header);

/*
 * Of a recorder that was killed: ENTRIES, those of its trace, or none, and FIRST, what recording
 * began with. Adds the selection WORD that the program has obeyed since TIME, whose list is HASHES,
 * to OUT behind them. Returns how many selections before it are not known, itself included if its
 * list is none; 0 and nothing added: there is nothing new.
 */
uint64_t tp_selection_log_recover(struct tp_buf *out, const struct tp_buf *entries,
    const struct tp_region_only *first, uint64_t word, uint64_t time, const uint64_t *hashes);

/* Moments that were marked from outside (trace.h, MARKS). Any thread adds; the drain writes. */
struct tp_mark_log {
	pthread_mutex_t lock;
	struct tp_buf entries; /* struct teeperf_trace_mark[] */
};
enum { TP_MARK_LOG_MAX = 1 << 16 };

void tp_mark_log_init(struct tp_mark_log *log);
void tp_mark_log_release(struct tp_mark_log *log);
/*
 * NAME, of which as much is taken as fits. False: there are TP_MARK_LOG_MAX, or there is no memory.
 */
bool tp_mark_log_add(struct tp_mark_log *log, uint64_t monotonic_ns, const char *name);
uint64_t tp_mark_log_bytes(struct tp_mark_log *log);

/*
 * Logs of fewer chunks than these are always nearly full: their chunks are packed, however fast the
 * program is.
 */
enum { TP_DRAIN_HURRY_CHUNKS = 64 };

/* When complete chunks are taken while the program runs; docs/decisions/0005-drain-policy.md. */
enum tp_drain_policy {
	TP_DRAIN_NOW = 0, /* as soon as they are there */
	TP_DRAIN_LATE,    /* when half of the log is full, or the program does not record */
	TP_DRAIN_END,     /* only when the program has ended */
};

/* Mode ring: traces of the present contents, PATH.snapshot-N beside the recording's PATH. */
struct tp_drain_snapshots {
	/* Write what begins such a trace, to drain->writer. Called by the drain's thread. */
	void (*begin)(void *context);
	void *context;
	const uint64_t *start_ns; /* of the recording; the caller's, as context is */
	uint32_t count;           /* so far */
	char last[PATH_MAX];      /* the newest, empty: none */
	bool failed;              /* the last one could not be written */
	struct tp_err error;      /* why */
};

struct tp_drain {
	struct tp_region *region;
	struct tp_trace_writer *writer;
	struct tp_clock_log *clock_log;
	const struct tp_counter_thread *counter; /* NULL: not a soft clock */
	struct tp_slices
	    *slices;    /* of a clock whose thread helps, until tp_drain_stop; NULL: none does */
	uint32_t ready; /* with slices: chunks whose memory is in place at the start */
	enum tp_drain_policy policy;
	bool start_off; /* recording begins switched off */
	/* 1: process and thread ids in the log are not this machine's; other threads may load it */
	uint32_t foreign;
	bool started;        /* the program was, by us */
	pid_t process;       /* whose log it is, 0: the one that the log names */
	bool process_is_old; /* it was another program before */
	/*
	 * Called by the drain's thread when the log names its process, PID, until it returns true;
	 * may make `foreign` 0. NULL: nobody asks.
	 */
	bool (*meet)(void *context, uint64_t pid);
	void *context;
	/*
	 * Called by the drain's thread with a copy of each complete chunk that it has taken. NULL:
	 * nobody looks.
	 */
	void (*see)(void *see_context, const struct teeperf_chunk *chunk);
	void *see_context;
	struct tp_cpu_times cpu;
	struct tp_sched
	    sched; /* opened by who knows the process; ours to close once we have started */
	struct tp_bpf_reader system; /* the caller has made it; ours to release */
	uint64_t record_bytes;       /* of records in complete chunks; other threads may load it */
	uint64_t helped_chunks;      /* taken with the help of the clock's thread */
	uint64_t modules_seen;       /* module_count when MODULES was last written */
	uint64_t modules_refused;    /* of these, modules that do not record */
	uint64_t checkpoint_ns;      /* when THREADS and CLOCK are to be written next */
	uint64_t checkpoint_gap_ns;
	uint64_t names_ns; /* when to look at names next, and the thread that was looked at last */
	uint32_t names_at;
	struct tp_relay relay;
	uint64_t *chunk;                /* TP_REGION_CHUNK_SIZE bytes: private copy of one chunk */
	uint32_t *numbers;              /* chunk_count: those to take in one look */
	struct teeperf_thread *threads; /* TP_REGION_THREADS: private copy */
	struct teeperf_module *modules; /* TP_REGION_MODULES: private copy */
	uint64_t taken;                 /* chunks taken that were complete */
	uint64_t tail_seen;             /* LATE: draws at the last look, and since when */
	uint64_t tail_since_ns;
	struct tp_switch_log switches;
	struct tp_selection_log selections;
	struct tp_mark_log marks;
	uint64_t switches_written;           /* bytes of all three when they were written last */
	struct tp_drain_snapshots snapshots; /* the caller has filled begin, context, start_ns */
	uint64_t flush_asked; /* number of the last tp_drain_flush, and of the last one done */
	uint64_t flush_done;
	/* After tp_drain_stop, of the thread: how long it ran, ... */
	uint64_t ran_ns;
	uint64_t wrote_ns;  /* ... of that wrote into the trace, ... */
	uint64_t absent_ns; /* ... and could have run and did not */
	struct tp_worker worker;
};

/*
 * Write the first CLOCK section and start the thread. The caller has filled region, writer,
 * clock_log, counter, policy, start_off and what concerns its process; what they point to outlives
 * the drain.
 */
int tp_drain_start(struct tp_drain *drain, struct tp_err *err);

/*
 * Write all complete chunks and the tables now; in mode ring a snapshot. True when it is done,
 * false if it took longer than timeout_ms or the file cannot be written. Called by one other thread
 * at a time.
 */
bool tp_drain_flush(struct tp_drain *drain, uint32_t timeout_ms);

/*
 * Its parts, for who waits for several: the number of the request, and whether it is done, well or
 * not (writer->failed, snapshots.failed).
 */
uint64_t tp_drain_ask_flush(struct tp_drain *drain);
bool tp_drain_has_flushed(const struct tp_drain *drain, uint64_t number);

/* Stop the thread and take the clock's last point: the counter thread may be stopped then. */
void tp_drain_stop(struct tp_drain *drain);

/*
 * Take all that is left, also the chunks that threads of the program still own, and write the
 * tables a last time. pre: it was stopped; the program has ended, or is to record no more.
 */
void tp_drain_finish(struct tp_drain *drain);

/* Bytes that `used`, a word from the region, may stand for: whole words, within the chunk. */
uint64_t tp_drain_clamp_used(uint64_t used);

/* Bytes of a chunk in use when its thread did not say: up to the last word that is not 0. */
uint64_t tp_drain_find_used(const uint64_t *chunk);

/*
 * Mode ring: what the program's threads keep, written to a trace. The program recycles chunks by
 * itself and may go on while we look: then a chunk is there whole, up to its last whole record, or
 * not at all.
 */

/*
 * A chunk, and whether all of it is there. Compared by thread, then by sequence; of two that say
 * the same, by number.
 */
struct tp_chunk_key {
	uint32_t number;
	uint32_t thread;
	uint64_t sequence;
	bool whole;
};
int tp_chunk_key_compare(const void *a, const void *b);

/*
 * Of each thread, the chunks that follow one another up to its newest: one that was re-used before
 * it could be copied takes those before it along. `numbers` is room for chunk_count of them.
 * Returns the bytes of records.
 */
uint64_t tp_rings_write(
    struct tp_region *region, uint32_t *numbers, struct tp_trace_writer *writer);

/* Of COUNT words behind a chunk's header, those of whole records. */
uint32_t tp_rings_whole(const uint64_t *words, uint32_t count);
/*
 * TO is a copy, made from its end on, of the chunk FROM, whose thread goes on. A mark's record is
 * written after its name, but was copied after it, too: complete the name of the last mark. pre: an
 * acquire fence behind the copying.
 */
void tp_rings_complete_mark(const uint64_t *from, uint64_t *to);

#endif
