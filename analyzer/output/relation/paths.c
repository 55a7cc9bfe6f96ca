// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relations "paths" and "thread_paths".
#include "relation.h"

enum {
	PATH,
	PARENT,
	FN,
	DEPTH,
	REC,
	LAST,
	CALLS,
	INCLUSIVE,
	SELF,
	MIN,
	MAX,
	PARTS,
	FN_KEY = PARTS + TP_PART_COUNT
};

static const struct tp_relation_column path_columns[] = {
    [PATH] = {"path", "number of a call path, in preorder; 0 is the program itself",
	.type = TP_TYPE_INT32},
    [PARENT] = {"parent", "path of the caller; NULL for path 0", .type = TP_TYPE_INT32,
	.missing = -1},
    [FN] = {"fn", "the function at its end; NULL for path 0", .type = TP_TYPE_INT32, .missing = -1},
    [DEPTH] = {"depth", "calls on the path; 0 for path 0", .type = TP_TYPE_INT32},
    [REC] = {"rec",
	"callers on it that are the same function; sum times WHERE rec = 0 for an inclusive time",
	.type = TP_TYPE_INT32},
    [LAST] = {"last",
	"greatest path number below it: paths inside p are path BETWEEN p.path AND p.last",
	.type = TP_TYPE_INT32},
    [CALLS] = {"calls", "with this path, in all threads", .unit = TP_UNIT_COUNT},
    [INCLUSIVE] = {"inclusive_ns", "ns of these calls, with all that they called",
	.unit = TP_UNIT_TIME, .old = {"total"}},
    [SELF] = {"self_ns", "ns of these calls alone", .unit = TP_UNIT_TIME, .old = {"self"}},
    [MIN] = {"min_ns", "ns of the shortest of them", .unit = TP_UNIT_TIME, .old = {"min"}},
    [MAX] = {"max_ns", "ns of the longest", .unit = TP_UNIT_TIME, .old = {"max"}},
    TP_PART_COLUMNS(PARTS),
    [FN_KEY] = {"fn_key", "fn_key of the function at its end; NULL for path 0",
	.unit = TP_UNIT_KEY},
};

static struct tp_cell path_value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_path *path = row;
	const int64_t number = path - data->paths->items;
	if (column >= PARTS && column < PARTS + TP_PART_COUNT)
		return tp_cell_time(data, number && !path->has_no_parts,
		    tp_part_ticks(&path->parts, column - PARTS));
	switch (column) {
	case PATH:
		return tp_cell_number(number);
	case PARENT:
		return tp_cell_if(number, tp_cell_number(path->parent));
	case FN:
		return tp_cell_if(number, tp_cell_number(path->function));
	case DEPTH:
		return tp_cell_number(path->depth);
	case REC:
		return tp_cell_number(path->recursion);
	case LAST:
		return tp_cell_number(path->last);
	case CALLS:
		return tp_cell_count(path->calls);
	case INCLUSIVE:
		return tp_cell_time(data, true, path->inclusive);
	case SELF:
		return tp_cell_time(data, true, path->self);
	case MIN:
		return tp_cell_time(data, path->calls, path->min);
	case MAX:
		return tp_cell_time(data, path->calls, path->max);
	default:
		if (!number)
			return (struct tp_cell){.type = TP_CELL_NULL};
		return tp_cell_number(tp_relation_key(data, path->function));
	}
}

static struct tp_rows path_rows(const struct tp_relation_data *data)
{
	return (struct tp_rows){
	    data->paths->items, data->paths->count, sizeof(*data->paths->items)};
}

const struct tp_relation tp_relation_paths = {
    .name = "paths",
    .summary = "call paths of all threads, with the times of all threads together",
    .columns = path_columns,
    .count = sizeof(path_columns) / sizeof(path_columns[0]),
    .ordered = true,
    .unique = true,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = "views show paths as trees, one for each thread (--view tree); the report packs its "
	      "paths, and merges the smallest into \"(smaller)\"",
    .rows = path_rows,
    .value = path_value,
};

// ---- of each thread

