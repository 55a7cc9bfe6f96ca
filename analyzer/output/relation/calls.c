// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relation "calls": every single call, as recorded and without the cost of that.
#include "relation.h"

static const struct tp_relation_column columns[] = {
    [TP_CALLS_ID] = {"id", "number of the call, from 1: by thread, then by start",
	.type = TP_TYPE_INT64},
    [TP_CALLS_PARENT] = {"parent", "id of its caller; NULL: no caller", .type = TP_TYPE_INT64},
    [TP_CALLS_THREAD] = {"thread", "of threads", .type = TP_TYPE_INT32, .absent = TP_FORM_PARQUET,
	.reason =
	    "in Parquet it is the folder's name, a partition that readers turn into a column"},
    [TP_CALLS_FN] = {"fn", "of functions", .type = TP_TYPE_INT32, .missing = -1},
    [TP_CALLS_PATH] = {"path", "of paths", .type = TP_TYPE_INT32},
    [TP_CALLS_DEPTH] = {"depth", "number of calls on its path, with itself", .type = TP_TYPE_INT32},
    [TP_CALLS_REC] = {"rec", "callers that are the same function", .type = TP_TYPE_INT32},
    [TP_CALLS_START] = {"start_ns", "ns from the trace's first record to its start",
	.unit = TP_UNIT_TIME, .old = {"t0"}},
    [TP_CALLS_END] = {"end_ns", "... to its end", .unit = TP_UNIT_TIME, .old = {"t1"}},
    [TP_CALLS_DURATION] = {"duration_ns",
	"ns that it took, as recorded, without the time while its stack was left",
	.unit = TP_UNIT_TIME, .old = {"dur"}},
    [TP_CALLS_SELF_RAW] = {"self_raw_ns",
	"ns of duration_ns outside the calls that it made, as recorded", .unit = TP_UNIT_TIME,
	.old = {"self_raw", "self"}},
    [TP_CALLS_COST] = {"cost_ns",
	"ns of duration_ns that recording it and the calls inside cost; 0 if unknown or with --raw",
	.unit = TP_UNIT_TIME, .old = {"cost"}},
    [TP_CALLS_INCLUSIVE] = {"inclusive_ns",
	"duration_ns - cost_ns: of the calls of a path, they sum up to inclusive_ns in paths",
	.unit = TP_UNIT_TIME},
    [TP_CALLS_SELF] = {"self_ns",
	"ns of inclusive_ns outside the calls that it made: they sum up to self_ns in functions",
	.unit = TP_UNIT_TIME},
    [TP_CALLS_HOW] = {"how",
	"how it ended: returned, unwound (exception, longjmp), cut (recording was switched off), "
	"open (at the thread's end), no return (its exit is missing)",
	.type = TP_TYPE_TEXT},
    [TP_CALLS_AWAY] = {"away", "1: its stack was left and never resumed", .type = TP_TYPE_INT32},
    [TP_CALLS_FN_KEY] = {"fn_key", "of functions", .unit = TP_UNIT_KEY, .hidden = true,
	.absent = TP_FORM_CSV,
	.reason =
	    "SQL and SQLite join functions by fn, and CSV has names; Parquet is for sums over "
	    "runs"},
    [TP_CALLS_TID] = {"tid", "of threads: the number in the operating system", TP_HIDDEN_TID},
    [TP_CALLS_DURATION_TICKS] = {"duration_ticks", "duration_ns in ticks of the clock",
	TP_HIDDEN_TICKS, .old = {"dur_ticks"}},
    [TP_CALLS_SELF_TICKS] = {"self_raw_ticks", "self_raw_ns in ticks", TP_HIDDEN_TICKS,
	.old = {"self_ticks"}},
    TP_PART_COLUMNS(TP_CALLS_PARTS),
    [TP_CALLS_NAME] = {"name", "of threads", .type = TP_TYPE_TEXT,
	.absent = TP_FORM_SQL | TP_FORM_PARQUET, .reason = "joined by thread"},
    [TP_CALLS_FUNCTION] = {"function", "of functions", .type = TP_TYPE_TEXT,
	.absent = TP_FORM_SQL | TP_FORM_PARQUET, .reason = "joined by fn"},
};

