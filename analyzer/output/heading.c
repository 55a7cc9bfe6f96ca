// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands above each view: what was recorded, how well, and what limits the meaning of the numbers.
#include "heading.h"

#include "analyzer/output/completeness.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void add_command(const struct tp_tracefile *trace, struct tp_buf *out)
{
	tp_buf_add_string(out, "program    ");
	const size_t start = out->size;
	for (size_t i = 0; trace->arguments && trace->arguments[i]; i++)
		tp_buf_addf(out, "%s%s", i ? " " : "", trace->arguments[i]);
	if (out->size == start)
		tp_buf_add_string(out, "unknown");
	if (trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_CODE && trace->end.exit_value)
		tp_buf_addf(out, " (exit code %" PRIu32 ")", trace->end.exit_value);
	else if (trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_SIGNAL)
		tp_buf_addf(out, " (killed by signal %" PRIu32 ")", trace->end.exit_value);
	tp_buf_add_char(out, '\n');
}

bool tp_heading_has_health(const struct tp_tracefile *trace)
{
	return tp_heading_is_soft(trace) && (trace->clock.stores || trace->clock.max_gap_ns);
}

static void add_clock(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	char part[TP_TEXT_NUMBER];
	const struct teeperf_trace_clock *clock = &analysis->trace->clock;
	tp_buf_addf(out, "clock      %s", tp_heading_clock_name(analysis->trace));
	if (analysis->time.known)
		tp_buf_addf(out, ", %.6g MHz",
		    (double)analysis->time.ticks * 1000 / (double)analysis->time.ns);
	if (tp_heading_is_soft(analysis->trace)) {
		if (clock->period_ns)
			tp_buf_addf(out, ", stored every %s", tp_text_ns(text, clock->period_ns));
		else
			tp_buf_add_string(out, ", stored without a pause");
		if (tp_heading_has_health(analysis->trace))
			tp_buf_addf(out, ", longest gap %s, starved %s of the run",
			    tp_text_ns(text, clock->max_gap_ns),
			    tp_text_percent(part, analysis->starvation.clock_share));
		else
			tp_buf_add_string(out, ", health unknown");
	}
	tp_buf_add_char(out, '\n');
}

uint64_t tp_heading_log_bytes(const struct tp_tracefile *trace)
{
	char text[TP_TEXT_NUMBER];
	if (trace->has_end && trace->end.log_bytes)
		return trace->end.log_bytes;
	return tp_tracefile_host(trace, "log_bytes", text, sizeof(text)) ? strtoull(text, NULL, 10)
									 : 0;
}

// What the recorder chose.
static void add_log(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const uint64_t bytes = tp_heading_log_bytes(trace);
	const char *before = "log        ";
	if (bytes) {
		tp_buf_addf(out, "%s%.4g MiB", before, (double)bytes / (1024 * 1024));
		before = ", ";
	}
	if (tp_tracefile_host(trace, "drain", text, sizeof(text))) {
		tp_buf_addf(out, "%sdrain %s", before, text);
		before = ", ";
	}
	if (tp_tracefile_host(trace, "cores", text, sizeof(text))) {
		tp_buf_addf(out, "%son %s processors", before, text);
		before = ", ";
	}
	if (before[0] == ',')
		tp_buf_add_char(out, '\n');
}

static char *cost(char text[TP_TEXT_NUMBER], uint64_t ps)
{
	if (ps >= 1000000)
		return tp_text_ns(text, ps / 1000);
	snprintf(text, TP_TEXT_NUMBER, "%.3g ns", (double)ps / 1000);
	return text;
}

static void add_compensation(const struct tp_analysis *analysis, struct tp_buf *out)
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
		    tp_text_percent(all, analysis->starvation.clock_share));
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

// For how long the program had a processor; nothing if it is not known.
static void add_processor(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_starvation *starvation = &analysis->starvation;
	char text[TP_TEXT_NUMBER];
	if (!starvation->has_cpu)
		return;
	tp_buf_addf(out, "processor  had one for %s", tp_text_ns(text, starvation->cpu_ns));
	if (starvation->has_delay) {
		tp_buf_addf(out, ", %s of the time that it could run",
		    tp_text_percent(text, 1 - starvation->delay_share));
		tp_buf_addf(out, "; waited %s for one", tp_text_ns(text, starvation->delay_ns));
	}
	tp_buf_add_char(out, '\n');
}

// Of a trace of a host and its TEE.
static void add_joined(const struct tp_tracefile *trace, struct tp_buf *out)
{
	char calls[32];
	if (tp_tracefile_host(trace, "joined_calls", calls, sizeof(calls)))
		tp_buf_addf(out, "joined     %s calls of the host into the TEE\n", calls);
}

static void add_facts(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	add_command(analysis->trace, out);
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	const struct teeperf_trace_end *end = &analysis->trace->end;
	if (analysis->time.known || end->end_ns > end->start_ns)
		tp_buf_addf(out, "duration   %s\n", tp_text_ns(text, duration));
	else if (!analysis->timeless)
		tp_buf_addf(out, "duration   %s ticks\n", tp_text_count(text, duration));
	else
		tp_buf_add_string(out, "duration   unknown\n");
	tp_buf_addf(out, "threads    %" PRIu32 "\n", analysis->thread_count);
	tp_buf_addf(out, "events     %s, ", tp_text_count(text, analysis->counts.events));
	tp_completeness_add_text(analysis, out);
	tp_buf_add_char(out, '\n');
	add_clock(analysis, out);
	add_processor(analysis, out);
	add_compensation(analysis, out);
	add_log(analysis->trace, out);
	add_joined(analysis->trace, out);
}

void tp_view_add_health(const struct tp_analysis *analysis, struct tp_buf *out)
{
	if (tp_heading_is_soft(analysis->trace))
		add_clock(analysis, out);
}

void tp_view_add_header(const struct tp_analysis *analysis, bool only_trouble, struct tp_buf *out)
{
	if (!only_trouble)
		add_facts(analysis, out);
	struct tp_notes notes;
	tp_notes_init(&notes, analysis);
	// CSV and JSON say it of each function.
	if (only_trouble && notes.count &&
	    notes.items[notes.count - 1].kind == &tp_note_kinds[TP_NOTE_ID_UNSURE])
		notes.count--;
	tp_notes_add_text(&notes, out);
	tp_notes_release(&notes);
	if (!only_trouble)
		tp_buf_add_string(out,
		    "note       functions that are not instrumented are part of their caller's self "
		    "time\n\n");
}
