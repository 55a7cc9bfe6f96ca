/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tables of a fleet in ClickHouse, from 18.16 on: statements that make them, and their rows as
 * its TabSeparated. Each has the columns `day` and `program` first, which files have in the names
 * of their folders.
 *
 * A table replaces rows of the same key (ReplacingMergeTree), and no two rows of a run have one: a
 * row that is inserted twice is there once, for those who ask with FINAL. `calls` has a column more
 * for that, `call_number`.
 */
#ifndef TP_FLEET_CLICKHOUSE_H
#define TP_FLEET_CLICKHOUSE_H

#include "fleet/folder.h"
#include "analyzer/output/format/parquet_read.h"

#define TP_CLICKHOUSE_DATABASE "teeperf"

struct tp_clickhouse_form {
	const char *database;
	/* tables of each server, and such that are spread over all; NULL: one server */
	const char *cluster;
	bool replicated;
};

/* Whether it is a name that needs no quotes. */
bool tp_clickhouse_is_name(const char *name);
/* The statements, each of which ends in ";\n". pre: names need no quotes. */
void tp_clickhouse_schema(struct tp_buf *out, const struct tp_clickhouse_form *form);
/*
 * Print a line "INSERT INTO ... FORMAT TabSeparated", and behind it the rows of RUNS that are in
 * the place, which nobody may change meanwhile. 0 or a negative tp_error.
 */
int tp_clickhouse_print(const struct tp_fleet_place *place, const struct tp_fleet_names *runs,
    const char *database, struct tp_err *err);

#endif
