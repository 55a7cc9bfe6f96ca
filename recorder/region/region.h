/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The shared region (include/teeperf/log.h): a file in /dev/shm that the program maps, and the
 * supply of chunks in it.
 *
 * Memory is committed step by step: more follows only while the supply runs low. So a recording
 * that keeps up stays in what was ready at the start, warm in the page tables, and a full tmpfs
 * shows as an error instead of a SIGBUS.
 *
 * Everything in the region may be changed by the program at any time. Offsets, counts and the
 * mapping's address are kept here, privately.
 */
#ifndef TP_REGION_H
#define TP_REGION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <teeperf/atomic.h>
#include <teeperf/log.h>

#include "common/err.h"

enum {
	TP_REGION_CHUNK_SIZE = 1 << TEEPERF_CHUNK_SHIFT_DEFAULT,
	TP_REGION_MODULES = 2048,
	TP_REGION_THREADS = 16384,
	TP_REGION_SMALL_MODULES = 128, /* with small tables */
	TP_REGION_SMALL_THREADS = 512,
	TP_REGION_MIN_CHUNKS = 8,
	TP_REGION_FIRST_CHUNKS = 16,    /* there at once: 1 MiB */
	TP_REGION_AHEAD_CHUNKS = 256,   /* ... before a program starts: 16 MiB */
	TP_REGION_WORKING_CHUNKS = 512, /* ... soon after it has begun to log: 32 MiB */
	TP_REGION_GUEST_CHUNKS = 1024,  /* ... ready for one that has threads already: 64 MiB */
	TP_REGION_INNER_CHUNKS = 256,   /* ... for a TEE: 16 MiB */
	TP_REGION_STEP_CHUNKS = 32,     /* allocated at once later, or touched: 2 MiB */
	/*
	 * With so few left, more are supplied: up to LOW, by as many as the program has taken so
	 * far, times the factor, and as many as have passed in milliseconds, divided (by IDLE_MS as
	 * long as it has taken none). A program that logs little needs little memory, and one that
	 * ends soon does not wait until a lot of it is given back.
	 */
	TP_REGION_LOW_FIRST_CHUNKS = 64,
	TP_REGION_LOW_FACTOR = 4,
	TP_REGION_LOW_MS = 2,
	TP_REGION_LOW_IDLE_MS = 8,
	TP_REGION_LOW_CHUNKS = 768,
	TP_REGION_CORE_CHUNKS = 64, /* for each core, 4 MiB: some ms at full speed */
	TP_REGION_TOUCH_MS = 50, /* with touch_later, if it logs: many programs are over by then */
};
#define TP_REGION_NONE UINT32_MAX
/*
 * The least functions in the list of a later selection, in small logs, and beside those of the
 * first one.
 */
enum {
	TP_REGION_SELECTION = 16384,
	TP_REGION_SMALL_SELECTION = 512,
	TP_REGION_SELECTION_MORE = 1024
};
/* Mode ring, by default: all chunks, and those of a thread. */
enum { TP_REGION_RING_CHUNKS = 1024, TP_REGION_KEPT_CHUNKS = 16 };

/* Functions that are to record, by the hashes (abi.h) of their names, ascending. */
struct tp_region_only {
	enum teeperf_only kind;
	const uint64_t *hashes; /* the caller's; needed until the region is created */
	uint32_t count;
};

/*
 * A file that the log is to be in because somebody else knows its name: a TEE's launcher, a
 * manifest, a virtual machine whose shared memory it is. It may be there already, with other things
 * in it.
 */
struct tp_place {
	const char *path; /* the caller's */
	uint64_t offset;  /* of the log in the file; a multiple of the chunk size */
	bool force;       /* write over whatever is there */
	/* nobody named the file to us, so anybody may have made it: take our own only */
	bool guessable;
	/*
	 * A folder that another user may have chosen, NULL: none. The file of `path`'s last part is
	 * opened in it, with the rights of that user if we are root; `path` is for messages.
	 * Outlives the region.
	 */
	const struct tp_place_folder {
		int fd; /* -1: none */
		unsigned user;
		unsigned group;
	} * folder;
};

