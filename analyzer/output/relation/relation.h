/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A relation is a table that users see in several formats: functions, threads, paths, calls, ... It
 * is described once, in NAME.c of this room or, if only SQL has it, in analyzer/query/table_NAME.c.
 * A column has one name and one unit everywhere.
 *
 * Data flow: struct tp_relation_data is an analysis, with paths and percentiles where a relation
 * needs them. A row is a pointer into it, one of rows(data). Calls and events are streams, whose
 * reader makes the row. value(data, row, column) gives one cell: a number, a text or nothing. A
 * format turns cells into bytes by the unit of the column, and decides nothing else: SQL in
 * analyzer/query/sql_table.c, SQLite through SQL, Parquet in output/export/parquet.c, CSV, JSON and
 * tables for people in show.c (through grid.h), CSV of calls in output/export/csv.c, the report in
 * output/report/facts.c. So filters, compensation and sampling are what the analysis says, and the
 * same in all formats. docs/columns.md is generated from here; a column that a format does not have
 * carries its reason.
 */
#ifndef TP_RELATION_H
#define TP_RELATION_H

#include "analyzer/output/family.h"
#include "analyzer/profile/call_store.h"
#include "analyzer/profile/percentiles.h"
#include "analyzer/profile/system.h"

#define TP_RELATION_COLUMNS 48 /* at most */
#define TP_RELATION_END UINT8_MAX

enum tp_cell_type { TP_CELL_NULL = 0, TP_CELL_NUMBER, TP_CELL_COUNT, TP_CELL_REAL, TP_CELL_TEXT };

struct tp_cell {
	enum tp_cell_type type;
	bool estimated; /* scaled up from the calls that were sampled */
	bool at_least;  /* of the time for which the function was recorded, which was not all */
	union {
		int64_t number;
		uint64_t count;
		double real;
		const char *text; /* never NULL; outlives the analysis, or in data->made */
	};
};

enum tp_unit {
	TP_UNIT_NONE = 0, /* a number that is no amount, or a text */
	TP_UNIT_COUNT,
	/* ns by the trace's clock: ticks if no rate is known, no value without a clock */
	TP_UNIT_TIME,
	TP_UNIT_NS,    /* by another clock */
	TP_UNIT_TICKS, /* of the trace's clock */
	TP_UNIT_ADDRESS,
	TP_UNIT_KEY, /* a hash of 64 bits: a text in JSON, whose readers may have 53 */
	TP_UNIT_PERCENT,
};

enum tp_column_type { TP_TYPE_INT64 = 0, TP_TYPE_INT32, TP_TYPE_TEXT };

/* Formats, as bits. */
enum {
	TP_FORM_TEXT = 1,    /* the table of a view */
	TP_FORM_CSV = 2,     /* CSV and JSON of a view; CSV of single calls */
	TP_FORM_SQL = 4,     /* SELECT *, and the export to SQLite */
	TP_FORM_PARQUET = 8, /* the export */
	TP_FORM_REPORT = 16, /* the data of the HTML report */
	TP_FORM_ALL = 31,
};

struct tp_relation_column {
	const char *key; /* its name in every format */
	const char *help;
	enum tp_column_type type;
	enum tp_unit unit;
	const char *title; /* in text; NULL: not there */
	uint8_t rank;      /* in text that is too wide the highest goes first, and 0 never */
	bool elastic;      /* text: cut where it is too wide; one of the columns */
	bool sparse;       /* text: not there if no row has a value */
	bool made;         /* the text of a cell is in data->made */
	bool nullable;     /* SQL: NULL instead of 0 or an empty text */
	int8_t missing;    /* Parquet: what stands for no value */
	bool hidden;    /* SQL: can be named, but is not in SELECT * nor in the export to SQLite */
	uint8_t absent; /* of CSV, SQL and Parquet those that do not have it */
	const char *reason; /* for that */
	const char *old[2]; /* SQL: what it was called, for one release */
};

struct tp_relation_data {
	const struct tp_analysis *analysis;
	const struct tp_paths *paths;             /* of paths, thread_paths, calls */
	const struct tp_percentiles *percentiles; /* of latencies */
	const struct tp_system_items *system;     /* of syscalls, waits, io, faults, system */
	const struct tp_marks *marks;             /* of marks */
	const struct tp_family *family;        /* whose sums the analysis is; NULL: of one trace */
	const struct tp_family_member *member; /* of family_threads: whose analysis it is */
	const int64_t *keys; /* fn_key of each function; NULL: made when asked for */
	bool scaled;         /* times of sampled functions are estimates for all their calls */
	char made[1024];
};

/* Side by side in memory. */
struct tp_rows {
	const void *first;
	uint64_t count;
	size_t size; /* of one */
};

