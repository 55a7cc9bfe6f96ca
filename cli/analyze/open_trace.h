/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What commands that read traces share: open a trace, analyse it, say what is wrong with it, show it, write out. */
#ifndef TP_OPEN_TRACE_H
#define TP_OPEN_TRACE_H

#include "analyzer/output/view.h"
#include "analyzer/profile/analysis.h"
#include "analyzer/profile/measured_costs.h"
#include "cli/command/command.h"
#include "common/buf.h"
#include "common/out_file.h"

/* Options as they were given; starts as {.symbol_cache = true}. */
struct tp_open_options {
	int time;               /* which of tp_time_words: enum tp_time */
	const char *costs;      /* a trace of 'record --calibrate', NULL: none */
	bool raw;               /* times as recorded; see compensate in tp_analysis_options */
	bool fine_histograms;   /* as in tp_analysis_options */
	const char *thread;     /* number as text, NULL: all */
	const char *time_range; /* "FROM..TO" */
	const char *min_time;
	uint64_t depth;
	struct tp_option_list debug_dirs;
	bool debuginfod;
	bool symbol_cache;
	struct tp_option_list focus;
	struct tp_option_list ignore;
	struct tp_option_list programs;
	bool strict;                   /* a trace that lacks events counts as damaged */
	struct tp_option_list fail_if; /* rules of notes.h: so does one with such a note */
	struct tp_err
	    *quiet; /* nothing is printed but wrong usage, and an error goes here; or NULL */
	/* As in struct tp_analysis_options, with `quiet`; NULL: none. */
	void (*progress)(void *context, uint64_t done, uint64_t all);
	void *progress_context;
	const struct tp_buf
	    *more; /* sections that belong to the trace, and are not in it yet; or NULL */
};

/* A time as "1.5ms", "20us", "7" (ns): nanoseconds. */
bool tp_open_parse_time(const char *text, uint64_t *ns);

/* Print what is wrong with an input, or limits what comes of it, as warnings. */
void tp_open_warn_all(const struct tp_problems *problems);

/* Rows of LIST, a struct tp_option_list, for commands that read traces in their own way. */
#define TP_OPEN_DEBUG_DIRS(list) \
	TP_OPT_LIST(             \
	    0, "debug-dir", &(list), "DIR", "look for debug files in DIR first; may be repeated")
#define TP_OPEN_PROGRAMS(list)                                                                           \
	TP_OPT_LIST(0, "program", &(list), "FILE",                                                       \
	    "the program that a log of the original TEE-Perf is of; may be repeated, the one that fits " \
	    "is taken")

/* Words of '--time', by enum tp_time, NULL at the end. */
extern const char *const tp_time_words[];

/* What commands that read a trace have in their tables of options; O is a struct tp_open_options. */
#define TP_OPEN_OPTIONS(o)                                                                                \
	TP_OPT_STRING(0, "thread", &(o).thread, "N", "only the thread with this number"),                 \
	    TP_OPT_STRING(0, "time-range", &(o).time_range, "FROM..TO",                                   \
		"only what lies between these times since the first record, as 1.5s..1600ms, or between " \
		"marks, as mark:A..B; either may be left out"),                                           \
	    TP_OPT_LIST(0, "focus", &(o).focus, "PATTERN",                                                \
		"only paths through functions that match: a glob for the name, or /REGEX/; may be "       \
		"repeated"),                                                                              \
	    TP_OPT_LIST(0, "ignore", &(o).ignore, "PATTERN",                                              \
		"no paths through functions that match; may be repeated"),                                \
	    TP_OPT_COUNT(0, "depth", &(o).depth, "N",                                                     \
		"calls deeper than N levels are part of their callers"),                                  \
	    TP_OPT_STRING(0, "min-time", &(o).min_time, "TIME",                                           \
		"calls shorter than this, as 10us, are part of their callers"),                           \
	    TP_OPT_CHOICE(0, "time", &(o).time, tp_time_words, "wall|cpu|wait|preempted",                 \
		"which time of a call counts: all of it; or while it had a processor; waited for "        \
		"something; could run and had no processor (default: wall)"),                             \
	    TP_OPT_BOOL(0, "raw", &(o).raw,                                                               \
		"show times as they were recorded, with what recording the calls has cost"),              \
	    TP_OPT_STRING(0, "costs", &(o).costs, "FILE",                                                 \
		"take off what recording each function costs by this trace of 'record --calibrate', "     \
		"where it tells"),                                                                        \
	    TP_OPT_BOOL(0, "strict", &(o).strict,                                                         \
		"exit with 1 if the trace is incomplete: events were lost or are missing"),               \
	    TP_OPEN_SYMBOLS(o), TP_OPEN_DEBUG_DIRS((o).debug_dirs), TP_OPEN_PROGRAMS((o).programs)

