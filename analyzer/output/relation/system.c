// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relations "syscalls", "waits", "io" and "faults": what the kernel did for the program, event
// by event. And "system": what each function caused.
#include "relation.h"

// What all events have in common, and what some have.
enum { THREAD, TID, PID, START, DURATION, FN, PATH, FUNCTION, COMMON };
enum { CALL = COMMON, RESULT, BYTES, ARGUMENT, UNFINISHED, CALL_COLUMNS };
enum {
	FUTEX = COMMON,
	WAIT_RESULT,
	WAKER_TID,
	WAKER_THREAD,
	WAKER_FN,
	WAKER_PATH,
	WAKER,
	WOKEN,
	WAIT_CALL,
	WAIT_COLUMNS
};
enum { IO_CALL = COMMON, IO_BYTES, FD, DEVICE, SECTOR, SEQUENTIAL, IO_COLUMNS };
enum { ADDRESS = COMMON, MEMORY, MAJOR, FAULT_COLUMNS };
enum { SGX_CALL = COMMON, SGX_COLUMNS };
enum { CAUSE = COMMON, OBJECTS, PAGE_BYTES, ALLOCATION_COLUMNS };

#define COMMON_COLUMNS                                                                         \
	[THREAD] = {"thread", "of threads; NULL: a thread that the trace does not have",       \
	    .type = TP_TYPE_INT32, .missing = -1},                                             \
	[TID] = {"tid", "the thread's number in the operating system", .type = TP_TYPE_INT64}, \
	[PID] = {"pid", "its process id", .type = TP_TYPE_INT64},                              \
	[START] = {"start_ns", "ns from the trace's first record", .unit = TP_UNIT_TIME},      \
	[DURATION] = {"duration_ns", "ns from its start to its end", .unit = TP_UNIT_TIME},    \
	[FN] = {"fn", "the function that caused it; NULL: the thread was in no recorded call", \
	    .type = TP_TYPE_INT32, .missing = -1},                                             \
	[PATH] = {"path", "of paths: the call path at that time", .type = TP_TYPE_INT32},      \
	[FUNCTION] = {"function", "its name", .type = TP_TYPE_TEXT, .nullable = true}

static struct tp_cell fn_cell(const struct tp_relation_data *data, struct tp_system_place place)
{
	return tp_cell_if(place.path != 0,
	    tp_cell_number(place.path ? data->paths->items[place.path].function : 0));
}

static struct tp_cell function_cell(
    const struct tp_relation_data *data, struct tp_system_place place)
{
	const uint32_t function = place.path ? data->paths->items[place.path].function : 0;
	return tp_cell_text(place.path ? data->analysis->functions[function].symbol.name : NULL);
}

static struct tp_cell thread_cell(const struct tp_relation_data *data, struct tp_system_place place)
{
	const bool known = place.thread != TP_SYSTEM_NOBODY;
	return tp_cell_if(known,
	    tp_cell_number(known ? data->analysis->threads[place.thread].thread->number : 0));
}

static const struct tp_system_item *item_of(const struct tp_relation_data *data, const void *row)
{
	const uint64_t *number = row;
	return &data->system->items[*number];
}

static struct tp_cell common_value(
    const struct tp_relation_data *data, const struct tp_system_item *item, uint32_t column)
{
	switch (column) {
	case THREAD:
		return thread_cell(data, item->at);
	case TID:
		return tp_cell_count(item->event->os_tid);
	case PID:
		return tp_cell_count(item->event->os_pid);
	case START:
		return tp_cell_at(data, data->analysis->time.has_origin, item->start);
	case DURATION:
		return tp_cell_count(item->event->duration_ns);
	case FN:
		return fn_cell(data, item->at);
	case PATH:
		return tp_cell_number(item->at.path);
	default:
		return function_cell(data, item->at);
	}
}

static struct tp_cell name_cell(
    struct tp_relation_data *data, const struct teeperf_system_event *event)
{
	return tp_cell_text(tp_system_event_name(data->analysis, event, data->made));
}

