// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as a trace: open, analyse, show in every view and export; all that comes out is sound, and
// adds up. The checksums are mended first, or hardly an input would get past them.
// Runs: 1 of 4.
#include "analyzer/analysis.h"
#include "analyzer/view.h"
#include "common/checksum.h"
#include "test/fuzz/check_output.h"

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

// Own times of all call paths of a thread are those of all its functions, and each call has a path.
static void check_sums(const struct tp_analysis *analysis)
{
	uint64_t self = 0;
	uint64_t functions_self = 0;
	uint64_t calls = 0;
	uint64_t functions_calls = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_profile *profile = &analysis->threads[i].profile;
		for (uint32_t j = 1; j < profile->node_count; j++) {
			const struct tp_node *node = &profile->nodes[j];
			self += node->self;
			calls += node->calls;
			if (node->calls && (node->min > node->max || node->self > node->inclusive))
				abort();
		}
	}
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_function *function = &analysis->functions[i];
		functions_self += function->self;
		functions_calls += function->calls - function->counted;
		if (!function->symbol.name || !function->symbol.name[0])
			abort();
	}
	if (self != functions_self || self != analysis->self)
		abort();
	// Of a sampled function only some calls have a path.
	if (!analysis->sampled_count && calls != functions_calls)
		abort();
}

static void check_view(enum tp_format format, const struct tp_buf *out)
{
	check_text(out->data, out->size);
	if (format == TP_FORMAT_JSON)
		check_json(out->data);
	else if (format == TP_FORMAT_CSV)
		check_csv(out->data);
}

static void check_export(const char *name, const struct tp_buf *out)
{
	if (!strcmp(name, "folded"))
		check_folded(out->data);
	else if (!strcmp(name, "flamegraph"))
		check_xml(out->data);
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
		check_sums(&analysis);
		tp_view_add_header(&analysis, false, &out);
		check_text(out.data, out.size);
		for (size_t i = 0; tp_views()[i]; i++)
			for (int format = TP_FORMAT_TABLE; format <= TP_FORMAT_JSON; format++) {
				view.format = (enum tp_format)format;
				tp_buf_reset(&out);
				if (tp_views()[i]->render(&analysis, &view, &out, &err) == 0)
					check_view(view.format, &out);
			}
		tp_view_add_health(&analysis, &out);
		for (size_t i = 0; tp_exports()[i]; i++)
			for (int weight = TP_WEIGHT_SELF; weight <= TP_WEIGHT_CALLS; weight++) {
				const struct tp_export_options chosen = {(enum tp_weight)weight};
				tp_buf_reset(&out);
				if (tp_exports()[i]->render(&analysis, &chosen, &out, &err) == 0)
					check_export(tp_exports()[i]->name, &out);
			}
	}
	tp_buf_release(&out);
	tp_analysis_release(&analysis);
	tp_tracefile_close(&trace);
	free(data);
	return 0;
}