struct tp_relation {
	const char *name;
	const char *summary;
	const struct tp_relation_column *columns;
	uint32_t count;
	bool ordered; /* the first column is a number that never falls from row to row */
	bool unique;  /* and no two rows have the same */
	/*
	 * Columns in the order of a format, ended by TP_RELATION_END. NULL: text and report have
	 * none, CSV all.
	 */
	const uint8_t *text;
	const uint8_t *csv;
	const uint8_t *report;
	uint8_t forms;      /* those that have it */
	const char *reason; /* why the others do not */
	/* NULL: its rows are a stream. */
	struct tp_rows (*rows)(const struct tp_relation_data *data);
	struct tp_cell (*value)(struct tp_relation_data *data, const void *row, uint32_t column);
};

enum { TP_PART_COUNT = 6 }; /* columns of TP_PART_COLUMNS */

/* Columns of calls: SQL takes conditions on them, and CSV quotes texts of them once. */
enum { TP_CALLS_ID, TP_CALLS_PARENT, TP_CALLS_THREAD, TP_CALLS_FN, TP_CALLS_PATH };
enum { TP_CALLS_DEPTH = TP_CALLS_PATH + 1, TP_CALLS_REC, TP_CALLS_START, TP_CALLS_END };
enum { TP_CALLS_DURATION = TP_CALLS_END + 1, TP_CALLS_SELF_RAW, TP_CALLS_COST, TP_CALLS_INCLUSIVE };
enum { TP_CALLS_SELF = TP_CALLS_INCLUSIVE + 1, TP_CALLS_HOW, TP_CALLS_AWAY, TP_CALLS_FN_KEY };
enum { TP_CALLS_TID = TP_CALLS_FN_KEY + 1, TP_CALLS_DURATION_TICKS, TP_CALLS_SELF_TICKS };
enum { TP_CALLS_PARTS = TP_CALLS_SELF_TICKS + 1 };
enum { TP_CALLS_NAME = TP_CALLS_PARTS + TP_PART_COUNT, TP_CALLS_FUNCTION };

/* A row of calls: tp_call_row_get fills in all that is not of the thread. */
struct tp_call_row {
	struct tp_stored_call call;
	const struct tp_path *path;
	const struct tp_stored_thread *stored;
	const struct tp_thread *thread;
	uint64_t number; /* from 0 on among the calls of all threads */
};

/* A row of stacks. */
struct tp_stack_row {
	const struct tp_thread_result *thread;
	uint32_t call; /* in thread->open */
};

/* The thread's call number I. */
static inline void tp_call_row_get(
    struct tp_call_row *row, const struct tp_paths *paths, uint64_t i)
{
	tp_call_store_get(row->stored, i, &row->call);
	row->path = &paths->items[row->call.path];
	row->number = row->stored->first + i;
}

extern const struct tp_relation tp_relation_functions;        /* struct tp_function */
extern const struct tp_relation tp_relation_latencies;        /* struct tp_function */
extern const struct tp_relation tp_relation_threads;          /* struct tp_thread_result */
extern const struct tp_relation tp_relation_paths;            /* struct tp_path */
extern const struct tp_relation tp_relation_thread_paths;     /* struct tp_path_row */
extern const struct tp_relation tp_relation_modules;          /* struct teeperf_module */
extern const struct tp_relation tp_relation_calls;            /* struct tp_call_row */
extern const struct tp_relation tp_relation_counters;         /* struct tp_meter_row */
extern const struct tp_relation tp_relation_energy;           /* the same */
extern const struct tp_relation tp_relation_counter_readings; /* struct tp_meter_reading */
extern const struct tp_relation tp_relation_energy_readings;  /* the same */
extern const struct tp_relation tp_relation_marks;            /* struct tp_mark */
extern const struct tp_relation tp_relation_syscalls;         /* uint64_t, in system->lists[...] */
extern const struct tp_relation tp_relation_waits;
extern const struct tp_relation tp_relation_io;
extern const struct tp_relation tp_relation_faults;
extern const struct tp_relation tp_relation_allocations;
extern const struct tp_relation tp_relation_sgx;
extern const struct tp_relation tp_relation_stacks; /* struct tp_stack_row */
extern const struct tp_relation tp_relation_system; /* struct tp_system_row */
/* Of families: */
extern const struct tp_relation tp_relation_family_functions; /* struct tp_function */
extern const struct tp_relation tp_relation_family_threads;   /* struct tp_thread_result */
extern const struct tp_relation tp_relation_family_processes; /* struct tp_family_member */

/* What columns have in common that only SQL has, for those who ask for them by name. */
#define TP_HIDDEN_TICKS                                                                 \
	.unit = TP_UNIT_TICKS, .hidden = true, .absent = TP_FORM_CSV | TP_FORM_PARQUET, \
	.reason = "for ns(sum(...)), which rounds a sum once"
#define TP_HIDDEN_TID .hidden = true, .absent = TP_FORM_PARQUET, .reason = "joined by thread"

/*
 * Six columns from FIRST on, in relations whose rows have times in calls: what self and inclusive
 * times are made up of. tp_cell_part has the values.
 */
