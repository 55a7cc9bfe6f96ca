/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The runtime's private state. It may live inside a TEE, and the log belongs to a hostile host:
 *
 *   - base, sizes and masks are copied into private memory once, after validation (attach.c);
 *   - each store goes to private base + masked private offset;
 *   - data read from the log (counter, supply ring, head, control) is data: masked before it
 *     chooses a chunk, never an address, a branch target or a bound;
 *   - stores are whole, aligned 8-byte words; nothing waits for the host.
 */
#ifndef TP_RUNTIME_H
#define TP_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include <teeperf/abi.h>
#include <teeperf/atomic.h>
#include <teeperf/hardware_clock.h>

_Static_assert(
    TP_HARDWARE_CLOCK != TEEPERF_CLOCK_NONE, "no hardware clock is known for this processor");

#define TP_HIDDEN __attribute__((visibility("hidden")))
#define TP_EXPORT __attribute__((visibility("default")))

/* 1: this is for a platform with one thread, whose state is not thread-local (abi.h). */
#ifndef TP_ONE_THREAD
#define TP_ONE_THREAD 0
#endif
/* 1: thread-local storage may be new at any time, and a thread's state is elsewhere (abi.h). */
#ifndef TP_THREADS_APART
#define TP_THREADS_APART 0
#endif
#if TP_ONE_THREAD
#define TP_PER_THREAD
#define TP_BLOCK_NAME TEEPERF_SYMBOL_ONLY_THREAD
#else
#define TP_PER_THREAD _Thread_local
#define TP_BLOCK_NAME TEEPERF_SYMBOL_THREAD
#endif

enum {
	TP_CHUNK_SHIFT = TEEPERF_CHUNK_SHIFT_DEFAULT,
	TP_TICKETS = 32,
	TP_COUNT_CHUNKS = 16,
	TP_RING_LOG_CHUNKS = TEEPERF_RING_LOG_CHUNKS,
};
/*
 * `reserved` of a module's block: the low bits are attach.c's, then whether it must not record;
 * those above hold the hash of its functions' names.
 */
#define TP_BLOCK_REFUSED (UINT64_C(1) << 9)
#define TP_BLOCK_NAMES_MASK (~UINT64_C(0xffff))
#define TP_CHUNK_SIZE (UINT64_C(1) << TP_CHUNK_SHIFT)

/*
 * A block's bias while its thread is in the runtime: a signal handler that runs then has no
 * position, and the target of its resynchronisation is ignored. No other position is as large.
 */
#define TP_BIAS_BUSY (UINT64_C(1) << 63)
#define TP_POSITION_LIMIT (UINT64_C(1) << 62)
/*
 * Without a chunk the cursor is 0: after all records so far, before all later ones (log.h,
 * BETWEEN).
 */
#define TP_BIAS_NO_CHUNK(sequence) (((sequence) << TP_CHUNK_SHIFT) + 8)

enum tp_state {
	TP_STATE_START = 0, /* no module has registered yet: events are counted as lost early */
	TP_STATE_RECORDING,
	TP_STATE_PAUSED, /* switched off for the time being */
	TP_STATE_OFF,    /* no recorder, refused, or a forked child: nothing records */
	TP_STATE_AWAY,   /* between teeperf_leave and teeperf_enter: no log at present */
};

/*
 * Written by attach.c before state becomes TP_STATE_RECORDING; read-only then. With teeperf_enter
 * that is once again for each time that the log comes, in which no thread has entered yet. gdb/
 * reads the first five fields where they are.
 */
