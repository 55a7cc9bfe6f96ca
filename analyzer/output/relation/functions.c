// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relations "functions" and "latencies", and the functions of a family.
#include "relation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FN, FUNCTION, LINKAGE, FILE_NAME, LINE, MODULE, ADDRESS, CALLS, TIMED, COUNTED, SAMPLED };
enum { SELF = SAMPLED + 1, INCLUSIVE, TOTAL, MIN, MAX, P50, P90, P99, UNCERTAINTY, FN_KEY };
enum {
	PARTS = FN_KEY + 1,
	CALLS_ESTIMATED = PARTS + TP_PART_COUNT,
	CALLS_MARGIN,
	INCLUSIVE_ESTIMATED,
	INCLUSIVE_MARGIN,
	SELF_TICKS,
	INCLUSIVE_TICKS,
	UNCERTAINTY_SHARE,
	RECORDED_SHARE,
	SHARE,
	MEAN,
	SOURCE,
	COLUMNS
};
enum { PROCESSES = COLUMNS, FAMILY_COLUMNS };

#define ONLY_TEXT                                              \
	.absent = TP_FORM_CSV | TP_FORM_SQL | TP_FORM_PARQUET, \
	.reason = "computed from other columns"

static const struct tp_relation_column columns[FAMILY_COLUMNS] = {
    [FN] = {"fn", "number of the function in this recording, from 0", .type = TP_TYPE_INT32},
    [FUNCTION] = {"function", "its name, demangled; several functions may have one name",
	.type = TP_TYPE_TEXT, .nullable = true, .title = "function", .elastic = true,
	.old = {"name"}},
    [LINKAGE] = {"linkage", "its name in the symbol table", .type = TP_TYPE_TEXT, .nullable = true},
    [FILE_NAME] = {"file", "of its source", .type = TP_TYPE_TEXT, .nullable = true},
    [LINE] = {"line", "of its source", .nullable = true},
    [MODULE] = {"module", "last component of its module's path", .type = TP_TYPE_TEXT,
	.nullable = true, .title = "module"},
    [ADDRESS] = {"address", "in the module's file", .unit = TP_UNIT_ADDRESS},
    [CALLS] = {"calls", "all of them", .unit = TP_UNIT_COUNT, .title = "calls"},
    [TIMED] = {"timed_calls", "calls with times; the times below are theirs", TP_TYPE_INT64,
	TP_UNIT_COUNT, .old = {"timed"}},
    [COUNTED] = {"counted_calls", "calls that were only counted", TP_TYPE_INT64, TP_UNIT_COUNT,
	.old = {"counted"}},
    [SAMPLED] = {"sampled_calls", "calls of a sampled function, else 0; one in N of them has times",
	TP_TYPE_INT64, TP_UNIT_COUNT, .old = {"sampled"}},
    [SELF] = {"self_ns", "ns in the function itself", TP_TYPE_INT64, TP_UNIT_TIME, "self",
	.old = {"self"}},
    [INCLUSIVE] = {"inclusive_ns",
	"ns in the function and all that it called; of recursive calls only the outermost",
	TP_TYPE_INT64, TP_UNIT_TIME, "inclusive", 1, .old = {"inclusive"}},
    [TOTAL] = {"total_ns", "ns of all its calls and all that they called, recursive calls included",
	TP_TYPE_INT64, TP_UNIT_TIME, .old = {"total"}},
    [MIN] = {"min_ns", "ns of its shortest call, with all that it called", TP_TYPE_INT64,
	TP_UNIT_TIME, "min", 7, .old = {"min"}},
    [MAX] = {"max_ns", "ns of its longest", TP_TYPE_INT64, TP_UNIT_TIME, "max", 5, .old = {"max"}},
    [P50] = {"p50_ns",
	"ns that half of its calls do not exceed, within 6 %; the table latencies has it exactly",
	TP_TYPE_INT64, TP_UNIT_TIME, "p50", 6, .old = {"p50"}},
    [P90] = {"p90_ns", "the same for 90 %", TP_TYPE_INT64, TP_UNIT_TIME, "p90", 8, .old = {"p90"}},
    [P99] = {"p99_ns", "the same for 99 %", TP_TYPE_INT64, TP_UNIT_TIME, "p99", 3, .old = {"p99"}},
    [UNCERTAINTY] = {"self_uncertainty_ns",
	"uncertainty of self_ns in ns, from the cost of recording there; NULL if unknown",
	TP_TYPE_INT64, TP_UNIT_TIME, .missing = -1, .old = {"self_uncertainty"}},
    [FN_KEY] = {"fn_key",
	"the same in every recording: a hash of linkage (or function) and module, which "
	"functions of one name in one module share",
	.unit = TP_UNIT_KEY},
    TP_PART_COLUMNS(PARTS),
    [CALLS_ESTIMATED] = {"calls_estimated",
	"estimate, from windows, of all calls of a function that 'record --budget' switched off "
	"for a part of the time; NULL if it was always on, or unknown",
	TP_TYPE_INT64, TP_UNIT_COUNT, "estimated", 3, .sparse = true, .missing = -1},
    [CALLS_MARGIN] = {"calls_estimated_pm", "uncertainty of calls_estimated, with 95 % confidence",
	TP_TYPE_INT64, TP_UNIT_COUNT, "+/-", 3, .sparse = true, .missing = -1},
    [INCLUSIVE_ESTIMATED] = {"inclusive_estimated_ns", "the same estimate of inclusive_ns",
	TP_TYPE_INT64, TP_UNIT_TIME, .missing = -1},
    [INCLUSIVE_MARGIN] = {"inclusive_estimated_pm_ns",
	"uncertainty of inclusive_estimated_ns, with 95 % confidence", TP_TYPE_INT64, TP_UNIT_TIME,
	.missing = -1},
    [SELF_TICKS] = {"self_ticks", "self_ns in ticks of the clock", TP_HIDDEN_TICKS},
    [INCLUSIVE_TICKS] = {"inclusive_ticks", "inclusive_ns in ticks", TP_HIDDEN_TICKS},
    [UNCERTAINTY_SHARE] = {"self_uncertainty_share", "self_uncertainty_ns as a part of self_ns",
	TP_TYPE_INT64, TP_UNIT_PERCENT, "+/-", 4, .sparse = true, ONLY_TEXT},
    [RECORDED_SHARE] = {"recorded_share",
	"part of the time for which it was recorded, if 'teeperf ctl' or 'record --budget' "
	"changed that",
	TP_TYPE_INT64, TP_UNIT_PERCENT, "recorded", 9, .sparse = true, ONLY_TEXT},
    [SHARE] = {"share", "part of the self time of all functions", TP_TYPE_INT64, TP_UNIT_PERCENT,
	"share", 2, ONLY_TEXT},
    [MEAN] = {"mean_ns", "total_ns for each of timed_calls", TP_TYPE_INT64, TP_UNIT_TIME, "mean",
	ONLY_TEXT},
    [SOURCE] = {"source", "last component of file, and line", TP_TYPE_TEXT, .title = "source",
	.made = true, ONLY_TEXT},
    [PROCESSES] = {"processes", "processes of the family that called it", TP_TYPE_INT64,
	TP_UNIT_COUNT, "processes", .rank = 3},
};