#define TP_PART_COLUMNS(first)                                                                     \
	[first] = {"self_cpu_ns", "ns of self time with a processor; NULL: not known",             \
	    .unit = TP_UNIT_TIME, .title = "cpu", .rank = 2, .sparse = true, .missing = -1},       \
	[(first) + 1] = {"self_wait_ns",                                                           \
	    "ns of self time in which the thread waited for something", .unit = TP_UNIT_TIME,      \
	    .title = "wait", .rank = 2, .sparse = true, .missing = -1},                            \
	[(first) + 2] = {"self_preempted_ns",                                                      \
	    "ns of self time in which the thread could run but had no processor",                  \
	    .unit = TP_UNIT_TIME, .title = "preempted", .rank = 5, .sparse = true, .missing = -1}, \
	[(first) + 3] = {"inclusive_cpu_ns", "the same of inclusive time", .unit = TP_UNIT_TIME,   \
	    .rank = 3, .missing = -1},                                                             \
	[(first) + 4] = {"inclusive_wait_ns", "the same", .unit = TP_UNIT_TIME, .missing = -1},    \
	[(first) + 5] = {                                                                          \
	    "inclusive_preempted_ns", "the same", .unit = TP_UNIT_TIME, .missing = -1}
/* Ticks of these columns, of which WHICH is the number, from 0 on. */
static inline uint64_t tp_part_ticks(const struct tp_node_parts *parts, uint32_t which)
{
	const uint64_t ticks[TP_PART_COUNT] = {parts->self_cpu, parts->self_off.blocked,
	    parts->self_off.preempted, parts->inclusive_cpu, parts->inclusive_off.blocked,
	    parts->inclusive_off.preempted};
	return ticks[which];
}

static inline const void *tp_relation_row(
    const struct tp_relation *relation, const struct tp_relation_data *data, uint64_t i)
{
	const struct tp_rows rows = relation->rows(data);
	return (const char *)rows.first + i * rows.size;
}

/* The columns that a format (one TP_FORM_) has, in its order. Returns their number. */
uint32_t tp_relation_list(
    const struct tp_relation *relation, uint8_t form, uint8_t columns[TP_RELATION_COLUMNS]);

static inline struct tp_cell tp_cell_number(int64_t number)
{
	return (struct tp_cell){.type = TP_CELL_NUMBER, .number = number};
}
static inline struct tp_cell tp_cell_count(uint64_t count)
{
	return (struct tp_cell){.type = TP_CELL_COUNT, .count = count};
}
static inline struct tp_cell tp_cell_text(const char *text)
{
	return (struct tp_cell){.type = TP_CELL_TEXT, .text = text ? text : ""};
}
/* Nothing, unless it is KNOWN. */
static inline struct tp_cell tp_cell_if(bool known, struct tp_cell cell)
{
	return known ? cell : (struct tp_cell){.type = TP_CELL_NULL};
}
/* A duration in ticks, as nanoseconds. */
static inline struct tp_cell tp_cell_time(
    const struct tp_relation_data *data, bool known, uint64_t ticks)
{
	if (!known || data->analysis->timeless)
		return (struct tp_cell){.type = TP_CELL_NULL};
	return tp_cell_count(tp_timebase_ns(&data->analysis->time, ticks));
}
/* A point of time, as nanoseconds from the first record on. */
static inline struct tp_cell tp_cell_at(
    const struct tp_relation_data *data, bool known, uint64_t ticks)
{
	if (!known || data->analysis->timeless)
		return (struct tp_cell){.type = TP_CELL_NULL};
	return tp_cell_count(tp_analysis_at_ns(data->analysis, ticks));
}
/* PART as percents of ALL. */
static inline struct tp_cell tp_cell_percent(uint64_t part, uint64_t all)
{
	return (struct tp_cell){
	    .type = TP_CELL_REAL,
	    .real = all ? (double)part * 100 / (double)all : 0,
	};
}
static inline struct tp_cell tp_cell_ticks(
    const struct tp_relation_data *data, bool known, uint64_t ticks)
{
	return tp_cell_if(known && !data->analysis->timeless, tp_cell_count(ticks));
}
/* What stands for the cell where numbers have a sign: at most INT64_MAX. */
static inline int64_t tp_cell_signed(const struct tp_cell *cell)
{
	return cell->type == TP_CELL_COUNT && cell->count > INT64_MAX ? INT64_MAX : cell->number;
}

/* Last component of a symbol's file, and line, in data->made; empty if they are not known. */
struct tp_cell tp_cell_source(struct tp_relation_data *data, const struct tp_symbol *symbol);

/* tp_function_stable_key of a function. */
static inline int64_t tp_relation_key(const struct tp_relation_data *data, uint32_t function)
{
	return data->keys ? data->keys[function]
			  : tp_function_stable_key(&data->analysis->functions[function]);
}

#endif
