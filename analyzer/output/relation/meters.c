// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The relations "counters", "energy", "counter_readings" and "energy_readings": what 'teeperf
// record --counters' and '--energy' measured.
#include "relation.h"

#include <stdio.h>

static struct tp_cell at(const struct tp_relation_data *data, uint64_t monotonic_ns)
{
	const struct tp_timebase *time = &data->analysis->time;
	const uint64_t first = tp_timebase_at(time, data->analysis->origin);
	return tp_cell_if(time->has_origin && !data->analysis->timeless,
	    tp_cell_count(monotonic_ns > first ? monotonic_ns - first : 0));
}

static bool is_timed(const struct teeperf_trace_meter *meter)
{
	return meter->flags & TEEPERF_METER_TIMED;
}

// The meter's note, and what limits it in this phase.
static struct tp_cell note(struct tp_relation_data *data, const struct tp_meter_row *row)
{
	const char *const text = row->meter->note;
	const bool shared = is_timed(row->meter) && row->running_ns < row->enabled_ns;
	char more[64] = "";
	if (shared && row->running_ns)
		snprintf(more, sizeof(more), "counted for %.1f%% of the time, scaled up",
		    (double)row->running_ns / (double)row->enabled_ns * 100);
	else if (shared)
		snprintf(more, sizeof(more), "the hardware was never free");
	else if (row->meter->flags & TEEPERF_METER_BROKEN && !text[0])
		snprintf(more, sizeof(more), "a reading failed: it may be too small");
	snprintf(
	    data->made, sizeof(data->made), "%s%s%s", text, text[0] && more[0] ? "; " : "", more);
	return tp_cell_text(data->made);
}

#define PHASE_HELP "0: the whole run; those between switches and 'teeperf ctl mark' count from 1"
#define START_HELP "ns from the first record to the start of the phase; 0 if it began before"
#define NOTE_HELP "what limits it, or why it has no value"

// ---- counters

enum { COUNTER, PHASE, START, END, VALUE, UNIT, RAW, ENABLED, RUNNING, NOTE, COLUMNS };

static const struct tp_relation_column columns[COLUMNS] = {
    [COUNTER] = {"counter", "its name in perf", .type = TP_TYPE_TEXT, .title = "counter"},
    [PHASE] = {"phase", PHASE_HELP, .type = TP_TYPE_INT32, .title = "phase", .rank = 2},
    [START] = {"start_ns", START_HELP, .unit = TP_UNIT_TIME, .title = "start", .rank = 3,
	.missing = -1},
    [END] = {"end_ns", "the same for its end", .unit = TP_UNIT_TIME, .title = "end", .rank = 4,
	.missing = -1},
    [VALUE] = {"amount",
	"count in the phase, the greatest reading of cgroup-memory, the last one of "
	"cgroup-memory-peak; NULL: unknown",
	.unit = TP_UNIT_COUNT, .title = "amount", .missing = -1},
    [UNIT] = {"unit", "events, ns or bytes", .type = TP_TYPE_TEXT, .title = "unit"},
    [RAW] = {"raw_amount", "amount before it was scaled up by enabled_ns / running_ns",
	.unit = TP_UNIT_COUNT, .missing = -1},
    [ENABLED] = {"enabled_ns", "processor time of all threads in which it was enabled",
	.unit = TP_UNIT_NS, .missing = -1},
    [RUNNING] = {"running_ns", "the part of it in which it had a hardware counter",
	.unit = TP_UNIT_NS, .missing = -1},
    [NOTE] = {"note", NOTE_HELP, .type = TP_TYPE_TEXT, .title = "note", .elastic = true,
	.made = true},
};