struct tp_process {
	uint32_t state;                    /* enum tp_state; release/acquire */
	uint32_t clock;                    /* enum teeperf_clock */
	const uint64_t *counter;           /* the target of threads' blocks; never NULL */
	struct teeperf_log_header *header; /* where the log begins */
	uint64_t region_size;              /* bytes of it that are mapped */
	uint64_t pid;                      /* this process */
	uint64_t parent;                   /* the process that forked it, 0: none */
	uint64_t listens;                  /* header.listens and listens_value, in one word */
	uint64_t *supply;
	struct teeperf_log_header *tee; /* of a host's TEE: the beginning of its log; NULL: none */
	void *tee_log;                  /* all of it, as the program has got it, ... */
	uint64_t tee_log_size; /* ... and bytes of that; 0: not asked for, or no room for labels */
	uint64_t *states;
	struct teeperf_module *modules;
	struct teeperf_thread *threads;
	uint64_t chunks;           /* address of chunk 0, aligned to the chunk size */
	uint64_t chunk_mask;       /* number of chunks - 1 */
	const uint64_t *only_list; /* in the log: only_count hashes, ascending */
	uint32_t only_count;
	uint32_t only;                  /* enum teeperf_only */
	const uint64_t *selection_list; /* in the log: two lists for later selections ... */
	uint64_t selection_capacity;    /* ... hashes in each */
	uint32_t thread_mask;           /* capacity of the thread table - 1 */
	uint32_t module_limit;          /* capacity of the module table */
	uint32_t first_compiled;        /* enum teeperf_compiled_clock of the first module */
	uint32_t ring; /* mode ring: chunks that a thread keeps, at least 2; else 0 */
	bool by_call;  /* only threads that have entered may record (enter.c) */
	uint32_t log;  /* number of this log, from 0: another one than before */
	bool full;     /* mode full: used chunks are not recycled */
	bool late; /* began without a log: one may come and go at any time (port/posix_late.c) */
	/*
	 * A chunk is complete: for who plays the host's part itself (stream.c). NULL: the host sees
	 * it.
	 */
	void (*chunk_done)(uint64_t number);
	void (*finish)(uint64_t ended); /* ... and the program is over; `ended` as in the header */
	/* Private counters, only ever written to the log, never read back from it. */
	uint64_t next_thread;
	uint64_t next_home; /* counts on in a forked child */
	uint64_t next_module;
	uint64_t inside; /* if late: threads that are in the runtime, and use the members above */
	uint64_t lost_early;
	uint64_t lost_overflow;
	uint64_t tickets
	    [TP_TICKETS]; /* mode ring: left by threads that ended before they were served; or 0 */
};
extern TP_HIDDEN struct tp_process tp_process;
_Static_assert(offsetof(struct tp_process, header) == 16, "as arch/ has it");

/*
 * Counter words for threads without a soft clock: one that agrees with no clock_high, and
 * modules.c's.
 */
extern TP_HIDDEN const uint64_t tp_counter_never;
extern TP_HIDDEN uint64_t tp_counter_places;

/* Ticks of the log's clock. pre: state is TP_STATE_RECORDING or TP_STATE_PAUSED. */
static inline uint64_t tp_now(void)
{
	if (tp_clock_is_hardware(tp_process.clock))
		return tp_hardware_clock();
	return tp_load_relaxed(tp_process.counter);
}

