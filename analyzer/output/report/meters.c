// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block "meters": counters and energy of the whole run, beside the timeline.
#include "report.h"

#include "analyzer/output/format/slices.h"
#include "common/array.h"
#include "common/varint.h"

#include <stdlib.h>
#include <string.h>

// Readings of all meters together; where there are more, some neighbours are one, with their mean.
enum { POINTS_MAX = 100000 };

static void add_text(struct tp_buf *out, const char *text)
{
	tp_varint_add(out, strlen(text));
	tp_buf_add_string(out, text);
}

// The last point is the end of the known values.
static uint64_t mean(const struct tp_slice_point *points, uint64_t from, uint64_t to)
{
	const double all = (double)(points[to].time_ns - points[from].time_ns);
	double sum = 0;
	for (uint64_t i = from; i < to; i++)
		sum += (double)points[i].value *
		       (double)(points[i + 1].time_ns - points[i].time_ns) / (all > 0 ? all : 1);
	return to - from > 1 ? (uint64_t)sum : points[from].value;
}

static void add_points(
    const struct tp_slice_point *points, uint64_t count, uint64_t step, struct tp_buf *out)
{
	const uint64_t last = count - 1;
	tp_varint_add(out, (last + step - 1) / step + 1);
	uint64_t before = 0;
	for (uint64_t i = 0; i < count; i = i < last && i + step > last ? last : i + step) {
		tp_varint_add(out, points[i].time_ns - before);
		before = points[i].time_ns;
	}
	for (uint64_t i = 0; i < last; i += step)
		tp_varint_add(out, mean(points, i, i + step < last ? i + step : last));
	tp_varint_add(out, points[last].value);
}

bool tp_report_has_meters(const struct tp_analysis *analysis)
{
	const struct tp_slices slices = {.analysis = analysis};
	struct tp_slice_track track;
	uint64_t at = 0;
	return tp_slices_next_track(&slices, &at, &track);
}

bool tp_report_add_meters(struct tp_report *report, struct tp_buf *out)
{
	const struct tp_slices slices = {.analysis = report->analysis, .to_ns = UINT64_MAX};
	const struct tp_tracefile *trace = report->analysis->trace;
	const uint64_t all = trace->counters.reading_count + trace->energy.reading_count;
	const uint64_t step = all / POINTS_MAX + 1;
	struct tp_slice_point *points = NULL;
	uint64_t room = 0;
	bool ok = true;
	struct tp_slice_track track;
	for (uint64_t at = 0; ok && tp_slices_next_track(&slices, &at, &track);) {
		uint64_t count = 0;
		uint64_t from = 0;
		struct tp_slice_point point;
		while (ok && tp_slices_next_point(&slices, &track, &from, &point)) {
			ok = TP_GROW(points, room, count + 1);
			if (ok)
				points[count++] = point;
		}
		// One reading is no stretch of time.
		if (!ok || count < 2)
			continue;
		add_text(out, track.meter->name);
		add_text(out, track.unit);
		add_text(out, track.meter->note);
		add_points(points, count, step, out);
	}
	add_text(out, "");
	report->meter_step = step;
	free(points);
	return ok;
}
