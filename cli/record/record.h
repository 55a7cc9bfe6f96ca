/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * 'teeperf record': its options, what it looks at before it starts a program, and what it says in
 * the end.
 */
#ifndef TP_RECORD_H
#define TP_RECORD_H

#include <time.h>

#include "cli/command/command.h"
#include "recorder/session.h"
#include "recorder/tee.h"

/* ---- options.c */

/* '--attach', '--stream', '--port' and what goes with them, for programs in a TEE. */
struct tp_record_attach {
	/* The options' values. */
	const char *file;
	uint64_t offset;
	bool force;
	const char *stream_name;
	const char *port_name;
	uint64_t pid;
	const char *duration;
	uint64_t timeout_s; /* UINT64_MAX: not given */
	/* What follows from them: tp_record_attach_prepare. */
	const struct tp_tee *tee; /* NULL: none */
	struct tp_place place;
	struct tp_stream *stream;
	bool waits;           /* for a program that somebody else starts */
	bool all;             /* `pid` is not known yet: tp_record_all finds them */
	bool late;            /* process `pid` runs already, and is to take the log */
	uint64_t duration_ns; /* 0: not given */
};

/* '--all', '--daemon' and what goes with them, for processes that run already. */
struct tp_record_all {
	/* The options' values. */
	const char *pattern; /* NULL: not given */
	bool daemon;
	const char *every;
	const char *folder; /* "." if nothing else was given for a daemon */
	uint64_t keep;      /* traces; UINT64_MAX: not given */
	uint64_t max_bytes; /* of all traces; 0: no limit */
	/* What follows from them: tp_record_all_check. */
	uint64_t every_ns;
};

/* What `teeperf record` is asked for on its command line. */
struct tp_record_options {
	/* this and the next four: which of its words; what it stands for is in `wanted` */
	int mode;
	int clock;
	int drain;
	int on_start;
	int sched;
	const char *control; /* NULL: not given */
	const char *events;  /* NULL: not given */
	const char *budget;  /* NULL: not given */
	bool inner;
	uint64_t ring_bytes;  /* UINT64_MAX: not given */
	uint64_t level;       /* of compression, 0: none */
	uint64_t counters_ms; /* UINT64_MAX: not given */
	const char *energy;   /* NULL: not given */
	bool quiet;
	struct tp_record_attach attach;
	struct tp_record_all all;
	bool calibrate;
	struct tp_option_list only;
	struct tp_option_list modules;
	char *const *argv; /* the program and its arguments; argv[0] is NULL if there is none */
	/* What follows from them: tp_record_options_check. */
	enum tp_clock_choice
	    clock_choice; /* as given: `wanted` has the better one for this program */
	/* Some options by themselves, and what follows from the others; refers to the rest. */
	struct tp_session_options wanted;
};

extern struct tp_record_options tp_record_options;      /* holds the defaults beforehand */
extern const struct tp_option tp_record_option_table[]; /* of that one */

/*
 * Whether they go together, and what follows from them; reports errors. 0 or an exit code. On
 * success release them.
 * pre: parsed, and argc and argv are the rest.
 */
int tp_record_options_check(struct tp_record_options *options, int argc, char **argv);

void tp_record_options_release(struct tp_record_options *options);

/* ---- attach.c */

/*
 * Complete `wanted`, whose argv is NULL if no program was given. Waits for the stream's first
 * frame. Returns 0, or the exit status after a report. End it with tp_record_attach_release.
 */
int tp_record_attach_prepare(
    struct tp_record_attach *attach, struct tp_session_options *wanted, bool quiet);
void tp_record_attach_release(struct tp_record_attach *attach);

/* The value of option NAME, a time such as 10s; a bare number is seconds. 0 or an exit code. */
int tp_record_read_time(const char *name, const char *text, uint64_t *ns);

/*
 * Why a program did not take the log (enum teeperf_attach); NULL: it did, or that depends on what
 * was asked for.
 */
const char *tp_record_attach_reason(uint32_t attach);

/* What the program's side is to be given, once the recording has begun. */
void tp_record_attach_tell(
    const struct tp_record_attach *attach, const struct tp_session *session, bool launched);

/*
 * Behind the end: warnings, and whether something was recorded at all. `how`, for the summary: why
 * it ended, or NULL.
 */
bool tp_record_attach_judge(const struct tp_record_attach *attach, const struct tp_session *session,
    const struct tp_session_counts *counts, bool ended, const char **how);

/* ---- all.c: '--all' */

/*
 * Have a child RECORD each process that fits options->all.pattern, with options that name process
 * and output, and wait for all of them; as a daemon again and again. RECOVER, before each look,
 * completes what killed recorders left. An exit code.
 */
int tp_record_all(struct tp_record_options *options,
    int (*record)(struct tp_record_options *options), void (*recover)(void));

/* ---- daemon.c: '--daemon' */

/*
 * What of '--all' and '--daemon' goes together, and with the rest; a daemon's defaults. 0 or an
 * exit code.
 */