static struct tp_cell part_value(
    const struct tp_relation_data *data, const struct tp_call_row *at, uint32_t which)
{
	const struct tp_stored_call *call = &at->call;
	const uint64_t off = call->off.blocked + call->off.preempted;
	const uint64_t self_off = call->self_off.blocked + call->self_off.preempted;
	const struct tp_node_parts parts = {
	    .self_off = call->self_off,
	    .inclusive_off = call->off,
	    .self_cpu = call->net.self > self_off ? call->net.self - self_off : 0,
	    .inclusive_cpu = call->net.inclusive > off ? call->net.inclusive - off : 0,
	};
	return tp_cell_time(data, at->thread->off, tp_part_ticks(&parts, which));
}

static struct tp_cell value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_call_row *at = row;
	const struct tp_stored_call *call = &at->call;
	const struct tp_path *path = at->path;
	if (column >= TP_CALLS_PARTS && column < TP_CALLS_PARTS + TP_PART_COUNT)
		return part_value(data, at, column - TP_CALLS_PARTS);
	switch (column) {
	case TP_CALLS_ID:
		return tp_cell_count(at->number + 1);
	case TP_CALLS_PARENT:
		return tp_cell_if(call->parent != TP_CALL_NONE,
		    tp_cell_count(at->stored->first + call->parent + 1));
	case TP_CALLS_THREAD:
		return tp_cell_number(at->thread->number);
	case TP_CALLS_FN:
		return tp_cell_if(call->path, tp_cell_number(path->function));
	case TP_CALLS_PATH:
		return tp_cell_number(call->path);
	case TP_CALLS_DEPTH:
		return tp_cell_number(path->depth);
	case TP_CALLS_REC:
		return tp_cell_number(path->recursion);
	case TP_CALLS_START:
		return tp_cell_at(data, true, call->start);
	case TP_CALLS_END:
		return tp_cell_at(data, true, call->end);
	case TP_CALLS_DURATION:
		return tp_cell_time(data, true, call->duration);
	case TP_CALLS_SELF_RAW:
		return tp_cell_time(data, true, call->self);
	case TP_CALLS_COST:
		return tp_cell_time(data, true, call->duration - call->net.inclusive);
	case TP_CALLS_INCLUSIVE:
		return tp_cell_time(data, true, call->net.inclusive);
	case TP_CALLS_SELF:
		return tp_cell_time(data, true, call->net.self);
	case TP_CALLS_HOW:
		return tp_cell_text(tp_call_end_name(call->how));
	case TP_CALLS_AWAY:
		return tp_cell_number(call->away);
	case TP_CALLS_FN_KEY:
		if (!call->path)
			return (struct tp_cell){.type = TP_CELL_NULL};
		return tp_cell_number(tp_relation_key(data, path->function));
	case TP_CALLS_TID:
		return tp_cell_count(at->thread->os_tid);
	case TP_CALLS_DURATION_TICKS:
		return tp_cell_ticks(data, true, call->duration);
	case TP_CALLS_SELF_TICKS:
		return tp_cell_ticks(data, true, call->self);
	case TP_CALLS_NAME:
		return tp_cell_text(at->thread->name);
	default:
		return tp_cell_text(
		    call->path ? data->analysis->functions[path->function].symbol.name : "");
	}
}

const struct tp_relation tp_relation_calls = {
    .name = "calls",
    .summary = "every single call, with times as recorded and without the cost of that",
    .columns = columns,
    .count = sizeof(columns) / sizeof(columns[0]),
    .csv = (const uint8_t[]){TP_CALLS_ID, TP_CALLS_PARENT, TP_CALLS_THREAD, TP_CALLS_TID,
	TP_CALLS_NAME, TP_CALLS_FN, TP_CALLS_FUNCTION, TP_CALLS_PATH, TP_CALLS_DEPTH, TP_CALLS_REC,
	TP_CALLS_START, TP_CALLS_END, TP_CALLS_DURATION, TP_CALLS_SELF_RAW, TP_CALLS_COST,
	TP_CALLS_INCLUSIVE, TP_CALLS_SELF, TP_CALLS_HOW, TP_CALLS_AWAY, TP_CALLS_PARTS,
	TP_CALLS_PARTS + 1, TP_CALLS_PARTS + 2, TP_CALLS_PARTS + 3, TP_CALLS_PARTS + 4,
	TP_CALLS_PARTS + 5, TP_RELATION_END},
    .forms = TP_FORM_CSV | TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = "there are millions; --view timeline and the report show the longest",
    .value = value,
};
