/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `teeperf record` is asked for on its command line. */
#ifndef TP_RECORD_OPTIONS_H
#define TP_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command/command.h"
#include "attach.h"
#include "recorder/session.h"

struct tp_record_options {
	const char *output;
	int mode; /* this, clock, drain and on_start: which of its words; what it stands for is in `wanted` */
	int clock;
	uint64_t period_ns;
	int drain;
	int on_start;
	const char *control; /* NULL: not given */
	bool follow_fork;
	bool inner;
	bool signals;
	uint64_t size_bytes;
	uint64_t ready_bytes;
	uint64_t ring_bytes; /* UINT64_MAX: not given */
	uint64_t level;      /* of compression, 0: none */
	bool quiet;
	struct tp_record_attach attach;
	struct tp_option_list only;
	struct tp_option_list modules;
	char *const *argv; /* the program and its arguments; argv[0] is NULL if there is none */
	/* What follows from them: tp_record_options_check. */
	enum tp_clock_choice
	    clock_choice; /* as given: `wanted` has what is better for this program */
	struct tp_session_options wanted; /* refers to the rest */
};

extern struct tp_record_options tp_record_options;
extern const struct tp_option tp_record_option_table[]; /* of that one */

/*
 * Whether they go together, and what follows from them; says what is wrong. 0 or an exit code. On success release them.
 * pre: parsed, and argc and argv are what is left.
 */
int tp_record_options_check(struct tp_record_options *options, int argc, char **argv);

/* Free what the session needs only to begin. */
void tp_record_options_release_only(struct tp_record_options *options);
void tp_record_options_release(struct tp_record_options *options);

#endif
