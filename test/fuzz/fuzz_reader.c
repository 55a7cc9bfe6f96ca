// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as a trace: open, analyse, show in every view and export. The checksums are mended
// first, or hardly an input would get past them.
#include "analyzer/analysis.h"
#include "analyzer/view.h"
#include "common/checksum.h"

#include <stdlib.h>
#include <string.h>

static void mend(uint8_t *data, size_t size)
{
	for (size_t at = sizeof(struct teeperf_trace_header);
	     at + sizeof(struct teeperf_section) <= size;) {
		struct teeperf_section section;
		memcpy(&section, data + at, sizeof(section));
		const size_t left = size - at - sizeof(section);
		if (section.magic != TEEPERF_SECTION_MAGIC || section.size > left)
			return;
		section.checksum = tp_checksum(data + at + sizeof(section), section.size);
		memcpy(data + at, &section, sizeof(section));
		at += sizeof(section) + (section.size + 7) / 8 * 8;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	uint8_t *data = malloc(size ? size : 1);
	if (!data)
		return 0;
	memcpy(data, input, size);
	mend(data, size);
	struct tp_tracefile trace;
	struct tp_analysis analysis = {0};
	// Every other size: both kinds of times.
	const struct tp_analysis_options options = {.workers = 1, .compensate = size % 16 == 0};
	struct tp_err err;
	struct tp_buf out;
	tp_buf_init(&out);
	if (tp_tracefile_from_memory(&trace, "fuzz", data, size, &err) == 0 &&
	    tp_analysis_init(&analysis, &trace, &options, &err) == 0) {
		struct tp_view_options view = {.width = 80};
		tp_view_add_header(&analysis, false, &out);
		for (size_t i = 0; tp_views()[i]; i++)
			for (int format = TP_FORMAT_TABLE; format <= TP_FORMAT_JSON; format++) {
				view.format = (enum tp_format)format;
				tp_views()[i]->render(&analysis, &view, &out, &err);
			}
		tp_view_add_health(&analysis, &out);
		for (size_t i = 0; tp_exports()[i]; i++)
			for (int weight = TP_WEIGHT_SELF; weight <= TP_WEIGHT_CALLS; weight++) {
				const struct tp_export_options chosen = {(enum tp_weight)weight};
				tp_exports()[i]->render(&analysis, &chosen, &out, &err);
			}
	}
	tp_buf_release(&out);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	free(data);
	return 0;
}
