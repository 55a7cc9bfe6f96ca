// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sections COUNTERS and ENERGY.
#include "meters.h"

#include <string.h>

#include "common/bytes.h"
#include "common/clean.h"
#include "common/units.h"

// More than a recorder writes; a hostile file could ask for any number.
enum { METERS_MOST = 1024, ROWS_MOST = 1 << 20 };

// The state of a meter during the pass through its readings.
struct state {
	const struct teeperf_trace_reading *first; // of the run
	const struct teeperf_trace_reading *from;  // the latest when the phase began
	const struct teeperf_trace_reading *latest;
	uint64_t greatest; // of the phase
	uint64_t peak;     // of the run
	bool seen;         // there is a reading in the phase
};

struct rows {
	struct tp_meter_row *items;
	const struct teeperf_trace_meter *meters;
	struct state *states;
	uint32_t meter_count;
	uint32_t phases; // of a meter, the whole run included
};

static bool begins_phase(const struct teeperf_trace_reading *reading)
{
	return reading->cause == TEEPERF_READING_SWITCH || reading->cause == TEEPERF_READING_MARK;
}

static void set_total(struct tp_meter_row *row, const struct teeperf_trace_reading *from,
    const struct teeperf_trace_reading *to)
{
	if (!from || !to || to->value < from->value || to->enabled_ns < from->enabled_ns ||
	    to->running_ns < from->running_ns)
		return;
	double scaled;
	row->raw = to->value - from->value;
	row->enabled_ns = to->enabled_ns - from->enabled_ns;
	row->running_ns = to->running_ns - from->running_ns;
	row->known = tp_scale_counted(row->raw, row->enabled_ns, row->running_ns, &scaled);
	if (row->running_ns < row->enabled_ns)
		row->value = scaled < (double)INT64_MAX ? (uint64_t)(scaled + 0.5) : INT64_MAX;
	else
		row->value = row->raw;
}

// Of meter I in PHASE, from START to END.
static void set_row(struct rows *rows, uint32_t i, uint32_t phase, uint64_t start, uint64_t end)
{
	const struct state *state = &rows->states[i];
	const struct teeperf_trace_meter *meter = &rows->meters[i];
	struct tp_meter_row *row = &rows->items[(uint64_t)i * rows->phases + phase];
	*row =
	    (struct tp_meter_row){.meter = meter, .phase = phase, .start_ns = start, .end_ns = end};
	if (meter->kind == TEEPERF_METER_TOTAL) {
		set_total(row, phase ? state->from : state->first, state->latest);
	} else if (meter->kind == TEEPERF_METER_GAUGE) {
		row->known = phase ? state->seen : state->latest != NULL;
		row->value = row->raw = phase ? state->greatest : state->peak;
	} else if (state->latest && !phase) {
		row->known = true;
		row->value = row->raw = state->latest->value;
	}
}

static void end_phase(struct rows *rows, uint32_t phase, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < rows->meter_count; i++)
		set_row(rows, i, phase, start, end);
}

static void begin_phase(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->meter_count; i++) {
		struct state *state = &rows->states[i];
		state->from = state->latest;
		state->seen = state->latest;
		state->greatest = state->latest ? state->latest->value : 0;
	}
}

static void take(struct state *state, const struct teeperf_trace_reading *reading)
{
	if (!state->first)
		state->first = reading;
	if (!state->from)
		state->from = reading;
	state->latest = reading;
	if (!state->seen || reading->value > state->greatest)
		state->greatest = reading->value;
	if (reading->value > state->peak)
		state->peak = reading->value;
	state->seen = true;
}

// A moment is all readings of one time. It ends a phase, and begins the next one.
static void fill(struct rows *rows, const struct teeperf_trace_reading *readings, uint64_t count)
{
	uint32_t phase = 1;
	uint64_t start = count ? readings[0].monotonic_ns : 0;
	const uint64_t first = start;
	const uint64_t last = count ? readings[count - 1].monotonic_ns : 0;
	for (uint64_t i = 0; i < count;) {
		const uint64_t now = readings[i].monotonic_ns;
		bool begins = false;
		for (; i < count && readings[i].monotonic_ns == now; i++) {
			take(&rows->states[readings[i].meter], &readings[i]);
			begins |= begins_phase(&readings[i]);
		}
		if (!begins || rows->phases == 1)
			continue;
		end_phase(rows, phase++, start, now);
		begin_phase(rows);
		start = now;
	}
	if (rows->phases > 1)
		end_phase(rows, phase, start, last);
	end_phase(rows, 0, first, last);
}