/* Remove the file of PATH, in FOLDER if that is not NULL. */
void tp_place_unlink(const char *path, const struct tp_place_folder *folder);

struct tp_place_file {
	int fd;        /* locked (flock) */
	bool made;     /* it was not there before */
	bool fixed;    /* it has its size already, and keeps it */
	uint64_t room; /* bytes behind the offset; not fixed: that its file system has free */
	dev_t device;
	ino_t inode;
	uint64_t
	    old_size; /* bytes behind the offset that an earlier log has had; 0: there is none */
};

/*
 * Open the file, or make it (for its owner alone). Refused without `force`: what holds something
 * that is no log, and a log that a process writes whose recorder was killed; in any case a log that
 * another recorder has, symbolic links, files that are not regular, and a guessable one of somebody
 * else.
 */
int tp_place_open(const struct tp_place *place, struct tp_place_file *file, struct tp_err *err);

/*
 * Whether `size` bytes behind the offset may be cleared, as they are zero or the earlier log's, or
 * there is `force`.
 * pre: the file is open and fixed.
 */
int tp_place_check(const struct tp_place *place, const struct tp_place_file *file, uint64_t size,
    struct tp_err *err);

struct tp_region_options {
	uint64_t size;    /* most bytes of chunks, rounded down to a power of two; 0: by memory */
	uint64_t ready;   /* of these, bytes that are supplied at the start, with memory in place */
	uint64_t ahead;   /* ... and bytes that tp_region_grow supplies in any case */
	bool touch_later; /* they are in nobody's page tables yet */
	uint32_t chunk_count; /* the exact number, whatever `size` says; 0: by `size` */
	uint32_t low_chunks;  /* with so few left, more are supplied ... */
	/* ... by this number; 0: as TP_REGION_LOW_CHUNKS says, TP_REGION_STEP_CHUNKS */
	uint32_t step_chunks;
	/*
	 * Once enough are supplied, others wait, and those that were used last come first: their
	 * pages are in the program's tables and in caches. How many are enough follows the program
	 * (tp_region_follow_pace), from `warm_first` on; never less than `warm_least`. 0: all are
	 * supplied.
	 */
	uint32_t warm_first;
	uint32_t warm_least;
	uint32_t owned; /* number + 1 of a chunk that the program's first thread has; 0: none */
	uint32_t mode;
	uint32_t ring; /* mode ring: chunks that a thread keeps; at most a quarter of them all */
	uint32_t clock;
	bool small_tables; /* for a log all of which is mapped at each call */
	uint64_t behind;   /* bytes of the file behind the region; with a new file only */
	struct tp_region_only only;
	const struct tp_place *place; /* NULL: a new file in TP_REGION_FOLDER */
};

