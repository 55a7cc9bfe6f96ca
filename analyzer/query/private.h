/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a query is made of, for the files of this folder. */
#ifndef TP_QUERY_PRIVATE_H
#define TP_QUERY_PRIVATE_H

#include "analyzer/query/trace_data.h"

#include <sqlite3.h>

struct tp_query_trace {
	struct tp_trace_data data;
};

struct tp_query {
	sqlite3 *db;
	struct tp_query_trace **traces;
	uint32_t trace_count;
	uint64_t memory_limit;
	uint64_t step_limit;
	uint64_t steps;
	atomic_bool give_up;
	bool locked;      /* what is run is a user's: see authorizer in query.c */
	bool reads_tid;   /* a statement has named tid where it was the trace's number */
	char denied[256]; /* what it did not allow, or empty */
};

/*
 * The least (FROM) or greatest whole number that a value which is compared with a number may be; false if it
 * sets no bound.
 */
bool tp_sql_bound(sqlite3_value *value, bool from, int64_t *bound);
/* sql_functions.c: pctl, ns, ... 0 or an SQLite code. */
int tp_sql_add_functions(struct tp_query *query);

#endif
