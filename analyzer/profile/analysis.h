/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace, analysed: the profile of each thread, and the functions of all threads together. What
 * views and exports work on.
 */
#ifndef TP_ANALYSIS_H
#define TP_ANALYSIS_H

#include "analyzer/profile/compensation.h"
#include "analyzer/replay/profile.h"
#include "analyzer/replay/stack.h"
#include "analyzer/profile/starvation.h"
#include "analyzer/symbols/symbols.h"
#include "analyzer/trace/marks.h"
#include "analyzer/trace/timebase.h"
#include "analyzer/trace/tracefile.h"

/* A total, and by how much it may be off, with 95 % confidence. */
struct tp_estimated {
	uint64_t value;
	uint64_t margin;
};

/* What a function's totals were, that was switched off for a part of the time: estimates.h. */
struct tp_function_estimate {
	bool has_calls;
	bool has_inclusive;
	uint32_t windows; /* that it was seen in while it was off */
	struct tp_estimated calls;
	struct tp_estimated inclusive; /* ticks */
};

/*
 * A function: from enter and exit records, from counts, or from both (instrumented in one module
 * and only counted in another), whose calls are then summed. Times are ticks; tp_timebase_ns
 * converts.
 */
struct tp_function {
	struct tp_symbol_key key;
	uint64_t calls;   /* all */
	uint64_t counted; /* of these, calls that were only counted: the times are not of them */
	uint64_t
	    sampled; /* calls of a sampled function, 0 of others: the timed are one in N of them */
	/*
	 * Before focus, depth and least time leave out any: calls with records, and of a sampled
	 * function those without.
	 */
	uint64_t recorded;
	uint64_t not_sampled;
	uint64_t more;   /* calls whose paths are not known: they are not in the others */
	uint64_t chosen; /* with records and left, of the threads that are summed up so far */
	uint64_t self;
	uint64_t inclusive;         /* of recursive calls only the outermost counts */
	struct tp_node_parts parts; /* what they are made up of */
	bool has_no_parts;          /* of some of its calls that is not known */
	uint64_t total;             /* durations of all timed calls, recursive ones too */
	uint64_t scaled_self;       /* tp_function_scaled of these */
	uint64_t scaled_inclusive;
	/*
	 * By how much self may be off, as recording took a time of which not more is known, and as
	 * nobody knows in whose calls the clock stood still or the program had no processor.
	 * UINT64_MAX: it is not known how far, or times are as they were recorded.
	 */
	uint64_t uncertainty;
	double
	    costs_off; /* picoseconds by which what recording costs may be off in its self time */
	const struct tp_measured_cost *cost; /* of recording its calls; NULL: that of all */
	uint64_t looks;  /* at the clock, which end the stretches of its self time */
	uint64_t waited; /* profile.h */
	uint64_t min;    /* of a call, inclusive; UINT64_MAX without timed calls */
	uint64_t max;
	struct tp_histogram times; /* of timed calls, inclusive */
	uint64_t percentiles[3];   /* of them: 50, 90 and 99 percent are not longer */
	struct tp_symbol symbol;
	const struct tp_selected *selected; /* when it was recorded, NULL: always */
	struct tp_function_estimate estimate;
};

struct tp_kept;
struct tp_marks;

struct tp_thread_result {
	const struct tp_thread *thread;
	struct tp_profile profile;
	struct tp_call_counts calls; /* that were only counted */
	uint64_t call_count;         /* what this thread adds to the calls of all functions */
	uint32_t *functions;         /* index in analysis->functions for each local function */
	struct tp_stack_counts counts;
	uint64_t first; /* ticks of the first and the last timed event; UINT64_MAX and 0 without */
	uint64_t last;
	uint64_t busy;  /* ticks in instrumented functions */
	uint64_t taken; /* tp_compensation, of this thread */
	uint64_t missing;
	struct tp_open_call *open; /* calls that were running at the end, the outermost first */
	uint32_t open_count;
	bool moves; /* stacks have come from or gone to other threads: together.h */
	int code;   /* tp_error that ended the replay early, or 0 */
	struct tp_err err;
	uint64_t bad_counts_offset; /* in the file, of the first COUNTS record of bad_counts */
};

/* Of a thread: about 1 GB. */
#define TP_PATHS_MOST 2000000