/* The private half of a thread's state; the block of abi.h is the other. */
struct tp_thread_state {
	uint64_t cursor; /* the block's, while busy */
	uint64_t bias; /* the block's, unless busy: there positions are TP_BIAS_BUSY or more then */
	uint32_t busy; /* inside the runtime: a signal handler's events are dropped and counted */
	/*
	 * the value for bits 0-15 of the block's `lost` when the thread leaves the runtime: 0 with
	 * a chunk
	 */
	int32_t skips;
	uint32_t ready; /* index and table slot are set, we are notified of the thread's end */
	/* All of this is in static thread-local storage, which is scarce. */
	uint8_t ended;             /* we were notified once; destructors run on */
	uint8_t forked;            /* a FORK record is to come before all others */
	uint8_t entered;           /* between tp_thread_arrive and tp_thread_depart */
	uint8_t count_chunk_count; /* of count_chunks */
	uint8_t gate_walks;        /* over the list of modules, that it is in (gates.c) */
	uint8_t count_walks;       /* over that of counted modules (counts.c) */
	uint8_t serves;            /* 1: it obeys the host (switch.c) */
	uint8_t command_parameter; /* while it has a label: which of a command's is the log */
	uint8_t command_type;      /* ... and the type of that */
	uint16_t label;            /* of the command that it has called (border_label.c), 0: none */
	void *command;             /* ... and the operation */
	uint32_t told; /* number of the call out that the program has reported, 0: none */
	uint32_t log;  /* tp_process.log when it was given a number */
	/* how often it is counted in tp_process.inside, once there: with its handlers */
	uint32_t inside;
	uint64_t index; /* thread number */
	uint64_t home;  /* the same + 1, but of all threads of this process and of those that it was
			    forked from; 0: it has no number yet */
	uint64_t os_tid;
	uint64_t sequence; /* of the next chunk */
	uint64_t chunk;    /* number + 1 of the chunk in use, 0: none */
	uint64_t previous; /* number + 1 of the one before, not yet given back; 0: none */
	uint64_t drawn;    /* number + 1 of a chunk that is ours but not begun; 0: none */
	uint64_t ticket;   /* mode ring: drawn but not yet served, + 1; 0: none */
	/*
	 * While a chunk becomes ours (finish_taking): number + 1, else 0; for our records; the
	 * previous value.
	 */
	uint64_t taking;
	uint64_t taking_next;
	uint64_t taking_sequence;
	uint64_t taking_kept; /* `kept` at that time */
	uint64_t full;
	uint64_t kept;       /* mode ring: the chunks of its records, see tp_kept_count; else 0 */
	uint64_t lost_told;  /* of the block's `lost`: reported by LOST records */
	uint64_t lost_added; /* ... without a slot in the thread table: added to the log's sum */
	/* Numbers + 1 of the chunks for counts, and how many bytes of each are in use. */
	uint32_t count_chunks[TP_COUNT_CHUNKS];
	uint32_t count_used[TP_COUNT_CHUNKS];
	/*
	 * If tp_process.late: the log in which it has a number, and the place of its chunk 1; 0:
	 * none.
	 */
	uint64_t own_log;
	uint64_t own_chunks;
};

/* Takes the count of a thread that has no slot, also of one that is about to store it (arch/). */
extern TP_HIDDEN uint64_t tp_lost_nowhere;

/* Both halves of a thread that has no chunk yet. */
#define TP_BLOCK_AT_FIRST                                                             \
	{                                                                             \
		.counter = &tp_counter_never, .clock_high = TEEPERF_HIGH_NEVER,       \
		.bias = TP_BIAS_NO_CHUNK(UINT64_C(0)), .lost_place = &tp_lost_nowhere \
	}
#define TP_STATE_AT_FIRST                             \
	{                                             \
		.bias = TP_BIAS_NO_CHUNK(UINT64_C(0)) \
	}

#if TP_THREADS_APART
/* A thread (apart.c). */
struct tp_apart {
	struct teeperf_thread_block block;
	struct tp_thread_state state;
	uint64_t id; /* of the thread; 0: free, 1: about to be one's */
};
_Static_assert(offsetof(struct tp_apart, id) % 8 == 0, "copied in words");
/*
 * The calling thread's; at first the one of threads that are not known yet, which stays as it is.
 */
extern TP_EXPORT _Thread_local struct tp_apart *tp_apart __asm__(TEEPERF_SYMBOL_THREAD_APART);
extern TP_HIDDEN const struct tp_apart tp_apart_unknown;
/* Make it the thread's own; &tp_apart_beyond: there is no more room. */
TP_HIDDEN struct tp_apart *tp_apart_find(void);
extern TP_HIDDEN struct tp_apart tp_apart_beyond;
static inline struct tp_apart *tp_apart_own(void)
{
	struct tp_apart *own = tp_apart;
	return own != &tp_apart_unknown ? own : tp_apart_find();
}
#define tp_thread (tp_apart_own()->state)
#define __teeperf_thread (tp_apart_own()->block)
#else
extern TP_HIDDEN TP_PER_THREAD struct tp_thread_state tp_thread;
extern TP_EXPORT TP_PER_THREAD struct teeperf_thread_block __teeperf_thread __asm__(TP_BLOCK_NAME);
#endif

/* Whether the calling thread is one too many: it has no place of its own, and loses all. */
static inline bool tp_thread_is_beyond(void)
{
#if TP_THREADS_APART
	return tp_apart_own() == &tp_apart_beyond;
#else
	return false;
#endif
}

