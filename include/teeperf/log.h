/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The shared log: the one layout on which the instrumented code, the runtime, the recorder and the
 * reader agree. Specified in docs/format.md; test/lint compares that document with this header.
 *
 * Everything is little-endian and fixed-width. References are offsets from the start of the region,
 * never pointers. The region may be written at any time by a hostile host (seen from the program)
 * or by a hostile program (seen from the host): each side checks or masks what it reads.
 *
 * Vocabulary: "region" is the whole shared mapping; a "chunk" is an aligned part of it that belongs
 * to one thread at a time; a "record" is one 8-byte word in a chunk; "ticks" are the units of the
 * clock that the header names.
 */
#ifndef TEEPERF_LOG_H
#define TEEPERF_LOG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TEEPERF_STATIC_ASSERT(what, text) static_assert(what, text)
#else
#define TEEPERF_STATIC_ASSERT(what, text) _Static_assert(what, text)
#endif

/* "TPERFLOG", read as a little-endian word. */
#define TEEPERF_LOG_MAGIC UINT64_C(0x474f4c4652455054)
/* "TPERFOVR": replaces it, in a file that stays, when the log is no longer read. */
#define TEEPERF_LOG_OVER UINT64_C(0x52564f4652455054)

/*
 * A reader refuses a major above its own, and one below the oldest that it reads. MAJOR moves when
 * an old reader would go wrong; MINOR when it would only miss something.
 */
#define TEEPERF_LOG_MAJOR 1
#define TEEPERF_LOG_OLDEST_MAJOR 1
#define TEEPERF_LOG_MINOR 10

/*
 * Name of the environment variable that holds the region's path; or, after TEEPERF_LOG_INHERITED,
 * the decimal number of an inherited descriptor.
 */
#define TEEPERF_LOG_ENV "TEEPERF_LOG"
#define TEEPERF_LOG_INHERITED "fd:"
/* Name of the variable with the region's offset in that file: bytes, decimal, whole chunks. */
#define TEEPERF_LOG_OFFSET_ENV "TEEPERF_LOG_OFFSET"

/*
 * Name of the variable with the signals that the program is to handle: "LOOK[,ON,OFF]", decimal
 * numbers. At LOOK it reads header.control; at ON and OFF it switches. 0: none.
 */
#define TEEPERF_CONTROL_ENV "TEEPERF_CONTROL"

/*
 * Name of the variable with the path of a second log, for the TEE whose host this program is. Both
 * logs share its counter word.
 */
#define TEEPERF_TEE_LOG_ENV "TEEPERF_TEE_LOG"

/*
 * Name of the variable by which a process gets its own log, where the host has more than one:
 * "NAME,TOKEN", of 16 hexadecimal digits each. The host listens on a Unix socket (SOCK_SEQPACKET)
 * whose abstract name is TEEPERF_FORK_SOCKET followed by NAME. A process that connects sends one
 * request and receives one reply with two file descriptors: its log, and one whose counter word is
 * stored.
 */
#define TEEPERF_FORK_ENV "TEEPERF_FORK"
#define TEEPERF_FORK_SOCKET "teeperf-"
/* "TPERFORK", read as a little-endian word. */
#define TEEPERF_FORK_MAGIC UINT64_C(0x4b524f4652455054)
struct teeperf_fork_request {
	uint64_t magic;   /* TEEPERF_FORK_MAGIC */
	uint64_t token;   /* TOKEN */
	uint64_t parent;  /* process id of the one that forked; 0: another program began */
	uint32_t chunk;   /* number + 1 of the chunk in which its first thread continues, 0: none */
	uint32_t padding; /* words of it that are in use, and hold no event of this process */
};
struct teeperf_fork_reply {
	uint64_t magic; /* TEEPERF_FORK_MAGIC */
	uint64_t size;  /* bytes of the log */
};

/* ---- records ------------------------------------------------------------------------------- */

