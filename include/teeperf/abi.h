/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The contract between instrumented code and the runtime: the thread block that the inlined
 * sequence uses, and the few symbols that the pass refers to. Not a public interface; a change
 * here raises TEEPERF_ABI, and the runtime then refuses to record older code.
 */
#ifndef TEEPERF_ABI_H
#define TEEPERF_ABI_H

#include <teeperf/log.h>

#define TEEPERF_ABI 7

/* The clock that code was compiled for. */
enum teeperf_compiled_clock {
	TEEPERF_COMPILED_AUTO =
	    0, /* the hardware's clock or the counter word, chosen at run time */
	TEEPERF_COMPILED_HARDWARE = 1,
	TEEPERF_COMPILED_SOFT = 2,
};

/*
 * The sequence, for each record:
 *
 *   if (gate == TEEPERF_GATE_OFF)   goto done        (not recording, or not this function)
 *   time   = gate == TEEPERF_GATE_SOFT ? *counter : hardware clock      (or always the same one;
 *                                                    between fences if gate ==
 *                                                    TEEPERF_GATE_ORDERED)
 *   if (time >> 32 != clock_high)   goto cold        (an untimed exit: == TEEPERF_HIGH_NEVER)
 *   if (cursor >= end || cursor < start)  goto cold  (the chunk is full, there is none, or the
 *                                                    cursor is not in it)
 *   position = cursor + bias                         (for functions that need it)
 *   cursor += 8
 *   if (*old != 0)                  goto cold        (the cursor was taken back: see below)
 *   *old = time & 0xffffffff | name << 32
 *   cold: __teeperf_slow(name)                       (writes the record itself, or counts the loss)
 *
 * The cursor moves before the record is written, so that a signal handler that runs in between has
 * its own place (writing first lost a quarter of a handler's records in a prototype). While a
 * thread is in the runtime its cursor is 0, so a signal handler also enters the runtime. A handler
 * that runs between load and store of the cursor begins at the same place; the store then takes the
 * cursor back. This is detected by the record there, because unwritten parts of chunks are 0. If
 * the handler has continued in another chunk, the cursor is no longer in the thread's chunk: that
 * is detected before it is stored, or by the next event.
 */
struct teeperf_thread_block {
	uint64_t cursor; /* address of the next record: `end` if the chunk is full, 0: none */
	const uint64_t *counter; /* the word to load; never NULL, so early code need not check */
	uint32_t clock_high;     /* upper half of the time of the chunk's records; NEVER: none */
	uint32_t reserved;
	uint64_t bias;  /* position (log.h) of a record = its address + bias */
	uint64_t end;   /* address of the end of the thread's chunk, 0 without one */
	uint64_t start; /* ... and of its first record, after the header; 0 without one */
	/*
	 * The runtime's: bits 16-63 count the events that the thread has lost; bits 0-15 are the
	 * number that it may lose before it tries to get a chunk again, and signed (-1 for a
	 * moment, with one in bits 16-63 that is not lost). So adding TEEPERF_LOSE once counts one
	 * loss.
	 */
	uint64_t lost;
	uint64_t *lost_place; /* ... where the log has that number */
	/* ... the log's address when bits 0-15 were set: they are valid for that log only */
	uint64_t log;
};

/*
 * Where each instance of a program runs one thread (TEEPERF_THREADS=one, 'teeperf cc --port optee')
 * its block is TEEPERF_SYMBOL_ONLY_THREAD, an ordinary variable, and so is the pointer to an object
 * file's counts: nothing depends on a thread pointer. OP-TEE's is that of the processor that ran
 * the first command of an instance. The two kinds of code do not link with each other's runtime.
 *
 * There, teeperf_enter calls the constructors if nothing else has: linker scripts of such platforms
 * may not support constructors. Their addresses are one after another in a section.
 */
#define TEEPERF_CONSTRUCTORS_SECTION "teeperf_constructors"

/*
 * Where thread-local storage may be new each time that the program is called, as in enclaves
 * (TEEPERF_THREADS=apart, 'teeperf cc --port sgxsdk'), blocks are apart from it, and
 * TEEPERF_SYMBOL_THREAD_APART is a thread-local pointer to the thread's; at first to one that has
 * no chunk, from which the cold path finds the thread's own. It is at its offset from the word at
 * fs:0, as with -mno-tls-direct-seg-refs: the SGX SDK's simulation changes that word, and leaves
 * the register with the host's thread. This code, too, links with its own runtime only.
 */

#define TEEPERF_LOST_SHIFT 16
#define TEEPERF_LOSE ((UINT64_C(1) << TEEPERF_LOST_SHIFT) - 1)

/* clock_high of a thread that has no chunk: no clock reaches it. */
#define TEEPERF_HIGH_NEVER UINT32_MAX

TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, counter) == 8, "counter");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, clock_high) == 16, "clock_high");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, bias) == 24, "bias");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, end) == 32, "end");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, start) == 40, "start");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, lost) == 48, "lost");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, lost_place) == 56, "lost_place");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, log) == 64, "log");

/* A function's code tests this first; the runtime sets it in every function. */
enum teeperf_gate {
	TEEPERF_GATE_OFF = 0,
	TEEPERF_GATE_SOFT = 1, /* also the value before the module has registered */
	TEEPERF_GATE_HARDWARE = 2,
	/*
	 * The same between two fences. Less TEEPERF_GATE_SOFT it has an even number of bits, and
	 * HARDWARE an odd one: so one comparison of x86-64 distinguishes all of them.
	 */
	TEEPERF_GATE_ORDERED = 4,
};

/*
 * The instrumented functions of an object file: their gates, zeroes up to a multiple of 8, and then
 * a hash of each function's linkage name in the same order. They are one after another in their own
 * section, because neighbours may be written all the time; the linker may put zeroes between them.
 *
 * gates[0] belongs to no function, and its hash is TEEPERF_HASH_ALWAYS: it says whether recording
 * is on. Where control may return to a function from above, it is tested for the function's
 * position (log.h).
 */
struct teeperf_functions {
	uint32_t size;  /* bytes in all, a multiple of 8 */
	uint32_t count; /* of functions */
	uint8_t gates[];
};
#define TEEPERF_FUNCTIONS_SECTION "teeperf_functions"
#define TEEPERF_GATE_OFFSET 8 /* of gates[0] */
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_functions, gates) == TEEPERF_GATE_OFFSET, "gates");

/* FNV-1a of 64 bits: continue HASH, at first TEEPERF_HASH_START. */
#define TEEPERF_HASH_START UINT64_C(0xcbf29ce484222325)
#define TEEPERF_HASH_PRIME UINT64_C(0x100000001b3)
static inline uint64_t teeperf_hash_bytes(uint64_t hash, const void *bytes, uint64_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;
	for (uint64_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * TEEPERF_HASH_PRIME;
	return hash;
}

/*
 * The hash of a function's linkage name, of SIZE bytes, before link-time optimisation renames
 * internal functions; 2 instead of 0 and 1. The pass writes it, and the recorder looks for it.
 */
#define TEEPERF_HASH_ALWAYS 1
#define TEEPERF_HASH_FIRST 2
static inline uint64_t teeperf_name_hash(const char *name, uint64_t size)
{
	const uint64_t hash = teeperf_hash_bytes(TEEPERF_HASH_START, name, size);
	return hash < TEEPERF_HASH_FIRST ? TEEPERF_HASH_FIRST : hash;
}

/*
 * One in each instrumented module, hidden. The runtime keeps them in a list from __teeperf_module
 * to __teeperf_module_gone.
 */
struct teeperf_module_block {
	uint8_t *functions;     /* the section of teeperf_functions; NULL: the linker left none */
	uint8_t *functions_end; /* its end */
	struct teeperf_module_block *next;
	uint64_t reserved;
};

TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_module_block) == 32, "module block");

/*
 * The mark of files that are made for profiling: an ELF note in each instrumented object and in the
 * runtime, which linkers and strip keep. `teeperf check-release` looks for it, so that such a file
 * is not shipped.
 */
#define TEEPERF_NOTE_SECTION ".note.teeperf"
#define TEEPERF_NOTE_NAME "TeePerf"
#define TEEPERF_NOTE_TYPE 1
/* (2 is in late.h.) In bitcode for a linker, whose plugin takes it out when it instruments: a file
 * with it was linked without the plugin, and that object's functions are not recorded. */
#define TEEPERF_NOTE_TYPE_BITCODE 3
struct teeperf_note {
	uint32_t name_size; /* sizeof(name) */
	uint32_t content_size;
	uint32_t type; /* TEEPERF_NOTE_TYPE or TEEPERF_NOTE_TYPE_BITCODE */
	char name[8];  /* TEEPERF_NOTE_NAME */
	uint32_t abi;  /* the content: TEEPERF_ABI */
};
TEEPERF_STATIC_ASSERT(sizeof(struct teeperf_note) == 24, "note");

/*
 * Functions whose calls are only counted, up to TEEPERF_COUNTED_MAX of an object file. A thread
 * that calls one of them gets room for the counts of all of them, as a COUNTS record (log.h) in a
 * chunk that it keeps; a thread-local pointer of the object file points there, NULL at first.
 *
 *   if (gate == TEEPERF_GATE_OFF)   goto done
 *   if (!pointer)                   pointer = __teeperf_count(counted), to done if there is no room
 *   ++*(uint64_t *)(pointer + TEEPERF_COUNTED_OFFSET(number of the function))
 *
 * A sampled function is also counted, and TEEPERF_COUNTED_SAMPLED is added to its address: call
 * number 1, 1 + N, 1 + 2N ... of a thread then has records.
 */
