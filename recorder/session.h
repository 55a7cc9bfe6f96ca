/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One recording from start to end: the region, the clock, the trace file, the program and the
 * threads that serve them, put together in the right order.
 */
#ifndef TP_SESSION_H
#define TP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/control/control.h"
#include "recorder/drain/calibration.h"
#include "recorder/follow/follow.h"
#include "recorder/kernel/meters.h"
#include "launch.h"
#include "recorder/pid/pid.h"
#include "recorder/stream/thread.h"

enum tp_drain_choice {
	TP_DRAIN_CHOICE_AUTO = 0, /* by the cores there are */
	TP_DRAIN_CHOICE_NOW,
	TP_DRAIN_CHOICE_LATE,
	TP_DRAIN_CHOICE_END,
};

struct tp_session;

/* What switches functions on and off while a session runs: 'record --budget'. */
struct tp_session_guide {
	/* Before anything is recorded. 0, or nothing of it is left. */
	int (*prepare)(void *context, struct tp_err *err);
	/* Before the program begins. 0, or a negative tp_error; then `forget` follows. */
	int (*start)(void *context, struct tp_session *session, struct tp_err *err);
	/* tp_drain.see */
	void (*see)(void *context, const struct teeperf_chunk *chunk);
	/* The program is over: fill session->budget. */
	void (*stop)(void *context);
	/* `see` is not called any more. */
	void (*forget)(void *context);
	void *context;
};

struct tp_session_options {
	const char *output;
	uint64_t size_bytes; /* of the log, 0: choose */
	uint64_t
	    registered_bytes; /* of the TEE's log where it is mapped at each call; 0: it is not */
	uint64_t ready_bytes; /* of it, in place before the program starts; 0: choose */
	uint32_t mode;        /* enum teeperf_mode */
	uint32_t ring;        /* mode ring: chunks that a thread keeps */
	int compress;         /* level for tp_trace_writer_pack, 0: write chunks as they are */
	enum tp_clock_choice clock;
	uint64_t period_ns; /* of a soft clock */
	enum tp_drain_choice drain;
	bool no_sched;    /* do not ask the kernel when threads run and wait */
	uint32_t events;  /* TEEPERF_SYSTEM_SCHED, ...: what the kernel is to tell of; 0: nothing */
	bool follow_fork; /* other processes get traces of their own */
	bool start_off;   /* wait for a command or the program's wish */
	int control_signal;         /* tells the program of commands, 0: none */
	bool switch_signals;        /* SIGUSR1 and SIGUSR2 switch on and off */
	struct tp_region_only only; /* functions that are to record */
	/* of these, to be left out in turns, to measure what they cost; none: count is 0 */
	struct tp_region_only calibrate;
	char *const *argv; /* the program and its arguments, NULL-terminated; NULL: see below */
	const struct tp_place *place; /* where the log is to be, NULL: where nobody else looks */
	bool inherit;                 /* the program gets the log as a descriptor */
	bool away; /* the output is our standard output: the program gets standard error for it */
	/* what starts as a process here runs in a world of its own: its ids say nothing */
	bool foreign;
	bool paired;      /* ... but each of its threads is one of ours under another number */
	const char *port; /* of the TEE, for the trace; NULL: none */
	/*
	 * Without argv, the program is somebody else's: it finds the log in `place`, or sends a
	 * `stream`, which was opened and is released by the caller.
	 */
	struct tp_stream *stream;
	pid_t watch; /* the recording ends with this process, 0: with none */
	bool late;   /* `watch` runs already, and is to take the log now */
	/* ... but not to record until a command says so; start_off is set in any case */
	bool late_off;
	bool late_forced;     /* although a seccomp filter might kill it */
	uint64_t duration_ns; /* end the recording when it is so old; 0: never */
	uint64_t timeout_ms;  /* for the program to come; UINT64_MAX: no matter when */
	/*
	 * The program is the host of a TEE, whose side is recorded, too, into this trace; NULL: no.
	 */
	const char *inner;
	struct tp_meters_options meters;
	const struct tp_session_guide *guide; /* NULL: none; it outlives the session */
};

