// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a trace has each event that the program recorded, and how many it lacks.
#include "completeness.h"

#include "analyzer/output/text.h"

#include <inttypes.h>

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

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
	return add(analysis->lost, analysis->trace->lacks.events);
}

bool tp_analysis_missing_at_most(const struct tp_analysis *analysis, uint64_t *events)
{
	*events = add(tp_analysis_missing(analysis), analysis->trace->lacks.more);
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
		tp_buf_add_string(out, "parts of the trace cannot be used");
}

void tp_completeness_note(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char text[TP_TEXT_NUMBER];
	char calls[TP_TEXT_NUMBER];
	char chunks[TP_TEXT_NUMBER];
	const struct tp_lacks *lacks = &analysis->trace->lacks;
	const uint64_t others = lacks->chunks - lacks->counted;
	if (lacks->counted)
		tp_notes_add(notes, TP_NOTE_ID_MISSING, lacks->events,
		    "%s events%s%s%s in %s chunk%s could not be written: times and counts are too low",
		    tp_text_count(text, lacks->events), lacks->calls ? " and " : "",
		    lacks->calls ? tp_text_count(calls, lacks->calls) : "",
		    lacks->calls ? " counted calls" : "", tp_text_count(chunks, lacks->counted),
		    lacks->counted == 1 ? "" : "s");
	if (others)
		tp_notes_add(notes, TP_NOTE_ID_MISSING, lacks->more,
		    "%s%s chunk%s not in the file, with up to %s events: times and counts are too low",
		    tp_text_count(chunks, others), lacks->counted ? " more" : "",
		    others == 1 ? " is" : "s are", tp_text_count(text, lacks->more));
	// Without an end, a trace is cut off or still being written, which is told elsewhere.
	if (lacks->open && analysis->trace->has_end)
		tp_notes_add(notes, TP_NOTE_ID_MISSING, 1,
		    "chunks whose events were not counted: times and counts are too low");
}

void tp_completeness_add_json(const struct tp_analysis *analysis, struct tp_buf *out)
{
	uint64_t most;
	tp_buf_addf(out,
	    ",\"complete\":%s,\"missing_events\":%" PRIu64 ",\"missing_events_at_most\":",
	    tp_analysis_is_complete(analysis) ? "true" : "false", tp_analysis_missing(analysis));
	if (tp_analysis_missing_at_most(analysis, &most))
		tp_buf_addf(out, "%" PRIu64, most);
	else
		tp_buf_add_string(out, "null");
	tp_buf_addf(out, ",\"missing_chunks\":%" PRIu64 ",\"missing_counted_calls\":%" PRIu64,
	    analysis->trace->lacks.chunks, analysis->trace->lacks.calls);
}