struct tp_region {
	char path[96]; /* in TP_REGION_FOLDER; empty: the log cannot be found there */
	uint64_t id;   /* random; in the path, and in the trace */
	int fd;
	char *place;                          /* the path that was asked for, NULL: none was */
	const struct tp_place_folder *folder; /* that the file is in there; NULL: the path tells */
	bool made;                            /* the file there is ours to remove */
	uint64_t offset;                      /* of the region in the file */
	bool published;                       /* tp_region_publish was called */
	struct tp_err note_err;               /* .code is 0, or there is no note beside the log */
	char *map;                            /* aligned to the chunk size */
	uint64_t map_size;
	struct teeperf_log_header *header;
	uint64_t *supply;
	uint64_t *states;
	struct teeperf_module *modules;
	struct teeperf_thread *threads;
	uint64_t *only;
	uint64_t *selection; /* two lists of selection_capacity hashes (log.h) */
	char *chunks;
	uint32_t selection_capacity;
	uint32_t only_kind; /* enum teeperf_only; as in the options, as is only_count */
	uint32_t only_count;
	uint32_t module_capacity;
	uint32_t thread_capacity;
	uint32_t chunk_count;
	uint32_t mode;
	uint32_t ring;       /* as in the options */
	uint32_t low_chunks; /* and these */
	uint32_t step_chunks;
	uint32_t ahead;    /* chunks [0, ahead) are supplied as fast as possible */
	uint32_t ready;    /* chunks that were supplied when it was made */
	bool eases_in;     /* with fewer than low_chunks left at first: tp_region_low */
	bool touch_later;  /* nothing is touched before it is TP_REGION_TOUCH_MS old */
	uint64_t start_ms; /* CLOCK_MONOTONIC */
	uint32_t owned;
	/* The supply; guarded by lock. */
	pthread_mutex_t lock;
	uint64_t head; /* tickets served; in mode ring the log's word counts, as others serve too */
	uint32_t warm; /* others wait; 0: none does */
	uint32_t *waiting; /* chunks that are not supplied yet, those used last at the end */
	uint32_t waiting_count;
	uint32_t committed;    /* chunks [0, committed) have memory, and were supplied or wait */
	bool stunted;          /* memory ran out before the region had its whole size */
	const char *shrunk_by; /* the limit that made it smaller than it is by default, or NULL */
	uint32_t touched;      /* chunks [0, touched) are in the page tables; the grower's own */
	/* The chunks that are out, as a list in the order of their tickets, newest first. */
	uint32_t
	    *older; /* for each chunk that is out, the one supplied before it, or TP_REGION_NONE */
	uint32_t *newer;
	uint32_t newest;
	/* The supplying thread's own. */
	struct tp_region_pace {
		uint32_t least;   /* options.warm_least; 0: none waits */
		uint64_t look_ns; /* the last one, and the chunks taken until then */
		uint64_t taken;
		double chunks;  /* that the program took in a ms, by the peak, which fades */
		double late_ms; /* by which we came too late, likewise */
	} pace;
};

/*
 * Create and map a region, initialise its header, and supply its first chunks. From its mapping to
 * its release it is guarded (log_guard.h): another process may cut its file short at any time. On
 * success free it with tp_region_release.
 */
int tp_region_create(
    struct tp_region *region, const struct tp_region_options *options, struct tp_err *err);

/*
 * A region in a place of its own: let programs take it for a log from here on. Nothing of it may be
 * written before but by us.
 */
void tp_region_publish(struct tp_region *region);

/* The log's place as programs get it: a path. */
const char *tp_region_where(const struct tp_region *region);

/*
 * Whether process `pid` has the log mapped, 1 or 0; -1: it hides what it has mapped. Its number is
 * the program's word, and it may have become another program: only who opened our file may get our
 * signal.
 */
int tp_region_is_mapped(const struct tp_region *region, pid_t pid);

/* Remove the file's name: no other process can find the log from here on. May be called twice. */
void tp_region_unlink(struct tp_region *region);
void tp_region_release(struct tp_region *region);

/*
 * Give back the memory of what no thread is about to write, for a program that keeps the log mapped
 * and leaves it.
 * pre: nobody reads it any more.
 */
void tp_region_empty(struct tp_region *region);

/*
 * Note beside the log which trace it belongs to, for whoever finds it when we were killed: a
 * symbolic link, which is there whole or not at all. If that fails (another user, who sees the
 * log's name, was faster) region->note_err says why, and the log is found by its trace only.
 */
void tp_region_note_trace(struct tp_region *region, const char *trace);

/* Folder of logs; the name of a log there, and the suffix of its note's name. */
#define TP_REGION_FOLDER "/dev/shm"
#define TP_REGION_PREFIX "teeperf-"
#define TP_REGION_NOTE ".trace"
enum { TP_REGION_NAME_SIZE = 64 };
void tp_region_name(char name[TP_REGION_NAME_SIZE], uint32_t pid, uint64_t id);

