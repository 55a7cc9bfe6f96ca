// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "csv": one row for each call, as in the table calls of SQL, with names.
#include "analyzer/call_store.h"
#include "analyzer/export.h"
#include "analyzer/text.h"

#include <stdlib.h>
#include <string.h>

// Text of each function and of the thread at hand, quoted once.
struct names {
	struct tp_buf text; // NUL-ended
	size_t *starts;
};

static bool quote_names(struct names *names, const struct tp_analysis *analysis)
{
	tp_buf_init(&names->text);
	names->starts = calloc((size_t)analysis->function_count + 1, sizeof(*names->starts));
	for (uint32_t i = 0; names->starts && i < analysis->function_count; i++) {
		names->starts[i] = names->text.size;
		tp_text_add_csv(&names->text, analysis->functions[i].symbol.name);
		tp_buf_add_char(&names->text, '\0');
	}
	return names->starts && !names->text.failed;
}

// A comma and the number. printf takes four times as long.
static char *put(char *at, uint64_t number)
{
	char digits[20];
	int count = 0;
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	*at++ = ',';
	while (count)
		*at++ = digits[--count];
	return at;
}

static char *put_times(
    char *at, const struct tp_analysis *analysis, const struct tp_stored_call *call)
{
	if (analysis->timeless) {
		memcpy(at, ",,,,,", 5);
		return at + 5;
	}
	at = put(at, tp_analysis_at_ns(analysis, call->start));
	at = put(at, tp_analysis_at_ns(analysis, call->end));
	at = put(at, tp_timebase_ns(&analysis->time, call->duration));
	at = put(at, tp_timebase_ns(&analysis->time, call->self));
	return put(at, tp_timebase_ns(&analysis->time, call->cost));
}

static void add_calls(const struct tp_analysis *analysis, const struct tp_paths *paths,
    const struct tp_stored_thread *stored, const struct tp_thread *thread,
    const struct names *names, struct tp_buf *out)
{
	struct tp_buf name;
	char line[512]; // a dozen numbers
	tp_buf_init(&name);
	tp_text_add_csv(&name, thread->name);
	for (uint64_t i = 0; i < stored->rows && !out->failed; i++) {
		struct tp_stored_call call;
		tp_call_store_get(stored, i, &call);
		const struct tp_path *path = &paths->items[call.path];
		char *at = put(line, stored->first + i + 1);
		if (call.parent == TP_CALL_NONE)
			*at++ = ',';
		else
			at = put(at, stored->first + call.parent + 1);
		at = put(at, thread->number);
		*at++ = ',';
		tp_buf_add(out, line + 1, (size_t)(at - line) - 1);
		tp_buf_add(out, name.data, name.size);
		at = put(line, path->function);
		*at++ = ',';
		tp_buf_add(out, line, (size_t)(at - line));
		if (call.path)
			tp_buf_add_string(out, names->text.data + names->starts[path->function]);
		at = put(line, call.path);
		at = put(at, path->depth);
		at = put(at, path->recursion);
		at = put_times(at, analysis, &call);
		*at++ = ',';
		tp_buf_add(out, line, (size_t)(at - line));
		tp_buf_add_string(out, tp_call_end_name(call.how));
		tp_buf_add_string(out, call.away ? ",1\n" : ",0\n");
	}
	tp_buf_release(&name);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_paths paths;
	struct tp_call_store store = {0};
	struct names names = {0};
	(void)options;
	int code = tp_paths_init(&paths, analysis, err);
	if (!code)
		code = tp_call_store_init(&store, analysis, &paths, err);
	if (!quote_names(&names, analysis) && !code)
		code = tp_err_set(
		    err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "no memory for the names");
	if (!code)
		tp_buf_add_string(out,
		    "id,parent,tid,thread,fn,function,path,depth,rec,t0,t1,dur,self_raw,"
		    "cost,how,away\n");
	for (uint32_t i = 0; !code && i < analysis->thread_count; i++) {
		code = tp_call_store_load(&store, i, err);
		if (!code)
			add_calls(analysis, &paths, &store.threads[i], analysis->threads[i].thread,
			    &names, out);
		tp_call_store_forget(&store, i);
	}
	free(names.starts);
	tp_buf_release(&names.text);
	tp_call_store_release(&store);
	tp_paths_release(&paths);
	return code;
}

const struct tp_export tp_export_csv = {
    .name = "csv",
    .summary = "one row for each call, with the columns of the table calls of SQL, and names",
    .tables = true,
    .render = render,
};