enum { T_PATH, T_THREAD, T_CALLS, T_INCLUSIVE, T_SELF, T_MIN, T_MAX, T_P50, T_P99, T_TID };
enum { T_PARTS = T_TID + 1, T_INCLUSIVE_TICKS = T_PARTS + TP_PART_COUNT, T_SELF_TICKS };

static const struct tp_relation_column thread_path_columns[] = {
    [T_PATH] = {"path", "of paths", .type = TP_TYPE_INT32},
    [T_THREAD] = {"thread", "of threads", .type = TP_TYPE_INT32},
    [T_CALLS] = {"calls", "with this path in this thread", .unit = TP_UNIT_COUNT},
    [T_INCLUSIVE] = {"inclusive_ns", "ns of these calls, with all that they called",
	.unit = TP_UNIT_TIME, .old = {"total"}},
    [T_SELF] = {"self_ns", "ns of these calls alone", .unit = TP_UNIT_TIME, .old = {"self"}},
    [T_MIN] = {"min_ns", "ns of the shortest of them", .unit = TP_UNIT_TIME, .old = {"min"}},
    [T_MAX] = {"max_ns", "ns of the longest", .unit = TP_UNIT_TIME, .old = {"max"}},
    [T_P50] = {"p50_ns", "ns that half of them do not exceed, within 6 %", .unit = TP_UNIT_TIME,
	.old = {"p50"}},
    [T_P99] = {"p99_ns", "the same for 99 %", .unit = TP_UNIT_TIME, .old = {"p99"}},
    [T_TID] = {"tid", "of threads: the number in the operating system", TP_HIDDEN_TID},
    TP_PART_COLUMNS(T_PARTS),
    [T_INCLUSIVE_TICKS] = {"inclusive_ticks", "inclusive_ns in ticks of the clock", TP_HIDDEN_TICKS,
	.old = {"total_ticks"}},
    [T_SELF_TICKS] = {"self_ticks", "self_ns in ticks", TP_HIDDEN_TICKS},
};

static struct tp_cell thread_path_value(
    struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_path_row *at = row;
	const struct tp_thread_result *thread = &data->analysis->threads[at->thread];
	const struct tp_node *node = &thread->profile.nodes[at->node];
	const bool called = node->calls != 0;
	if (column >= T_PARTS && column < T_PARTS + TP_PART_COUNT) {
		if (!thread->profile.parts_of)
			return (struct tp_cell){.type = TP_CELL_NULL};
		const struct tp_node_parts parts = tp_profile_parts(&thread->profile, at->node);
		return tp_cell_time(data, true, tp_part_ticks(&parts, column - T_PARTS));
	}
	switch (column) {
	case T_PATH:
		return tp_cell_number(at->path);
	case T_THREAD:
		return tp_cell_number(thread->thread->number);
	case T_CALLS:
		return tp_cell_count(node->calls);
	case T_INCLUSIVE:
		return tp_cell_time(data, true, node->inclusive);
	case T_SELF:
		return tp_cell_time(data, true, node->self);
	case T_MIN:
		return tp_cell_time(data, called, node->min);
	case T_MAX:
		return tp_cell_time(data, called, node->max);
	case T_P50:
	case T_P99:
		if (!tp_histogram_size(&node->times))
			return (struct tp_cell){.type = TP_CELL_NULL};
		return tp_cell_time(data, true,
		    tp_histogram_percentile(
			&node->times, column == T_P50 ? 0.5 : 0.99, node->min, node->max));
	case T_TID:
		return tp_cell_count(thread->thread->os_tid);
	case T_INCLUSIVE_TICKS:
		return tp_cell_ticks(data, true, node->inclusive);
	default:
		return tp_cell_ticks(data, true, node->self);
	}
}

static struct tp_rows thread_path_rows(const struct tp_relation_data *data)
{
	return (struct tp_rows){
	    data->paths->rows, data->paths->row_count, sizeof(*data->paths->rows)};
}

const struct tp_relation tp_relation_thread_paths = {
    .name = "thread_paths",
    .summary = "call paths with the times of each thread; most questions need this table",
    .columns = thread_path_columns,
    .count = sizeof(thread_path_columns) / sizeof(thread_path_columns[0]),
    .ordered = true,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = "views show them as a tree (--view tree); the report packs them",
    .rows = thread_path_rows,
    .value = thread_path_value,
};