/* What the cold path calls: see arch/slow.S. Built without vector registers. */
TP_HIDDEN uint64_t tp_slow(uint64_t name);

TP_HIDDEN uint64_t tp_count(uint64_t counted);

/* ---- between thread.c and counts.c ---- */

/* The calling thread loses events; the number that it has lost. */
static inline void tp_thread_lose(uint64_t events)
{
	tp_fetch_add_relaxed(&__teeperf_thread.lost, events << TEEPERF_LOST_SHIFT);
}
static inline int16_t tp_thread_skips(void)
{
	return (int16_t)tp_load_relaxed(&__teeperf_thread.lost);
}
static inline uint64_t tp_thread_lost(void)
{
	const uint64_t word = tp_load_relaxed(&__teeperf_thread.lost);
	return (word - (uint64_t)(int16_t)word) >> TEEPERF_LOST_SHIFT;
}

/* Enter and leave the runtime; false (and `events` lost) when this thread must not record now. */
TP_HIDDEN bool tp_thread_enter(uint64_t events);
TP_HIDDEN void tp_thread_leave(void);
/*
 * What __teeperf_resync does, with a departure (log.h) before it unless that is TP_NO_DEPARTURE.
 * Returns the position of the RESYNC record, 0: there is none.
 */
#define TP_NO_DEPARTURE UINT64_MAX
TP_HIDDEN uint64_t tp_resync(uint64_t position, uint64_t name, uint64_t departure);
/* A chunk of this thread other than the one it writes: its number + 1, 0 if none. */
TP_HIDDEN uint64_t tp_thread_take_extra(void);
/* The calling thread has lost nothing in the log that it has now; it has no place there yet. */
TP_HIDDEN void tp_thread_forget_lost(void);
TP_HIDDEN void tp_thread_store_name(struct teeperf_thread *slot, const uint64_t name[2]);
/* Where chunk `number` + 1 is, and its state; in the log whatever the number is. */
TP_HIDDEN uint64_t tp_chunk_address(uint64_t chunk_plus_1);
TP_HIDDEN uint64_t *tp_chunk_state(uint64_t chunk_plus_1);
static inline struct teeperf_chunk *tp_chunk_at(uint64_t chunk_plus_1)
{
	return (struct teeperf_chunk *)(uintptr_t)tp_chunk_address(chunk_plus_1);
}
/*
 * Hand a chunk to the host, or in mode ring to the next thread that needs one. `used` in bytes,
 * header included.
 */
TP_HIDDEN void tp_chunk_give_back(uint64_t chunk_plus_1, uint64_t used);

/* ---- mode ring (ring.c) ---- */

/*
 * The chunks that a thread keeps, in the order in which it took them: how many, in the upper half
 * of one word, so that they change together, and number + 1 of the oldest in the lower half. The
 * newest is the one in use.
 */
#define TP_KEPT_ONE (UINT64_C(1) << 32)
static inline uint64_t tp_kept_count(uint64_t kept)
{
	return kept >> 32;
}
static inline uint64_t tp_kept_oldest(uint64_t kept)
{
	return kept & UINT32_MAX;
}
/*
 * KEPT with one more, after NEWEST; without the oldest. Doing it twice has the same effect as once.
 */
TP_HIDDEN uint64_t tp_kept_with(uint64_t kept, uint64_t newest, uint64_t chunk_plus_1);
TP_HIDDEN uint64_t tp_kept_without_oldest(uint64_t kept);
/* Chunk `number`, which no thread keeps any more, is available when all others have been used. */
TP_HIDDEN void tp_ring_supply(uint64_t number);
/* Make chunk `number` as if it had never been used. */
TP_HIDDEN void tp_ring_clear(uint64_t number, struct teeperf_chunk *chunk);

