// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relation "marks": moments and phases that the program, or somebody outside, has named.
#include "relation.h"

enum { THREAD, TID, KIND, NAME, START, END, DURATION, COLUMNS };

static const struct tp_relation_column columns[COLUMNS] = {
    [THREAD] = {"thread", "of threads; NULL: made from outside, by 'teeperf ctl mark'",
	.type = TP_TYPE_INT32, .missing = -1},
    [TID] = {"tid", "the thread's number in the operating system", .nullable = true},
    [KIND] = {"kind",
	"\"mark\": a moment, \"phase\", \"end\": of a phase that began outside the trace",
	.type = TP_TYPE_TEXT},
    [NAME] = {"name", "the program's name for it; \"unnamed\" if it has none",
	.type = TP_TYPE_TEXT},
    [START] = {"start_ns", "ns from the trace's first record", .unit = TP_UNIT_TIME, .missing = -1},
    [END] = {"end_ns", "the same for the phase's end; NULL: it has not ended, or is no phase",
	.unit = TP_UNIT_TIME, .missing = -1},
    [DURATION] = {"duration_ns", "ns that the phase took; NULL as for end_ns", .unit = TP_UNIT_TIME,
	.missing = -1},
};

static struct tp_cell value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_mark *mark = row;
	const bool outside = mark->thread == TP_MARK_OUTSIDE;
	const struct tp_thread *thread =
	    outside ? NULL : &data->analysis->trace->threads[mark->thread];
	const bool ended = mark->timed && mark->kind == TP_MARK_PHASE && mark->end != TP_MARK_OPEN;
	switch (column) {
	case THREAD:
		return tp_cell_if(!outside, tp_cell_number(outside ? 0 : thread->number));
	case TID:
		return tp_cell_if(!outside, tp_cell_count(outside ? 0 : thread->os_tid));
	case KIND:
		return tp_cell_text(tp_mark_kind_name(mark));
	case NAME:
		return tp_cell_text(mark->name);
	case START:
		return tp_cell_at(data, mark->timed, mark->time);
	case END:
		return tp_cell_at(data, ended, mark->end);
	default:
		return tp_cell_time(data, ended, mark->end - mark->time);
	}
}

static struct tp_rows rows(const struct tp_relation_data *data)
{
	const struct tp_marks *marks = data->marks;
	return (struct tp_rows){
	    marks ? marks->items : NULL, marks ? marks->count : 0, sizeof(struct tp_mark)};
}

const struct tp_relation tp_relation_marks = {
    .name = "marks",
    .summary = "moments and phases that the program or 'teeperf ctl mark' named",
    .columns = columns,
    .count = COLUMNS,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = "--view timeline has them between the calls",
    .rows = rows,
    .value = value,
};