static struct tp_cell value(struct tp_relation_data *data, const void *item, uint32_t column)
{
	const struct tp_meter_row *row = item;
	const bool timed = row->known && is_timed(row->meter);
	switch (column) {
	case COUNTER:
		return tp_cell_text(row->meter->name);
	case PHASE:
		return tp_cell_number(row->phase);
	case START:
		return at(data, row->start_ns);
	case END:
		return at(data, row->end_ns);
	case VALUE:
		return tp_cell_if(row->known, tp_cell_count(row->value));
	case UNIT:
		return tp_cell_text(tp_meter_unit_name(row->meter->unit));
	case RAW:
		return tp_cell_if(row->known, tp_cell_count(row->raw));
	case ENABLED:
		return tp_cell_if(timed, tp_cell_count(row->enabled_ns));
	case RUNNING:
		return tp_cell_if(timed, tp_cell_count(row->running_ns));
	default:
		return note(data, row);
	}
}

static struct tp_rows rows(const struct tp_relation_data *data)
{
	const struct tp_meter_table *table = &data->analysis->trace->counters;
	return (struct tp_rows){table->rows, table->row_count, sizeof(*table->rows)};
}

static const uint8_t text[] = {COUNTER, PHASE, START, END, VALUE, UNIT, NOTE, TP_RELATION_END};

const struct tp_relation tp_relation_counters = {
    .name = "counters",
    .summary =
	"counters of the kernel and the processor (record --counters), for the whole run and by "
	"phase",
    .columns = columns,
    .count = COLUMNS,
    .text = text,
    .forms = TP_FORM_ALL & ~TP_FORM_REPORT,
    .reason = "the report shows functions",
    .rows = rows,
    .value = value,
};

// ---- energy

enum { DOMAIN, E_PHASE, E_START, E_END, ENERGY, POWER, E_NOTE, ENERGY_COLUMNS };

static const struct tp_relation_column energy_columns[ENERGY_COLUMNS] = {
    [DOMAIN] = {"domain", "of RAPL: package-0, package-0/core, psys, ...", .type = TP_TYPE_TEXT,
	.title = "domain"},
    [E_PHASE] = {"phase", PHASE_HELP, .type = TP_TYPE_INT32, .title = "phase", .rank = 2},
    [E_START] = {"start_ns", START_HELP, .unit = TP_UNIT_TIME, .title = "start", .rank = 3,
	.missing = -1},
    [E_END] = {"end_ns", "the same for its end", .unit = TP_UNIT_TIME, .title = "end", .rank = 4,
	.missing = -1},
    [ENERGY] = {"energy_uj", "microjoules that the whole machine consumed; NULL: not known",
	.unit = TP_UNIT_COUNT, .title = "energy (uJ)", .missing = -1},
    [POWER] = {"power_uw", "the same divided by the length of the phase: microwatts",
	.unit = TP_UNIT_COUNT, .title = "power (uW)", .rank = 1, .missing = -1},
    [E_NOTE] = {"note", NOTE_HELP, .type = TP_TYPE_TEXT, .title = "note", .elastic = true,
	.made = true},
};

static struct tp_cell energy_value(struct tp_relation_data *data, const void *item, uint32_t column)
{
	const struct tp_meter_row *row = item;
	const uint64_t ns = row->end_ns - row->start_ns;
	switch (column) {
	case DOMAIN:
		return tp_cell_text(row->meter->name);
	case E_PHASE:
		return tp_cell_number(row->phase);
	case E_START:
		return at(data, row->start_ns);
	case E_END:
		return at(data, row->end_ns);
	case ENERGY:
		return tp_cell_if(row->known, tp_cell_count(row->value));
	case POWER:
		return tp_cell_if(row->known && ns && !(row->meter->flags & TEEPERF_METER_BROKEN),
		    tp_cell_count((uint64_t)((double)row->value / (double)(ns ? ns : 1) * 1e9)));
	default:
		return note(data, row);
	}
}

static struct tp_rows energy_rows(const struct tp_relation_data *data)
{
	const struct tp_meter_table *table = &data->analysis->trace->energy;
	return (struct tp_rows){table->rows, table->row_count, sizeof(*table->rows)};
}

static const uint8_t energy_text[] = {
    DOMAIN, E_PHASE, E_START, E_END, ENERGY, POWER, E_NOTE, TP_RELATION_END};