/*
 * Somebody else's program, when it has said which process it is, until it has been joined by a
 * thread that does nothing else.
 */
struct tp_meeting {
	pthread_t thread;
	bool runs;     /* it was started, and not waited for */
	uint32_t over; /* 1: what follows is complete */
	pid_t pid;
	bool has_no_events;    /* why is in bpf.refused */
	struct tp_sched sched; /* to become the drain's */
};

/*
 * The thread that fetches memory for the logs. It begins with the log, and has it to itself until
 * all else is there.
 */
struct tp_session_supply {
	struct tp_worker worker;
	bool runs;
	uint64_t of_all; /* 1: the other logs are there, too */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_ahead; /* guarded by lock: the program's first chunks are ready, or not available */
};

/* What became of the trace that was there before. */
enum tp_session_older {
	TP_OLDER_NONE,
	TP_OLDER_MOVED, /* it is FILE.old, unless nothing is recorded */
	TP_OLDER_WAITS, /* it becomes that when something is recorded */
};

struct tp_session {
	struct tp_session_options options; /* what they point to outlives the session */
	struct tp_session_end *end; /* the recording is over; NULL before, and if a step failed */
	const struct tp_session_step
	    *steps; /* what it is made of, and how many of them have begun */
	uint32_t step_count;
	struct tp_region region;
	enum tp_session_older older;
	struct tp_trace_writer writer;
	struct tp_clock_log clock_log;
	struct tp_counter_thread counter;
	struct tp_drain drain;
	struct tp_launch launch;
	struct tp_control_server control;
	bool has_control;          /* control is in use */
	struct tp_err control_err; /* why it is not: 'teeperf ctl' does not find this recording */
	uint64_t stop_asked;       /* 1: by 'teeperf ctl stop' */
	struct tp_follow follow;
	bool follows; /* follow is in use */
	struct tp_recording inner;
	bool has_inner;                          /* inner is in use */
	struct tp_recording_result inner_result; /* known at the end */
	struct tp_guest guest;
	/*
	 * Somebody else's: why its process, or its system events, cannot be known; code 0: they
	 * are. The drain's thread fills it.
	 */
	struct tp_err unmet;
	struct tp_meeting meeting;
	enum tp_guest_state guest_state; /* what ended it */
	struct tp_pid late;              /* of options.late */
	char *late_place;                /* where the log is if not in our /dev/shm; NULL: it is */
	struct tp_place_folder late_folder; /* that it is in then */
	/*
	 * Its threads before it had the log, and when recording began, as tp_pid_threads tells; the
	 * trace gets the newest list.
	 */
	_Atomic(char *) late_threads[2];
	struct tp_err late_err; /* why the process still has the log; code 0: it has not */
	bool has_cost;
	struct tp_event_cost cost; /* of a call, if has_cost */
	uint64_t cost_took_ns;     /* to measure it */
	uint64_t cost_age_ns;  /* since it was measured for another recording; 0: for this one */
	uint64_t unrecorded;   /* as in struct tp_session_counts */
	uint64_t control_word; /* what header.control is, as we know it */
	bool soft;             /* there is a counter thread */
	int cores;             /* that we could use at the start */
	uint64_t start_ns;     /* CLOCK_MONOTONIC_RAW */
	uint64_t late_ns;      /* the same: since when a process that ran already records */
	bool late_left;        /* it has no log any more */
	struct tp_session_supply supply;
	struct tp_worker calibrator; /* with options.calibrate, as is the next */
	struct tp_calibration calibration;
	struct tp_bpf bpf; /* of options.events */
	struct tp_err
	    events_refused;        /* why the kernel does not tell of options.events; 0: it does */
	struct tp_err sgx_refused; /* why it tells nothing of SGX, though of other events */
	struct tp_meters meters;
	struct tp_gramine_tap tap;     /* of the program's standard error */
	struct tp_budget_facts budget; /* filled at the end */
};