struct tp_analysis_options {
	bool one_thread; /* analyse only thread number `thread` */
	uint32_t thread;
	enum tp_time time; /* which time of calls counts */
	bool compensate;   /* take off times what recording has cost, if that is known */
	/*
	 * Histograms of paths in fine buckets of nanoseconds, for who adds up runs; functions have
	 * none then, and no percentiles. Of a trace whose ticks are of unknown length they are as
	 * without.
	 */
	bool fine_histograms;
	/* ... of these functions so much (measured_costs.h); NULL: none. Outlives the analysis */
	const struct tp_measured_costs *costs;
	uint32_t workers; /* threads to work with, 0: as many as there are CPUs */
	/* Only a part, see filter.h. All 0 or empty: everything. */
	uint64_t from_ns;  /* since the first record */
	uint64_t to_ns;    /* 0: the end */
	const char *marks; /* instead of these: between marks, as tp_marks_range has it; or NULL */
	uint64_t
	    since; /* ticks: only what comes behind, unless a part is asked for by these; 0: all */
	/* the trace grows: the state kept of it (kept.h); or NULL. Outlives the analysis */
	struct tp_kept *kept;
	uint64_t least_ns;
	uint32_t most_paths;      /* of a thread (tp_profile.most_nodes); 0: TP_PATHS_MOST */
	uint64_t depth;           /* deeper calls are part of their callers; 0: none */
	const char *const *focus; /* patterns of functions */
	uint32_t focus_count;
	const char *const *ignore;
	uint32_t ignore_count;
	/*
	 * Called now and then with chunks done and in all; may be NULL. From any thread, one at a
	 * time.
	 */
	void (*progress)(void *context, uint64_t done, uint64_t all);
	void *context;
	struct tp_symbol_options symbols;
};

struct tp_analysis {
	const struct tp_tracefile *trace;
	struct tp_analysis_options options; /* whose strings and arrays must outlive it */
	struct tp_timebase time;
	bool timeless;   /* recorded without a clock: calls and paths are all there is */
	uint64_t origin; /* ticks of the first record: where times that are shown begin */
	bool ranged;     /* only [from, to) was analysed, in ticks */
	uint64_t from;
	uint64_t to;
	uint64_t least; /* calls shorter than this are part of their callers */
	bool filtered;  /* by functions or depth: sums are not those of the whole program */
	struct tp_compensation compensation; /* whether times are as they were recorded */
	struct tp_starvation starvation;     /* whether clock and program had processors */
	struct tp_arena arena;
	struct tp_selected_names selected; /* functions that were not always recorded */
	struct tp_function_cost *costs;    /* of functions of which it was measured, by name */
	uint32_t cost_count;
	uint32_t
	    selected_unknown; /* of these, such of which that is not known, as they have no name */
	struct tp_estimates *estimates;   /* NULL: there are none to be made */
	uint32_t estimated_count;         /* functions that have an estimate of their calls */
	double event_ticks;               /* with which estimates reckon for each event */
	struct tp_thread_result *threads; /* by number */
	uint32_t thread_count;
	struct tp_function *functions; /* by address, those of which the low half is known first */
	uint32_t function_count;
	uint32_t counted_count; /* functions that have no timed calls */
	uint32_t sampled_count; /* functions that are sampled */
	/*
	 * With a range, a least time, or filtered: functions with calls that are left out as they
	 * have no records.
	 */
	uint32_t left_out_count;
	uint32_t unscaled_count;       /* with a range: functions that are sampled, not scaled up */
	struct tp_stack_counts counts; /* of all threads */
	uint64_t self;                 /* ticks of all functions */
	struct tp_node_parts parts;    /* the same; `inclusive` is that of all threads */
	uint32_t with_parts;           /* threads of which is known when they had no processor */
	uint64_t scaled_self;          /* that of all functions */
	uint64_t lost;                 /* events: the larger of what threads and records say */
	struct tp_problems notes;      /* about symbols */
	struct tp_problems damage;     /* found while records were read */
};

/*
 * Replay all chunks of the trace, which must outlive the analysis. 0; TP_ERR_NOT_FOUND if the
 * wanted thread is not there; TP_ERR_MEMORY. Release it in any case.
 */
