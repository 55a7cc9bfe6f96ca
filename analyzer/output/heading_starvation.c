// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What headings say of a clock that stood still, and of a program without a processor.
#include "heading_starvation.h"

#include <inttypes.h>
#include <stdio.h>

char *tp_heading_percent(char text[TP_TEXT_NUMBER], double share)
{
	const double value = share * 100;
	if (value > 0 && value < 0.001)
		snprintf(text, TP_TEXT_NUMBER, "<0.001%%");
	else
		snprintf(text, TP_TEXT_NUMBER, value < 9.95 ? "%.2g%%" : "%.0f%%", value);
	return text;
}

void tp_heading_add_processor(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_starvation *starvation = &analysis->starvation;
	char text[TP_TEXT_NUMBER];
	if (!starvation->has_cpu)
		return;
	tp_buf_addf(out, "processor  had one for %s", tp_text_ns(text, starvation->cpu_ns));
	if (starvation->has_delay) {
		tp_buf_addf(out, ", %s of the time that it could run",
		    tp_heading_percent(text, 1 - starvation->delay_share));
		tp_buf_addf(out, "; waited %s for one", tp_text_ns(text, starvation->delay_ns));
	}
	tp_buf_add_char(out, '\n');
}

void tp_heading_note_starved(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	const struct tp_starvation *starvation = &analysis->starvation;
	char part[TP_TEXT_NUMBER];
	char text[TP_TEXT_NUMBER];
	if (starvation->clock_share >= TP_STARVATION_COARSE)
		tp_notes_add(notes, TP_NOTE_ID_COARSE_CLOCK, 1,
		    "times are coarse for %s of the run: the clock's thread had no "
		    "processor for up to %s; leave it one of its own, or use a hardware clock",
		    tp_heading_percent(part, starvation->clock_share),
		    tp_text_ns(text, analysis->trace->clock.max_gap_ns));
	if (!analysis->timeless && tp_starvation_is_news(starvation))
		tp_notes_add(notes, TP_NOTE_ID_STARVED, 1,
		    "the program had a processor for %s of the time that it could run: %s of "
		    "its times are waits for one; leave it processors, or look at calls",
		    tp_heading_percent(part, 1 - starvation->delay_share),
		    tp_text_ns(text, starvation->delay_ns));
}

static void add_optional(struct tp_buf *out, const char *name, bool known, uint64_t number)
{
	if (known)
		tp_buf_addf(out, ",\"%s\":%" PRIu64, name, number);
	else
		tp_buf_addf(out, ",\"%s\":null", name);
}

void tp_heading_add_json_starvation(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const struct tp_starvation *starvation = &analysis->starvation;
	add_optional(out, "processor_ns", starvation->has_cpu, starvation->cpu_ns);
	add_optional(out, "processor_delay_ns", starvation->has_delay, starvation->delay_ns);
	if (starvation->has_delay)
		tp_buf_addf(out, ",\"processor_share\":%.6f", 1 - starvation->delay_share);
	else
		tp_buf_add_string(out, ",\"processor_share\":null");
}
