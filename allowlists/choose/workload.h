/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a program does, function by function: calls and own time, from whatever profile there is.
 * Functions are known by their linkage names.
 */
#ifndef TP_WORKLOAD_H
#define TP_WORKLOAD_H

#include "common/buf.h"
#include "analyzer/profile/analysis.h"
#include "common/index.h"
#include "allowlists/inventory/inventory.h"
#include "allowlists/choose/cost.h"

#include <stdbool.h>
#include <stdint.h>

enum tp_quality {
	TP_QUALITY_NONE = 0, /* of the time: unknown */
	TP_QUALITY_STATIC,   /* guessed from calls and size: weak */
	TP_QUALITY_SAMPLED,  /* from samples */
	TP_QUALITY_EVENTS,   /* from events, less what they cost */
};

struct tp_workload_function {
	const char *name;      /* linkage name */
	const char *demangled; /* the same if it is not mangled */
	const char *file;      /* of the source, or "" */
	uint64_t line;
	uint64_t calls;
	uint64_t timed;       /* of these, calls with events in the profile */
	uint64_t child_calls; /* with events, that it made */
	double scale;         /* all calls for each timed one, if it was sampled; else 1 */
	double raw_self_ns;   /* as the profile has it */
	double self_ns;       /* less the cost of events, and known waits */
	double sure_ns;       /* part of it in which it ran, wherever its threads waited */
	uint64_t samples;
	double min_ns;        /* of a call in the profile, as it has it; 0: unknown */
	uint32_t definitions; /* different functions of this name in the profile */
	bool nameless;        /* `name` is a place: no allowlist can name it */
	enum tp_quality quality;
	const struct tp_inventory_function *inventory; /* or NULL */
};

/* What an allowlist is asked about it. */
struct tp_subject tp_workload_subject(const struct tp_workload_function *function);

/* A call path of the profile. */
struct tp_workload_node {
	uint32_t function;
	uint32_t parent; /* its own index: none */
	uint64_t calls;
	uint64_t child_calls;
	double self_ns;    /* less what events cost, once that is known */
	double off_ns;     /* of it, without a processor, if the thread tells */
	double delayed_ns; /* of off_ns, as far as others had its processor */
};

/* A thread of the trace with events. */
struct tp_workload_thread {
	uint32_t first_node; /* its call paths */
	uint32_t node_count;
	uint64_t pairs;  /* calls with events */
	double first_ns; /* its first and last timed event, since the trace's first */
	double last_ns;
	double raw_ns;     /* in its functions, as recorded */
	double cpu_ns;     /* processor time that it had; 0: not known */
	double delay_ns;   /* that it could have run, and had no processor; 0: not known */
	bool tells;        /* off_ns of its paths is known */
	double waited_ns;  /* part of raw_ns without a processor */
	double delayed_ns; /* of waited_ns, as far as others had its processor */
};

struct tp_workload {
	struct tp_workload_function *functions;
	uint32_t function_count;
	uint32_t function_capacity;
	struct tp_workload_node *nodes; /* of the trace with events; parents first */
	uint32_t node_count;
	uint32_t node_capacity;
	struct tp_workload_thread *thread_times;
	uint32_t thread_time_count;
	struct tp_index index; /* of functions, by name */
	uint64_t pairs;        /* calls with events in the profile */
	uint32_t threads;      /* of the profile, with calls */
	double measured_ns;    /* time of the run that was recorded */
	double cpu_ns;         /* processor time of all its threads; 0: not known */
	double time_ns;        /* of a run without events, of processors if known; 0: unknown */
	double waited_ns;      /* of the threads, once times are compensated */
	double delayed_ns;
	uint32_t waiting; /* threads that waited */
	uint32_t telling; /* of these, threads that tell in which calls */
	bool hard_clock;  /* the profile's clock can tell single calls */
	struct tp_arena arena;
};

void tp_workload_init(struct tp_workload *workload);
void tp_workload_release(struct tp_workload *workload);

/* The function of this name, made if need be; its number, or UINT32_MAX: no memory. */
uint32_t tp_workload_add(struct tp_workload *workload, const char *name);
/* Its number if it is there, else UINT32_MAX. */
uint32_t tp_workload_find(const struct tp_workload *workload, const char *name);
/* The same; if need be without what compilers append to names of clones (.cold, .part.0, ...). */
uint32_t tp_workload_find_clone(const struct tp_workload *workload, const char *name);