static struct tp_cell bytes_cell(
    const struct tp_relation_data *data, const struct teeperf_system_event *event)
{
	uint64_t bytes;
	const bool known = tp_system_event_bytes(data->analysis, event, &bytes);
	return tp_cell_if(known, tp_cell_count(bytes));
}

static struct tp_cell result_cell(const struct teeperf_system_event *event)
{
	return tp_cell_if(
	    !(event->flags & TEEPERF_SYSTEM_UNFINISHED), tp_cell_number((int64_t)event->result));
}

static struct tp_rows list_rows(const struct tp_relation_data *data, enum tp_system_list_id id)
{
	if (!data->system)
		return (struct tp_rows){NULL, 0, sizeof(uint64_t)};
	const struct tp_system_list *list = &data->system->lists[id];
	return (struct tp_rows){list->numbers, list->count, sizeof(*list->numbers)};
}

#define LIST_REASON "--view system sums them up; there may be millions"

// ---- syscalls

static const struct tp_relation_column call_columns[] = {
    COMMON_COLUMNS,
    [CALL] = {"call", "call or request: read, futex, block write, ...", .type = TP_TYPE_TEXT,
	.made = true},
    [RESULT] = {"result", "its result: below 0 an error; NULL: the thread ended in it",
	.type = TP_TYPE_INT64},
    [BYTES] = {"bytes", "bytes moved; NULL: it moves none, or failed", .unit = TP_UNIT_COUNT,
	.missing = -1},
    [ARGUMENT] = {"argument", "its first argument: a descriptor, an address, ...",
	.unit = TP_UNIT_ADDRESS},
    [UNFINISHED] = {"unfinished", "1: the thread ended in it", .type = TP_TYPE_INT32},
};

static struct tp_cell call_value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_system_item *item = item_of(data, row);
	switch (column) {
	case CALL:
		return name_cell(data, item->event);
	case RESULT:
		return result_cell(item->event);
	case BYTES:
		return bytes_cell(data, item->event);
	case ARGUMENT:
		return tp_cell_number((int64_t)item->event->argument);
	case UNFINISHED:
		return tp_cell_number(item->event->flags & TEEPERF_SYSTEM_UNFINISHED);
	default:
		return common_value(data, item, column);
	}
}

static struct tp_rows call_rows(const struct tp_relation_data *data)
{
	return list_rows(data, TP_SYSTEM_CALLS);
}

const struct tp_relation tp_relation_syscalls = {
    .name = "syscalls",
    .summary = "system calls, of a recording with --events",
    .columns = call_columns,
    .count = CALL_COLUMNS,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = LIST_REASON,
    .rows = call_rows,
    .value = call_value,
};

// ---- waits

static const struct tp_relation_column wait_columns[] = {
    COMMON_COLUMNS,
    [FUTEX] = {"futex",
	"address of the futex: of a lock, a condition, ...; of other calls, their first argument",
	.unit = TP_UNIT_ADDRESS},
    [WAIT_RESULT] = {"result",
	"its result; of futex 0: it was woken, else the reason why it did not wait or stopped "
	"waiting",
	.type = TP_TYPE_INT64},
    [WAKER_TID] = {"waker_tid", "tid of the thread that woke it; NULL: none did", .nullable = true},
    [WAKER_THREAD] = {"waker_thread", "the same, of threads", .type = TP_TYPE_INT32, .missing = -1},
    [WAKER_FN] = {"waker_fn", "the function that ended the wait", .type = TP_TYPE_INT32,
	.missing = -1},
    [WAKER_PATH] = {"waker_path", "of paths: its call path", .type = TP_TYPE_INT32},
    [WAKER] = {"waker", "its name", .type = TP_TYPE_TEXT, .nullable = true},
    [WOKEN] = {"woken_ns", "ns from the wait's start until it was woken; it runs later",
	.unit = TP_UNIT_NS, .missing = -1},
    [WAIT_CALL] = {"call", "the call in which it waited: futex, read, ...", .type = TP_TYPE_TEXT,
	.made = true},
};

