// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the eight kernels share: the command line, random numbers for the input, threads, the time
// of the kernel part, and the checksum of its result.
//
// All of it ends the program with a message to standard error when something fails.
#ifndef PHOENIX_H
#define PHOENIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct phx_program {
	const char *name;
	const char *unit; // what --size counts
	size_t default_size;
	size_t min_size;
	size_t max_size; // up to which no sum in the kernel overflows
};

struct phx_options {
	size_t size;
	uint64_t seed;
	unsigned threads;
	bool dump_input; // print the input and stop
};

// --help and wrong usage do not return.
struct phx_options phx_options_parse(int argc, char **argv, const struct phx_program *program);

// Memory that is free()d by the caller, zeroed.
void *phx_allocate(size_t count, size_t size_bytes);

// The exit status of main: 1 if standard output could not be written.
int phx_finish(void);

// A splitmix64 generator. Its state is any number: the seed to begin with.
struct phx_random {
	uint64_t state;
};

uint64_t phx_random_next(struct phx_random *random);

// pre: limit > 0. Evenly distributed in [0, limit) but for a bias of limit/2^64.
uint64_t phx_random_below(struct phx_random *random, uint64_t limit);

// pre: limit > 0. In [0, limit), small numbers far more often than large ones: the ranks of a
// text's words by frequency.
uint64_t phx_random_skewed(struct phx_random *random, uint64_t limit);

void phx_random_fill(struct phx_random *random, void *bytes, size_t size_bytes);

enum { PHX_WORD_MAX = 24 };

// Spell word number INDEX in lower-case letters at OUT: different numbers give different words.
// Return its length, at most PHX_WORD_MAX; no zero is appended.
size_t phx_word_spell(uint64_t index, char *out);

// Text that grows. Zeroed is empty; free() its bytes, which end without a zero.
struct phx_text {
	char *bytes;
	size_t length;
	size_t capacity;
};

void phx_text_append(struct phx_text *text, const char *bytes, size_t length);
void phx_text_append_string(struct phx_text *text, const char *string);
void phx_text_append_word(struct phx_text *text, uint64_t index); // spelled as above

// Work on items [first, end). THREAD counts from 0.
typedef void phx_work(void *context, unsigned thread, size_t first, size_t end);

// Divide ITEMS evenly among THREADS threads that are started for it, and wait for them.
void phx_threads_run(unsigned threads, size_t items, phx_work *work, void *context);

// Times are of the whole process: all threads' CPU time.
struct phx_timer {
	uint64_t wall_ns;
	uint64_t cpu_ns;
};

struct phx_timer phx_timer_start(void);
// Print "NAME wall_ns cpu_ns" since the start to standard error.
void phx_timer_stop(const struct phx_timer *timer, const char *name);

// FNV-1a, 64 bits, of all bytes that were added.
struct phx_checksum {
	uint64_t value;
};

void phx_checksum_init(struct phx_checksum *sum);
void phx_checksum_bytes(struct phx_checksum *sum, const void *bytes, size_t size_bytes);
// Eight bytes, the lowest first.
void phx_checksum_number(struct phx_checksum *sum, uint64_t number);

#endif