// Whether its sums are of a part of the time or of its calls, and so no totals.
static bool is_partial(const struct tp_relation_data *data, const struct tp_function *function)
{
	if (function->more)
		return true;
	return function->selected && !data->family && function->calls &&
	       tp_analysis_selected_share(data->analysis, function) < 1;
}

// A time of the calls that have times; or SCALED, of all calls. What was running when the recorder
// attached has none, but has the time of what it called.
static struct tp_cell scaled_time(const struct tp_relation_data *data,
    const struct tp_function *function, uint64_t ticks, uint64_t scaled)
{
	const bool known = tp_function_timed(function) || (!function->calls && ticks);
	struct tp_cell cell = tp_cell_time(data, known, data->scaled ? scaled : ticks);
	cell.estimated = data->scaled && function->sampled;
	cell.at_least = is_partial(data, function);
	return cell;
}

struct tp_cell tp_cell_source(struct tp_relation_data *data, const struct tp_symbol *symbol)
{
	const char *slash = strrchr(symbol->file, '/');
	data->made[0] = '\0';
	if (symbol->file[0])
		snprintf(data->made, sizeof(data->made), "%s:%" PRIu64,
		    slash ? slash + 1 : symbol->file, symbol->line);
	return tp_cell_text(data->made);
}

static struct tp_cell time_value(
    const struct tp_relation_data *data, const struct tp_function *function, uint32_t column)
{
	const uint64_t timed = tp_function_timed(function);
	const bool bounded = timed && function->uncertainty != UINT64_MAX;
	if (column >= PARTS && column < PARTS + TP_PART_COUNT) {
		const uint64_t ticks = tp_part_ticks(&function->parts, column - PARTS);
		return tp_cell_if(!function->has_no_parts,
		    scaled_time(data, function, ticks, tp_function_scaled(function, ticks)));
	}
	switch (column) {
	case SELF:
		return scaled_time(data, function, function->self, function->scaled_self);
	case INCLUSIVE:
		return scaled_time(data, function, function->inclusive, function->scaled_inclusive);
	case TOTAL:
		return tp_cell_time(data, timed, function->total);
	case MIN:
		return tp_cell_time(data, timed, function->min);
	case MAX:
		return tp_cell_time(data, timed, function->max);
	case P50:
	case P90:
	case P99:
		// They do not add up over processes.
		return tp_cell_time(
		    data, timed && !data->family, function->percentiles[column - P50]);
	case UNCERTAINTY:
		return tp_cell_if(
		    bounded, scaled_time(data, function, function->uncertainty,
				 tp_function_scaled(function, function->uncertainty)));
	case UNCERTAINTY_SHARE:
		return tp_cell_if(bounded,
		    tp_cell_percent(function->uncertainty, function->self ? function->self : 1));
	case RECORDED_SHARE:
		return tp_cell_if(function->selected && !data->family,
		    (struct tp_cell){.type = TP_CELL_REAL,
			.real = 100 * tp_analysis_selected_share(data->analysis, function)});
	case SHARE:
		return tp_cell_if(
		    timed, tp_cell_percent(function->scaled_self, data->analysis->scaled_self));
	case INCLUSIVE_ESTIMATED:
		return tp_cell_time(
		    data, function->estimate.has_inclusive, function->estimate.inclusive.value);
	case INCLUSIVE_MARGIN:
		return tp_cell_time(
		    data, function->estimate.has_inclusive, function->estimate.inclusive.margin);
	case SELF_TICKS:
		return tp_cell_ticks(data, timed, function->self);
	case INCLUSIVE_TICKS:
		return tp_cell_ticks(data, timed, function->inclusive);
	default: {
		struct tp_cell mean = tp_cell_time(data, timed, function->total);
		if (mean.type)
			mean.count /= timed;
		return mean;
	}
	}
}