/*
 * A record is one aligned 8-byte word:
 *
 *   bits  0-31  time: the low half of the clock (UNTIMED: 0)
 *   bits 32-63  name: the low half of a function's run-time address; functions are aligned to 4,
 *               so bits 32-33 hold the kind. Names below TEEPERF_NAME_FIRST are control records.
 *
 * The upper half of the clock is that of the chunk's first_time, changed by each SYNC record.
 */
enum teeperf_kind {
	TEEPERF_KIND_ENTER = 0,
	TEEPERF_KIND_EXIT = 1,
	TEEPERF_KIND_UNTIMED = 2, /* a call ends, without a look at the clock: some time between
				     the thread's records around it; taken as the next one's */
	TEEPERF_KIND_RESYNC =
	    3, /* one raw word follows: the position (below) of the activation that
	                            runs on; every activation above it has ended */
};
#define TEEPERF_KIND_MASK UINT32_C(3)
#define TEEPERF_NAME_FIRST UINT32_C(4096)

enum teeperf_control {
	TEEPERF_CONTROL_EMPTY = 0, /* a word that was never written */
	TEEPERF_CONTROL_SYNC = 1,  /* time = upper half of the clock from here on */
	TEEPERF_CONTROL_PAD = 2,   /* nothing: fills the end of a chunk */
	TEEPERF_CONTROL_LOST = 3,  /* time = number of events lost just before (sum them up) */
	TEEPERF_CONTROL_MARK = 4,  /* the program marks this moment; time = as of an event */
	TEEPERF_CONTROL_MODULE =
	    5, /* time = module, from 1, of the COUNTS that follow in the chunk */
	TEEPERF_CONTROL_FORK = 6, /* time = process id of the parent: a fork was called here */
	TEEPERF_CONTROL_THREAD_END = 7, /* the thread ended; time = 0 */
	TEEPERF_CONTROL_COUNTS = 8,     /* calls without times: see below */
	/* The border between a host program and its TEE; time = as of an event. */
	TEEPERF_CONTROL_CALL_OUT = 9, /* the thread calls into the other side: it leaves this one */
	TEEPERF_CONTROL_CALL_IN = 10, /* a call from the other side arrives */
	TEEPERF_CONTROL_RETURN_OUT = 11, /* it returns */
	TEEPERF_CONTROL_RETURN_IN = 12,  /* the thread is back from its call */
	TEEPERF_CONTROL_CROSSING = 13,   /* time = number of the last CALL_OUT or CALL_IN */
	TEEPERF_CONTROL_LEFT = 14, /* time = half of a departure (below), the upper one first */
	/*
	 * A phase that the program names begins, and ends, in this thread; time = as of an event.
	 */
	TEEPERF_CONTROL_PHASE_BEGIN = 15,
	TEEPERF_CONTROL_PHASE_END = 16,
	TEEPERF_CONTROL_TEXT = 17, /* time = 4 bytes of the name (below), the first one lowest */
};

/*
 * The name of a MARK, PHASE_BEGIN or PHASE_END follows it in TEXT records, in the same chunk: up to
 * TEEPERF_MARK_NAME bytes, then zeroes up to the end of the last record. One more byte: the name
 * was longer, and is cut there. No record: no name.
 */
#define TEEPERF_MARK_NAME 64

/*
 * How both sides of a border get the same number: the caller draws it, keeps it in the record, and
 * stores it under a handle: any number that the other side knows as well (mostly an address) and
 * that no other call in progress has; 0: none. The callee takes it out of the same table,
 * `crossings` of the TEE's log. With H the product of handle and TEEPERF_CROSSING_MIX modulo 2^64,
 * an entry is the upper 36 bits of H << 8 (its tag), and the number below them; 0: none. It is one
 * of the TEEPERF_CROSSING_TRIES entries from H >> 56 on, wrapping around: the first that has this
 * tag or is empty, else the first of them.
 */
#define TEEPERF_CROSSINGS 256
#define TEEPERF_CROSSING_MIX UINT64_C(0xa3c59ac2b7f1e26d)
#define TEEPERF_CROSSING_TRIES 16
#define TEEPERF_CROSSING_BITS 28 /* of the number, which is not 0 */

