// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lines from which functions call others, for the block "sources". The viewer has the numbers
// of each caller and callee.
#include "analyzer/output/report/report.h"
#include "common/array.h"
#include "common/index.h"
#include "common/json.h"
#include "common/short_name.h"

#include <stdlib.h>

#define SITES_MOST 50000 // lines with a call in the report
#define MODULES_MOST 64  // whose debug information is read

struct job {
	struct tp_report *report;
	struct tp_json *json;
	const bool *shown;
	struct tp_call_function *functions;
	struct tp_arena arena;
	struct tp_texts texts; // chains of inlined functions
	uint32_t sites;
};

static int compare_functions(const void *a, const void *b)
{
	const struct tp_call_function *x = a;
	const struct tp_call_function *y = b;
	const int order = TP_COMPARE(x->address, y->address);
	return order ? order : TP_COMPARE(x->number, y->number);
}

// All functions, as module PLACE sees them. Returns whether calls of any are wanted.
static bool list_functions(struct job *job, uint32_t place)
{
	const struct tp_analysis *analysis = job->report->analysis;
	bool wanted = false;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_symbol *symbol = &analysis->functions[i].symbol;
		const bool here = symbol->place == place;
		job->functions[i] = (struct tp_call_function){
		    .address = here ? symbol->address : TP_CALL_ELSEWHERE,
		    .linkage = symbol->raw,
		    .number = i,
		    .wanted = here && job->shown[i],
		};
		wanted |= job->functions[i].wanted;
	}
	qsort(job->functions, analysis->function_count, sizeof(*job->functions), compare_functions);
	return wanted;
}

// The number of a chain of inlined functions; 0: of none.
static uint32_t number_of(struct job *job, const struct tp_call_site *site)
{
	struct tp_buf text;
	if (!site->inlined_count)
		return 0;
	tp_buf_init(&text);
	for (uint32_t i = 0; i < site->inlined_count; i++) {
		tp_buf_add_string(&text, i ? " \xe2\x86\x92 " : "");
		tp_short_name_add(&text, *site->inlined[i] ? site->inlined[i] : "?");
	}
	const char *kept = text.failed ? NULL : tp_arena_copy(&job->arena, text.data, text.size);
	job->json->out->failed |= !kept;
	tp_buf_release(&text);
	return kept ? tp_texts_number(&job->texts, kept) + 1 : 0;
}

// The sites from FIRST up to END, all of one function.
static void add_function(struct job *job, const struct tp_call_function *caller,
    const struct tp_call_site *first, const struct tp_call_site *end)
{
	struct tp_json *json = job->json;
	tp_json_object(json, NULL);
	tp_json_uint(json, "fn", caller->number);
	tp_json_array(json, "sites");
	for (const struct tp_call_site *site = first; site < end; site++) {
		if (job->sites == SITES_MOST) {
			job->report->source_calls_left = true;
			break;
		}
		job->sites++;
		tp_json_uint(json, NULL, site->line);
		tp_json_uint(json, NULL, job->functions[site->callee].number);
		tp_json_uint(json, NULL, number_of(job, site));
	}
	tp_json_end(json);
	tp_json_end(json);
}

// The functions of module PLACE. False: no memory. Without debug information there is nothing to
// say.
static bool add_module(struct job *job, uint32_t place)
{
	const struct tp_analysis *analysis = job->report->analysis;
	struct tp_call_sites sites;
	struct tp_err err;
	const int code = tp_symbols_calls(analysis->trace, &analysis->options.symbols, place,
	    job->functions, analysis->function_count, &sites, &job->arena, &err);
	const struct tp_call_site *site = sites.items;
	for (uint32_t i = 0; !code && i < analysis->function_count; i++) {
		const struct tp_call_site *first = site;
		while (site < sites.items + sites.count && site->caller == i)
			site++;
		if (job->functions[i].described)
			add_function(job, &job->functions[i], first, site);
	}
	job->report->source_calls_left |= sites.cut;
	return code != TP_ERR_MEMORY;
}

bool tp_report_add_source_calls(struct tp_report *report, struct tp_json *json, const bool *shown)
{
	const struct tp_analysis *analysis = report->analysis;
	struct job job = {.report = report, .json = json, .shown = shown};
	const uint32_t modules = analysis->trace->map.count;
	bool *has = calloc((size_t)modules + 1, sizeof(*has));
	job.functions = malloc(((size_t)analysis->function_count + 1) * sizeof(*job.functions));
	tp_arena_init(&job.arena);
	bool ok = has && job.functions && tp_texts_init(&job.texts, SITES_MOST);
	for (uint32_t i = 0; ok && i < analysis->function_count; i++)
		if (shown[i] && analysis->functions[i].symbol.place < modules)
			has[analysis->functions[i].symbol.place] = true;
	if (ok)
		tp_json_array(json, "calls");
	uint32_t left = MODULES_MOST;
	for (uint32_t i = 0; ok && i < modules; i++) {
		if (!has[i])
			continue;
		if (!left) {
			report->source_calls_left = true;
			break;
		}
		left--;
		if (list_functions(&job, i))
			ok = add_module(&job, i);
	}
	if (ok) {
		tp_json_end(json);
		tp_json_array(json, "inlined");
		for (uint32_t i = 0; i < job.texts.count; i++)
			tp_json_text(json, NULL, job.texts.items[i]);
		tp_json_end(json);
	}
	tp_texts_release(&job.texts);
	tp_arena_release(&job.arena);
	free(job.functions);
	free(has);
	return ok;
}