const struct tp_relation tp_relation_energy = {
    .name = "energy",
    .summary = "the machine's energy consumption (record --energy), for the whole run and by phase",
    .columns = energy_columns,
    .count = ENERGY_COLUMNS,
    .text = energy_text,
    .forms = TP_FORM_ALL & ~TP_FORM_REPORT,
    .reason = "the report shows functions",
    .rows = energy_rows,
    .value = energy_value,
};

// ---- readings

enum { R_COUNTER, R_TIME, R_CAUSE, R_VALUE, R_UNIT, R_ENABLED, R_RUNNING, READING_COLUMNS };

#define READING_COLUMNS_BEHIND_NAME                                                              \
	[R_TIME] = {"read_ns", "ns from the first record; 0 if before it", .unit = TP_UNIT_TIME, \
	    .missing = -1},                                                                      \
	[R_CAUSE] = {"cause", "start, interval, switch, mark or end", .type = TP_TYPE_TEXT},     \
	[R_VALUE] = {"amount", "the meter's reading", .unit = TP_UNIT_COUNT},                    \
	[R_UNIT] = {"unit", "events, ns, bytes or uJ", .type = TP_TYPE_TEXT},                    \
	[R_ENABLED] = {"enabled_ns", "processor time in which it was enabled, so far",           \
	    .unit = TP_UNIT_NS, .missing = -1},                                                  \
	[R_RUNNING] = {"running_ns", "the part of it in which it had a hardware counter",        \
	    .unit = TP_UNIT_NS, .missing = -1}

static const struct tp_relation_column counter_reading_columns[READING_COLUMNS] = {
    [R_COUNTER] = {"counter", "as in counters", .type = TP_TYPE_TEXT},
    READING_COLUMNS_BEHIND_NAME,
};
static const struct tp_relation_column energy_reading_columns[READING_COLUMNS] = {
    [R_COUNTER] = {"domain", "as in energy", .type = TP_TYPE_TEXT},
    READING_COLUMNS_BEHIND_NAME,
};

static struct tp_cell reading_value(
    struct tp_relation_data *data, const void *item, uint32_t column)
{
	const struct tp_meter_reading *row = item;
	const bool timed = is_timed(row->meter);
	switch (column) {
	case R_COUNTER:
		return tp_cell_text(row->meter->name);
	case R_TIME:
		return at(data, row->reading->monotonic_ns);
	case R_CAUSE:
		return tp_cell_text(tp_meter_cause_name(row->reading->cause));
	case R_VALUE:
		return tp_cell_count(row->reading->value);
	case R_UNIT:
		return tp_cell_text(tp_meter_unit_name(row->meter->unit));
	case R_ENABLED:
		return tp_cell_if(timed, tp_cell_count(row->reading->enabled_ns));
	default:
		return tp_cell_if(timed, tp_cell_count(row->reading->running_ns));
	}
}

static struct tp_rows counter_reading_rows(const struct tp_relation_data *data)
{
	const struct tp_meter_table *table = &data->analysis->trace->counters;
	return (struct tp_rows){table->readings, table->reading_count, sizeof(*table->readings)};
}

static struct tp_rows energy_reading_rows(const struct tp_relation_data *data)
{
	const struct tp_meter_table *table = &data->analysis->trace->energy;
	return (struct tp_rows){table->readings, table->reading_count, sizeof(*table->readings)};
}

const struct tp_relation tp_relation_counter_readings = {
    .name = "counter_readings",
    .summary = "every reading of the counters, in order of time",
    .columns = counter_reading_columns,
    .count = READING_COLUMNS,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = "the view counters has sums",
    .rows = counter_reading_rows,
    .value = reading_value,
};

const struct tp_relation tp_relation_energy_readings = {
    .name = "energy_readings",
    .summary = "every reading of the energy, in order of time",
    .columns = energy_reading_columns,
    .count = READING_COLUMNS,
    .forms = TP_FORM_SQL | TP_FORM_PARQUET,
    .reason = "the view energy has sums",
    .rows = energy_reading_rows,
    .value = reading_value,
};
