// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tables of one trace are made of.
#include "trace_data.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(const struct tp_trace_data *data, const char *what, struct tp_err *err)
{
	return tp_err_set(err, TP_ERR_MEMORY, data->analysis->trace->source.name,
	    "out of memory while reading %s", what);
}

int tp_trace_data_init(struct tp_trace_data *data, const struct tp_analysis *analysis,
    uint64_t memory_limit, const atomic_bool *give_up, struct tp_err *err)
{
	*data = (struct tp_trace_data){.analysis = analysis, .give_up = give_up};
	data->relation = (struct tp_relation_data){
	    .analysis = analysis,
	    .paths = &data->paths,
	    .percentiles = &data->percentiles,
	    .system = &data->system,
	    .marks = &data->marks,
	};
	int code = tp_paths_init(&data->paths, analysis, err);
	if (!code)
		code = tp_call_store_init(&data->calls, analysis, &data->paths, err);
	if (code)
		return code;
	data->calls.give_up = give_up;
	data->calls.memory_limit = memory_limit;
	tp_trace_data_add_meta(data);
	return data->meta_failed ? no_memory(data, "the table meta", err) : 0;
}

void tp_trace_data_release(struct tp_trace_data *data)
{
	for (uint32_t i = 0; i < data->meta_count; i++) {
		free(data->meta[i].key);
		free(data->meta[i].value);
	}
	free(data->meta);
	free(data->by_function);
	free(data->function_starts);
	free(data->function_spans);
	tp_percentiles_release(&data->percentiles);
	tp_system_items_release(&data->system);
	tp_marks_release(&data->marks);
	tp_call_store_release(&data->calls);
	tp_paths_release(&data->paths);
	*data = (struct tp_trace_data){0};
}

int tp_trace_data_percentiles(struct tp_trace_data *data, struct tp_err *err)
{
	if (data->has_percentiles)
		return 0;
	const int code =
	    tp_percentiles_init(&data->percentiles, data->analysis, data->give_up, err);
	if (code)
		tp_percentiles_release(&data->percentiles);
	data->has_percentiles = !code;
	return code;
}

int tp_trace_data_system(struct tp_trace_data *data, struct tp_err *err)
{
	if (data->has_system)
		return 0;
	const int code = tp_system_items_init(&data->system, data->analysis, &data->paths, err);
	if (code)
		tp_system_items_release(&data->system);
	data->has_system = !code;
	return code;
}

int tp_trace_data_marks(struct tp_trace_data *data, struct tp_err *err)
{
	if (data->has_marks)
		return 0;
	const int code = tp_analysis_marks(data->analysis, &data->marks, err);
	data->has_marks = !code;
	return code;
}

// Of a call whose path is 0, which is none: only a trace that changed while it was read has one.
static uint32_t function_of(const struct tp_trace_data *data, const struct tp_packed_call *call)
{
	return call->path ? data->paths.items[call->path].function : data->analysis->function_count;
}

int tp_trace_data_by_function(struct tp_trace_data *data, struct tp_err *err)
{
	if (data->by_function)
		return 0;
	const int code = tp_call_store_load(&data->calls, TP_CALL_STORE_ALL, err);
	if (code)
		return code;
	// The last is of calls that have no function.
	const size_t count = (size_t)data->analysis->function_count + 2;
	uint64_t *starts = calloc(count, sizeof(*starts));
	uint64_t *spans = calloc(count, sizeof(*spans));
	uint32_t *order = malloc((size_t)(data->calls.count + 1) * sizeof(*order));
	if (!starts || !spans || !order) {
		free(starts);
		free(spans);
		free(order);
		return no_memory(data, "the calls by function", err);
	}
	for (uint32_t t = 0; t < data->calls.thread_count; t++) {
		const struct tp_stored_thread *thread = &data->calls.threads[t];
		for (uint64_t i = 0; i < thread->rows; i++) {
			const struct tp_packed_call *call = &thread->calls[i];
			const uint32_t function = function_of(data, call);
			const uint64_t span = tp_packed_is_wide(call)
						  ? thread->wide[call->self].end - call->start
						  : call->duration;
			starts[function]++;
			spans[function] = span > spans[function] ? span : spans[function];
		}
	}
	uint64_t before = 0;
	for (size_t i = 0; i < count; i++) {
		const uint64_t calls = starts[i];
		starts[i] = before;
		before += calls;
	}
	for (uint32_t t = 0; t < data->calls.thread_count; t++) {
		const struct tp_stored_thread *thread = &data->calls.threads[t];
		for (uint64_t i = 0; i < thread->rows; i++)
			order[starts[function_of(data, &thread->calls[i])]++] =
			    (uint32_t)(thread->first + i);
	}
	// Each stands behind its calls now.
	for (size_t i = count; i-- > 1;)
		starts[i] = starts[i - 1];
	starts[0] = 0;
	data->by_function = order;
	data->function_starts = starts;
	data->function_spans = spans;
	return 0;
}

uint32_t tp_trace_data_thread_of(const struct tp_trace_data *data, uint64_t number)
{
	// The last thread whose first call is not behind it.
	return TP_LOWER_BOUND(1U, data->calls.thread_count, middle,
		   data->calls.threads[middle].first <= number) -
	       1;
}