/*
 * For a TEE whose commands share only the log itself with the host's calls: the file of a TEE's log
 * is longer than the log, and a host passes L bytes less of it with a call, L from 1 to
 * TEEPERF_LABEL_ROOM - 1. L is the call's label, which no other call in progress has, and
 * TEEPERF_LABEL_HANDLE(L) is its handle. Without a label, the size is a multiple of
 * TEEPERF_LABEL_ROOM.
 */
#define TEEPERF_LABEL_ROOM 4096
#define TEEPERF_LABEL_HANDLE(label) (UINT64_C(0x4c4142454c) << 24 | (label)) /* "LABEL" */

/*
 * Functions of which only the calls are counted: the time field of COUNTS is a number N, and N
 * pairs of raw words follow in the same chunk: a function's run-time address, and its calls by this
 * thread. Add up the pairs with one address. Of a sampled function, to whose address
 * TEEPERF_COUNTS_SAMPLED is added, some of these calls have records as well.
 */
#define TEEPERF_COUNTS_SAMPLED UINT64_C(1)
#define TEEPERF_COUNTS_MAX 4091 /* N of one record: a chunk full */

/*
 * A position identifies one record of one thread permanently: the number of bytes that the thread
 * had written before it, chunk headers included. Record R at byte offset O of the thread's chunk
 * number S (sequence, from 0) has position S * chunk size + O. 0 is no position (offset 0 is a
 * header). Positions of open activations grow from the outermost on.
 */
#define TEEPERF_POSITION_OFF 1 /* of an activation that began while recording was switched off */
/*
 * An activation without a record, because it was not sampled or its function is not recorded, has
 * the position of the thread's next record less 4: above all activations that began before it,
 * below all that it calls.
 */
#define TEEPERF_POSITION_BETWEEN 4
/*
 * Added to the position after a RESYNC: this activation leaves its stack for another one, whose
 * calls are not its own (with 0: the activation is unknown). The calls of the stack are suspended
 * until a RESYNC to one of them.
 */
#define TEEPERF_POSITION_LEAVES UINT64_C(2)
/*
 * Instead of one: the activation that runs on, or the stack, comes from another thread. Two LEFT
 * records come before it, of the departure: the RESYNC record with TEEPERF_POSITION_LEAVES by which
 * the stack was left last. Bits 0-39 are that record's position / 8, bits 40-62 `home` of its chunk
 * modulo 2^23. A position of 0: not recorded.
 */
#define TEEPERF_POSITION_ELSEWHERE 5
#define TEEPERF_DEPARTURE_SHIFT 40
#define TEEPERF_DEPARTURE_HOMES ((UINT64_C(1) << 23) - 1)
#define TEEPERF_DEPARTURE(home, position)                                        \
	(((uint64_t)(home)&TEEPERF_DEPARTURE_HOMES) << TEEPERF_DEPARTURE_SHIFT | \
	    (uint64_t)(position) >> 3)
#define TEEPERF_DEPARTURE_POSITION(departure) \
	(((uint64_t)(departure) & ((UINT64_C(1) << TEEPERF_DEPARTURE_SHIFT) - 1)) << 3)

/* ---- region header ------------------------------------------------------------------------- */

/* A clock more: a row here, and its name below. */
enum teeperf_clock {
	TEEPERF_CLOCK_NONE = 0,     /* no time: the time fields count modules in others' places */
	TEEPERF_CLOCK_TSC = 1,      /* x86 time stamp counter, read by the program */
	TEEPERF_CLOCK_CNTVCT = 2,   /* Arm virtual counter, read by the program */
	TEEPERF_CLOCK_RDTIME = 3,   /* RISC-V time, read by the program */
	TEEPERF_CLOCK_SOFT_TSC = 4, /* counter word: the host publishes its TSC */
	TEEPERF_CLOCK_SOFT_MONOTONIC =
	    5,                        /* counter word: the host publishes CLOCK_MONOTONIC_RAW, ns */
	TEEPERF_CLOCK_SOFT_COUNT = 6, /* counter word: the host increments it; unit unknown */
	TEEPERF_CLOCK_TSC_ORDERED =
	    7, /* as TSC, after all instructions before it and before all that follow */
};
#define TEEPERF_CLOCK_IS_SOFT(kind) \
	((kind) >= TEEPERF_CLOCK_SOFT_TSC && (kind) <= TEEPERF_CLOCK_SOFT_COUNT)

