/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The other processes of a recording: each that asks, by the socket that TEEPERF_FORK names
 * (log.h), gets a log and a trace of its own, OUTPUT.PID. One thread answers them, one waits for
 * their ends, one completes the traces of those that have ended. The clock, the supply thread and
 * the commands are the session's. docs/decisions/0013-follow-fork.md.
 */
#ifndef TP_FOLLOW_H
#define TP_FOLLOW_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recorder/drain/recording.h"

/* Maximum number that may live at once: each takes some descriptors and memory. */
enum { TP_FOLLOW_LIVE_MAX = 200, TP_FOLLOW_NAME_SIZE = 16, TP_FOLLOW_SETTING_SIZE = 40 };

struct tp_follow_options {
	const char *output;
	const struct tp_region *first; /* the program's own; it outlives the rest */
	int control_signal;
	struct tp_region_only only; /* hashes are the caller's, as is what the others point to */
	struct tp_bpf *bpf;         /* system events of all processes; NULL: none */
	struct tp_recording_options common;
};

/* One process; the list is guarded by tp_follow.lock. */
struct tp_followed {
	struct tp_followed *next;
	pid_t pid;
	pid_t parent;
	int pidfd;
	uint64_t number;    /* of all that were started, from 1 */
	bool over;          /* it has ended, or has become another program */
	bool replaced;      /* the latter */
	uint64_t end_ns;    /* when that was seen, 0: it was not */
	uint32_t exit_kind; /* enum teeperf_exit_kind */
	uint32_t exit_value;
	uint64_t flush; /* number of the flush that is waited for, 0: none */
	char name[TP_FOLLOW_NAME_SIZE];
	uint64_t padding; /* records that stand for those of its parent */
	uint64_t start_ns;
	const struct tp_follow_options *options;
	struct tp_recording log;
};

/* What became of one. */
struct tp_follow_result {
	pid_t pid;
	char name[TP_FOLLOW_NAME_SIZE];
	char *path;    /* NULL: it recorded nothing, and has no trace */
	bool running;  /* when the recording was ended */
	bool replaced; /* the process went on as another program */
	struct tp_recording_result log;
	uint32_t exit_kind; /* enum teeperf_exit_kind */
	uint32_t exit_value;
};

struct tp_follow {
	struct tp_follow_options options;
	char setting[TP_FOLLOW_SETTING_SIZE]; /* for the environment */
	uint64_t token;
	int socket;
	int spare;        /* a descriptor to close when there is none for a connection */
	uint64_t control; /* the control word for new logs */
	pthread_mutex_t lock;
	struct tp_followed *list;
	uint32_t live;
	uint64_t started;     /* processes that were in the list, ever */
	uint64_t programs;    /* of these, programs that were started, and not forked */
	char *finishing;      /* path of the trace that is neither in list nor in results yet */
	bool finishing_flush; /* it is waited for by tp_follow_flush */
	struct tp_follow_result *results;
	uint64_t result_count;
	uint64_t failures;   /* processes that asked and got nothing */
	struct tp_err error; /* why, the first time */
	struct tp_worker server;
	struct tp_worker watcher;
	struct tp_worker finisher;
};

/* On success end it with tp_follow_stop and tp_follow_release. */
int tp_follow_start(
    struct tp_follow *follow, const struct tp_follow_options *options, struct tp_err *err);

/* Give their logs more memory where it is needed; false: there was nothing to do. */
bool tp_follow_grow(struct tp_follow *follow);

/* Set the control word of all logs, and tell the processes that listen. */
void tp_follow_command(struct tp_follow *follow, uint64_t control);

/* Mark this moment in the traces of all that are in the list. */
void tp_follow_mark(struct tp_follow *follow, uint64_t monotonic_ns, const char *name);

/* Write all that is complete; false if it took too long. */
bool tp_follow_flush(struct tp_follow *follow, uint32_t timeout_ms);

/* Pass a signal on to all of them. */
void tp_follow_signal(struct tp_follow *follow, int number);

/* How many are alive, and what all of them recorded so far (records and lost). */
uint32_t tp_follow_count(struct tp_follow *follow, uint64_t *records, uint64_t *lost);

/* Answer nobody any more, and finish the traces of all. results is complete then. */
void tp_follow_stop(struct tp_follow *follow);
void tp_follow_release(struct tp_follow *follow);

#endif