/*
 * Add calls and times of the analysed trace, and its call paths; `times` false: calls only, which
 * replace those that are there. 0 or TP_ERR_MEMORY.
 */
int tp_workload_add_trace(struct tp_workload *workload, const struct tp_analysis *analysis,
    bool times, struct tp_err *err);

/* The time of the recorded run that costs are a part of: of processors if that is known. */
static inline double tp_workload_run_ns(const struct tp_workload *workload)
{
	return workload->cpu_ns > 0 ? workload->cpu_ns : workload->measured_ns;
}

/*
 * How much shorter the run would have been without its events, by what each thread has of them:
 * where threads were there at the same time, that of the thread with most events in it counts. -1:
 * no memory.
 */
double tp_workload_events_ns(const struct tp_workload *workload, double event_ns);

/*
 * The rest of the functions' times when their threads' waiting is subtracted, docs/selection.md, as
 * a part of each: kept[i] is the rest of function i, and sure[i] the part that is certainly its
 * own. The paths' times must already lack the costs of events; the waiting is subtracted from them,
 * too. 0 or TP_ERR_MEMORY.
 */
int tp_workload_take_waiting(struct tp_workload *workload, double *kept, double *sure);

/* A function as others have added it up over recordings. */
struct tp_workload_sum {
	const char *name;      /* linkage name; "": it has none */
	const char *demangled; /* as it is shown */
	const char *file;      /* of the source, or "" */
	uint64_t line;
	uint64_t calls;
	uint64_t timed;       /* of these, calls with events */
	double self_ns;       /* of all calls, less what recording them has cost */
	uint32_t definitions; /* different functions that it is the sum of, at least 1 */
};

/* Add it to the function of its name, with its times as they are. 0 or TP_ERR_MEMORY. */
int tp_workload_add_sum(
    struct tp_workload *workload, const struct tp_workload_sum *sum, struct tp_err *err);

/* Processor time of the process, where the trace is of all that it did; 0: not known. */
double tp_workload_cpu_ns(const struct tp_analysis *analysis);

/*
 * Take from raw times what the events cost, and from the run's time: needs a trace with times. If
 * the cost's event_in_ns is 0, it is estimated and set. Not *believed: the events cannot have cost
 * that much, as they would have taken nearly all of the run; time_ns is then the least that may be.
 * 0 or TP_ERR_MEMORY.
 */
int tp_workload_compensate(struct tp_workload *workload, struct tp_cost *cost, bool *believed);

/*
 * Link the functions to their entries in the inventory, which must outlive the workload, and add
 * those that the program has and the profile has not, as never called. 0 or TP_ERR_MEMORY.
 */
int tp_workload_add_inventory(
    struct tp_workload *workload, const struct tp_inventory *inventory, struct tp_err *err);

/* Guess times from calls and the number of instructions, so that they add up to time_ns. */
void tp_workload_guess_times(struct tp_workload *workload);

/* A number that tells this profile: of names and calls. */
uint64_t tp_workload_hash(const struct tp_workload *workload);

/*
 * Samples of a profiler that interrupts the program now and then: perf.data, by perf itself; folded
 * stacks ("main;f;g 12", the last function counts); or lines "NAME<TAB>SAMPLES".
 */
struct tp_samples {
	uint64_t all;
	uint64_t known; /* of these, in functions of the workload */
	double time_ns; /* that they cover, if the file tells; else 0 */
};

/*
 * Read FILE into samples of the workload's functions. 0 or an error: TP_ERR_NOT_FOUND if none is in
 * a function of the workload, TP_ERR_SYNTAX for any other line, TP_ERR_SYSTEM if
 * perf is needed and does not run.
 */
int tp_samples_read(
    struct tp_samples *samples, struct tp_workload *workload, const char *file, struct tp_err *err);

/* The times of the workload's functions from their samples, so that all of them make TIME_NS. */
void tp_samples_apply(
    const struct tp_samples *samples, struct tp_workload *workload, double time_ns);

/*
 * What `perf report` says of FILE, a perf.data of whatever version, a line "SAMPLES<TAB>[.]
 * LINKAGE-NAME" for each function. 0, or TP_ERR_SYSTEM if perf cannot be run or does not read the
 * file; the message says what to do.
 */
int tp_perf_report(const char *file, struct tp_buf *report, struct tp_err *err);

#endif
