/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a table of a fleet, row group by row group, while other commands may add to its folder and
 * exchange files. Folders and row groups that nobody wants stay closed.
 */
#ifndef TP_FLEET_SCAN_H
#define TP_FLEET_SCAN_H

#include "fleet/folder.h"

#include <stdatomic.h>

#define TP_FLEET_NO_RUN UINT32_MAX

/* A row group. */
struct tp_fleet_rows {
	uint64_t count;
	/* Of each row what `run` says of it; NULL: there is no `run`. */
	const uint32_t *runs;
	/*
	 * Of each column of the table; `numbers` is NULL: it was not asked for, or an old file does
	 * not have it.
	 */
	const struct tp_parquet_values *columns;
	const char *day; /* of the folders */
	const char *program;
};

struct tp_fleet_scan {
	const char *directory;
	enum tp_fleet_table_id table;
	uint64_t columns; /* that are read, a bit each */
	/* Whether a day, a program of it, or a file of many runs or of one has rows. NULL: all. */
	bool (*wants)(void *context, const char *day, const char *program, const char *run);
	/* A number for the run's rows; TP_FLEET_NO_RUN: they are not wanted. NULL: all are. */
	uint32_t (*run)(void *context, const char *run_id);
	/* Only row groups that have the number `key` in the column `keys`. */
	bool by_key;
	uint32_t keys;
	int64_t key;
	/* Before the first row, and again if all is read anew. NULL: it is not. */
	int (*begin)(void *context, struct tp_err *err);
	int (*take)(void *context, const struct tp_fleet_rows *rows, struct tp_err *err);
	void *context;
	const atomic_bool *stop; /* ends it, with TP_ERR_LIMIT; NULL: nothing does */
	uint64_t files;          /* that were read */
};

/*
 * TAKE the rows. 0 or a negative tp_error, of what it calls too. With `run`, columns of a group
 * without such a run are not read, and a file without run_id is an error.
 */
int tp_fleet_scan(struct tp_fleet_scan *scan, struct tp_err *err);

#endif
