/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One run: a program is executed and measured, and what was measured is kept in a file. */
#ifndef TP_RUN_H
#define TP_RUN_H

#include <signal.h>
#include <sys/types.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/err.h"

/* ---- what was measured */

enum tp_run_status {
	TP_RUN_DONE = 0,  /* it ended by itself, with exit status 0 */
	TP_RUN_FAILED,    /* otherwise, or what had to run before or after it did */
	TP_RUN_TIMED_OUT, /* it was killed */
	TP_RUN_STATUSES,
};
extern const char *const tp_run_statuses[TP_RUN_STATUSES + 1];

/* A figure of one run. A missing figure was not measured; it is not 0. */
struct tp_metric {
	const char *name; /* letters, digits and _ */
	const char *unit; /* "s", "bytes", "J", "count" */
	double value;
};

/* Starts as {0}. */
struct tp_measured {
	struct tp_arena arena;
	uint64_t key; /* of the cell that it was measured for */
	enum tp_run_status status;
	const char *how;     /* it ended, "exit status 0" */
	const char *started; /* when, in UTC: "2026-11-23T12:00:00Z" */
	uint64_t position;   /* in the order of runs, from 1 on */
	struct tp_metric *metrics;
	uint32_t metric_count;
	uint32_t metric_room;
	const char **notes; /* what limits the figures */
	uint32_t note_count;
	uint32_t note_room;
	bool failed; /* no memory */
};

void tp_measured_release(struct tp_measured *measured);
/* Add a figure unless it exists already. Characters that are unfit for a name become _. */
void tp_measured_add(
    struct tp_measured *measured, const char *name, const char *unit, double value);
/* The same, in place of one that is there; that one is now called FORMER, if it is not NULL. */
void tp_measured_set(struct tp_measured *measured, const char *name, const char *unit, double value,
    const char *former);
/* Add a note, each once. */
void tp_measured_note(struct tp_measured *measured, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define TP_RESULT_FILE "result.tsv"

/* Write FOLDER/result.tsv: whole, or not at all. */
int tp_measured_write(const struct tp_measured *measured, const char *folder, struct tp_err *err);
/* Read it. TP_ERR_NOT_FOUND: there is none, or no whole one. Release it in any case. */
int tp_measured_read(struct tp_measured *measured, const char *folder, struct tp_err *err);

/* ---- collectors */

/*
 * Something that measures while a program runs. One is in use at a time, so it may keep its state
 * in its file.
 */
struct tp_collector {
	const char *name;
	/* The next program that this thread starts is to be measured. May add notes. */
	void (*start)(struct tp_measured *to);
	/* Now and then while it runs; NULL: not needed. */
	void (*tick)(void);
	uint64_t tick_ns;
	/* It has ended. */
	void (*stop)(struct tp_measured *to);
};
enum { TP_COLLECTORS_MOST = 8 };

/* ---- running */

struct tp_execution {
	char *const *argv;      /* the first is found along PATH */
	char *const *variables; /* "NAME=value" beside our own environment; NULL at the end */
	const char *cwd;
	const char *output;  /* files for what it writes */
	const char *errors;  /* may be the same */
	uint64_t timeout_ns; /* 0: none */
	const struct tp_collector *const
	    *collectors; /* NULL at the end; NULL: it is not measured */
};

/* From now on SIGINT, SIGTERM and SIGHUP end what runs, and are remembered; until _restore. */
void tp_signals_take(void);
void tp_signals_restore(void);
/* The one that came, or 0. */
int tp_signals_caught(void);

/*
 * Execute it with all that it leaves in its process group, which is killed if it takes too long,
 * and in the end. Its status, and if it is measured the figures, are in MEASURED. 0 if it ran,
 * however it ended; TP_ERR_NOT_FOUND: there is no such program; TP_ERR_SYSTEM: it cannot be
 * started, or a signal has come.
 */
int tp_execute(
    const struct tp_execution *execution, struct tp_measured *measured, struct tp_err *err);

#endif
