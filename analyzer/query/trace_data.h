/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the tables of one trace are made of. Parts that take time or memory are made when a query
 * first asks for them, and kept.
 */
#ifndef TP_TRACE_DATA_H
#define TP_TRACE_DATA_H

#include "analyzer/output/relation/relation.h"

struct tp_meta_row {
	char *key;
	char *value;
};

struct tp_trace_data {
	struct tp_relation_data
	    relation; /* of all this; first, so that rows of ours find the rest */
	const struct tp_analysis *analysis;
	const atomic_bool *give_up;
	struct tp_paths paths;
	struct tp_call_store calls;
	struct tp_percentiles percentiles;
	bool has_percentiles;
	struct tp_system_items system;
	bool has_system;
	struct tp_marks marks;
	bool has_marks;
	/* Calls by function, then as they began: numbers from 0 on among all calls. */
	uint32_t *by_function;
	uint64_t *function_starts; /* in by_function, one more than functions */
	uint64_t *function_spans;  /* ticks from start to end of a function's longest call */
	struct tp_meta_row *meta;
	uint32_t meta_count;
	uint32_t meta_capacity;
	bool meta_failed;
};

/* The analysis must outlive it. 0 or TP_ERR_MEMORY; release it in any case. */
int tp_trace_data_init(struct tp_trace_data *data, const struct tp_analysis *analysis,
    uint64_t memory_limit, const atomic_bool *give_up, struct tp_err *err);
void tp_trace_data_release(struct tp_trace_data *data);

/* 0 or a negative tp_error, as tp_call_store_load and tp_percentiles_init. */
int tp_trace_data_percentiles(struct tp_trace_data *data, struct tp_err *err);
int tp_trace_data_system(struct tp_trace_data *data, struct tp_err *err);
int tp_trace_data_marks(struct tp_trace_data *data, struct tp_err *err);
int tp_trace_data_by_function(struct tp_trace_data *data, struct tp_err *err);
/* Whether tp_trace_data_by_function can be: it numbers calls with 32 bits. */
static inline bool tp_trace_data_can_order(const struct tp_trace_data *data)
{
	return data->calls.count < UINT32_MAX;
}

/* The index of the thread that has call NUMBER (from 0 on among all calls). */
uint32_t tp_trace_data_thread_of(const struct tp_trace_data *data, uint64_t number);

/* Those that only SQL has. */
extern const struct tp_relation tp_relation_meta;   /* struct tp_meta_row */
extern const struct tp_relation tp_relation_events; /* what the cursor reads */

/* table_meta.c: fill meta. */
void tp_trace_data_add_meta(struct tp_trace_data *data);

#endif
