// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traces for the chooser: opened and analysed, and what one with the last list says of the cost of events.
#include "allowlists/choose/generate_internal.h"

#include "analyzer/import/open.h"

#include <string.h>

static void move_problems(struct tp_problems *to, const struct tp_problems *from)
{
	const uint32_t kept = tp_problems_kept(from);
	for (uint32_t i = 0; i < kept; i++) {
		const struct tp_err *err = &from->kept[i];
		tp_problems_add(to, err->code, err->file, err->offset, "%s", err->what);
	}
}

int tp_read_trace(struct tp_read_trace *read, struct tp_generated *generated, const char *file,
    struct tp_err *err)
{
	memset(read, 0, sizeof(*read));
	read->trace.source.fd = -1;
	const struct tp_analysis_options options = {
	    .symbols.debug_dirs = generated->options.debug_dirs,
	    .symbols.debug_dir_count = generated->options.debug_dir_count,
	};
	const struct tp_original_options original = {
	    .programs = generated->options.programs,
	    .program_count = generated->options.program_count,
	    .symbols = options.symbols,
	};
	int code = tp_import_open(&read->trace, file, &original, NULL, 0, err);
	move_problems(&generated->damage, &read->trace.problems);
	move_problems(&generated->notes, &read->trace.notes);
	if (code)
		return code;
	code = tp_analysis_init(&read->analysis, &read->trace, &options, err);
	move_problems(&generated->damage, &read->analysis.damage);
	move_problems(&generated->notes, &read->analysis.notes);
	if (!code && read->analysis.lost)
		tp_problems_add(&generated->notes, TP_ERR_TRUNCATED, file, TP_ERR_NO_OFFSET,
		    "lost %llu events, so that calls and times are too low: record again with a "
		    "larger --size",
		    (unsigned long long)read->analysis.lost);
	return code;
}

void tp_read_trace_release(struct tp_read_trace *read)
{
	tp_analysis_release(&read->analysis);
	tp_tracefile_close(&read->trace);
}

/* ---- the closed loop: what the last list has cost, measured, corrects the cost of an event ---- */

// Events that should cost less than this part of the run are lost in its noise.
#define PART_MIN 0.002
// A correction beyond this is noise too.
#define FACTOR_MIN 0.05
#define FACTOR_MAX 20

static void set_cost(struct tp_generated *generated, double event_ns)
{
	struct tp_generate_refined *refined = &generated->refined;
	double factor = event_ns / generated->cost.event_ns;
	refined->done = true;
	refined->old_event_ns = generated->cost.event_ns;
	if (factor < FACTOR_MIN)
		factor = FACTOR_MIN;
	if (factor > FACTOR_MAX)
		factor = FACTOR_MAX;
	generated->cost.event_ns *= factor;
	generated->cost.source = TP_COST_IN_SITU;
}

static int refine_by_trace(struct tp_generated *generated, struct tp_err *err)
{
	const struct tp_generate_options *options = &generated->options;
	struct tp_generate_refined *refined = &generated->refined;
	struct tp_read_trace read;
	const int code = tp_read_trace(&read, generated, options->refine, err);
	if (!code) {
		refined->pairs = read.analysis.counts.events / 2;
		refined->native_ns = options->native_ns;
		refined->measured_ns = (double)tp_analysis_recorded_ns(&read.analysis);
		// A run that was preempted took longer for that; one that waits has less than the native time.
		const double cpu_ns = tp_workload_cpu_ns(&read.analysis);
		if (read.analysis.thread_count == 1 && cpu_ns >= options->native_ns &&
		    cpu_ns < refined->measured_ns)
			refined->measured_ns = cpu_ns;
		const double pairs = (double)refined->pairs;
		const double counted = (double)read.analysis.counts.counted;
		const double extra =
		    refined->measured_ns - options->native_ns - counted * generated->cost.count_ns;
		if (pairs * generated->cost.event_ns < PART_MIN * options->native_ns)
			tp_problems_add(&generated->notes, TP_ERR_LIMIT, options->refine,
			    TP_ERR_NO_OFFSET,
			    "has too few events to tell what one costs: the cost is left as it is");
		else
			set_cost(generated, extra / pairs);
	}
	tp_read_trace_release(&read);
	return code;
}

int tp_generate_refine(struct tp_generated *generated, struct tp_err *err)
{
	if (generated->options.refine)
		return refine_by_trace(generated, err);
	if (generated->options.refine_ratio > 0)
		set_cost(generated, generated->cost.event_ns * generated->options.refine_ratio);
	return 0;
}
