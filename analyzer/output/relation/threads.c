// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relation "threads"; the threads and the processes of a family.
#include "relation.h"

#include "analyzer/output/view.h"

#include <string.h>

enum { THREAD, TID, NAME, EVENTS, LOST, CALLS, BUSY, CPU, DELAY, MISSING };
enum { FIRST = MISSING + 1, LAST, ENDED, DAMAGED, WAIT, PREEMPTED, SHOWN_NAME, COLUMNS };
enum { PROCESS = COLUMNS, PARENT, PROGRAM, THREADS, STATE, TRACE, SHOWN_TRACE, FAMILY_COLUMNS };

static const struct tp_relation_column columns[FAMILY_COLUMNS] = {
    [THREAD] = {"thread", "number of the thread in the trace, from 0, as in --thread",
	.type = TP_TYPE_INT32, .title = "thread"},
    [TID] = {"tid", "its number in the operating system", .title = "tid", .old = {"os_tid"}},
    [NAME] = {"name", "its name", .type = TP_TYPE_TEXT, .nullable = true},
    [EVENTS] = {"events", "records of enters and exits", .unit = TP_UNIT_COUNT, .title = "events"},
    [LOST] = {"lost", "events that were lost; if not 0, the other numbers are too low",
	.unit = TP_UNIT_COUNT, .title = "lost"},
    [CALLS] = {"calls", "calls with times, and those that were only counted", .unit = TP_UNIT_COUNT,
	.title = "calls"},
    [BUSY] = {"busy_ns", "ns in recorded functions", .unit = TP_UNIT_TIME, .title = "busy",
	.old = {"busy"}},
    [CPU] = {"cpu_ns", "ns with a processor; NULL: unknown", .unit = TP_UNIT_NS, .title = "cpu",
	.rank = 1, .sparse = true, .missing = -1, .old = {"cpu"}},
    [DELAY] = {"delay_ns", "ns, at least, in which it could run but had no processor",
	.unit = TP_UNIT_NS, .title = "delay", .rank = 2, .sparse = true, .missing = -1,
	.old = {"delay"}},
    [MISSING] = {"missing", "recorded events that could not be written", .unit = TP_UNIT_COUNT},
    [FIRST] = {"first_ns", "ns from the trace's first record to its first event",
	.unit = TP_UNIT_TIME, .old = {"t_first"}},
    [LAST] = {"last_ns", "... to its last event", .unit = TP_UNIT_TIME, .old = {"t_last"}},
    [ENDED] = {"ended", "1: the thread has ended", .type = TP_TYPE_INT32},
    [DAMAGED] = {"damaged", "1: its records could not be read to the end", .type = TP_TYPE_INT32},
    [WAIT] = {"wait_ns",
	"ns between its first and last event in which it waited for something; NULL: unknown",
	.unit = TP_UNIT_TIME, .title = "wait", .rank = 3, .sparse = true, .missing = -1},
    [PREEMPTED] = {"preempted_ns", "... in which it could run but had no processor",
	.unit = TP_UNIT_TIME, .title = "preempted", .rank = 3, .sparse = true, .missing = -1},
    [SHOWN_NAME] = {"shown_name", "name, or \"thread\"", .type = TP_TYPE_TEXT, .title = "name",
	.elastic = true, .absent = TP_FORM_CSV | TP_FORM_SQL | TP_FORM_PARQUET,
	.reason = "computed from other columns"},
    [PROCESS] = {"process", "its number in the operating system", .title = "pid"},
    [PARENT] = {"parent", "the process that it was forked from", .title = "parent"},
    [PROGRAM] = {"program", "last component of its path", .type = TP_TYPE_TEXT, .title = "program"},
    [THREADS] = {"threads", "that were recorded", .title = "threads", .rank = 1},
    [STATE] = {"state", "complete, unfinished, damaged or recovered", .type = TP_TYPE_TEXT,
	.title = "state"},
    [TRACE] = {"file", "its trace", .type = TP_TYPE_TEXT},
    [SHOWN_TRACE] = {"shown_file", "last component of file", .type = TP_TYPE_TEXT, .title = "file",
	.elastic = true},
};

