/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The processes of one recording (record --follow-fork), each analysed by itself, and their functions together.
 *
 * A function is the same in two processes if it is at the same address of the same module's file, under the same name in the
 * symbol table. Modules are the same if their build IDs and the last components of their paths are; without a build
 * ID, if their whole paths are. What is in no module is of one process only: another program may have anything else
 * at that address. Times are added in nanoseconds (ticks if no rate is known), as each trace converts them, so that
 * sums are those of the traces' own tables. Percentiles do not add up, and are not here.
 */
#ifndef TP_FAMILY_H
#define TP_FAMILY_H

#include "analyzer/profile/analysis.h"
#include "analyzer/output/view.h"

struct tp_family_member {
	const struct tp_analysis *analysis;
	uint64_t process; /* its id, 0: unknown */
	uint64_t parent;  /* 0: unknown, or it was started and not forked */
	bool damaged;     /* there is more than could be read */
};

struct tp_family_function {
	const struct tp_symbol *symbol; /* of the first member that has it */
	uint64_t processes;             /* that have called it */
	uint64_t calls;
	uint64_t timed;
	uint64_t self;
	uint64_t inclusive;
	uint64_t scaled_self; /* tp_function_scaled */
	uint64_t scaled_inclusive;
	uint64_t uncertainty; /* tp_function_uncertainty, if known of all */
	uint64_t total;
	uint64_t min; /* UINT64_MAX without timed calls */
	uint64_t max;
	bool sampled;
	bool is_unsure; /* of some timed calls the uncertainty is not known */
};

struct tp_family {
	const struct tp_family_member *members; /* the caller's; the first is the first process */
	uint32_t count;
	uint32_t left_out; /* traces of the recording that could not be used */
	struct tp_family_function *functions;
	uint32_t function_count;
	uint64_t self; /* of all functions */
	uint64_t scaled_self;
};

/*
 * COUNT members, whose analyses must outlive the family, with one clock. 0 or TP_ERR_MEMORY. Release it in any case.
 */
int tp_family_init(struct tp_family *family, const struct tp_family_member *members, uint32_t count,
    struct tp_err *err);
void tp_family_release(struct tp_family *family);

/* "complete", or what it is instead. */
const char *tp_family_state(const struct tp_family_member *member);

enum tp_family_view {
	TP_FAMILY_TOP = 0,
	TP_FAMILY_THREADS,
	TP_FAMILY_PROCESSES,
};

/* The block above a table; with `only_trouble` the lines that limit what the sums mean, if any. */
void tp_family_add_heading(const struct tp_family *family, bool only_trouble, struct tp_buf *out);
/* Add the view to OUT, without a heading. 0; TP_ERR_MEMORY; TP_ERR_NOT_FOUND for a wrong column. */
int tp_family_show(const struct tp_family *family, enum tp_family_view view,
    const struct tp_view_options *options, struct tp_buf *out, struct tp_err *err);

#endif
