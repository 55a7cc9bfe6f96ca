/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What commands that read traces share: open a trace, analyse it, report its problems, show it,
 * write out.
 */
#ifndef TP_OPEN_TRACE_H
#define TP_OPEN_TRACE_H

#include "analyzer/output/view.h"
#include "analyzer/profile/analysis.h"
#include "analyzer/profile/kept.h"
#include "analyzer/profile/measured_costs.h"
#include "cli/command/command.h"
#include "common/buf.h"
#include "common/out_file.h"

/*
 * State that is kept of a trace that is opened again and again while it grows, so that only new
 * records are read. All zeroes is an empty one; whoever opened the trace releases it after that.
 */
struct tp_open_kept {
	struct tp_source_memo memo;
	struct tp_kept replay;
	_Atomic uint64_t read_bytes; /* of the trace, by all looks */
	bool last;                   /* analyse also what has come since the last look */
};

void tp_open_kept_release(struct tp_open_kept *kept);

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
	uint64_t max_paths;
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
	struct tp_open_kept *kept; /* or NULL */
	const struct tp_buf
	    *more; /* sections that belong to the trace, and are not in it yet; or NULL */
};

/* A time as "1.5ms", "20us", "7" (ns): nanoseconds. */
bool tp_open_parse_time(const char *text, uint64_t *ns);

/* Print the problems of an input, and the limits of its results, as warnings. */
void tp_open_warn_all(const struct tp_problems *problems);

/* Rows of LIST, a struct tp_option_list, for commands that read traces in their own way. */
#define TP_OPEN_DEBUG_DIRS(list) \
	TP_OPT_LIST(             \
	    0, "debug-dir", &(list), "DIR", "look for debug files in DIR first; can be repeated")
#define TP_OPEN_PROGRAMS(list)                                                                   \
	TP_OPT_LIST(0, "program", &(list), "FILE",                                               \
	    "the program that made this log of the original TEE-Perf; can be repeated, the one " \
	    "that matches is used")

/* Words of '--time', by enum tp_time, NULL at the end. */
extern const char *const tp_time_words[];

/*
 * What commands that read a trace have in their tables of options; O is a struct tp_open_options.
 */
#define TP_OPEN_OPTIONS_TIME(o, time_row)                                                         \
	TP_OPT_STRING(0, "thread", &(o).thread, "N", "show only thread number N"),                \
	    TP_OPT_STRING(0, "time-range", &(o).time_range, "FROM..TO",                           \
		"show only what happened between these times since the first record, such as "    \
		"1.5s..1600ms, or between marks, such as mark:A..B; either end can be omitted"),  \
	    TP_OPT_LIST(0, "focus", &(o).focus, "PATTERN",                                        \
		"show only paths through functions that match a glob or /REGEX/; can be "         \
		"repeated"),                                                                      \
	    TP_OPT_LIST(0, "ignore", &(o).ignore, "PATTERN",                                      \
		"hide paths through functions that match; can be repeated"),                      \
	    TP_OPT_COUNT(0, "depth", &(o).depth, "N",                                             \
		"count calls deeper than N levels as part of their callers"),                     \
	    TP_OPT_COUNT(0, "max-paths", &(o).max_paths, "N",                                     \
		"keep up to N call paths of each thread, 2000000 by default (about 1 GB). Calls " \
		"on further paths are those of [more paths], and missing in the values of their " \
		"functions, marked >"),                                                           \
	    TP_OPT_STRING(0, "min-time", &(o).min_time, "TIME",                                   \
		"count calls shorter than TIME, such as 10us, as part of their callers"),         \
	    time_row, TP_OPEN_COSTS(o),                                                           \
	    TP_OPT_BOOL(                                                                          \
		0, "strict", &(o).strict, "exit with 1 if events were lost or are missing"),      \
	    TP_OPEN_SYMBOLS(o), TP_OPEN_DEBUG_DIRS((o).debug_dirs), TP_OPEN_PROGRAMS((o).programs)

/* Which time counts, unless another one is asked for. */
#define TP_OPEN_TIME(value, usual)                                                \
	TP_OPT_CHOICE(0, "time", value, tp_time_words, "wall|cpu|wait|preempted", \
	    "count all of a call's time (wall), or only the time it ran (cpu), "  \
	    "waited (wait), or was ready to run without a processor (preempted) " \
	    "(default: " usual ")")
#define TP_OPEN_OPTIONS(o) TP_OPEN_OPTIONS_TIME(o, TP_OPEN_TIME(&(o).time, "wall"))

/* What recording has cost. */
#define TP_OPEN_COSTS(o)                                                                      \
	TP_OPT_BOOL(0, "raw", &(o).raw,                                                       \
	    "show times as recorded, without subtracting the cost of recording"),             \
	    TP_OPT_STRING(0, "costs", &(o).costs, "FILE",                                     \
		"subtract the cost of recording each function, as measured in FILE, a trace " \
		"from 'record --calibrate'")

/* Where names come from. */
#define TP_OPEN_SYMBOLS(o)                                                    \
	TP_OPT_BOOL(0, "debuginfod", &(o).debuginfod,                         \
	    "fetch missing debug files from the servers in DEBUGINFOD_URLS"), \
	    TP_OPT_BOOL(0, "symbol-cache", &(o).symbol_cache,                 \
		"cache names and source lines (default; --no-symbol-cache turns it off)")

/* The same for commands whose gates are notes only. */
#define TP_OPEN_FAIL_IF(o)                                                                    \
	TP_OPT_LIST(0, "fail-if", &(o).fail_if, "note:ID",                                    \
	    "exit with 1 if the trace has this note, such as note:lost, or any note of this " \
	    "severity: note:wrong or note:limit; can be repeated")

struct tp_open_trace {
	struct tp_tracefile trace;
	struct tp_analysis analysis;
	struct tp_analysis since_last; /* valid if has_last */
	bool has_last; /* kept.last, and there was a look with events before this one */
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
 * Whether ANALYSIS has a note that one of the rules names; each is printed as the reason for a
 * failure. Rules that are not of notes name none.
 */
bool tp_open_has_notes(const struct tp_analysis *analysis, const struct tp_option_list *rules);

/* What a heading would say of the clock and of what limits the numbers, on standard error. */
void tp_open_trace_warn(const struct tp_open_trace *open);

/*
 * Refuse to write to OUTPUT if that is the same file as INPUT or OTHER; each may be NULL, and
 * OUTPUT "-". Returns an exit code.
 */
int tp_keep_input(const char *output, const char *input, const char *other);

/*
 * Standard output, written a piece at a time; CODE is 0, or what went wrong meanwhile, as ERR
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
 * Show the view of WHAT, a trace or the process id of a recording, every INTERVAL_MS until the
 * recording has ended, or q or Ctrl-C is pressed: all of it, or of the LAST interval. Returns an
 * exit code.
 */
int tp_analyze_watch(const char *what, const struct tp_view *view,
    const struct tp_view_options *view_options, const struct tp_open_options *open_options,
    uint64_t interval_ms, bool last);

/* ---- join_files.c */

/*
 * Join HOST and TEE into OUTPUT, which may be one of them: the old file stays until the new one is
 * complete. Unless they are `known` to be of one recording, HOST must have a mark of a call into a
 * TEE. Prints their problems, and unless `quiet` what was joined. *DAMAGED: something was wrong.
 * Returns an exit code.
 */
int tp_join_files(
    const char *host, const char *tee, const char *output, bool known, bool quiet, bool *damaged);

#endif
