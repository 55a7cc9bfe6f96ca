// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters and energy as tracks beside the slices of threads.
#include "slices.h"

#include "common/units.h"

// Of both sections, the meter number *AT in them; NULL: there are no more.
static const struct tp_meter_row *next_row(
    const struct tp_tracefile *trace, uint64_t *at, const struct tp_meter_table **table)
{
	const struct tp_meter_table *both[] = {&trace->counters, &trace->energy};
	uint64_t before = 0;
	for (int i = 0; i < 2; i++) {
		*table = both[i];
		if (*at - before < both[i]->row_count)
			return &both[i]->rows[(*at)++ - before];
		before += both[i]->row_count;
	}
	return NULL;
}

bool tp_slices_next_track(
    const struct tp_slices *slices, uint64_t *at, struct tp_slice_track *track)
{
	static const char *const rates[] = {"1/s", "ns/s", "bytes/s", "uW"};
	const struct tp_analysis *analysis = slices->analysis;
	const struct tp_meter_table *table;
	if (!analysis->time.has_origin || analysis->timeless)
		return false;
	for (const struct tp_meter_row *row; (row = next_row(analysis->trace, at, &table));) {
		const struct teeperf_trace_meter *meter = row->meter;
		if (row->phase || !(meter->flags & TEEPERF_METER_COUNTED) ||
		    meter->kind == TEEPERF_METER_FINAL || meter->unit > TEEPERF_METER_MICROJOULES)
			continue;
		*track = (struct tp_slice_track){
		    .meter = meter,
		    .table = table,
		    .unit = meter->kind == TEEPERF_METER_GAUGE ? tp_meter_unit_name(meter->unit)
							       : rates[meter->unit],
		};
		return true;
	}
	return false;
}

static const struct teeperf_trace_reading *next_reading(
    const struct tp_slice_track *track, uint64_t *at)
{
	const struct tp_meter_table *table = track->table;
	while (*at < table->reading_count && table->readings[*at].meter != track->meter)
		++*at;
	return *at < table->reading_count ? table->readings[(*at)++].reading : NULL;
}

// How fast it grew, by the second, with what it had of the hardware. False: nobody knows.
static bool rate(const struct teeperf_trace_reading *from, const struct teeperf_trace_reading *to,
    uint64_t *value)
{
	double counted;
	const uint64_t ns = to->monotonic_ns - from->monotonic_ns;
	if (!ns || to->value < from->value || to->enabled_ns < from->enabled_ns ||
	    to->running_ns < from->running_ns ||
	    !tp_scale_counted(to->value - from->value, to->enabled_ns - from->enabled_ns,
		to->running_ns - from->running_ns, &counted))
		return false;
	counted = counted / (double)ns * 1e9;
	*value = counted < (double)INT64_MAX ? (uint64_t)(counted + 0.5) : INT64_MAX;
	return true;
}

bool tp_slices_next_point(const struct tp_slices *slices, const struct tp_slice_track *track,
    uint64_t *at, struct tp_slice_point *point)
{
	const struct tp_analysis *analysis = slices->analysis;
	const uint64_t first = tp_timebase_at(&analysis->time, analysis->origin);
	for (const struct teeperf_trace_reading *reading; (reading = next_reading(track, at));) {
		uint64_t ahead = *at;
		const struct teeperf_trace_reading *next = next_reading(track, &ahead);
		const uint64_t ns = reading->monotonic_ns;
		*point = (struct tp_slice_point){.time_ns = ns > first ? ns - first : 0};
		if (track->meter->kind == TEEPERF_METER_GAUGE)
			point->value = reading->value < INT64_MAX ? reading->value : INT64_MAX;
		else if (next && !rate(reading, next, &point->value))
			continue;
		if (point->time_ns >= slices->from_ns && point->time_ns < slices->to_ns)
			return true;
	}
	return false;
}