static struct tp_cell wait_value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_system_item *item = item_of(data, row);
	const struct teeperf_system_event *event = item->event;
	const bool woken = tp_system_event_woken(data->analysis, event);
	switch (column) {
	case FUTEX:
		return tp_cell_number((int64_t)event->argument);
	case WAIT_RESULT:
		return result_cell(event);
	case WAKER_TID:
		return tp_cell_if(woken, tp_cell_count(event->waker_tid));
	case WAKER_THREAD:
		return thread_cell(data, item->waker);
	case WAKER_FN:
		return fn_cell(data, item->waker);
	case WAKER_PATH:
		return tp_cell_number(item->waker.path);
	case WAKER:
		return function_cell(data, item->waker);
	case WOKEN:
		return tp_cell_if(woken && event->woken_ns >= event->start_ns,
		    tp_cell_count(event->woken_ns - event->start_ns));
	case WAIT_CALL:
		return name_cell(data, event);
	default:
		return common_value(data, item, column);
	}
}

static struct tp_rows wait_rows(const struct tp_relation_data *data)
{
	return list_rows(data, TP_SYSTEM_WAITS);
}

const struct tp_relation tp_relation_waits = {
    .name = "waits",
    .summary =
	"waits for locks, conditions and other threads, and the threads that ended them: futex, "
	"and calls that another thread ended; of a recording with --events",
    .columns = wait_columns,
    .count = WAIT_COLUMNS,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = LIST_REASON,
    .rows = wait_rows,
    .value = wait_value,
};

// ---- io

static const struct tp_relation_column io_columns[] = {
    COMMON_COLUMNS,
    [IO_CALL] = {"call", "call or request: read, futex, block write, ...", .type = TP_TYPE_TEXT,
	.made = true},
    [IO_BYTES] = {"bytes", "bytes moved; NULL: it moves none, or failed", .unit = TP_UNIT_COUNT,
	.missing = -1},
    [FD] = {"fd", "of a call: the descriptor", .missing = -1},
    [DEVICE] = {"device", "of a request: major << 20 | minor", .missing = -1},
    [SECTOR] = {"sector", "of a request: its first, of 512 bytes each", .missing = -1},
    [SEQUENTIAL] = {"sequential",
	"of a request: 1: it begins where the previous recorded one on this device ended",
	.type = TP_TYPE_INT32, .missing = -1},
};

static struct tp_cell io_value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_system_item *item = item_of(data, row);
	const struct teeperf_system_event *event = item->event;
	const bool is_block = event->kind == TEEPERF_SYSTEM_BLOCK;
	switch (column) {
	case IO_CALL:
		return name_cell(data, event);
	case IO_BYTES:
		return bytes_cell(data, event);
	case FD:
		return tp_cell_if(!is_block, tp_cell_number((int32_t)event->argument));
	case DEVICE:
		return tp_cell_if(is_block, tp_cell_count(event->number));
	case SECTOR:
		return tp_cell_if(is_block, tp_cell_count(event->argument));
	case SEQUENTIAL:
		return tp_cell_if(is_block, tp_cell_number(item->sequential));
	default:
		return common_value(data, item, column);
	}
}

static struct tp_rows io_rows(const struct tp_relation_data *data)
{
	return list_rows(data, TP_SYSTEM_IO);
}

const struct tp_relation tp_relation_io = {
    .name = "io",
    .summary =
	"calls that read and write, and the resulting requests to block devices; of a recording "
	"with --events",
    .columns = io_columns,
    .count = IO_COLUMNS,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = LIST_REASON,
    .rows = io_rows,
    .value = io_value,
};

// ---- faults

static const struct tp_relation_column fault_columns[] = {
    COMMON_COLUMNS,
    [ADDRESS] = {"address", "in the module's file; of a fault, in the process",
	.unit = TP_UNIT_ADDRESS},
    [MEMORY] = {"memory",
	"kind of memory: stack (the thread's own), heap (of brk), anon, file, code, other",
	.type = TP_TYPE_TEXT},
    [MAJOR] = {"major", "1: it had to be read from a device", .type = TP_TYPE_INT32},
};