/* The memory [start, end) is unmapped: forget the counts there. */
TP_HIDDEN void tp_counts_gone(uint64_t start, uint64_t end);
/* The thread ends: hand over its counts. */
TP_HIDDEN void tp_counts_end(void);
/* The calling thread has another log: it has no place for counts any more. */
TP_HIDDEN void tp_counts_forget(void);
/* Whether a thread has had one. */
TP_HIDDEN bool tp_counts_used(void);
/* In a forked child: as tp_gates_forked; its thread has no place for counts any more. */
TP_HIDDEN void tp_counts_forked(void);
/* As tp_gates_retake. */
TP_HIDDEN void tp_counts_retake(void);
/*
 * In a forked child, in the thread that forked, signals being blocked: leave the log to the parent
 * (fork.c).
 */
TP_HIDDEN void tp_fork_child(void);

/*
 * Whether the calling thread has the log. Where logs come and go, it stays until the thread that
 * entered leaves.
 */
TP_HIDDEN bool tp_thread_may_record(void);

/*
 * The calling thread enters: it may record. It leaves: nothing of it points into the log any more.
 */
TP_HIDDEN void tp_thread_arrive(void);
TP_HIDDEN void tp_thread_depart(void);

/*
 * A record about a border (border.c): CONTROL, followed by the crossing's NUMBER unless that is 0.
 */
TP_HIDDEN void tp_thread_border(uint32_t control, uint64_t number);

/* A record of a mark (mark.c): CONTROL, followed by the LENGTH bytes of NAME. */
TP_HIDDEN void tp_thread_mark(uint32_t control, const char *name, uint32_t length);

/* The calling thread ends: log it and give its chunks back. */
TP_HIDDEN void tp_thread_end(void);

/* The process is about to end: write the calling thread's end to the log, although it runs on. */
TP_HIDDEN void tp_thread_tell_cpu(void);

/* ---- attaching (attach.c) ---- */

/*
 * Attach to a log that was not there when the program began. 0 and *fresh, whether it is another
 * one than before, or false: then all is as it was. pre: no thread records, and no other thread
 * attaches.
 */
TP_HIDDEN bool tp_attach_region(void *base, uint64_t size, bool by_call);
/* Why not; also reported to the host, if there is a log without an earlier report (log.h). */
TP_HIDDEN void tp_attach_refuse(void *base, uint64_t size, enum teeperf_attach why);
/* There is no log now. pre: as above, and no thread points into it. */
TP_HIDDEN void tp_attach_leave(void);

/*
 * A log for a program that began without one, while other threads run. DONE, or why not; then all
 * is as it was, but the last log is forgotten. pre: tp_late_begin(); the process is off, and nobody
 * is inside. Recording begins as header.control says.
 */
TP_HIDDEN enum teeperf_attach tp_attach_late(void *base, uint64_t size);
/* Prepare to leave the log: nothing is recorded any more, but threads inside still use it. */
TP_HIDDEN void tp_attach_late_end(void);
/*
 * Around code that must not overlap a change of modules: false if one is in progress. Later changes
 * wait meanwhile.
 */
TP_HIDDEN bool tp_late_begin(void);
TP_HIDDEN void tp_late_end(void);
/* A log comes: between the two. */
TP_HIDDEN bool tp_late_is_changing(void);
/* In a forked child. */
TP_HIDDEN void tp_late_forked(void);

/* ---- borders (border.c) ---- */

/*
 * The calling thread crosses the border between host and TEE: an enum teeperf_control of CALL_OUT
 * to RETURN_IN, or CROSSING: its number is known now. `handle`: see log.h, 0: none.
 */
TP_HIDDEN void tp_border(uint32_t control, uint64_t handle);

/* ---- commands (border_label.c) ---- */

/*
 * Give a command that is about to be called, with the API's operation, a label: the handle of it,
 * or 0. It is over at the thread's next border; RETURNED: by coming back from it.
 */
TP_HIDDEN uint64_t tp_command_label(void *operation);
TP_HIDDEN void tp_command_over(bool returned);

/* ---- modules (modules.c) ---- */

/* Another log: it has no modules yet. */
TP_HIDDEN void tp_modules_forget(void);

/* Whether another instance of a program has had a module's place in the log's table for modules. */
TP_HIDDEN bool tp_modules_displaced(void);

