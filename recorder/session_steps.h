/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A session is a table of steps. They are started in their order; what has been started is stopped
 * in the reverse order, each once, when a later step fails or when the recording is over.
 */
#ifndef TP_SESSION_STEPS_H
#define TP_SESSION_STEPS_H

#include "session.h"

/* The recording is over, and its trace is to be completed. */
struct tp_session_end {
	uint64_t end_ns; /* CLOCK_MONOTONIC_RAW */
	struct tp_session_counts *counts;
	struct tp_err *err; /* the first failure of the trace file, if status is not 0 */
	int status;
};

struct tp_session_step {
	const char *name;
	/* 0, or a negative tp_error and nothing of the step is left. */
	int (*start)(struct tp_session *session, struct tp_err *err);
	/*
	 * Without session->end a later step failed: nothing that was written is kept. NULL: there
	 * is nothing to stop.
	 */
	void (*stop)(struct tp_session *session);
};

/* Those of tp_session_start, ended by name NULL. */
extern const struct tp_session_step tp_session_steps[];

/* tp_session_start with these steps, which outlive the session. */
int tp_session_start_steps(struct tp_session *session, const struct tp_session_options *options,
    const struct tp_session_step *steps, struct tp_err *err);

/* session_clock.c: the clock's thread, if it has one, its rate, and what recording costs. */
int tp_session_clock_start(struct tp_session *session, struct tp_err *err);
void tp_session_clock_stop(struct tp_session *session);

/* session_trace.c: the file, what stands at its beginning, and what completes it. */
int tp_session_trace_open(struct tp_session *session, struct tp_err *err);
int tp_session_trace_begin(struct tp_session *session, struct tp_err *err);
/*
 * The present facts about program and machine, in place of those written before; by the drain's
 * thread.
 */
void tp_session_trace_tell_host(struct tp_session *session);
void tp_session_trace_close(struct tp_session *session);
/* What a snapshot of the rings begins with (drain.h). */
void tp_session_trace_begin_snapshot(void *session);
struct tp_host_facts tp_session_facts(const struct tp_session *session);

/* What it has in common with the other processes that are recorded. pre: the clock runs. */
struct tp_recording_options tp_session_common(const struct tp_session *session);

/* session_inner.c: the TEE's log and trace, and its drain; each does nothing if there is no TEE. */
int tp_session_inner_open(struct tp_session *session, struct tp_err *err);
void tp_session_inner_close(struct tp_session *session);
int tp_session_inner_start(struct tp_session *session, struct tp_err *err);
void tp_session_inner_stop(struct tp_session *session);

/* session.c: wait until the log's memory is there that the program begins with. */
void tp_session_supply_await(struct tp_session *session);
/* The supply's thread is to use the cores that the calling thread may use. */
void tp_session_supply_move(struct tp_session *session);

/* session_calibration.c: with options.calibrate, windows without some functions; else nothing. */
int tp_session_calibration_start(struct tp_session *session, struct tp_err *err);
void tp_session_calibration_stop(struct tp_session *session);

/*
 * session_guest.c: a program that somebody else starts says which process it is; the drain's thread
 * hears of it.
 */
void tp_session_guest_await(struct tp_session *session);
/* Wait for what that has begun. pre: the drain's thread does not run. */
void tp_session_guest_settle(struct tp_session *session);

/*
 * session_late.c: a process that runs already. Find its runtime, and where it can open the log;
 * have it take the log; have it leave it. Each does nothing if there is none.
 */
int tp_session_late_find(struct tp_session *session, struct tp_err *err);
void tp_session_late_forget(struct tp_session *session);
int tp_session_late_start(struct tp_session *session, struct tp_err *err);
void tp_session_late_stop(struct tp_session *session);
/* It has a new control word. False: it could not be reached. */
bool tp_session_late_tell(const struct tp_session *session);

/* session_program.c: the program, or what tells of its end where it is somebody else's. */
int tp_session_program_start(struct tp_session *session, struct tp_err *err);
void tp_session_program_stop(struct tp_session *session);

#endif
