/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What calls.c asks a process of its own, the search for call sites there (call_search.c), and the
 * line tables that it needs (call_rows.c).
 */
#ifndef TP_CALL_SEARCH_H
#define TP_CALL_SEARCH_H

#include "lines.h"

#include "common/buf.h"

/* ---- question and answer */

struct tp_call_question {
	const struct tp_dwarf_request *request;
	const struct tp_call_function *functions; /* sorted by address */
	uint32_t count;
	const uint32_t *by_name; /* functions that have a linkage name, sorted by it */
	uint32_t named;
};

/*
 * The answer has, for each caller whose calls the debug information has, its number and
 * TP_CALL_DESCRIBED; for each call the numbers of caller and callee, the line (8 bytes, 0: unknown
 * or in another file), how many inlined functions are around it, and their names, outermost first,
 * each with a NUL; and at its end TP_CALL_CUT if there are more calls. Numbers have 4 bytes.
 */
#define TP_CALL_DESCRIBED UINT32_MAX            /* instead of a callee */
#define TP_CALL_CUT UINT32_MAX                  /* instead of a caller */
#define TP_CALL_ANSWER_MAX (UINT64_C(64) << 20) /* bytes */

/*
 * A tp_isolated_fn for a struct tp_call_question. It frees nothing: what it reads ends with the
 * process.
 */
int64_t tp_call_search_answer(void *question, struct tp_buf *out, struct tp_err *err);

/* ---- line tables */

struct tp_whole_unit; /* units.h */

struct tp_call_row {
	uint64_t address;
	uint64_t line;
	uint64_t file;
	uint32_t order; /* in the table */
	bool end;       /* of a sequence */
};

/* The rows of a unit, sorted by address. All zero at first; reused for the next unit. */
struct tp_call_rows {
	const struct tp_whole_unit *unit; /* whose files the rows name */
	struct tp_call_row *items;
	uint32_t count;
	uint32_t room;
};

/*
 * Read the line table of UNIT, and the names of its files. UNIT is as it was opened: of a split one
 * the skeleton, which has the table. A table that cannot be read has no rows. False: no memory.
 */
bool tp_call_rows_read(struct tp_call_rows *rows, struct tp_whole_unit *unit);

/* The line at ADDRESS, and its file; 0 and NULL: there is none. */
uint64_t tp_call_rows_line(const struct tp_call_rows *rows, uint64_t address, const char **file);

#endif
