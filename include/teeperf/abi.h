/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What instrumented code and the runtime expect of each other: the thread block that the inlined
 * sequence works on, and the few symbols that the pass refers to. Not a public interface; a change
 * here moves TEEPERF_ABI, and the runtime then refuses to record older code.
 */
#ifndef TEEPERF_ABI_H
#define TEEPERF_ABI_H

#include <teeperf/log.h>

#define TEEPERF_ABI 1

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
 *   if (skip)                       goto done        (not recording: two instructions)
 *   time   = counter ? *counter : hardware clock     (one kind only: else goto cold)
 *   if (time >> 32 != clock_high)   goto cold
 *   if ((cursor & 0xffff) == 0)     goto cold        (chunk full, or none yet)
 *   cursor += 8, then *old = time & 0xffffffff | name << 32
 *   cold: __teeperf_slow(name)                       (writes the record itself, or counts the loss)
 *
 * The cursor moves before the record is written, so that a signal handler that comes between has a
 * place of its own (writing first lost a quarter of a handler's records in a prototype).
 * A thread that has no chunk has a `counter` whose upper half differs from clock_high, so the first
 * comparison sends it to the cold path without reading a clock.
 */
struct teeperf_thread_block {
	uint64_t cursor; /* address of the next record; its low 16 bits are 0 at a chunk's end */
	const uint64_t *counter; /* NULL: read the hardware clock; else the word to load */
	uint32_t clock_high;     /* upper half of the time that the chunk's records stand for */
	uint32_t skip;           /* not 0: this thread does not record */
	uint64_t bias;           /* position (log.h) of a record = its address + bias */
};

TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, counter) == 8, "counter");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, clock_high) == 16, "clock_high");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, skip) == 20, "skip");
TEEPERF_STATIC_ASSERT(offsetof(struct teeperf_thread_block, bias) == 24, "bias");

/*
 * Symbols of the runtime that instrumented code refers to.
 *
 *   __teeperf_thread  thread-local (initial exec): the thread's teeperf_thread_block
 *   __teeperf_slow    the cold path. Reached by a jump with the return address in r11 (x86-64) or
 *                     x15 (aarch64) and the name in rax or x16; returns the record's position, or 0
 *                     if it was lost, in the same register; changes only these two and the flags
 *   __teeperf_resync  void (uint64_t position, uint64_t name): an ordinary call, made at each
 *                     landing pad and behind each call that may return twice
 *   __teeperf_module  void (uint64_t abi_and_clock, const void *anchor): called by a constructor of
 *                     each instrumented module; abi << 8 | enum teeperf_compiled_clock
 */
#define TEEPERF_SYMBOL_THREAD "__teeperf_thread"
#define TEEPERF_SYMBOL_SLOW "__teeperf_slow"
#define TEEPERF_SYMBOL_RESYNC "__teeperf_resync"
#define TEEPERF_SYMBOL_MODULE "__teeperf_module"
#define TEEPERF_SYMBOL_PREFIX "__teeperf_"
/* Hidden in each module: the anchor, and its constructor (with the clock's name behind it). */
#define TEEPERF_SYMBOL_ANCHOR "__teeperf_anchor"
#define TEEPERF_SYMBOL_CONSTRUCTOR "__teeperf_attach_"

#endif