enum tp_admission {
	TP_ADMISSION_NEW,
	TP_ADMISSION_AGAIN,   /* this file has been loaded before */
	TP_ADMISSION_REFUSED, /* its functions must not record */
};
/*
 * The module with this block has been loaded; the one that holds ANCHOR is about to go. pre: as
 * tp_now.
 */
TP_HIDDEN enum tp_admission tp_module_add(struct teeperf_module_block *block);
TP_HIDDEN void tp_module_remove(const void *anchor);
/* All of it 0, without a call of memset. */
TP_HIDDEN void tp_module_clear(struct teeperf_module *module);
/* As tp_port_find_module, of those that the program has reported itself (loaded.c). */
TP_HIDDEN bool tp_loaded_find(const void *anchor, struct teeperf_module *module);
/* Remove it; *module says where it was. False: it was not in the list. */
struct teeperf_loaded;
TP_HIDDEN bool tp_loaded_take(struct teeperf_loaded *loaded, struct teeperf_module *module);
/* The module that holds ADDRESS: its index in the log's table + 1, or 0. In any thread. */
TP_HIDDEN uint64_t tp_module_number(uint64_t address);

/* Hash the module's code, if it says where that is (code_hash.c, log.h). */
TP_HIDDEN void tp_code_hash_set(struct teeperf_module *module, uint64_t names);
TP_HIDDEN void tp_code_hash_step(uint64_t *hash, uint64_t word);

/*
 * The functions' gates (gates.c). tp_gates_set stores `gate` in each of them that is wanted, and in
 * later ones; safe in a signal handler and during dlopen and dlclose.
 */
extern TP_HIDDEN uint32_t tp_gate_current; /* also read by record.S */
/* The gate of a process that records. */
TP_HIDDEN enum teeperf_gate tp_gate_open(void);
/* Whether it is that of a log that has no free chunk (tp_switch_dry). */
TP_HIDDEN void tp_gates_dry(bool dry);
TP_HIDDEN bool tp_gates_are_dry(void);
/* Functions of all modules so far. */
TP_HIDDEN uint64_t tp_gates_count(void);
TP_HIDDEN bool tp_gates_has(const struct teeperf_module_block *block);
TP_HIDDEN bool tp_gates_none(void); /* all modules are unloaded, or none was loaded */
/* THERE: the log is there for the calling thread, else its gates stay closed until they are set. */
TP_HIDDEN void tp_gates_add(struct teeperf_module_block *block, bool there);
TP_HIDDEN void tp_gates_remove(struct teeperf_module_block *block);
TP_HIDDEN void tp_gates_set(enum teeperf_gate gate);
/*
 * From now on the host wants those functions that SELECTION (log.h) says; TEEPERF_SELECTION_FIRST:
 * those of `only`. Sets the gates of all modules, as tp_gates_set does.
 */
TP_HIDDEN void tp_gates_select(uint64_t selection);
/*
 * A module is loaded: if it is refused, none of its functions record. *functions and *out:
 * functions of all modules so far, and the number of them that the host did not want then; a module
 * that is loaded again counts once.
 */
TP_HIDDEN void tp_gates_admit(struct teeperf_module_block *block, enum tp_admission admission,
    uint64_t *functions, uint64_t *out);
/* The hash of its functions' names (log.h), whole. */
TP_HIDDEN uint64_t tp_gates_names(const struct teeperf_module_block *block);
/* In a forked child: other threads, which may have been at it, are gone. */
TP_HIDDEN void tp_gates_forked(void);
/* A handler has jumped out of walks of this thread, or ends it. */
TP_HIDDEN void tp_gates_retake(void);
/* Another log: no functions have been reported to it. */
TP_HIDDEN void tp_gates_forget(void);
/* Call visit for each module's block. pre: no module is loaded or unloaded. */
TP_HIDDEN void tp_gates_each(void (*visit)(struct teeperf_module_block *block));

/* Tell the host how attaching ended. */
TP_HIDDEN void tp_attach_report(enum teeperf_attach attach);

/* What recording begins as, by the host's word; from here on that word is followed (switch.c). */
TP_HIDDEN enum tp_state tp_switch_start(void);