/* Its name in traces and in all output; "unknown" if it is not a clock. */
static inline const char *teeperf_clock_name(uint32_t kind)
{
	static const char *const names[] = {"none", "tsc", "cntvct", "rdtime", "soft-tsc",
	    "soft-monotonic", "soft-count", "tsc-ordered"};
	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

enum teeperf_mode {
	TEEPERF_MODE_STREAM = 1, /* the host drains and recycles chunks */
	TEEPERF_MODE_FULL = 2,   /* chunks are used once; events that do not fit are counted */
	TEEPERF_MODE_RING = 3,   /* each thread keeps its last chunks, and re-uses the oldest */
};

/* How attaching ended; written by the runtime, never 0 after an attempt. */
enum teeperf_attach {
	TEEPERF_ATTACH_NONE = 0,      /* no instrumented program has attached yet */
	TEEPERF_ATTACH_DONE = 1,      /* recording */
	TEEPERF_ATTACH_BAD_CLOCK = 2, /* compiled for another clock than this log's */
	TEEPERF_ATTACH_BAD_MODULE =
	    3, /* a module's pass and the runtime are of different versions */
	/* Of a log that the program was given by a call (teeperf_enter), if it is still NONE: */
	TEEPERF_ATTACH_NO_MODULE = 4, /* no instrumented code has registered */
	TEEPERF_ATTACH_BAD_LOG = 5,   /* of another version, or only a part of it was given */
	/* Reported to the program only (teeperf_why_not), since it must not write there: */
	TEEPERF_ATTACH_NOT_SHARED =
	    6,                    /* not all of it is memory that the host may read and write */
	TEEPERF_ATTACH_TAKEN = 7, /* another program uses it, or this one has entered already */
};

/*
 * header.control: whether the host wants the program to record. Each change of the word is a
 * command; the bits above number the commands, so that one that the program has undone can be
 * repeated.
 */
#define TEEPERF_ACTIVE UINT64_C(1)

/*
 * header.ended: the last word that a program stores, with release order, when its instrumented code
 * has run for the last time; it informs a host that is not the parent. Stays 0 if the program was
 * killed.
 */
#define TEEPERF_ENDED UINT64_C(1)
#define TEEPERF_ENDED_HAS_CODE UINT64_C(2) /* bits 32-63 hold the exit code */
#define TEEPERF_ENDED_CODE_SHIFT 32

/* State words, one per chunk; the program moves them up, the host sets them back to FREE. */
enum teeperf_chunk_state {
	TEEPERF_CHUNK_FREE = 0,  /* the host's */
	TEEPERF_CHUNK_OWNED = 1, /* a thread writes it */
	TEEPERF_CHUNK_DONE = 2,  /* complete: the host may take it and recycle it */
};

/*
 * Supply ring: how the host hands out chunks. Slot (t & (chunk_count - 1)) serves ticket t. It is
 * ready when its upper 40 bits are the low 40 bits of t + 1; its low 24 bits are then the chunk's
 * number. header.tail is the next ticket: a thread reads its slot, then draws it by
 * compare-and-swap of header.tail from t to t + 1. A thread that finds no slot ready counts its
 * losses, and tries again after some events, at most 256; it never waits.
 */
#define TEEPERF_SUPPLY_CHUNK_BITS 24
#define TEEPERF_SUPPLY_SLOT(ticket, chunk) \
	((((uint64_t)(ticket) + 1) << TEEPERF_SUPPLY_CHUNK_BITS) | (uint64_t)(chunk))

/*
 * Recording is switched for the whole process. The time of a switch to off is read before any
 * thread can see it, and one tick is added: records of that tick count as made before. That of a
 * switch to on is also read before any thread can see it. So a thread's records with times in
 * between were being written when it was switched off, and its later calls in between are not in
 * the log. Stacks are unknown across a gap: calls that are open at its beginning end there.
 */
#define TEEPERF_SWITCHES 128
enum teeperf_listens {
	TEEPERF_LISTENS_NOT = 0,     /* it reads `control` only when it takes a new chunk */
	TEEPERF_LISTENS_SIGNAL = 1,  /* it reads it when it gets the signal listens_value */
	TEEPERF_LISTENS_REFUSED = 2, /* as NOT: the program itself uses the signal listens_value */
};

/* Which of the instrumented functions record. */
enum teeperf_only {
	TEEPERF_ONLY_ALL = 0,    /* each of them */
	TEEPERF_ONLY_LISTED = 1, /* functions whose hash is in the list */
	TEEPERF_ONLY_REST = 2,   /* functions whose hash is not in it */
};

/*
 * header.selection: one word, so it is never read half-written. Bits 0-1 are an enum teeperf_only,
 * bits 2-31 the number of hashes in the list, and bits 32-63 number the selections from 1. The host
 * writes the next list only when the program obeys the last selection (header.selected): the
 * program then reads the other list.
 */
#define TEEPERF_SELECTION(number, only, count) \
	((uint64_t)(number) << 32 | (uint64_t)(count) << 2 | (uint64_t)(only))
#define TEEPERF_SELECTION_ONLY(selection) ((uint32_t)(selection)&3)
#define TEEPERF_SELECTION_COUNT(selection) ((uint32_t)(selection) >> 2)
#define TEEPERF_SELECTION_NUMBER(selection) ((uint32_t)((selection) >> 32))
#define TEEPERF_SELECTION_LIST(selection) ((selection) >> 32 & 1) /* 0: the first */
#define TEEPERF_SELECTION_FIRST UINT64_C(3)                       /* of `only` */

/* Mode ring: most chunks of a log, because the program keeps lists of them in private memory. */
#define TEEPERF_RING_LOG_CHUNKS 16384
/* ... and the number of CHUNKS that a thread leaves to others before it takes more than two. */
#define TEEPERF_RING_SPARE(chunks) ((chunks) / 8 < 64 ? (int64_t)((chunks) / 8) : 64)

#define TEEPERF_LOG_HEADER_SIZE 4096
#define TEEPERF_CHUNK_SHIFT_DEFAULT 16

/* Groups are 128 bytes apart: the prefetchers of many CPUs fetch cache lines in pairs. */
struct teeperf_log_header {
	/* Constants: written by the recorder before the program starts. */
	uint64_t magic;          /* TEEPERF_LOG_MAGIC */
	uint16_t major;          /* TEEPERF_LOG_MAJOR */
	uint16_t oldest_major;   /* the oldest major whose reader can read this log */
	uint16_t minor;          /* TEEPERF_LOG_MINOR */
	uint16_t header_size;    /* TEEPERF_LOG_HEADER_SIZE */
	uint32_t chunk_shift;    /* log2 of the chunk size in bytes: 16 in version 1 */
	uint32_t chunk_count;    /* a power of two, at most 2^24 */
	uint64_t region_size;    /* bytes, a multiple of the chunk size */
	uint64_t supply_offset;  /* uint64_t[chunk_count], the supply ring */
	uint64_t state_offset;   /* uint64_t[chunk_count], enum teeperf_chunk_state */
	uint64_t modules_offset; /* struct teeperf_module[module_capacity] */
	uint64_t threads_offset; /* struct teeperf_thread[thread_capacity] */
	uint64_t chunks_offset;  /* the chunks; a multiple of the chunk size */
	uint32_t module_capacity;
	uint32_t thread_capacity; /* a power of two */
	uint32_t clock;           /* enum teeperf_clock */
	uint32_t mode;            /* enum teeperf_mode */
	uint64_t clock_hz;        /* ticks per second if known beforehand, else 0 */
	uint64_t recorder_pid;
	uint64_t
	    only_offset; /* uint64_t[only_count], ascending: hashes (abi.h) of functions' names */
	uint32_t only_count;
	uint32_t only;   /* enum teeperf_only */
	uint32_t ring;   /* mode ring: most chunks that a thread keeps */
	uint32_t border; /* 1: of a TEE whose host is also recorded (CALL_OUT) */

	/*
	 * Counter word: stored by the host's counter thread, loaded at every event (soft clocks).
	 */
	uint64_t counter;
	uint64_t reserved1[15];

	/* Control word: stored by the host. */
	uint64_t control; /* TEEPERF_ACTIVE */
	/* Which functions record from now on, TEEPERF_SELECTION; 0: still as `only` says. */
	uint64_t selection;
	/* Constants: two lists of hashes like that of `only`, TEEPERF_SELECTION_LIST says which. */
	uint64_t selection_offset;
	uint64_t selection_capacity; /* hashes of each; 0: the selection never changes */
	uint64_t reserved2[12];

	/*
	 * Tickets drawn: the only word that threads of the program share; one locked instruction a
	 * chunk.
	 */
	uint64_t tail;
	uint64_t reserved3[15];

	/* Tickets served: slots of the supply ring that the host has filled. A hint. */
	uint64_t head;
	uint64_t reserved4[15];

	/* Facts from the runtime. */
	uint64_t
	    pid; /* the process that attached; claimed once by compare-and-swap. Of instances that
			 take turns (OP-TEE): the present one, 0 between turns */
	uint32_t attach;         /* enum teeperf_attach */
	uint32_t machine;        /* ELF e_machine of the program */
	uint64_t thread_count;   /* thread indices given out so far */
	uint64_t module_count;   /* modules seen so far; may exceed module_capacity */
	uint64_t lost_early;     /* events before the runtime attached */
	uint64_t lost_overflow;  /* events lost by threads beyond thread_capacity */
	uint64_t refused;        /* other processes that found the log taken */
	uint64_t switch_count;   /* switches so far; the last TEEPERF_SWITCHES of them are kept */
	uint32_t listens;        /* enum teeperf_listens: when the program reads `control` */
	uint32_t listens_value;  /* ... the signal's number */
	uint64_t function_count; /* instrumented functions of the modules seen so far */
	uint64_t functions_left_out; /* of these, left out by `only` */
	uint64_t forked;             /* forked children without a log */
	uint64_t ended;              /* TEEPERF_ENDED and its bits: the program has ended */
	/* mode ring: chunks that a thread keeps, 0: the program does not support rings */
	uint64_t keeps;
	/* The selection that it obeys, TEEPERF_SELECTION_FIRST at first; 0: it reads none. */
	uint64_t selected;
	/* since when: ticks, noted before a gate moved; stored before `selected` */
	uint64_t selected_time;

	/* When recording was switched: entry n modulo TEEPERF_SWITCHES is switch number n. */
	uint64_t switches[TEEPERF_SWITCHES]; /* ticks << 1 | 1 for on, ticks << 1 for off */

	/* Of a TEE's log: numbers of calls over the border; stored by the caller. */
	uint64_t crossings[TEEPERF_CROSSINGS];

	uint8_t reserved6[TEEPERF_LOG_HEADER_SIZE - 6 * 128 - 8 * TEEPERF_SWITCHES -
			  8 * TEEPERF_CROSSINGS];
};

/*
 * The fields that identify a log of this version, except `magic`, which is stored when all others
 * are.
 */
static inline void teeperf_log_init(
    struct teeperf_log_header *header, uint32_t chunk_count, uint32_t clock, uint32_t mode)
{
	header->major = TEEPERF_LOG_MAJOR;
	header->oldest_major = TEEPERF_LOG_OLDEST_MAJOR;
	header->minor = TEEPERF_LOG_MINOR;
	header->header_size = TEEPERF_LOG_HEADER_SIZE;
	header->chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT;
	header->chunk_count = chunk_count;
	header->clock = clock;
	header->mode = mode;
}

/*
 * An instrumented module (executable or shared object); written by the runtime when it is loaded.
 */
#define TEEPERF_MODULE_PATH_SIZE 384
#define TEEPERF_BUILD_ID_SIZE 32
struct teeperf_module {
	uint64_t bias;          /* load bias: run-time address minus the address in the file */
	uint64_t start;         /* run-time addresses [start, end) are the module's */
	uint64_t end;           /* 0: the slot is not filled */
	uint64_t anchor;        /* run-time address of the module's symbol __teeperf_anchor */
	uint64_t loaded;        /* ticks */
	uint64_t unloaded;      /* ticks, 0 while it is loaded */
	uint32_t flags;         /* TEEPERF_MODULE_* */
	uint32_t build_id_size; /* bytes of build_id in use, 0: none */
	uint8_t build_id[TEEPERF_BUILD_ID_SIZE];
	/* These exist without a build ID, and survive stripping and signing of the file. */
	uint8_t uuid[16]; /* of a trusted application, most significant byte first; zeroes: none */
	uint64_t code_hash; /* of its code and its functions' names (TEEPERF_CODE_PRIME); 0: none */
	uint32_t code_offset; /* the hashed code: bytes from `start` on */
	uint32_t code_size;   /* ... and its size */
	uint64_t reserved[1];
	char path[TEEPERF_MODULE_PATH_SIZE]; /* NUL-terminated, empty if unknown */
};
#define TEEPERF_MODULE_PATH_CUT UINT32_C(1) /* path is the tail of a longer one */
#define TEEPERF_MODULE_COLLIDES \
	UINT32_C(2)                    /* shares low halves of addresses with an earlier module
                                                or with control records: they identify nothing */
#define TEEPERF_MODULE_TEE UINT32_C(4) /* of a joined trace: on the TEE's side */

/*
 * The hash of code: beginning with its size in bytes, a multiple of 8, h = (h ^ word) *
 * TEEPERF_CODE_PRIME, h ^= h >> 32 for each of its words; then likewise for the hash of the names.
 * That one begins with 0, covers the count and the hashes of each teeperf_functions (abi.h), as in
 * the file, and loses its low 16 bits. 1 instead of 0.
 */
#define TEEPERF_CODE_PRIME UINT64_C(0x9fb21c651e98df25)

/* A thread; the index in the table is the thread's number, dense and never reused. */
struct teeperf_thread {
	uint64_t os_tid; /* 0: the slot is not filled */
	uint64_t lost;   /* all events lost by this thread */
	uint64_t chunks; /* chunks taken so far */
	uint64_t ended;  /* 1 when the thread has ended */
	char name[16];   /* NUL-terminated, empty if unknown */
	uint64_t first;  /* sequence of its first chunk: not 0 if it began before a fork */
	uint64_t cpu_ns; /* its processor time, stored before `ended`; 0: unknown */
};

/* Header of a chunk; records follow. In the region `used` is 0 while the thread still writes. */
struct teeperf_chunk {
	uint32_t thread;     /* the thread's number */
	uint32_t generation; /* reserved, 0 */
	uint64_t sequence;   /* the thread's chunks are numbered from 0 */
	uint64_t os_tid;
	uint64_t first_time; /* full clock when the chunk was taken: upper half for the records */
	uint64_t used;       /* bytes in use, this header included */
	uint64_t
	    home; /* the number of its thread in departures of other threads, from 1; 0: unknown */
	uint64_t reserved[2];
};

TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_log_header) == TEEPERF_LOG_HEADER_SIZE, "header");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_log_header, counter) == 128, "counter line");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_log_header, control) == 256, "control line");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_log_header, tail) == 384, "tail line");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_log_header, head) == 512, "head line");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_log_header, pid) == 640, "runtime's line");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_module) == 512, "module");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_thread) == 64, "thread");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_chunk) == 64, "chunk");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_fork_request) == 32, "fork request");
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_fork_reply) == 16, "fork reply");

#endif