// How many rows each meter has; 0: the readings are not in order, or of no meter.
static uint64_t count_phases(
    const struct teeperf_trace_reading *readings, uint64_t count, uint32_t meter_count)
{
	uint64_t begun = 0;
	uint64_t begun_ns = 0;
	for (uint64_t i = 0; i < count; i++) {
		if (readings[i].meter >= meter_count ||
		    (i && readings[i].monotonic_ns < readings[i - 1].monotonic_ns))
			return 0;
		if (begins_phase(&readings[i]) &&
		    (!begun || readings[i].monotonic_ns != begun_ns)) {
			begun++;
			begun_ns = readings[i].monotonic_ns;
		}
	}
	return begun ? begun + 2 : 1;
}

// Phases of a meter that has none: it is not there, or known for the whole run only.
static uint64_t drop_empty(struct tp_meter_row *rows, uint64_t count)
{
	uint64_t kept = 0;
	for (uint64_t i = 0; i < count; i++) {
		const struct teeperf_trace_meter *meter = rows[i].meter;
		if (!rows[i].phase ||
		    (meter->flags & TEEPERF_METER_COUNTED && meter->kind != TEEPERF_METER_FINAL))
			rows[kept++] = rows[i];
	}
	return kept;
}

static void clean(struct teeperf_trace_meter *meters, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		meters[i].name[sizeof(meters[i].name) - 1] = '\0';
		meters[i].note[sizeof(meters[i].note) - 1] = '\0';
		tp_clean(meters[i].name, strlen(meters[i].name));
		tp_clean(meters[i].note, strlen(meters[i].note));
	}
}

const char *tp_meter_table_read(struct tp_meter_table *table, struct tp_arena *arena,
    const void *payload, uint64_t size, bool *memory)
{
	struct tp_bytes bytes;
	struct tp_meter_table new = {0};
	*memory = true;
	tp_bytes_init(&bytes, payload, size);
	tp_bytes_copy(&bytes, &new.head, sizeof(new.head));
	const uint32_t meter_count = new.head.meter_count;
	const uint64_t count = new.head.reading_count;
	struct teeperf_trace_meter *meters;
	struct teeperf_trace_reading *readings;
	if (bytes.underflow || meter_count > METERS_MOST ||
	    tp_bytes_left(&bytes) != meter_count * sizeof(*meters) + count * sizeof(*readings))
		return "its size does not fit meters and their readings";
	meters = tp_arena_alloc(arena, (meter_count + 1) * sizeof(*meters));
	readings = tp_arena_alloc(arena, (count + 1) * sizeof(*readings));
	struct tp_meter_reading *list = tp_arena_alloc(arena, (count + 1) * sizeof(*list));
	struct state *states = tp_arena_alloc(arena, (meter_count + 1) * sizeof(*states));
	*memory = meters && readings && list && states;
	if (!*memory)
		return NULL;
	tp_bytes_copy(&bytes, meters, meter_count * sizeof(*meters));
	tp_bytes_copy(&bytes, readings, count * sizeof(*readings));
	clean(meters, meter_count);
	const uint64_t phases = count_phases(readings, count, meter_count);
	if (!phases)
		return "its readings are out of order, or belong to no meter";
	// Of all such sections together: each replaces the one before, whose memory is not given
	// back.
	new.made = table->made + phases *meter_count;
	if (phases * meter_count > ROWS_MOST || new.made > 4 * ROWS_MOST)
		return "it has too many phases";
	struct rows rows = {.meters = meters,
	    .meter_count = meter_count,
	    .states = states,
	    .phases = (uint32_t)phases};
	new.row_count = phases *meter_count;
	rows.items = tp_arena_alloc(arena, (new.row_count + 1) * sizeof(*rows.items));
	*memory = rows.items;
	if (!rows.items)
		return NULL;
	memset(states, 0, meter_count * sizeof(*states));
	fill(&rows, readings, count);
	new.row_count = drop_empty(rows.items, new.row_count);
	for (uint64_t i = 0; i < count; i++)
		list[i] = (struct tp_meter_reading){&meters[readings[i].meter], &readings[i]};
	new.rows = rows.items;
	new.readings = list;
	new.reading_count = count;
	*table = new;
	return NULL;
}

const char *tp_meter_unit_name(uint32_t unit)
{
	static const char *const names[] = {"events", "ns", "bytes", "uJ"};
	return unit < sizeof(names) / sizeof(names[0]) ? names[unit] : "";
}

const char *tp_meter_cause_name(uint32_t cause)
{
	static const char *const names[] = {"start", "interval", "switch", "mark", "end"};
	return cause < sizeof(names) / sizeof(names[0]) ? names[cause] : "";
}
