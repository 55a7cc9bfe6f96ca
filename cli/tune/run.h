/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What teeperf autotune starts: build commands, and runs of the program, recorded or not, with their
 * times. Each is a process group of its own, which a signal that ends teeperf ends too.
 */
#ifndef TP_AUTOTUNE_RUN_H
#define TP_AUTOTUNE_RUN_H

#include "common/err.h"
#include "recorder/clock/host_clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/trace.h>

struct tp_autotune_run {
	char *const *argv;
	const char *input;  /* its standard input; NULL: empty */
	const char *output; /* file for its standard output */
	const char *errors; /* file for its standard error; may be the same */
	const char *trace;  /* record into this file; NULL: just run */
	enum tp_clock_choice clock;
	bool compress;
};

struct tp_autotune_ran {
	uint64_t wall_ns;   /* from its start to its end */
	uint64_t cpu_ns;    /* of all its threads, and its children that it waited for */
	uint32_t exit_kind; /* enum teeperf_exit_kind */
	uint32_t exit_value;
	uint64_t output_bytes;
	uint64_t output_hash;
	uint64_t records;
	uint64_t lost;
	uint32_t attach; /* enum teeperf_attach */
};

/* From now on SIGINT, SIGTERM and SIGHUP end what runs, and are remembered. */
void tp_autotune_catch(void);
/* The signal that has come, or 0. */
int tp_autotune_caught(void);

/* 0 if it ran, however it ended; a tp_error if it could not be started or recorded. */
int tp_autotune_run(
    const struct tp_autotune_run *run, struct tp_autotune_ran *ran, struct tp_err *err);

/* A variable of a command's environment; VALUE is NULL to remove it. */
struct tp_autotune_setting {
	const char *name; /* NULL: the end of all */
	const char *value;
};

/*
 * Run a command with its output in the file LOG and the SETTINGS in its environment; `idle`: with the processors and disks that nobody else wants. 0, or an error that
 * names the command and LOG.
 */
int tp_autotune_command(char *const *argv, const struct tp_autotune_setting *settings,
    const char *log, bool idle, struct tp_err *err);

#endif