int tp_record_all_check(struct tp_record_options *options);
/* The trace of a process whose recording begins now, to be freed; NULL: no memory. */
char *tp_record_daemon_path(const struct tp_record_all *all, pid_t process);
/*
 * Remove the oldest traces that are too many or too large, but none of the round that BEGAN then.
 */
void tp_record_daemon_tidy(const struct tp_record_all *all, time_t began, bool quiet);
void tp_record_daemon_tell(const struct tp_record_options *options);

/* ---- meters.c: '--counters' and '--energy' */

/* Check the options, and complete METERS. 0 or an exit code. */
int tp_record_meters_check(
    const struct tp_record_options *options, struct tp_meters_options *meters);
/* Whether the names of counters were asked for; they have been shown. */
bool tp_record_meters_list(const struct tp_record_options *options);
/* The parts that are not available here, and why. */
void tp_record_meters_tell(const struct tp_meters *meters);

/* ---- budget.c: '--budget' */

/*
 * Check the option, and have the session keep it. 0 or an exit code. pre: the other options are
 * taken over.
 */
int tp_record_budget_check(struct tp_record_options *options);
/* Behind the end: what was reckoned, unless it is to be QUIET, and warnings. */
void tp_record_budget_tell(const struct tp_session *session, bool quiet);

/* ---- inner.c: '--tee', the TEE's side beside that of its host program */

/*
 * Behind tp_record_attach_prepare: what goes together, and where the TEE's trace is meanwhile. An
 * exit code.
 */
int tp_record_inner_prepare(struct tp_session_options *wanted);

/*
 * The recording is over, and failed if `failed`: join the two traces and report on them. False:
 * something is missing.
 */
bool tp_record_inner_judge(const struct tp_session *session,
    const struct tp_session_options *wanted, int failed, bool quiet);

/*
 * Make one trace of HOST and TEE, which takes the place of HOST, and say so unless `quiet`. False:
 * it could not be done (not *joined), or the trace is damaged. A recorder for targets leaves the
 * two apart, and says what to do.
 */
bool tp_record_inner_join(const char *host, const char *tee, bool quiet, bool *joined);

/* ---- only.c */

/*
 * Read the allowlists LISTS, and decide by them about the functions in the inventories of PROGRAM
 * (as execvp finds it, if it has one) and of MODULES, and about those that the lists name outright.
 * Fills *only, whose hashes are to be freed. Returns an exit code; errors and doubts have been
 * reported.
 */
int tp_record_only(const struct tp_option_list *lists, const struct tp_option_list *modules,
    const char *program, struct tp_region_only *only);

/*
 * Of the functions that record, by LISTS or, without any, all, those with events: for
 * '--calibrate'. As tp_record_only.
 */
int tp_record_measured(const struct tp_option_list *lists, const struct tp_option_list *modules,
    const char *program, struct tp_region_only *measured);

/*
 * The same for a program that runs: by the allowlist PATTERN if it `is_file`, else by the lines
 * fun: and name: of PATTERN, or the line that it is. Known are the functions in the inventories of
 * MODULES, and of what process PID has mapped, 0: of nothing.
 */
int tp_record_only_running(const char *pattern, bool is_file, const struct tp_option_list *modules,
    pid_t pid, struct tp_region_only *only);

/* ---- before.c */

/*
 * The first word of a command line that is the path of a program for another processor (an
 * emulator's argument, or the command itself where the kernel knows the emulator), and in *machine
 * which; NULL if there is none. Its hardware clock is not that of the recorder.
 */
const char *tp_record_foreign(char *const *argv, const char **machine);

/*
 * Why the kernel runs `program`, found along PATH, with rights that are not ours, so that it does
 * not look at the log's name: "it is set-user-ID", or NULL if it does not.
 */
const char *tp_record_secure(const char *program);

/*
 * Refuse an OUTPUT that cannot hold a trace because our messages go there, too. *AWAY: it is our
 * standard output, and a program that is started (`starts`) is to have standard error instead,
 * which is announced unless `quiet`. Returns an exit code.
 */
int tp_record_output_check(const char *output, bool starts, bool quiet, bool *away);

/* ---- end.c */

/*
 * Exit codes of shells and loaders for a program that cannot be run, and for one that is not there.
 */
enum { TP_RECORD_NOT_RUNNABLE = 126, TP_RECORD_NOT_FOUND = 127 };

/* What went wrong, and what to do about it. */
void tp_record_warn(const struct tp_session_counts *counts, const struct tp_launch *launch,
    const struct tp_record_options *options);

/*
 * `how` it ended, if it was not started here. `can_be_read`: the output is a file of ours, no pipe
 * or device.
 */
void tp_record_summarize(const struct tp_session_counts *counts, const struct tp_launch *launch,
    const struct tp_record_options *options, const char *how, bool can_be_read);

/*
 * Of '--follow-fork': add the warnings of the whole recording: children without a log, memory that
 * ran out.
 */
void tp_record_add_followed(const struct tp_follow *follow, struct tp_session_counts *counts);

/*
 * Warnings in any case, a line for each process unless it is to be quiet. False: a trace lacks
 * chunks.
 */
bool tp_record_tell_followed(const struct tp_follow *follow, bool quiet);

#endif