int tp_analysis_init(struct tp_analysis *analysis, const struct tp_tracefile *trace,
    const struct tp_analysis_options *options, struct tp_err *err);
void tp_analysis_release(struct tp_analysis *analysis);

/*
 * A stack and its profile with all that this analysis asks for: to replay THREAD with. 0 or
 * TP_ERR_MEMORY; release both in any case.
 */
int tp_analysis_stack(const struct tp_analysis *analysis, const struct tp_thread *thread,
    struct tp_stack *stack, struct tp_profile *profile, struct tp_call_sink *sink);
/* What recording has cost, for its profiles. */
struct tp_profile_cost tp_analysis_cost(const struct tp_analysis *analysis);
/* fine_ns of its profiles. */
double tp_analysis_fine_ns(const struct tp_analysis *analysis);
/* most_nodes of its profiles. */
uint32_t tp_analysis_most_nodes(const struct tp_analysis *analysis);
/* What replays THREAD into STACK. */
struct tp_replay tp_analysis_replay(
    const struct tp_analysis *analysis, const struct tp_thread *thread, struct tp_stack *stack);

/*
 * tp_marks_read of the threads of this analysis. Those of which the replay has read all records,
 * and found no marks, are not read again.
 */
int tp_analysis_marks(
    const struct tp_analysis *analysis, struct tp_marks *marks, struct tp_err *err);

/* Why it is not known when threads of the trace had no processor. */
/*
 * Whether each thread with events tells running from waiting, without which sums of other times
 * than wall time would mix two kinds. 0, or TP_ERR_NOT_FOUND.
 */
int tp_analysis_check_parts(const struct tp_analysis *analysis, struct tp_err *err);
void tp_analysis_why_no_parts(const struct tp_tracefile *trace, char *why, size_t size);
/*
 * Ticks without a processor between the thread's first and last event; 0 also if it is not known.
 */
struct tp_off tp_thread_off(const struct tp_thread_result *thread);
/* Nanoseconds from the first record of the trace to TICKS. */
uint64_t tp_analysis_at_ns(const struct tp_analysis *analysis, uint64_t ticks);
/* Ticks of the last event of any thread; 0: there is none. */
uint64_t tp_analysis_last(const struct tp_analysis *analysis);
/* Nanoseconds that the recording took, by the recorder's clock or else by the events. */
uint64_t tp_analysis_duration_ns(const struct tp_analysis *analysis);
/* The part of that in which recording was switched on. */
uint64_t tp_analysis_recorded_ns(const struct tp_analysis *analysis);
/*
 * Of the time from the first event to the last, the part (0 to 1) for which the function was chosen
 * to be recorded.
 */
double tp_analysis_selected_share(
    const struct tp_analysis *analysis, const struct tp_function *function);
/* Records of 8 bytes that the thread wrote and its ring does not hold any more (mode ring). */
uint64_t tp_analysis_overwritten(
    const struct tp_analysis *analysis, const struct tp_thread *thread);
/* Calls of which times are known. */
static inline uint64_t tp_function_timed(const struct tp_function *function)
{
	return function->calls - function->counted;
}
/*
 * TICKS, the time of a function's timed calls, scaled up to all of its calls if it is sampled. The
 * added time was measured as self time of callers. Nothing is added to recursive functions.
 */
uint64_t tp_function_scaled(const struct tp_function *function, uint64_t ticks);
/*
 * Whether it is known how far off self times may be: costs are known by function, and the clock did
 * not stand still.
 */
bool tp_analysis_tells_uncertainty(const struct tp_analysis *analysis);
/*
 * What a function has in common with itself in other recordings: a hash of its name in the symbol
 * table (or of the name that is shown, if there is none) and of its module's, as docs/fleet.md has
 * it. Functions of one name in one module share it.
 */
int64_t tp_function_stable_key(const struct tp_function *function);
/*
 * Whether a symbol is of a module on the TEE's side, of a joined trace; and whether any module is.
 */
bool tp_analysis_is_inside(const struct tp_analysis *analysis, const struct tp_symbol *symbol);
bool tp_analysis_is_joined(const struct tp_analysis *analysis);
/* The function of a node that is not node 0. */
const struct tp_function *tp_analysis_function(const struct tp_analysis *analysis,
    const struct tp_thread_result *thread, const struct tp_node *node);

#endif
