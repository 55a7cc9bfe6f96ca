// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a trace has each event that the program recorded, and how many it lacks.
#include "completeness.h"

#include "common/units.h"

// Memory of the log went away while it was in use, and nobody knows what was in there.
static bool log_is_gone(const struct tp_tracefile *trace)
{
	char text[4];
	return tp_tracefile_host(trace, "log_gone_bytes", text, sizeof(text));
}

static bool is_open(const struct tp_analysis *analysis)
{
	return analysis->trace->lacks.open || log_is_gone(analysis->trace);
}

bool tp_analysis_lacks(const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	return trace->lacks.chunks || is_open(analysis) || trace->problems.count ||
	       analysis->damage.count;
}

bool tp_analysis_is_complete(const struct tp_analysis *analysis)
{
	return !analysis->lost && !tp_analysis_lacks(analysis);
}

uint64_t tp_analysis_missing(const struct tp_analysis *analysis)
{
	return tp_add_capped(analysis->lost, analysis->trace->lacks.events);
}

bool tp_analysis_missing_at_most(const struct tp_analysis *analysis, uint64_t *events)
{
	*events = tp_add_capped(tp_analysis_missing(analysis), analysis->trace->lacks.more);
	return !is_open(analysis);
}

void tp_completeness_add_text(const struct tp_analysis *analysis, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	char more[TP_TEXT_NUMBER];
	const uint64_t known = tp_analysis_missing(analysis);
	uint64_t most;
	const bool bounded = tp_analysis_missing_at_most(analysis, &most);
	if (tp_analysis_is_complete(analysis)) {
		tp_buf_add_string(out, "complete");
		return;
	}
	tp_buf_add_string(out, "incomplete: ");
	if (!bounded && known)
		tp_buf_addf(out, "at least %s events missing", tp_text_count(text, known));
	else if (!bounded)
		tp_buf_add_string(out, "an unknown number of events is missing");
	else if (known && most > known)
		tp_buf_addf(out, "%s to %s events missing", tp_text_count(text, known),
		    tp_text_count(more, most));
	else if (most)
		tp_buf_addf(
		    out, "%s%s events missing", known ? "" : "up to ", tp_text_count(text, most));
	else if (analysis->trace->lacks.calls)
		tp_buf_addf(out, "%s counted calls missing",
		    tp_text_count(text, analysis->trace->lacks.calls));
	else
		tp_buf_add_string(out, "parts of the trace are unusable");
}

void tp_completeness_add_json(struct tp_json *json, const struct tp_analysis *analysis)
{
	uint64_t most;
	const bool bounded = tp_analysis_missing_at_most(analysis, &most);
	tp_json_bool(json, "complete", tp_analysis_is_complete(analysis));
	tp_json_uint(json, "missing_events", tp_analysis_missing(analysis));
	tp_json_uint_if(json, "missing_events_at_most", bounded, most);
	tp_json_uint(json, "missing_chunks", analysis->trace->lacks.chunks);
	tp_json_uint(json, "missing_counted_calls", analysis->trace->lacks.calls);
}