static struct tp_cell value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_thread_result *result = row;
	const struct tp_thread *thread = result->thread;
	switch (column) {
	case THREAD:
		return tp_cell_number(thread->number);
	case TID:
		return tp_cell_count(thread->os_tid);
	case NAME:
		return tp_cell_text(thread->name);
	case EVENTS:
		return tp_cell_count(result->counts.events);
	case LOST:
		return tp_cell_count(
		    thread->lost > result->counts.lost ? thread->lost : result->counts.lost);
	case CALLS:
		return tp_cell_count(result->call_count);
	case BUSY:
		return tp_cell_time(data, true, result->busy);
	case CPU:
		return tp_cell_if(thread->has_cpu, tp_cell_count(thread->cpu_ns));
	case DELAY:
		return tp_cell_if(thread->has_delay, tp_cell_count(thread->delay_ns));
	case MISSING:
		return tp_cell_count(thread->unwritten.events);
	case FIRST:
		return tp_cell_at(data, result->first != UINT64_MAX, result->first);
	case LAST:
		return tp_cell_at(data, result->first != UINT64_MAX, result->last);
	case ENDED:
		return tp_cell_number(thread->ended);
	case DAMAGED:
		return tp_cell_number(result->code != 0);
	case WAIT:
	case PREEMPTED: {
		const struct tp_off off = tp_thread_off(result);
		return tp_cell_time(
		    data, thread->off, column == WAIT ? off.blocked : off.preempted);
	}
	default:
		return tp_cell_text(tp_view_thread_name(thread));
	}
}

static struct tp_rows rows(const struct tp_relation_data *data)
{
	return (struct tp_rows){data->analysis->threads, data->analysis->thread_count,
	    sizeof(*data->analysis->threads)};
}

const struct tp_relation tp_relation_threads = {
    .name = "threads",
    .summary = "the threads of the program",
    .columns = columns,
    .count = COLUMNS,
    .ordered = true,
    .unique = true,
    .text = (const uint8_t[]){THREAD, TID, EVENTS, LOST, CALLS, BUSY, CPU, WAIT, PREEMPTED, DELAY,
	SHOWN_NAME, TP_RELATION_END},
    .forms = TP_FORM_ALL & ~TP_FORM_REPORT,
    .reason = "the report computes the sums of each thread from its paths",
    .rows = rows,
    .value = value,
};

// ---- of a family

// What threads and processes of a family have in common.
static struct tp_cell member_value(const struct tp_family_member *member, uint32_t column)
{
	const struct tp_tracefile *trace = member->analysis->trace;
	const char *slash = strrchr(trace->source.name, '/');
	switch (column) {
	case PROCESS:
		return tp_cell_if(member->process, tp_cell_count(member->process));
	case PARENT:
		return tp_cell_if(member->parent, tp_cell_count(member->parent));
	case PROGRAM:
		return tp_cell_text(tp_tracefile_program(trace));
	case STATE:
		return tp_cell_text(tp_family_state(member));
	case TRACE:
		return tp_cell_text(trace->source.name);
	default:
		return tp_cell_text(slash ? slash + 1 : trace->source.name);
	}
}

static struct tp_cell family_thread_value(
    struct tp_relation_data *data, const void *row, uint32_t column)
{
	return column < COLUMNS ? value(data, row, column) : member_value(data->member, column);
}

const struct tp_relation tp_relation_family_threads = {
    .name = "threads",
    .summary = "the threads of several processes",
    .columns = columns,
    .count = FAMILY_COLUMNS,
    .text = (const uint8_t[]){PROCESS, PROGRAM, THREAD, TID, EVENTS, LOST, CALLS, BUSY, CPU, DELAY,
	SHOWN_NAME, TP_RELATION_END},
    .csv = (const uint8_t[]){PROCESS, PROGRAM, THREAD, TID, NAME, EVENTS, LOST, CALLS, BUSY, CPU,
	DELAY, TRACE, TP_RELATION_END},
    .forms = TP_FORM_TEXT | TP_FORM_CSV,
    .reason = "the other formats have single traces",
    .value = family_thread_value,
};

static struct tp_cell process_value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_family_member *member = row;
	const struct tp_analysis *analysis = member->analysis;
	uint64_t calls = 0;
	uint64_t busy = 0;
	switch (column) {
	case THREADS:
		return tp_cell_number(analysis->thread_count);
	case EVENTS:
		return tp_cell_count(analysis->counts.events);
	case LOST:
		return tp_cell_count(analysis->lost);
	case CALLS:
		for (uint32_t i = 0; i < analysis->thread_count; i++)
			calls += analysis->threads[i].call_count;
		return tp_cell_count(calls);
	case BUSY:
		for (uint32_t i = 0; i < analysis->thread_count; i++)
			busy += tp_timebase_ns(&analysis->time, analysis->threads[i].busy);
		return tp_cell_time(data, true, busy);
	default:
		return member_value(member, column);
	}
}

const struct tp_relation tp_relation_family_processes = {
    .name = "processes",
    .summary = "the processes of a recording",
    .columns = columns,
    .count = FAMILY_COLUMNS,
    .text = (const uint8_t[]){PROCESS, PARENT, PROGRAM, THREADS, EVENTS, LOST, CALLS, BUSY, STATE,
	SHOWN_TRACE, TP_RELATION_END},
    .csv = (const uint8_t[]){PROCESS, PARENT, PROGRAM, THREADS, EVENTS, LOST, CALLS, BUSY, STATE,
	TRACE, TP_RELATION_END},
    .forms = TP_FORM_TEXT | TP_FORM_CSV,
    .reason = "the other formats have single traces",
    .value = process_value,
};
