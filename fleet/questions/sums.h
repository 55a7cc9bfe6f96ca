/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of a fleet, added up over its runs: what a list for all of them is chosen from. */
#ifndef TP_FLEET_SUMS_H
#define TP_FLEET_SUMS_H

#include "fleet/questions/questions.h"
#include "common/arena.h"

/* A function of all runs and builds: of one key (docs/fleet.md). */
struct tp_fleet_sum {
	/* As the newest run has it. */
	const char *linkage; /* its name in the symbol table; "": it has none */
	const char *function;
	const char *file; /* of its source; "": not known */
	uint64_t line;
	uint32_t same_key; /* functions of that run that have this key */
	/* Of all runs. */
	uint64_t calls;
	uint64_t timed_calls;
	/* With a processor, where that is known; of sampled functions: of all calls. */
	double self_ns;
};

struct tp_fleet_sums {
	struct tp_fleet_sum *functions; /* by key */
	uint32_t function_count;
	uint32_t function_room;
	/* Of the runs whose times are known: the functions are those of these runs alone. */
	uint64_t runs;
	uint64_t programs;
	uint64_t timeless;    /* runs beside them, whose times are not known */
	uint64_t raw;         /* whose times are as they were recorded */
	uint64_t incomplete;  /* that lack events */
	uint64_t selective;   /* that did not record each function all the time */
	uint64_t in_cpu_time; /* whose time is processor time */
	uint64_t threads;     /* of a run, at most */
	double recorded_ns;
	double time_ns; /* less what recording has cost */
	char clock[32]; /* that all of them have; "": they differ */
	struct tp_arena arena;
};

/*
 * Read them. 0; TP_ERR_NOT_FOUND: no run that was CHOSEN has both calls and times; or another
 * tp_error. Release it in any case.
 */
int tp_fleet_sums_read(struct tp_fleet_sums *sums, const char *directory,
    const struct tp_fleet_chosen *chosen, struct tp_err *err);
void tp_fleet_sums_release(struct tp_fleet_sums *sums);

#endif
