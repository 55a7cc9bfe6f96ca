/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The report: one HTML page that needs nothing else, with the viewer of report/ and the data that
 * it shows. The data are blocks, of numbers as in common/varint.h unless it says JSON:
 *
 *   facts    JSON: program, unit (ns, ticks or calls), time (which is shown at first: wall, cpu,
 *            ...), times (whether the others can be shown), span and start of the timeline,
 *            no_timeline (why there is none), threads, bounds (of the bins of histograms),
 *            functions (a column each; of a joined trace `inside`, 1: of the TEE)
 *   paths    how many; then a column each of: how many levels up its parent is from the path before
 *            (0: that path is its parent), function, recursion level, calls, self, min, max - min;
 *            with a baseline also its calls and self; with times, what of self is cpu, wait and
 *            preempted
 *   threads  for each thread: how many paths, and the columns path (difference to the last), calls,
 *            self; with times also these three
 *   time     buckets, cells; for each thread: how many rows, for each how many runs, and those; the
 *            cells; how many calls are drawn one by one (the longest, and those inside of the
 *            slowest of each function), and the columns start (difference), duration, path
 *   begun    for each thread: how many rows, for each how many cells in which calls of that depth
 *            began, and the columns cell (difference), calls
 *   heat, slowest  as heat.h and slowest.h have them
 *   graph    JSON: total of all time, or of calls, nodes_left and edges_left, width and height;
 *            nodes with fn and at (x, y of the middle, width, height, in points), edges with from
 *            and to (numbers of nodes), calls, inclusive, x and y of their label, at (points of
 *            Bezier curves); instead of places why there are none
 *
 *   waits    only if it is known when threads had no processor; for each thread 1 + how many
 *            stretches, 0: not known; and for each stretch, the longest of all threads, start
 *            (difference) and length * 2 + 1 if it was preempted
 *   lanes    only if there are system events: how many names, and of each its length and letters;
 *            by how much earlier than the timeline the starts count; for each thread, for system
 *            calls, waits, requests to devices and page faults: how many events, the longest of all
 *            threads, and the columns start (difference), duration, name, function + 1 (0: none),
 *            bytes + 1 (0: it moves none), of waits also time until a thread ended it + 1 (0: none
 *            did), that thread's function + 1 and number here + 1; then how many were shorter, and,
 *            if any, for each cell how many and, if any, their time together
 *
 *   transitions, contention  JSON, as analyze --view NAME --format json prints it, the first rows;
 *                            only if that has anything to show
 *   meters   only if there are readings of counters or energy; for each meter its name, unit and
 *            note, as length and letters, how many readings, and the columns time since the first
 *            record (difference), value until the next one; at the end an empty name
 *   marks    only if the trace has marks; for each its name, as length and letters, time since the
 *            first record (difference), 0: a moment, 1: a phase that has not ended, else its length
 *            + 2, and its thread's number here + 1 (0: none); at the end an empty name
 *
 *   sources  JSON, only if they are asked for: files, each with file (as in facts), found (its path
 *            below the folder), and parts: the line of the first of their lines, and text, a text
 *            for each line; calls, of each function whose first line is there and of which the
 *            debug information has its calls: fn, and sites, three numbers for each line with a
 *            call of another function: the line (0: unknown, or in another file), that function,
 *            and 0 or, of a call in code that was inlined there, 1 + which one of inlined that is:
 *            the inlined functions, outermost first
 *
 * A function's number is that in facts; one more is "(smaller)", light paths together. Times are
 * nanoseconds, or ticks if no rate is known.
 */
#ifndef TP_REPORT_H
#define TP_REPORT_H

#include "analyzer/output/report/heat.h"
#include "analyzer/output/report/slowest.h"
#include "analyzer/profile/paths.h"
#include "common/buf.h"

/*
 * The paths that a report has: the heaviest of a recording, and of the one that it is compared
 * with. The lighter ones below a path are one item together, "(smaller)", so that all sums stay
 * what they are. Items are numbered in preorder; item 0 is the program.
 */
#define TP_REPORT_SMALLER UINT32_MAX

/* Self times: nanoseconds with a processor, of waiting, preempted. */
enum { TP_REPORT_CPU, TP_REPORT_WAIT, TP_REPORT_PREEMPTED, TP_REPORT_TIMES };

struct tp_report_item {
	uint32_t parent;
	uint32_t function; /* index in functions, TP_REPORT_SMALLER, or UINT32_MAX - 1 for item 0 */
	uint32_t depth;
	uint32_t recursion;
	uint64_t calls;
	uint64_t self; /* nanoseconds, as the others */
	uint64_t times[TP_REPORT_TIMES];
	uint64_t min;
	uint64_t max;
	uint64_t base_calls; /* of the other recording */
	uint64_t base_self;
};

