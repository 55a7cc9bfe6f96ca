/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the pass is to do: from the plugin's options and the environment. */
#ifndef TP_PASS_OPTIONS_H
#define TP_PASS_OPTIONS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#include <teeperf/abi.h>

#include "allowlists/language/allowlist.h"
#include "pass/sequence/text.h"

enum tp_tail_calls {
	TP_TAIL_CALLS_CALL = 0, /* a tail call becomes a call and a return: exact nesting */
	TP_TAIL_CALLS_KEEP,     /* it stays a jump: the callee appears beside its caller */
};

/* The most lists that may be given. */
enum { TP_PASS_ALLOWLISTS_MAX = 64 };

struct tp_pass {
	struct tp_allowlist *allowlist; /* NULL: every function */
	enum teeperf_compiled_clock clock;
	enum tp_tail_calls tail_calls;
	enum tp_shape shape;
	bool one_thread;    /* for a platform that runs one thread (abi.h) */
	bool untimed_exits; /* the clock is read on entry only */
	uint32_t sample; /* of functions that would have events: 1 of so many calls has, 0: none */
	const char *module; /* what it will be linked into, for mod: lines; NULL: not known */
	const char
	    *switches; /* names with "," between them: these functions switch stacks; or NULL */
	const char *inventory_folder; /* inventories are also written as files there; or NULL */
	uint64_t lists_hash;          /* of the allowlist's lines */
	bool inventory;               /* leave inventories in what is compiled (inventory_pass.h) */
	/* More passes may inline what we instrument (LTO on a linker that cannot load the plugin). */
	bool inlined_later;
};

/* Options as text, each NULL or empty if not given; the environment variable behind it then counts. */
struct tp_pass_options {
	const char *allowlist;  /* TEEPERF_ALLOWLIST: files, with ":" between them */
	const char *clock;      /* TEEPERF_CLOCK: auto, tsc or soft */
	const char *exits;      /* TEEPERF_EXITS: timed or untimed */
	const char *inventory;  /* TEEPERF_INVENTORY: a folder, or none */
	const char *level;      /* TEEPERF_LEVEL: event, count, sample or sample/N */
	const char *module;     /* TEEPERF_MODULE: a name */
	const char *shape;      /* TEEPERF_SHAPE: inline or call */
	const char *switches;   /* TEEPERF_SWITCHES: names of functions, with "," between them */
	const char *tail_calls; /* TEEPERF_TAIL_CALLS: call or keep */
	const char *threads;    /* TEEPERF_THREADS: many or one */
};

/* 0, or a negative tp_error with *err. */
int tp_pass_init(struct tp_pass *pass, const struct tp_pass_options *options, struct tp_err *err);

#endif