static struct tp_cell fault_value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_system_item *item = item_of(data, row);
	switch (column) {
	case ADDRESS:
		return tp_cell_number((int64_t)item->event->argument);
	case MEMORY:
		return tp_cell_text(tp_system_memory_name(item->event->detail));
	case MAJOR:
		return tp_cell_number((item->event->flags & TEEPERF_SYSTEM_MAJOR) != 0);
	default:
		return common_value(data, item, column);
	}
}

static struct tp_rows fault_rows(const struct tp_relation_data *data)
{
	return list_rows(data, TP_SYSTEM_FAULTS);
}

const struct tp_relation tp_relation_faults = {
    .name = "faults",
    .summary = "page faults, of a recording with --events",
    .columns = fault_columns,
    .count = FAULT_COLUMNS,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = LIST_REASON,
    .rows = fault_rows,
    .value = fault_value,
};

// ---- allocations

static const struct tp_relation_column allocation_columns[] = {
    COMMON_COLUMNS,
    [CAUSE] = {"call",
	"call or request: read, futex, block write, ...; of an allocation also \"fault\"",
	.type = TP_TYPE_TEXT, .made = true},
    [OBJECTS] = {"objects", "that the kernel allocated in it (kmalloc, kmem_cache_alloc)",
	.unit = TP_UNIT_COUNT},
    [PAGE_BYTES] = {"page_bytes", "of pages that it allocated", .unit = TP_UNIT_COUNT},
};

static struct tp_cell allocation_value(
    struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_system_item *item = item_of(data, row);
	switch (column) {
	case CAUSE:
		return tp_cell_text(tp_system_event_cause(data->analysis, item->event, data->made));
	case OBJECTS:
		return tp_cell_count(item->event->result);
	case PAGE_BYTES:
		return tp_cell_count(item->event->argument);
	default:
		return common_value(data, item, column);
	}
}

static struct tp_rows allocation_rows(const struct tp_relation_data *data)
{
	return list_rows(data, TP_SYSTEM_ALLOCATIONS);
}

const struct tp_relation tp_relation_allocations = {
    .name = "allocations",
    .summary =
	"kernel allocations in system calls and page faults, without durations; of a recording "
	"with --events",
    .columns = allocation_columns,
    .count = ALLOCATION_COLUMNS,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = LIST_REASON,
    .rows = allocation_rows,
    .value = allocation_value,
};

// ---- SGX

static const struct tp_relation_column sgx_columns[] = {
    COMMON_COLUMNS,
    [SGX_CALL] = {"call",
	"kernel function: sgx_vma_fault, sgx_encl_eldu, ...; times of functions that call each "
	"other overlap",
	.type = TP_TYPE_TEXT, .made = true},
};

static struct tp_cell sgx_value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_system_item *item = item_of(data, row);
	return column == SGX_CALL ? name_cell(data, item->event) : common_value(data, item, column);
}

static struct tp_rows sgx_rows(const struct tp_relation_data *data)
{
	return list_rows(data, TP_SYSTEM_SGX);
}

const struct tp_relation tp_relation_sgx = {
    .name = "sgx",
    .summary = "functions of the kernel's SGX driver, of a recording with --events",
    .columns = sgx_columns,
    .count = SGX_COLUMNS,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = LIST_REASON,
    .rows = sgx_rows,
    .value = sgx_value,
};

// ---- system

enum {
	S_COUNT,
	S_TOTAL,
	S_SHARE,
	S_MEAN,
	S_P50,
	S_P99,
	S_MAX,
	S_BYTES,
	S_EVENT,
	S_FUNCTION,
	S_WAKER,
	S_COLUMNS
};