/* A function of either recording: index in its analysis, UINT32_MAX if it is not there. */
struct tp_report_function {
	uint32_t here;
	uint32_t there;
};

struct tp_report_tree {
	struct tp_report_item *items;
	uint32_t count;
	uint32_t *of_path;                    /* the item of each path of the recording */
	uint64_t folded;                      /* paths that are in "(smaller)" */
	uint64_t all;                         /* paths of both recordings together */
	struct tp_report_function *functions; /* those of the recording first, in its order */
	uint32_t function_count;
};

/*
 * Keep at most MOST paths. BASE and its analysis may be NULL. 0 or TP_ERR_MEMORY. Release it in any
 * case.
 */
int tp_report_tree_init(struct tp_report_tree *tree, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_analysis *base_analysis,
    const struct tp_paths *base, uint32_t most, struct tp_err *err);
void tp_report_tree_release(struct tp_report_tree *tree);

/*
 * The timeline of a report: not all calls, but of each thread what was on top when, at each depth,
 * in equal buckets of time; self times by path in wider ones, the cells, so that a selection of
 * them has an exact flame graph; and the longest calls one by one. Times are as recorded, in ticks
 * since `from`.
 */
#define TP_REPORT_ROWS 128 /* depths that are drawn */
#define TP_REPORT_FILL 15  /* of a bucket that is full */

struct tp_report_limits {
	uint32_t cells;
	uint32_t buckets_per_cell;
	uint64_t runs;  /* of all threads: equal neighbours of a row are one run */
	uint64_t pairs; /* of all threads: paths in cells */
	uint32_t calls;
	struct tp_report *watch; /* gets each call, too (tp_report_watch_begin, ...); or NULL */
};

struct tp_report_call {
	uint64_t start;
	uint64_t duration;
	uint32_t item;
	uint32_t thread;
};

/*
 * Of one thread. A row is varints, two for each run: length * 16 + fill, then the item unless fill
 * is 0.
 */
struct tp_report_track {
	struct tp_buf rows[TP_REPORT_ROWS];
	uint32_t runs[TP_REPORT_ROWS];
	uint32_t row_count;
	struct tp_buf cells; /* for each: count, then item (as a difference to the last) and ns */
	struct tp_buf begun; /* as the block "begun" has it */
};

struct tp_report_time {
	uint64_t from;  /* ticks, where it begins */
	uint64_t width; /* ticks of a bucket */
	uint32_t buckets;
	uint32_t cells;
	struct tp_report_track *tracks; /* of the threads that were asked for */
	uint32_t track_count;
	struct tp_report_call *calls; /* that are drawn; by thread, then by start */
	uint32_t call_count;
	uint32_t longest_count; /* of the longest; the others are inside of slowest calls */
	/* Parts that are left out. */
	uint64_t all_calls;   /* of which the longest are a part */
	uint64_t least;       /* ticks of the shortest that is */
	uint64_t rows_left;   /* rows that were too deep */
	uint64_t moved_ticks; /* self time that counts for a caller in the cells */
	uint64_t all_ticks;
};

/*
 * THREADS: indices in analysis->threads. 0 or a negative tp_error; damage in a thread's chunks is
 * none, as the analysis has described it. Release it in any case.
 */
int tp_report_time_init(struct tp_report_time *time, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_report_tree *tree, const uint32_t *threads,
    uint32_t thread_count, const struct tp_report_limits *limits, struct tp_err *err);
void tp_report_time_release(struct tp_report_time *time);
/* By thread, then by start, callers first. */
void tp_report_calls_sort(struct tp_report_call *calls, size_t count);

struct tp_report_options {
	uint32_t paths;                 /* the most; lighter ones are put together */
	uint32_t calls;                 /* the number of longest ones drawn one by one */
	uint32_t heat_maps;             /* the number of functions with latency over time */
	uint32_t slowest;               /* calls of each function that are drawn in full ... */
	uint64_t slowest_calls;         /* ... and the calls inside of them, together */
	const struct tp_analysis *base; /* to compare with, or NULL */
	const char
	    *dot; /* graphviz's program, which lays out the call graph; NULL: it is not there */
	const char *source_dir; /* lines of source files below it are shown; or NULL */
	/* which is shown at first; pre: wall, or the analysis tells them and there is no base */
	enum tp_time time;
};