static struct tp_cell value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_function *function = row;
	const struct tp_symbol *symbol = &function->symbol;
	switch (column) {
	case FN:
		return tp_cell_number(function - data->analysis->functions);
	case FUNCTION:
		return tp_cell_text(symbol->name);
	case LINKAGE:
		return tp_cell_text(symbol->linkage);
	case FILE_NAME:
		return tp_cell_text(symbol->file);
	case LINE:
		return tp_cell_count(symbol->line);
	case MODULE:
		return tp_cell_text(symbol->module);
	case ADDRESS:
		return tp_cell_number((int64_t)symbol->address);
	case CALLS: {
		struct tp_cell calls = tp_cell_count(function->calls);
		calls.at_least = is_partial(data, function);
		return calls;
	}
	case TIMED:
		return tp_cell_count(tp_function_timed(function));
	case COUNTED:
		return tp_cell_count(function->counted);
	case SAMPLED:
		return tp_cell_count(function->sampled);
	case CALLS_ESTIMATED:
		return tp_cell_if(
		    function->estimate.has_calls, tp_cell_count(function->estimate.calls.value));
	case CALLS_MARGIN:
		return tp_cell_if(
		    function->estimate.has_calls, tp_cell_count(function->estimate.calls.margin));
	case FN_KEY:
		return tp_cell_number(
		    tp_relation_key(data, (uint32_t)(function - data->analysis->functions)));
	case SOURCE:
		return tp_cell_source(data, symbol);
	case PROCESSES:
		return tp_cell_count(data->family->processes[function - data->analysis->functions]);
	default:
		return time_value(data, function, column);
	}
}

static struct tp_rows rows(const struct tp_relation_data *data)
{
	return (struct tp_rows){data->analysis->functions, data->analysis->function_count,
	    sizeof(*data->analysis->functions)};
}

const struct tp_relation tp_relation_functions = {
    .name = "functions",
    .summary = "the called functions: counts and times of all threads together",
    .columns = columns,
    .count = COLUMNS,
    .ordered = true,
    .unique = true,
    .text = (const uint8_t[]){CALLS, RECORDED_SHARE, CALLS_ESTIMATED, CALLS_MARGIN, SELF,
	UNCERTAINTY_SHARE, SHARE, PARTS, PARTS + 1, PARTS + 2, INCLUSIVE, MEAN, MIN, P50, P90, P99,
	MAX, FUNCTION, SOURCE, TP_RELATION_END},
    .csv = (const uint8_t[]){FUNCTION, CALLS, SELF, INCLUSIVE, MIN, MAX, MODULE, FILE_NAME, LINE,
	LINKAGE, ADDRESS, TIMED, P50, P90, P99, UNCERTAINTY, FN, TOTAL, COUNTED, SAMPLED, FN_KEY,
	PARTS, PARTS + 1, PARTS + 2, PARTS + 3, PARTS + 4, PARTS + 5, CALLS_ESTIMATED, CALLS_MARGIN,
	INCLUSIVE_ESTIMATED, INCLUSIVE_MARGIN, TP_RELATION_END},
    .report = (const uint8_t[]){CALLS, SELF, TIMED, UNCERTAINTY, INCLUSIVE, TOTAL, MIN, P50, P90,
	P99, MAX, PARTS, PARTS + 1, PARTS + 2, PARTS + 3, PARTS + 4, PARTS + 5, CALLS_ESTIMATED,
	CALLS_MARGIN, INCLUSIVE_ESTIMATED, INCLUSIVE_MARGIN, TP_RELATION_END},
    .forms = TP_FORM_ALL,
    .rows = rows,
    .value = value,
};

