/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What hostile_host and hostile_program tell each other beside the log: memory that only both know
 * of, under the file descriptor that the environment variable HOSTILE_SIDE names.
 */
#ifndef HOSTILE_SIDE_H
#define HOSTILE_SIDE_H

#include <stdint.h>

enum hostile_burst {
	BURST_CALLS,   /* recursion */
	BURST_THROW,   /* exceptions */
	BURST_JUMP,    /* longjmp */
	BURST_COUNT,   /* counted and sampled functions */
	BURST_SIGNAL,  /* handlers that return, and that jump out */
	BURST_SWITCH,  /* recording off and on */
	BURST_THREAD,  /* a thread comes and goes */
	BURST_LIBRARY, /* dlopen, dlclose */
	BURST_FORK,    /* a child that goes on in instrumented code */
	BURST_MARK,    /* marks and phases, with names of any length */
	BURST_KINDS
};

struct hostile_side {
	uint64_t seed;
	uint64_t bursts; /* of work done by the program so far, all of it right */
	uint64_t kinds[BURST_KINDS];
	uint64_t stop;    /* the host's: end */
	uint64_t guarded; /* 1: the log's mapping lies between guards */
	uint64_t checks;  /* of all canaries */
	char library[256];
	char
	    late[64]; /* a log that the program is to take and to leave again and again; "": none */
	uint64_t came;     /* so often it has taken that */
	uint64_t refused;  /* and so often it did not */
	char problem[256]; /* the error; the program aborts then */
};

#endif
