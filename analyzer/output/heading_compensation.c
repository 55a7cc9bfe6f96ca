// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What headings say of the cost of recording that comes off the times.
#include "heading_compensation.h"

#include "analyzer/output/heading_starvation.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <stdio.h>

// What a call has cost.
static char *cost(char text[TP_TEXT_NUMBER], uint64_t ps)
{
	if (ps >= 1000000)
		return tp_text_ns(text, ps / 1000);
	snprintf(text, TP_TEXT_NUMBER, "%.3g ns", (double)ps / 1000);
	return text;
}

void tp_heading_add_compensation(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_compensation *compensation = &analysis->compensation;
	char text[TP_TEXT_NUMBER];
	char in[TP_TEXT_NUMBER];
	char all[TP_TEXT_NUMBER];
	if (!compensation->known)
		return;
	cost(in, compensation->in_ps);
	cost(all, compensation->in_ps + compensation->out_ps);
	if (!compensation->applied) {
		tp_buf_addf(out,
		    "times      as recorded: recording a call takes about %s, %s of it in the call's "
		    "own time\n",
		    all, in);
		return;
	}
	tp_buf_addf(out,
	    "times      less about %s a call for recording it, %s of it in the call's own time",
	    all, in);
	if (compensation->wait_ps && compensation->period_ns) {
		cost(all, (uint64_t)((double)compensation->wait_ps * TP_COMPENSATION_WAIT_SHOWS));
		tp_buf_addf(out, ", and %s for each wait for the clock", all);
	}
	tp_buf_addf(out, ": %s in all", tp_view_time(analysis, text, compensation->taken));
	if (compensation->missing)
		tp_buf_addf(out, " (%s more than some functions have)",
		    tp_view_time(analysis, text, compensation->missing));
	tp_buf_add_string(out, "; --raw shows them as recorded\n");
	if (compensation->bounded && tp_starvation_hides(&analysis->starvation))
		tp_buf_addf(out,
		    "uncertain  by an unknown amount: the clock stood still for %s of the run\n",
		    tp_heading_percent(all, analysis->starvation.clock_share));
	if (!tp_analysis_tells_uncertainty(analysis))
		return;
	cost(in, compensation->in_off_ps);
	cost(all, compensation->out_off_ps);
	tp_buf_addf(out,
	    "uncertain  self times, as the processor hides some of that cost behind other work: by some %s "
	    "a call and %s for each call made%s%s%s\n",
	    in, all,
	    !compensation->period_ns ? ""
	    : compensation->wait_ps  ? ", by the clock's period, and by waits for it"
				     : ", and by the clock's period",
	    analysis->starvation.clock_gaps > 0 ? "; by when the clock stood still" : "",
	    analysis->starvation.delays > 0 ? "; by waits for a processor" : "");
}

static void add_ns(struct tp_buf *out, const char *name, bool known, uint64_t ps)
{
	if (known)
		tp_buf_addf(out, ",\"%s\":%.3f", name, (double)ps / 1000);
	else
		tp_buf_addf(out, ",\"%s\":null", name);
}

void tp_heading_add_json_compensation(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_compensation *compensation = &analysis->compensation;
	const bool known = compensation->known;
	tp_buf_addf(out, ",\"times\":\"%s\"", compensation->applied ? "compensated" : "recorded");
	add_ns(out, "cost_in_ns", known, compensation->in_ps);
	add_ns(out, "cost_out_ns", known, compensation->out_ps);
	add_ns(out, "cost_untimed_ns", known, compensation->untimed_ps);
	add_ns(out, "cost_in_off_ns", compensation->bounded, compensation->in_off_ps);
	add_ns(out, "cost_out_off_ns", compensation->bounded, compensation->out_off_ps);
	add_ns(out, "cost_wait_ns", known && compensation->period_ns && compensation->wait_ps,
	    compensation->wait_ps);
	tp_buf_addf(out, ",\"taken_ns\":%" PRIu64 ",\"missing_ns\":%" PRIu64,
	    tp_timebase_ns(&analysis->time, compensation->taken),
	    tp_timebase_ns(&analysis->time, compensation->missing));
}
