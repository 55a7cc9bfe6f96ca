// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What headings say of self times that are smaller than what is not known of them: +/- above 100 %.
#include "heading_unsure.h"

#include "analyzer/output/text.h"

#include <inttypes.h>
#include <teeperf/log.h>

static uint32_t count_unsure(const struct tp_analysis *analysis)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		uint64_t ticks;
		count += tp_function_uncertainty(analysis, &analysis->functions[i], &ticks) &&
			 ticks > analysis->functions[i].self;
	}
	return count;
}

// A clock that knows more of short calls, as the end of a sentence.
static const char *better_clock(const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	if (!trace->has_clock)
		return "";
	if (TEEPERF_CLOCK_IS_SOFT(trace->clock.kind))
		return ", or with 'record --clock tsc'";
	return trace->clock.kind == TEEPERF_CLOCK_TSC ? ", or with 'record --clock tsc-ordered'"
						      : "";
}

static void add_advice(const struct tp_analysis *analysis, uint32_t count, struct tp_buf *out)
{
	const bool one = count == 1;
	tp_buf_addf(out,
	    "the self time%s of %" PRIu32
	    " function%s %s smaller than what is not known of %s: compare "
	    "calls, or record fewer functions, by a list ('teeperf allowlist generate')%s",
	    one ? "" : "s", count, one ? "" : "s", one ? "is" : "are", one ? "it" : "them",
	    better_clock(analysis));
}

void tp_heading_add_unsure(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const uint32_t count = count_unsure(analysis);
	if (!count)
		return;
	tp_buf_add_string(out, "+/- >100%  ");
	add_advice(analysis, count, out);
	tp_buf_add_char(out, '\n');
}

void tp_heading_add_json_unsure(const struct tp_analysis *analysis, struct tp_buf *out)
{
	const uint32_t count = count_unsure(analysis);
	if (!count)
		return;
	struct tp_buf advice;
	tp_buf_init(&advice);
	add_advice(analysis, count, &advice);
	tp_buf_addf(out, ",\"unsure_functions\":%" PRIu32 ",\"unsure_advice\":", count);
	tp_json_quote(out, advice.failed ? "" : advice.data);
	tp_buf_release(&advice);
}
