/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What `teeperf record --port NAME` knows of a TEE. One file recorder/tee_NAME.c defines one
 * `const struct tp_tee tp_tee_NAME`; the build collects them. docs/platforms/ has the whole story of each.
 */
#ifndef TP_TEE_H
#define TP_TEE_H

#include <stdbool.h>
#include <stdint.h>

#include "host_clock.h"

/* How what the program logs comes to the recorder. */
enum tp_tee_transport {
	TP_TEE_MAPPED,    /* it maps the log, once */
	TP_TEE_INHERITED, /* the same, by a descriptor that it inherits */
	TP_TEE_PER_CALL,  /* its host program maps the log, and hands it in with each call */
	TP_TEE_STREAM,    /* it shares no memory, and sends frames (teeperf/stream.h) */
};

struct tp_tee {
	const char *name;
	const char *summary; /* a few words for the list of ports */
	enum tp_tee_transport transport;
	enum tp_clock_choice clock; /* for `--clock auto`: what is legal there */
	const char *place;  /* where the log is unless `--attach` says so; NULL: under a new name */
	uint64_t log_bytes; /* of the log unless '--size' says so, and the most; 0: as elsewhere */
	uint64_t log_limit_bytes;
	bool at_start; /* its runtime takes the log at the file's beginning only */
	bool foreign;  /* its process and thread ids are of a world of its own */
	bool
	    elsewhere; /* it is never started by a program here: `--attach` or `--stream` is needed */
	const char *const
	    *hints; /* lines for whoever sets it up, NULL-terminated; "@LOG@": its path */
};

/* All of them, by name; NULL-terminated. */
const struct tp_tee *const *tp_tees(void);

/* NULL if there is none of this name. */
const struct tp_tee *tp_tee_find(const char *name);

#endif
