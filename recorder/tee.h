/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the host side knows of a TEE and of the runtime that programs for it are linked with: the
 * rows of runtime/ports.def. docs/platforms/ has the whole story of each.
 */
#ifndef TP_TEE_H
#define TP_TEE_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/clock/host_clock.h"

/* How the program's records reach the recorder. */
enum tp_tee_transport {
	TP_TEE_MAPPED,    /* it maps the log, once */
	TP_TEE_INHERITED, /* the same, by a descriptor that it inherits */
	TP_TEE_PER_CALL,  /* its host program maps the log, and hands it in with each call */
	TP_TEE_STREAM,    /* it shares no memory, and sends frames (teeperf/stream.h) */
};

/*
 * What the runtime has below it, and what programs are compiled for; those with POSIX come first.
 */
enum tp_tee_runtime {
	TP_TEE_RUNTIME_POSIX,      /* the usual one: libteeperf */
	TP_TEE_RUNTIME_SYSTEM,     /* POSIX, but the log comes another way */
	TP_TEE_RUNTIME_STREAM,     /* POSIX, and the log is private and sent */
	TP_TEE_RUNTIME_ALONE,      /* no system: the only runtime of one image */
	TP_TEE_RUNTIME_ENCLAVE,    /* the same; no CPUID, but XSAVE; blocks are apart (abi.h) */
	TP_TEE_RUNTIME_ONE_THREAD, /* the same; an instance of a program has one thread */
};

/* By what 'teeperf doctor' sees that a TEE's development kit is installed. */
struct tp_tee_kit {
	const char *subject; /* NULL: no kit */
	const char *path;
	const char *tool; /* or a program along PATH, NULL: none */
	const char *text; /* of its log, as "TEXT; ", or empty */
};

struct tp_tee {
	const char *name;
	enum tp_tee_runtime runtime;
	const char *summary; /* "FOR: how the log is shared" */
	const char *pages;   /* of docs/platforms/, with a space between; NULL: none */
	struct tp_tee_kit kit;
	enum tp_tee_transport transport;
	enum tp_clock_choice clock; /* for `--clock auto`: the one that is legal there */
	const char *place;  /* where the log is unless `--attach` says so; NULL: under a new name */
	uint64_t log_bytes; /* of the log unless '--size' says so, and the most; 0: as elsewhere */
	uint64_t log_limit_bytes;
	bool at_start; /* its runtime takes the log at the file's beginning only */
	bool foreign;  /* its process and thread ids are of a world of its own */
	bool paired;   /* ... but each of its threads is one of the program that is started here */
	/* it is never started by a program here: `--attach` or `--stream` is needed */
	bool elsewhere;
	/* lines for whoever sets it up, NULL-terminated; "@LOG@": its path; NULL: none */
	const char *const *hints;
};

/* All of them, the usual one first; ended by name NULL. */
const struct tp_tee *tp_tees(void);

/* NULL if there is no such one. */
const struct tp_tee *tp_tee_find(const char *name);

#endif
