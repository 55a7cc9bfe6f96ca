// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the heading of each view says of a flight recorder's trace.
#include "heading_rings.h"

#include "analyzer/output/text.h"
#include "analyzer/output/view.h"

#include <inttypes.h>

// So many threads are told of one by one.
#define RINGS_SHOWN 8

// What is left of a thread in a flight recorder.
static void note_ring(struct tp_notes *notes, const struct tp_analysis *analysis,
    const struct tp_thread_result *result)
{
	char text[TP_TEXT_NUMBER];
	char count[TP_TEXT_NUMBER];
	const struct tp_thread *thread = result->thread;
	const uint64_t gone = tp_analysis_overwritten(analysis, thread);
	const bool timed = result->last > result->first && !analysis->timeless;
	tp_notes_add(notes, TP_NOTE_ID_RING, gone,
	    "the last %s of thread %" PRIu32 "%s%s; %s records before that were overwritten",
	    timed ? tp_view_time(analysis, text, result->last - result->first) : "records",
	    thread->number, thread->name[0] ? " " : "", thread->name, tp_text_count(count, gone));
}

// A flight recorder: nothing of this is a loss.
void tp_heading_note_rings(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char text[TP_TEXT_NUMBER];
	char count[TP_TEXT_NUMBER];
	uint64_t shown = 0;
	uint64_t more = 0;
	uint64_t more_gone = 0;
	uint64_t whole = 0;
	uint64_t whole_gone = 0;
	if (!analysis->trace->rings)
		return;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		if (!thread->overwritten)
			continue;
		if (!thread->chunk_count) {
			whole++;
			whole_gone += thread->overwritten;
		} else if (shown < RINGS_SHOWN) {
			shown++;
			note_ring(notes, analysis, &analysis->threads[i]);
		} else {
			more++;
			more_gone += tp_analysis_overwritten(analysis, thread);
		}
	}
	if (more)
		tp_notes_add(notes, TP_NOTE_ID_RING, more_gone,
		    "%s more threads: %s records were overwritten", tp_text_count(count, more),
		    tp_text_count(text, more_gone));
	if (whole)
		tp_notes_add(notes, TP_NOTE_ID_RING, whole_gone,
		    "all of %s thread%s that had ended was overwritten: %s chunks",
		    tp_text_count(count, whole), whole == 1 ? "" : "s",
		    tp_text_count(text, whole_gone));
	if (!shown && !whole)
		tp_notes_add(notes, TP_NOTE_ID_RING, 0, "nothing was overwritten: this is all");
}

void tp_heading_add_json_rings(const struct tp_analysis *analysis, struct tp_buf *out)
{
	uint64_t records = 0;
	uint64_t threads = 0;
	if (!analysis->trace->rings)
		return;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		records += tp_analysis_overwritten(analysis, thread);
		threads += thread->overwritten && !thread->chunk_count;
	}
	tp_buf_addf(out,
	    ",\"overwritten_records\":%" PRIu64 ",\"overwritten_threads\":%" PRIu64
	    ",\"began_in_overwritten\":%" PRIu64,
	    records, threads, analysis->counts.overwritten);
}
