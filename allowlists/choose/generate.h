/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An allowlist made for a budget: reads profiles and inventories, chooses, and keeps all that a
 * report or the list needs.
 */
#ifndef TP_GENERATE_H
#define TP_GENERATE_H

#include "common/err.h"
#include "common/buf.h"
#include "allowlists/choose/choose.h"
#include "allowlists/choose/workload.h"

/* Recordings that others have added up, in place of a profile: see tp_workload_sum. */
struct tp_generate_sums {
	const char *name;      /* shown in place of a file's name, in the tables ... */
	const char *list_name; /* ... and in the list */
	const struct tp_workload_sum *functions;
	uint32_t function_count;
	uint32_t threads;        /* of a run, at most */
	double time_ns;          /* of all runs, without what recording has cost; 0: not known */
	bool in_cpu_time;        /* it is processor time of all threads */
	double measured_ns;      /* of all runs, as recorded */
	const char *time_source; /* such as "processor time of the runs" */
	uint32_t clock_kind;     /* that all runs have ... */
	bool clock_known;        /* ... or not */
};

/*
 * Zeroes are defaults. pre: profile, counts or inventories are given, or from_source alone, or sums
 * with or without inventories; profile or counts with samples; native_ns with refine.
 */
struct tp_generate_options {
	const struct tp_generate_sums *sums;
	const char *profile; /* trace with events */
	const char *counts;  /* trace of exact calls; replaces the profile's */
	const char *samples; /* perf.data, folded stacks, or lines NAME<TAB>SAMPLES */
	const char *const *inventories;
	uint32_t inventory_count;
	const char *from_source; /* folder of compile_commands.json, or that file */

	double budget;          /* of the time, such as 0.05, which is the default */
	uint64_t log_budget;    /* bytes, 0: no limit */
	double event_cost_ns;   /* 0: found out from the clock */
	double event_in_ns;     /* part of it inside a call's own time; 0: estimated */
	double count_cost_ns;   /* 0: 1 ns */
	bool cost_in_situ;      /* event_cost_ns was measured in this program */
	double profile_cost_ns; /* of events in the profile; 0: event_cost_ns */
	double cost_factor;     /* multiplies all costs once the times are known; 0: 1 */
	double time_ns;         /* of a run without instrumentation; 0: as the profile has it */
	const char *refine;     /* trace of a run with the last list; needs native_ns */
	double refine_ratio;    /* or measured overhead / predicted overhead; 0: none */
	double native_ns; /* for refine: time of a run without instrumentation; 0: not known */

	const char *const *keep; /* lines of an allowlist: these have events, or their category */
	uint32_t keep_count;
	const char *const *never; /* lines of an allowlist: none of these */
	uint32_t never_count;
	bool paths;      /* time counts for callers too, less for each call in between */
	bool no_sample;  /* events only */
	bool count_rest; /* count the functions left out, as far as the budget goes */
	bool curve;      /* what other budgets would name */
	const char *const *debug_dirs;
	uint32_t debug_dir_count;
	const char *const *programs; /* of logs of the original TEE-Perf */
	uint32_t program_count;
};

/* What another budget would give. */
struct tp_generate_point {
	double budget; /* share of the time */
	struct tp_chosen chosen;
};
#define TP_GENERATE_POINTS 6

/* The event cost before and after it was corrected. */
struct tp_generate_refined {
	bool done;
	double old_event_ns;
	uint64_t pairs;     /* of the run that was measured; 0 with a ratio */
	double measured_ns; /* time of that run */
	double native_ns;
};

struct tp_generated {
	struct tp_generate_options options; /* strings are the caller's */
	struct tp_workload workload;
	struct tp_inventory inventory; /* all zero without one */
	bool has_inventory;
	bool seed;               /* no profile: chosen by size, nothing is promised */
	enum tp_quality quality; /* of the times */
	double elsewhere;        /* share of the samples that is in no function of the profile */
	uint32_t clock_kind;     /* of the trace */
	bool clock_known;
	struct tp_cost cost;
	struct tp_cost spent;    /* of the profile's events, which was taken off its times */
	double time_ns;          /* of a run without events, what the budget is a part of */
	const char *time_source; /* such as "the recording" */
	bool in_cpu_time;        /* it is processor time of all threads */
	double closed_ns; /* what closed gates cost above that, with everything compiled in */
	struct tp_choice *choices; /* for each function of the workload */
	struct tp_chosen chosen;
	struct tp_generate_point points[TP_GENERATE_POINTS]; /* with `curve` */
	uint32_t point_count;
	struct tp_generate_refined refined;
	struct tp_problems notes;  /* what limits the result; to be shown */
	struct tp_problems damage; /* of the traces */
};

/* 0 or a tp_error. Release it in any case. */
int tp_generate(
    struct tp_generated *generated, const struct tp_generate_options *options, struct tp_err *err);
void tp_generated_release(struct tp_generated *generated);

/* A choice in parts of the whole; 0 where that is not known. */
struct tp_shares {
	double overhead; /* of the time without events: as it is predicted, and its range */
	double low;
	double high;
	double events; /* of all own time: named by events, and by samples, ... */
	double samples;
	double bound;        /* ... the most that events alone name, ... */
	double sample_bound; /* ... and samples within what the events leave of the budget; */
	double untold;       /* time that belongs to no known function, as threads waited */
};

struct tp_shares tp_generated_shares(
    const struct tp_generated *generated, const struct tp_chosen *chosen);

/* The allowlist; what was chosen and what was left out, as tables or as a JSON object. */
void tp_generated_add_list(const struct tp_generated *generated, struct tp_buf *out);
void tp_generated_add_tables(
    const struct tp_generated *generated, uint32_t width, struct tp_buf *out);
void tp_generated_add_json(const struct tp_generated *generated, struct tp_buf *out);

#endif