static const struct tp_relation_column system_columns[] = {
    [S_COUNT] = {"count", "number of events", .unit = TP_UNIT_COUNT, .title = "count"},
    [S_TOTAL] = {"total_event_ns", "ns of all events", .unit = TP_UNIT_NS, .title = "time"},
    [S_SHARE] = {"share", "of all events' time", .unit = TP_UNIT_PERCENT, .title = "share",
	.rank = 2, .absent = TP_FORM_CSV, .reason = "computed from other columns"},
    [S_MEAN] = {"mean_event_ns", "mean ns of an event", .unit = TP_UNIT_NS, .title = "mean",
	.rank = 1, .absent = TP_FORM_CSV, .reason = "computed from other columns"},
    [S_P50] = {"p50_event_ns", "ns that half of them do not exceed, within 6 %", .unit = TP_UNIT_NS,
	.title = "p50", .rank = 4},
    [S_P99] = {"p99_event_ns", "the same for 99 %", .unit = TP_UNIT_NS, .title = "p99", .rank = 5},
    [S_MAX] = {"max_event_ns", "ns of the longest", .unit = TP_UNIT_NS, .title = "max", .rank = 3},
    [S_BYTES] = {"bytes", "bytes moved; nothing: such events move none", .unit = TP_UNIT_COUNT,
	.title = "bytes", .sparse = true},
    [S_EVENT] = {"event",
	"a system call by its name, \"heap fault\", \"block read\" (sequential) or \"random block "
	"read\", \"kernel memory: read\", ...",
	.type = TP_TYPE_TEXT, .title = "event", .made = true},
    [S_WAKER] = {"waker", "of waits: the function that ended them", .type = TP_TYPE_TEXT,
	.title = "ended by", .sparse = true, .nullable = true},
    [S_FUNCTION] = {"function", "that caused them", .type = TP_TYPE_TEXT, .title = "function",
	.elastic = true},
};

static struct tp_cell system_value(struct tp_relation_data *data, const void *item, uint32_t column)
{
	const struct tp_system_row *row = item;
	const bool timed = row->count && row->event.kind != TEEPERF_SYSTEM_ALLOCATION;
	uint64_t bytes;
	switch (column) {
	case S_COUNT:
		return tp_cell_count(row->count);
	case S_TOTAL:
		return tp_cell_if(timed, tp_cell_count(row->total_ns));
	case S_SHARE:
		return tp_cell_if(timed && row->event.kind != TEEPERF_SYSTEM_DRIVER,
		    tp_cell_percent(row->total_ns, data->system->total.total_ns));
	case S_MEAN:
		return tp_cell_if(timed, tp_cell_count(timed ? row->total_ns / row->count : 0));
	case S_P50:
	case S_P99:
		return tp_cell_if(
		    timed, tp_cell_count(tp_histogram_percentile(&row->times,
			       column == S_P50 ? 0.5 : 0.99, row->min_ns, row->max_ns)));
	case S_MAX:
		return tp_cell_if(timed, tp_cell_count(row->max_ns));
	case S_BYTES:
		return tp_cell_if(
		    row->bytes || (!row->is_total &&
				      tp_system_event_bytes(data->analysis, &row->event, &bytes)),
		    tp_cell_count(row->bytes));
	case S_WAKER:
		return tp_cell_if(row->waker != TP_SYSTEM_NOBODY,
		    tp_cell_text(row->waker == TP_SYSTEM_NOBODY
				     ? NULL
				     : data->analysis->functions[row->waker].symbol.name));
	case S_EVENT:
		// Sequential requests have a row of their own, since devices are faster with them.
		return tp_cell_if(!row->is_total, tp_cell_text(tp_system_item_name(data->analysis,
						      &row->event, row->sequential, data->made)));
	default:
		return tp_cell_text(row->is_total ? "total; bytes of calls"
						  : tp_system_row_function(data->analysis, row));
	}
}

static struct tp_rows system_rows(const struct tp_relation_data *data)
{
	return (struct tp_rows){
	    data->system->rows, data->system->row_count, sizeof(*data->system->rows)};
}

const struct tp_relation tp_relation_system = {
    .name = "system",
    .summary = "kernel work that each function caused: system calls, faults, requests to devices",
    .columns = system_columns,
    .count = S_COLUMNS,
    .text = (const uint8_t[]){S_COUNT, S_TOTAL, S_SHARE, S_MEAN, S_P50, S_P99, S_MAX, S_BYTES,
	S_EVENT, S_WAKER, S_FUNCTION, TP_RELATION_END},
    .forms = TP_FORM_TEXT | TP_FORM_CSV,
    .reason = "SQL and Parquet have the events",
    .rows = system_rows,
    .value = system_value,
};