struct tp_report {
	const struct tp_analysis *analysis;
	const struct tp_report_options *options;
	struct tp_paths paths;
	struct tp_paths base_paths;
	struct tp_report_tree tree;
	struct tp_report_time time; /* empty without a clock */
	struct tp_report_heat heat;
	struct tp_report_slowest slowest;
	uint32_t watched;  /* the thread whose calls pass: an index in analysis->threads */
	uint32_t *threads; /* those that are shown: indices in analysis->threads */
	uint32_t thread_count;
	bool has_times;           /* of all paths is known what they ran and waited */
	uint32_t with_rows;       /* threads that have rows in the block "threads" */
	uint32_t histograms_left; /* functions whose histogram is left out */
	bool contention_left;     /* too many calls to find out what ran at once */
	uint64_t meter_step;      /* readings of counters that are one in the page */
	uint64_t stretches_left;  /* of waiting, too short to be drawn */
	uint64_t source_files;    /* of which lines are in the page */
	uint64_t source_lines;
	uint64_t source_bytes;
	uint64_t sources_missing; /* files that are not below the folder, or cannot be read */
	uint64_t sources_left;    /* files for which there was no room */
	bool source_calls_left;   /* lines of calls, for which there was no room */
	/* System events: */
	uint64_t events_drawn;     /* one by one */
	uint64_t events_elsewhere; /* in no lane: of other threads, or other times */
	uint64_t event_least;      /* ns of the shortest that is drawn; 0: all are */
};

/* Add the page to OUT. 0 or TP_ERR_MEMORY; check out->failed as well. */
int tp_report_render(const struct tp_analysis *analysis, const struct tp_report_options *options,
    struct tp_buf *out, struct tp_err *err);

/*
 * Its parts: the blocks "facts", "waits", "lanes", "transitions", "contention", "graph", "meters"
 * and "marks" (false: no memory; with nothing in them they are not there); head and foot of the
 * page.
 */
bool tp_report_add_facts(struct tp_report *report, struct tp_buf *out);
bool tp_report_add_waits(struct tp_report *report, struct tp_buf *out);
bool tp_report_add_lanes(struct tp_report *report, struct tp_buf *out);
bool tp_report_add_transitions(struct tp_report *report, struct tp_buf *out);
bool tp_report_add_contention(struct tp_report *report, struct tp_buf *out);
bool tp_report_add_graph(struct tp_report *report, struct tp_buf *out);
bool tp_report_has_meters(const struct tp_analysis *analysis);
bool tp_report_add_meters(struct tp_report *report, struct tp_buf *out);
bool tp_report_add_marks(struct tp_report *report, struct tp_buf *out);
/*
 * Functions with timed calls, those with most inclusive time (processor time, if it is known)
 * first. NULL: no memory. The caller frees it.
 */
uint32_t *tp_report_heaviest(const struct tp_analysis *analysis, uint32_t *count);
/*
 * Each call passes once: begin, when the buckets of TIME are known (false: no memory), then each
 * thread of the timeline with its calls; the end adds the other threads, and to the timeline's
 * calls those inside of the slowest ones.
 */
bool tp_report_watch_begin(struct tp_report *report, const struct tp_report_time *time);
void tp_report_watch_thread(struct tp_report *report, uint32_t thread);
void tp_report_watch_call(struct tp_report *report, const struct tp_call *call);
int tp_report_watch_end(struct tp_report *report, struct tp_err *err);
bool tp_report_add_sources(struct tp_report *report, struct tp_buf *out);
struct tp_json;
/* To the block "sources": from which lines the SHOWN functions call others. False: no memory. */
bool tp_report_add_source_calls(struct tp_report *report, struct tp_json *json, const bool *shown);
/* Nanoseconds of self time, by TP_REPORT_CPU, ... */
static inline uint64_t tp_report_part(
    const struct tp_analysis *analysis, const struct tp_node_parts *parts, uint32_t which)
{
	const uint64_t ticks[TP_REPORT_TIMES] = {
	    parts->self_cpu, parts->self_off.blocked, parts->self_off.preempted};
	return tp_timebase_ns(&analysis->time, ticks[which]);
}
void tp_report_add_overview(const struct tp_report *report, struct tp_buf *out);
void tp_report_add_noscript(const struct tp_report *report, struct tp_buf *out);

/*
 * What analyzer/output/report/viewer/embed.py makes of the files in viewer/. Hashes are as in a
 * content policy.
 */
extern const char tp_report_script[];
extern const char tp_report_script_hash[];
extern const char tp_report_style[];
extern const char tp_report_style_hash[];
/* The elements before and behind the overview. */
extern const char tp_report_before[];
extern const char tp_report_behind[];

#endif