/* What has happened so far, or in all after tp_session_finish. */
struct tp_session_counts {
	uint64_t records;
	uint64_t file_bytes;
	uint64_t lost;  /* events */
	uint64_t early; /* events before the program had its log, which are not lost */
	uint64_t threads;
	uint64_t refused; /* processes that found the log taken */
	/* instrumented programs of the family that did not ask for a log; known at the end */
	uint64_t unrecorded;
	uint64_t forked;  /* children that were forked and have no log */
	uint64_t chunks;  /* in the trace; known at the end, as is the next */
	uint64_t hurried; /* of these, written as they are, as there was no time to compress them */
	uint64_t missing_chunks; /* not written because the file could not be */
	uint64_t missing_events; /* enters and exits in them */
	uint64_t elapsed_ns;
	uint64_t starved_ns;    /* soft clock: time without an update of more than 10 us */
	uint64_t starved_count; /* ... and how often */
	uint64_t max_gap_ns;
	uint64_t switches;
	uint64_t switches_missed; /* of these, not in the trace; known at the end */
	uint32_t attach;          /* enum teeperf_attach */
	uint32_t listens;         /* enum teeperf_listens */
	uint32_t listens_value;
	uint64_t log_gone_bytes;     /* memory of the log that went away; known at the end */
	uint64_t functions;          /* instrumented, in the modules seen */
	uint64_t functions_left_out; /* of these, by `only` */
	/* Of the thread that drains the log, which is there a little longer than the program: */
	uint64_t drain_ns;     /* how long it ran, ... */
	uint64_t write_ns;     /* ... spent of that on writing the trace, ... */
	uint64_t absent_ns;    /* ... and could have drained the log and had no processor */
	uint64_t locked_bytes; /* of the log that are in memory for mlockall alone */
	bool forged; /* the log has counts that nobody can have counted; they are 0 here */
	uint64_t modules_refused; /* whose functions were not recorded */
	bool older_stays; /* nothing was recorded, and the trace that was there is there again */
	bool no_rings;    /* mode ring, of which the program's runtime does not know */
	bool stunted;     /* memory for the log ran out before it had its whole size */
};

/*
 * Start everything, the program last (or what tells of its end). On failure all is undone and
 * session->launch.start_errno says whether it was the program that could not be started.
 */
int tp_session_start(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err);

enum tp_launch_event tp_session_wait(struct tp_session *session, uint32_t timeout_ms);

/* Behind TP_LAUNCH_ENDED: whether other processes of the recording are still there. */
bool tp_session_is_used(struct tp_session *session);

/* Answer `teeperf ctl`: tp_control_server.answer, with the session as context. */
void tp_session_answer(void *session, const struct tp_control_request *request,
    const uint64_t *hashes, struct tp_control_reply *reply);

/* Have the program record or not. False: no program could be reached at once. */
bool tp_session_command(struct tp_session *session, bool on);

/* Why which functions record cannot be changed here, NULL: it can. pre: the program has come. */
const char *tp_session_no_selection(const struct tp_session *session);
/*
 * The guide's: have the program record these functions from now on. 0; tp_selection_ask has the
 * errors.
 */
int tp_session_choose(
    struct tp_session *session, const struct tp_region_only *wanted, struct tp_err *err);
/* Whether the program obeys. */
bool tp_session_has_chosen(struct tp_session *session);
/*
 * The last choice has ended a time that the one before it began as a fair sample (trace.h,
 * WINDOWS). pre: the program obeys.
 */
void tp_session_note_window(struct tp_session *session);
/* Have the program look, if it listens for a signal. False: it looks later. */
bool tp_session_tell(const struct tp_session *session);

/* While the recording runs. */
void tp_session_count(const struct tp_session *session, struct tp_session_counts *counts);

/*
 * End the recording: complete and close the file, free everything. 0, or the file's first failure.
 * The signals are as before the start when this returns.
 */
int tp_session_finish(
    struct tp_session *session, struct tp_session_counts *counts, struct tp_err *err);

/* Free the results of the other processes, session->follow, which outlive tp_session_finish. */
void tp_session_forget(struct tp_session *session);

#endif