/* The same in a log that other instances have used meanwhile; BEFORE: its value when we left. */
TP_HIDDEN enum tp_state tp_switch_again(enum tp_state before);

/* In a forked child with a log of its own: record on as the parent did. */
TP_HIDDEN void tp_switch_forked(bool on);
/* A handler has jumped out while this thread obeyed the host: another one may do so again. */
TP_HIDDEN void tp_switch_retake(void);

/* Do what the program has requested; until there is a log, requests are only kept. */
TP_HIDDEN void tp_switch_serve(void);

/*
 * Obey the host if it has changed `control`. Safe in a signal handler.
 * pre: state was TP_STATE_RECORDING or TP_STATE_PAUSED before.
 */
TP_HIDDEN void tp_switch_look(void);

/*
 * There is no free chunk, or there was one: gates are set to the cheapest state. pre: as
 * tp_switch_look.
 */
TP_HIDDEN void tp_switch_dry(bool dry);

/* Whether somebody is about to switch. */
TP_HIDDEN bool tp_switch_is_busy(void);

/* This process is a forked child, or has lost its log: never record again. */
TP_HIDDEN void tp_process_off(void);

/*
 * The port calls it once, when the program is over but for the destructors of modules: `word` is
 * header.ended (TEEPERF_ENDED and bits with it), which the host sees when the last module has gone.
 */
TP_HIDDEN void tp_process_ended(uint64_t word);

/* Call function(argument) with all vector and floating-point registers preserved (slow.S). */
TP_HIDDEN void tp_call_preserving(void (*function)(void *), void *argument);

/* The entry points of abi.h. */
TP_EXPORT void __teeperf_slow(void);
TP_EXPORT void __teeperf_resync(uint64_t position, uint64_t name);
TP_EXPORT uint64_t __teeperf_home(void);
TP_EXPORT uint64_t __teeperf_leave(uint64_t position, uint64_t name, uint64_t home);
TP_EXPORT void __teeperf_arrive(uint64_t position, uint64_t name, uint64_t left);
TP_EXPORT void __teeperf_count(void);
TP_EXPORT void __teeperf_counted(struct teeperf_counted *counted, void **pointer);
TP_EXPORT void __teeperf_counted_gone(struct teeperf_counted *counted);
TP_EXPORT void __teeperf_record(void);
TP_EXPORT void __teeperf_record_untimed(void);
TP_EXPORT void __teeperf_record_position(void);
TP_EXPORT void __teeperf_border(unsigned long long control, unsigned long long handle);
TP_EXPORT void __teeperf_command(void *operation);
TP_EXPORT void __teeperf_module(uint64_t abi_and_clock, struct teeperf_module_block *block);
TP_EXPORT void __teeperf_module_gone(struct teeperf_module_block *block);

/* What teeperf.h calls: safe in any thread and in signal handlers, also before there is a log. */
TP_EXPORT void __teeperf_switch(int on);
TP_EXPORT int __teeperf_is_on(void);
TP_EXPORT void __teeperf_poll(void);
TP_EXPORT int __teeperf_region(void *region, unsigned long long size);
TP_EXPORT int __teeperf_enter(void *region, unsigned long long size);
TP_EXPORT void __teeperf_exit(void);
TP_EXPORT const char *__teeperf_why(void);
TP_EXPORT void *__teeperf_tee_log(unsigned long long *size);
TP_EXPORT void __teeperf_thread_over(void);
TP_EXPORT void __teeperf_over(int code);
TP_EXPORT int __teeperf_module_add(struct teeperf_loaded *loaded);
TP_EXPORT void __teeperf_module_remove(struct teeperf_loaded *loaded);
extern TP_EXPORT uint32_t __teeperf_mark_gate; /* 0: marks are not recorded, as no function is */
TP_EXPORT void __teeperf_mark(unsigned int what, const char *name);
struct teeperf_context;
TP_EXPORT void __teeperf_context_leave(struct teeperf_context *here);
TP_EXPORT void __teeperf_context_arrive(const struct teeperf_context *here);

#endif
