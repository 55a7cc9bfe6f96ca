// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predictions as a table, CSV or JSON.
#include "predict.h"

#include "analyzer/output/grid.h"

#include <inttypes.h>
#include <stdio.h>

struct shown {
	const struct tp_predictions *predictions;
	const struct tp_analysis *analysis;
	const struct tp_predict_options *options;
};

static uint64_t ticks_of(double ticks)
{
	return ticks > 0 ? (uint64_t)(ticks + 0.5) : 0;
}

static double ns_of(const struct tp_analysis *analysis, double ticks)
{
	return ticks * (double)analysis->time.ns / (double)analysis->time.ticks;
}

static double off(const struct tp_predictions *predictions)
{
	return predictions->replayed / predictions->measured - 1;
}

// What the predictions stand on.
static void add_heading(const struct shown *shown, struct tp_buf *out)
{
	const struct tp_predictions *predictions = shown->predictions;
	char measured[TP_TEXT_NUMBER];
	char ran[TP_TEXT_NUMBER];
	char waited[TP_TEXT_NUMBER];
	char stood[TP_TEXT_NUMBER];
	tp_buf_addf(out,
	    "run        %s from the first recorded call to the last; %" PRIu32 " thread%s, %" PRIu32
	    " processor%s\n",
	    tp_view_time(shown->analysis, measured, ticks_of(predictions->measured)),
	    predictions->threads, tp_plural(predictions->threads), predictions->processors,
	    tp_plural(predictions->processors));
	tp_buf_addf(out,
	    "threads    ran %s, waited %s for each other and %s for time, devices and others\n",
	    tp_view_time(shown->analysis, ran, predictions->ran),
	    tp_view_time(shown->analysis, waited, predictions->waited),
	    tp_view_time(shown->analysis, stood, predictions->stood));
	tp_buf_addf(out, "model      replays it with %+.1f%%\n", 100 * off(predictions));
	if (shown->analysis->compensation.applied)
		tp_buf_addf(out,
		    "cost       without that of recording, the run takes %s; changes are of that\n",
		    tp_view_time(shown->analysis, measured, ticks_of(predictions->net)));
	tp_buf_addf(out,
	    "assumed    %s; threads wait for each other where they did; "
	    "other waits last as long as they did\n\n",
	    shown->options->callees
		? "functions are faster with all that they call"
		: "functions are faster in their own code, not in what they call");
}

static void add_members(struct tp_json *json, const void *context)
{
	const struct shown *shown = context;
	const struct tp_predictions *predictions = shown->predictions;
	const struct tp_analysis *analysis = shown->analysis;
	tp_view_add_json(json, analysis);
	tp_json_object(json, "run");
	tp_json_uint(json, "measured_ns", ticks_of(ns_of(analysis, predictions->measured)));
	tp_json_uint(json, "replayed_ns", ticks_of(ns_of(analysis, predictions->replayed)));
	tp_json_uint(json, "net_ns", ticks_of(ns_of(analysis, predictions->net)));
	tp_json_uint(json, "threads", predictions->threads);
	tp_json_uint(json, "processors", predictions->processors);
	tp_json_uint(json, "ran_ns", tp_timebase_ns(&analysis->time, predictions->ran));
	tp_json_uint(json, "waited_ns", tp_timebase_ns(&analysis->time, predictions->waited));
	tp_json_uint(json, "stood_ns", tp_timebase_ns(&analysis->time, predictions->stood));
	tp_json_end(json);
}

static void add_row(
    struct tp_grid *grid, const struct shown *shown, const struct tp_prediction *item)
{
	const struct tp_predictions *predictions = shown->predictions;
	const double gained = predictions->net - item->time;
	char percent[TP_TEXT_NUMBER];
	char part[TP_TEXT_NUMBER];
	// 0 - x, as -x has a sign where nothing changes.
	tp_grid_relative(grid, predictions->net > 0 ? 0 - gained / predictions->net : 0);
	tp_grid_ns(grid, true, ns_of(shown->analysis, 0 - gained), true);
	tp_grid_time(grid, true, ticks_of(item->time));
	snprintf(percent, sizeof(percent), "%.4g%%", 100 * item->speedup);
	snprintf(part, sizeof(part), "%.6g", item->speedup);
	tp_grid_plain(grid, percent, part);
	tp_grid_time(grid, true, ticks_of(item->running));
	tp_grid_share(grid, ticks_of(item->running), shown->analysis->parts.inclusive_cpu);
	tp_grid_text(grid, shown->analysis->functions[item->function].symbol.name);
}

int tp_predictions_show(const struct tp_predictions *predictions,
    const struct tp_analysis *analysis, const struct tp_predict_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	static const struct tp_column columns[] = {
	    {"change", "change", 'r', 0, false, false},
	    {"by", "change_ns", 'r', 3, false, false},
	    {"the run takes", "predicted_ns", 'r', 2, false, false},
	    {"if faster by", "speedup", 'r', 0, false, false},
	    {"running", "running_ns", 'r', 1, false, false},
	    {"share", "running_share", 'r', 4, false, false},
	    {"function", "function", 'l', 0, false, true},
	    {0},
	};
	const struct shown shown = {predictions, analysis, options};
	const struct tp_grid_members members = {add_members, &shown};
	struct tp_view_options view = options->view;
	struct tp_grid grid;
	view.limit = 0;
	if (view.format == TP_FORMAT_TABLE) {
		tp_view_add_header(analysis, true, out);
		add_heading(&shown, out);
	}
	tp_grid_init(&grid, analysis, &view, columns, "predictions", &members, out);
	for (uint64_t i = 0; i < predictions->count; i++)
		add_row(&grid, &shown, &predictions->items[i]);
	return tp_grid_end(&grid, 0, err);
}