/* Address of chunk `number`. pre: number < chunk_count. */
static inline struct teeperf_chunk *tp_region_chunk(const struct tp_region *region, uint32_t number)
{
	return (struct teeperf_chunk *)(void *)(region->chunks +
						(uint64_t)number * TP_REGION_CHUNK_SIZE);
}

/* Its thread's number: the program's word, which it may change at any time. */
static inline uint32_t tp_region_chunk_thread(const struct teeperf_chunk *chunk)
{
	return (uint32_t)tp_load_relaxed((const uint64_t *)(const void *)&chunk->thread);
}

/*
 * Hand chunk `number` to the program, or have it wait; in mode ring once, as the program recycles.
 * pre: it is zero throughout and its state is FREE.
 */
void tp_region_supply(struct tp_region *region, uint32_t number);

/*
 * The numbers of all chunks that are out and in one of STATES (bit N: enum teeperf_chunk_state),
 * into `numbers` (chunk_count of them), in the order in which they were supplied; returns how many.
 * With DONE no chunk of a thread is among them without those that the thread completed before it;
 * with OWNED as well also the one after them, which a thread that goes on may complete meanwhile.
 */
enum { TP_REGION_DONE = 1 << TEEPERF_CHUNK_DONE, TP_REGION_OWNED = 1 << TEEPERF_CHUNK_OWNED };
uint32_t tp_region_collect(struct tp_region *region, uint32_t states, uint32_t *numbers);

/* Chunk `number` is not out any more. pre: it was. */
void tp_region_withdraw(struct tp_region *region, uint32_t number);

/*
 * The number of chunks left at which more are supplied, by the chunks taken so far and the time
 * since the region was made.
 */
uint32_t tp_region_low(uint64_t taken, uint64_t ms);

/*
 * Reckon how many chunks are to be supplied, by what the program has taken since the last look and
 * by how late this one is. A program that has run out of chunks while some waited gets all of them
 * from then on. Returns whether the next look should come soon.
 */
bool tp_region_follow_pace(struct tp_region *region, uint64_t now_ns, uint64_t late_ns);

/*
 * Supply chunks that wait, if the program has few. If all there is runs low, or less is there than
 * should be ahead, allocate a little more and supply it; else touch a little of what has been
 * supplied. False if there was nothing to do: call it again a millisecond later. (Touching 64 MiB
 * takes up to 300 ms on a busy machine, allocating them 10: touching before supplying lost events.)
 */
bool tp_region_grow(struct tp_region *region);

/* Chunks that there can be in all: fewer than chunk_count once memory has run out. */
uint32_t tp_region_limit(struct tp_region *region);

/*
 * A count in the log, where anybody who has it mapped may write. Above this it was not counted: at
 * a thousand million a second it would have taken three days.
 */
#define TP_COUNT_MAX (UINT64_C(1) << 48)
static inline uint64_t tp_count_acquire(const uint64_t *word)
{
	const uint64_t count = tp_load_acquire(word);
	return count < TP_COUNT_MAX ? count : 0;
}

/* Whether the log has counts that nobody can have counted (tp_count_acquire takes them for 0). */
bool tp_region_is_forged(const struct tp_region *region);

/* Events lost so far, as the program counts them. */
uint64_t tp_region_lost(const struct tp_region *region);

/*
 * Bytes of the log's file that are in memory though nobody has asked for them: a program that locks
 * its memory has it all.
 */
uint64_t tp_region_unasked(const struct tp_region *region);

/* Events that came before the program had its log, which no larger log would have. */
uint64_t tp_region_early(const struct tp_region *region);

/* Slots of the thread table in use: one more than the highest that is filled. */
uint32_t tp_region_thread_count(const struct tp_region *region);

/* A private copy of the first `size` bytes (a multiple of 8) at `from`, loaded word by word. */
void tp_region_copy(void *to, const void *from, uint64_t size);

#endif
