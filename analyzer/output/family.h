/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The processes of one recording (record --follow-fork), each analysed by itself, and their
 * functions together.
 *
 * A function is the same in two processes if it is at the same address of the same module's file,
 * under the same name in the symbol table. Modules are the same if their build IDs and the last
 * components of their paths are; without a build ID, if their whole paths are. A function in no
 * module belongs to one process only: another program may have anything else at that address. Times
 * are added in nanoseconds (ticks if no rate is known), as each trace converts them, so that sums
 * are those of the traces' own tables. Percentiles do not add up, and are not here. Relations show
 * all this.
 */
#ifndef TP_FAMILY_H
#define TP_FAMILY_H

#include "analyzer/profile/analysis.h"
#include "common/buf.h"
#include "common/json.h"

struct tp_family_member {
	const struct tp_analysis *analysis;
	uint64_t process; /* its id, 0: unknown */
	uint64_t parent;  /* 0: unknown, or it was started and not forked */
	bool damaged;     /* there is more than could be read */
};

struct tp_family {
	const struct tp_family_member *members; /* the caller's; the first is the first process */
	uint32_t count;
	uint32_t left_out; /* traces of the recording that could not be used */
	/*
	 * Functions and self times of all, in nanoseconds, or ticks: one is one. Symbols are those
	 * of the first member that has the function. There is nothing else in it, but for what the
	 * first trace says.
	 */
	struct tp_analysis sums;
	uint64_t *processes; /* that have called it, of each function */
};

/*
 * COUNT members, whose analyses must outlive the family, with one clock. 0 or TP_ERR_MEMORY.
 * Release it in any case.
 */
int tp_family_init(struct tp_family *family, const struct tp_family_member *members, uint32_t count,
    struct tp_err *err);
void tp_family_release(struct tp_family *family);

/* "complete", or what it is instead. */
const char *tp_family_state(const struct tp_family_member *member);

/* The block above a table; with `only_trouble` the lines that limit what the sums mean, if any. */
void tp_family_add_heading(const struct tp_family *family, bool only_trouble, struct tp_buf *out);
/* The same as members of the JSON object that is open; of a struct tp_family. */
void tp_family_add_json(struct tp_json *json, const void *family);

#endif