const struct tp_relation tp_relation_family_functions = {
    .name = "functions",
    .summary = "the functions of several processes together",
    .columns = columns,
    .count = FAMILY_COLUMNS,
    .text = (const uint8_t[]){CALLS, SELF, UNCERTAINTY_SHARE, SHARE, PARTS, PARTS + 1, PARTS + 2,
	INCLUSIVE, MEAN, MIN, MAX, PROCESSES, FUNCTION, MODULE, TP_RELATION_END},
    .csv = (const uint8_t[]){FUNCTION, CALLS, SELF, INCLUSIVE, MIN, MAX, MODULE, FILE_NAME, LINE,
	LINKAGE, ADDRESS, TIMED, P50, P90, P99, UNCERTAINTY, PROCESSES, PARTS, PARTS + 1, PARTS + 2,
	PARTS + 3, PARTS + 4, PARTS + 5, TP_RELATION_END},
    .forms = TP_FORM_TEXT | TP_FORM_CSV,
    .reason = "the other formats have single traces",
    .rows = rows,
    .value = value,
};

// ---- latencies

enum { L_FN, L_FUNCTION, L_CALLS, L_MIN, L_P50, L_P90, L_P99, L_P999, L_MAX, L_EXACT };

static const struct tp_relation_column latency_columns[] = {
    [L_FN] = {"fn", "of functions", .type = TP_TYPE_INT32},
    [L_FUNCTION] = {"function", "its name", .type = TP_TYPE_TEXT},
    [L_CALLS] = {"timed_calls", "with times", .unit = TP_UNIT_COUNT, .old = {"calls"}},
    [L_MIN] = {"min_ns", "ns of the shortest call, with all that it called", .unit = TP_UNIT_TIME,
	.old = {"min"}},
    [L_P50] = {"p50_ns", "ns that half of the calls do not exceed: exactly, by nearest rank",
	.unit = TP_UNIT_TIME, .old = {"p50"}},
    [L_P90] = {"p90_ns", "the same for 90 %", .unit = TP_UNIT_TIME, .old = {"p90"}},
    [L_P99] = {"p99_ns", "the same for 99 %", .unit = TP_UNIT_TIME, .old = {"p99"}},
    [L_P999] = {"p999_ns", "the same for 99.9 %", .unit = TP_UNIT_TIME, .old = {"p999"}},
    [L_MAX] = {"max_ns", "ns of the longest call", .unit = TP_UNIT_TIME, .old = {"max"}},
    [L_EXACT] = {"exact", "0: within 6 %, because there are more than 2^32 calls",
	.type = TP_TYPE_INT32},
};

static struct tp_cell latency_value(struct tp_relation_data *data, const void *row, uint32_t column)
{
	const struct tp_function *function = row;
	const uint64_t at = (uint64_t)(function - data->analysis->functions);
	const struct tp_function_percentiles *item = &data->percentiles->functions[at];
	const bool timed = item->calls != 0;
	switch (column) {
	case L_FN:
		return tp_cell_number((int64_t)at);
	case L_FUNCTION:
		return tp_cell_text(function->symbol.name);
	case L_CALLS:
		return tp_cell_count(tp_function_timed(function));
	case L_MIN:
		return tp_cell_time(data, timed, function->min);
	case L_MAX:
		return tp_cell_time(data, timed, function->max);
	case L_EXACT:
		return tp_cell_number(item->exact);
	default:
		return tp_cell_time(data, timed, item->values[column - L_P50]);
	}
}

const struct tp_relation tp_relation_latencies = {
    .name = "latencies",
    .summary = "exact percentiles of the durations of each function's calls; computed when queried",
    .columns = latency_columns,
    .count = sizeof(latency_columns) / sizeof(latency_columns[0]),
    .ordered = true,
    .unique = true,
    .forms = TP_FORM_SQL,
    .reason = "needs one more pass over the trace, which SQL makes when queried",
    .rows = rows,
    .value = latency_value,
};