struct teeperf_counted {
	uint64_t count;
	int64_t
	    offset; /* of the pointer from the thread pointer; 0 until the object has registered */
	struct teeperf_counted *next;
	const void *functions[];
};
#define TEEPERF_COUNTED_MAX 2000
#define TEEPERF_COUNTED_SAMPLED 1
#define TEEPERF_COUNTED_OFFSET(number) (16 + 16 * (number))

/*
 * Symbols of the runtime that instrumented code refers to.
 *
 *   __teeperf_thread  thread-local (initial exec): the thread's teeperf_thread_block
 *   __teeperf_only_thread  the same where there is one thread: not thread-local
 *   __teeperf_slow    the cold path: called (x86-64), or jumped to with the return address in x15
 *                     (aarch64) or t0 (riscv64), with the name in r10, x16 or t1; returns the
 *                     position of the activation, or 0 in a handler that found its thread in the
 *                     runtime, in the same register; changes only this, r11, or x15, x17, or t0,
 *                     t2, and flags
 *   __teeperf_record  the sequence as a routine, called (riscv64: with t0 as link register)
 *   ..._untimed       with the name in r10, x16 or t1. Changes rax, rdx, r10, r11 (x86-64), x9,
 *   ..._position      x15-x17 (aarch64) or t0-t5 (riscv64) and the flags; ..._position returns the
 *                     position in the name's register
 *   __teeperf_count   the cold path of a counted call: like __teeperf_slow, with the address of the
 *                     teeperf_counted instead of a name; returns the pointer, or 0
 *   __teeperf_resync  void (uint64_t position, uint64_t name): an ordinary call, made at each
 *                     landing pad and after each call that may return twice
 *   __teeperf_leave   uint64_t (uint64_t position, uint64_t name, uint64_t home): an ordinary call,
 *                     made before each call that may switch to another stack. The home is what
 *                     __teeperf_home returned when the activation began
 *   __teeperf_arrive  void (uint64_t position, uint64_t name, uint64_t left): after it; what leave
 *                     returned
 *   __teeperf_home    uint64_t (void): the calling thread, or 0 while it has no number
 *   __teeperf_border  void (uint64_t control, uint64_t handle): an ordinary call, made around calls
 *                     that cross the border of a TEE, and in functions that are called over it
 *                     (log.h)
 *   __teeperf_command void (void *operation): the same for a call of TEEC_InvokeCommand, before it;
 *   after it
 *                     __teeperf_border is called
 *   __teeperf_module  void (uint64_t abi_and_clock, struct teeperf_module_block *): called by a
 *                     constructor of each instrumented module; abi << 8 | enum
 *                     teeperf_compiled_clock
 *   __teeperf_counted       void (struct teeperf_counted *, void **pointer): called by a
 *                           constructor of the object file; the second is the calling thread's
 *   __teeperf_counted_gone  void (struct teeperf_counted *): called by its destructor
 *   __teeperf_module_gone   void (struct teeperf_module_block *): called by its destructor
 */
#define TEEPERF_SYMBOL_THREAD "__teeperf_thread"
#define TEEPERF_SYMBOL_ONLY_THREAD "__teeperf_only_thread"
#define TEEPERF_SYMBOL_THREAD_APART "__teeperf_thread_apart"
#define TEEPERF_SYMBOL_SLOW "__teeperf_slow"
#define TEEPERF_SYMBOL_RECORD "__teeperf_record"
#define TEEPERF_SYMBOL_RECORD_UNTIMED "__teeperf_record_untimed"
#define TEEPERF_SYMBOL_RECORD_POSITION "__teeperf_record_position"
#define TEEPERF_SYMBOL_RESYNC "__teeperf_resync"
#define TEEPERF_SYMBOL_LEAVE "__teeperf_leave"
#define TEEPERF_SYMBOL_ARRIVE "__teeperf_arrive"
#define TEEPERF_SYMBOL_HOME "__teeperf_home"
#define TEEPERF_SYMBOL_BORDER "__teeperf_border"
#define TEEPERF_SYMBOL_COMMAND "__teeperf_command"
#define TEEPERF_SYMBOL_MODULE "__teeperf_module"
#define TEEPERF_SYMBOL_MODULE_GONE "__teeperf_module_gone"
#define TEEPERF_SYMBOL_COUNT "__teeperf_count"
#define TEEPERF_SYMBOL_COUNTED "__teeperf_counted"
#define TEEPERF_SYMBOL_COUNTED_GONE "__teeperf_counted_gone"
#define TEEPERF_SYMBOL_PREFIX "__teeperf_"
/*
 * Hidden in each module: its block, its constructors (followed by the clock's name), its
 * destructor.
 */
#define TEEPERF_SYMBOL_ANCHOR "__teeperf_anchor"
#define TEEPERF_SYMBOL_CONSTRUCTOR "__teeperf_attach_"
#define TEEPERF_SYMBOL_DESTRUCTOR "__teeperf_detach"

#endif