/* Where names come from. */
#define TP_OPEN_SYMBOLS(o)                                                              \
	TP_OPT_BOOL(0, "debuginfod", &(o).debuginfod,                                   \
	    "fetch debug files that are not here from the servers in DEBUGINFOD_URLS"), \
	    TP_OPT_BOOL(0, "symbol-cache", &(o).symbol_cache,                           \
		"keep names and source lines for the next time (default; --no-symbol-cache does not)")

/* The same for commands whose gates are notes only. */
#define TP_OPEN_FAIL_IF(o)                                                                                  \
	TP_OPT_LIST(0, "fail-if", &(o).fail_if, "note:ID",                                                  \
	    "exit with 1 if the trace has this note, as note:lost; note:wrong and note:limit are all that " \
	    "make numbers false, or mean less; may be repeated")

struct tp_open_trace {
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	struct tp_measured_costs costs; /* of options.costs */
	bool damaged; /* exit with TP_EXIT_FAILED in the end, though there are results */
};

/*
 * Open and analyse FILE, with progress on a terminal, and print its problems as warnings. Returns
 * an exit code: on anything but TP_EXIT_DONE an error has been printed. Release it in any case.
 */
int tp_open_trace(
    struct tp_open_trace *open, const char *file, const struct tp_open_options *options);
void tp_open_trace_release(struct tp_open_trace *open);
/* What tp_open_trace says of OPTIONS if they are wrong, without a trace. Returns an exit code. */
int tp_open_check(const struct tp_open_options *options);

/*
 * Whether ANALYSIS has a note that one of the rules names; each is printed as the reason for a failure. Rules that are not
 * of notes name none.
 */
bool tp_open_has_notes(const struct tp_analysis *analysis, const struct tp_option_list *rules);

/* What a heading would say of the clock and of what limits the numbers, on standard error. */
void tp_open_trace_warn(const struct tp_open_trace *open);

/*
 * Refuse to write to OUTPUT if that is the same file as INPUT or OTHER; each may be NULL, and OUTPUT "-".
 * Returns an exit code.
 */
int tp_keep_input(const char *output, const char *input, const char *other);

/*
 * Standard output, for what is written a piece at a time; CODE is 0, or what went wrong meanwhile, as ERR
 * says. Closing it returns an exit code.
 */
void tp_stdout_open(struct tp_out_file *out);
int tp_stdout_close(struct tp_out_file *out, int code, const struct tp_err *err);

/* Write BUF to PATH, or to standard output if it is NULL or "-". Returns an exit code. */
int tp_write_out(const struct tp_buf *buf, const char *path);

/* ---- watch.c */

/* 0; TP_ERR_NOT_FOUND if the view is made of times, and FILE was recorded without a clock. */
int tp_view_check_clock(const struct tp_view *view, const struct tp_analysis *analysis,
    const char *file, struct tp_err *err);

/*
 * Show the view of WHAT, a trace or the process id of a recording, every INTERVAL_MS until the recording has
 * ended, or q or Ctrl-C is pressed. Returns an exit code.
 */
int tp_analyze_watch(const char *what, const struct tp_view *view,
    const struct tp_view_options *view_options, const struct tp_open_options *open_options,
    uint64_t interval_ms);

/* ---- join_files.c */

/*
 * Join HOST and TEE into OUTPUT, which may be one of them: what is there stays until the new one is complete. Unless
 * they are `known` to be of one recording, HOST must have a mark of a call into a TEE. Prints what is wrong with them,
 * and unless `quiet` what was joined. *DAMAGED: something was wrong. Returns an exit code.
 */
int tp_join_files(
    const char *host, const char *tee, const char *output, bool known, bool quiet, bool *damaged);

#endif
