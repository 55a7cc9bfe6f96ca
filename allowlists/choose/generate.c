// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An allowlist made for a budget: from profiles and inventories to a choice for each function.
#include "generate_internal.h"

#include "allowlists/inventory/inventory.h"
#include "analyzer/import/open.h"

#include <stdlib.h>
#include <string.h>
#include <teeperf/log.h>

#define BUDGET 0.05
#define SAMPLE_WORTH 0.5
#define PATH_DECAY 0.5
// A cost of the profile's events that lies beyond this is noise.
#define MEASURED_MIN 0.2
#define MEASURED_MAX 3
// Less of the time than this, and waiting or preemption is not worth a note.
#define DELAYED_PART 0.1
#define WAITED_PART 0.1
// Events that should cost less than this part of the run are lost in its noise.
#define PART_MIN 0.002
// A correction beyond this is noise too.
#define FACTOR_MIN 0.05
#define FACTOR_MAX 20

static const double curve[TP_GENERATE_POINTS] = {0.01, 0.02, 0.05, 0.10, 0.25, 0.50};

static int missing(struct tp_err *err, const char *what)
{
	return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, "%s", what);
}

// What could not be read of the sources becomes a note.
static void warn_source(void *context, const char *file, const char *text)
{
	struct tp_generated *generated = context;
	tp_problems_add(&generated->notes, TP_ERR_NOT_FOUND, file, "%s", text);
}

static int read_inventory(struct tp_generated *generated, struct tp_err *err)
{
	const struct tp_generate_options *options = &generated->options;
	generated->has_inventory = options->inventory_count || options->from_source;
	if (options->from_source) {
		const struct tp_from_source_options source = {
		    .warn = warn_source, .context = generated};
		return tp_inventory_from_source(
		    &generated->inventory, options->from_source, &source, err);
	}
	if (!options->inventory_count)
		return 0;
	return tp_inventory_open(
	    &generated->inventory, options->inventories, options->inventory_count, err);
}

struct read_trace {
	struct tp_tracefile trace;
	struct tp_analysis analysis;
};

static void move_problems(struct tp_problems *to, const struct tp_problems *from)
{
	const uint32_t kept = tp_problems_kept(from);
	for (uint32_t i = 0; i < kept; i++) {
		const struct tp_err *err = &from->kept[i];
		tp_problems_add_at(to, err->code, err->file, err->offset, "%s", err->what);
	}
}

// Open and analyse FILE; its faults go to `damage`. Release it in any case.
static int open_trace(
    struct read_trace *read, struct tp_generated *generated, const char *file, struct tp_err *err)
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
		tp_problems_add(&generated->notes, TP_ERR_TRUNCATED, file,
		    "lost %llu events, so calls and times are too low: record again with a larger "
		    "--size",
		    (unsigned long long)read->analysis.lost);
	return code;
}

static void release_trace(struct read_trace *read)
{
	tp_analysis_release(&read->analysis);
	tp_tracefile_close(&read->trace);
}

// Add the trace FILE to the workload; *times: whether its times are wanted, and whether it has any.
static int read_trace(
    struct tp_generated *generated, const char *file, bool *times, struct tp_err *err)
{
	struct read_trace read;
	int code = open_trace(&read, generated, file, err);
	const struct tp_analysis *analysis = &read.analysis;
	if (!code && !analysis->counts.events && !analysis->counts.counted)
		code = tp_err_set(err, TP_ERR_NOT_FOUND, file,
		    "it has no calls: was the program built with 'teeperf cc'?");
	// Ticks of a clock whose rate is not known are not to be held against a cost in ns.
	const bool in_ticks = !code && !analysis->timeless && !analysis->time.known;
	if (!code && *times && (analysis->timeless || in_ticks || !analysis->counts.events)) {
		*times = false;
		tp_problems_add(&generated->notes, TP_ERR_NOT_FOUND, file,
		    in_ticks ? "has times only in ticks of a clock of unknown rate"
			     : "has calls but no times");
	}
	if (!code) {
		if (!generated->clock_known)
			generated->clock_kind = read.trace.clock.kind;
		generated->clock_known = true;
		code = tp_workload_add_trace(&generated->workload, analysis, *times, err);
	}
	release_trace(&read);
	return code;
}

// The functions and times that the options have themselves.
static int add_sums(struct tp_generated *generated, struct tp_err *err)
{
	const struct tp_generate_sums *sums = generated->options.sums;
	struct tp_workload *workload = &generated->workload;
	int code = 0;
	for (uint32_t i = 0; !code && i < sums->function_count; i++)
		code = tp_workload_add_sum(workload, &sums->functions[i], err);
	workload->threads = sums->threads;
	workload->measured_ns = sums->measured_ns;
	workload->cpu_ns = sums->in_cpu_time ? sums->time_ns : 0;
	generated->clock_kind = sums->clock_kind;
	generated->clock_known = sums->clock_known;
	return code;
}

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
	struct read_trace read;
	const int code = open_trace(&read, generated, options->refine, err);
	if (!code) {
		refined->pairs = read.analysis.counts.events / 2;
		refined->native_ns = options->native_ns;
		refined->measured_ns = (double)tp_analysis_recorded_ns(&read.analysis);
		// A run that was preempted took longer for that; one that waits has less than the
		// native time.
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
			    "has too few events to measure their cost: the default cost is used");
		else
			set_cost(generated, extra / pairs);
	}
	release_trace(&read);
	return code;
}

// Correct the event cost by what a run with an earlier list has cost, if the options tell.
static int refine(struct tp_generated *generated, struct tp_err *err)
{
	if (generated->options.refine)
		return refine_by_trace(generated, err);
	if (generated->options.refine_ratio > 0)
		set_cost(generated, generated->cost.event_ns * generated->options.refine_ratio);
	return 0;
}

static void find_cost(struct tp_generated *generated)
{
	const struct tp_generate_options *options = &generated->options;
	struct tp_cost *cost = &generated->cost;
	// Events need a clock: one that counts only says nothing of how they will be timed.
	const bool clock = generated->clock_known &&
			   (generated->clock_kind != TEEPERF_CLOCK_NONE || !options->counts);
	tp_cost_init(
	    cost, clock ? generated->clock_kind : TEEPERF_CLOCK_TSC, options->event_cost_ns <= 0);
	if (options->event_cost_ns > 0) {
		cost->event_ns = options->event_cost_ns;
		cost->source = options->cost_in_situ ? TP_COST_IN_SITU : TP_COST_GIVEN;
	}
	cost->event_in_ns = options->event_in_ns;
	if (options->count_cost_ns > 0)
		cost->count_ns = options->count_cost_ns;
}

// What an event of the profile has cost. With everything recorded that may be another cost than the
// choice's: it is measured if the program's own time is known and the difference is not noise.
static double profile_cost(const struct tp_generated *generated)
{
	const struct tp_generate_options *options = &generated->options;
	const struct tp_workload *workload = &generated->workload;
	const double native = options->time_ns > 0 ? options->time_ns : options->native_ns;
	const double likely =
	    generated->refined.done ? generated->refined.old_event_ns : generated->cost.event_ns;
	if (options->profile_cost_ns > 0)
		return options->profile_cost_ns;
	if (native <= 0 || workload->threads != 1 || !workload->pairs)
		return likely;
	// In processor time a run that was preempted costs no more; but one that waits is longer
	// than that.
	const double runs[] = {tp_workload_run_ns(workload), workload->measured_ns};
	for (int i = 0; i < 2; i++) {
		const double measured = (runs[i] - native) / (double)workload->pairs;
		if (measured >= likely * MEASURED_MIN && measured <= likely * MEASURED_MAX)
			return measured;
	}
	return likely;
}

// What stands between recorded times and work.
static void note_waiting(struct tp_generated *generated)
{
	const struct tp_workload *workload = &generated->workload;
	const char *file = generated->options.profile;
	double raw_ns = 0;
	for (uint32_t i = 0; i < workload->thread_time_count; i++)
		raw_ns += workload->thread_times[i].raw_ns;
	if (workload->cpu_ns <= 0) {
		tp_problems_add(&generated->notes, TP_ERR_NOT_FOUND, file,
		    "has no processor times: waiting counts as self time, and preemption as run "
		    "time; give --time if the program waits or the machine was busy");
		return;
	}
	const double waited = workload->waited_ns - workload->delayed_ns;
	if (workload->waiting && workload->telling == workload->waiting) {
		tp_problems_add(&generated->notes, TP_ERR_LIMIT, file,
		    "%.0f%% of its functions' time passed without a processor, in %u thread%s: "
		    "that time is known and not counted",
		    100 * workload->waited_ns / raw_ns, workload->waiting,
		    tp_plural(workload->waiting));
		return;
	}
	if (workload->delayed_ns > DELAYED_PART * (raw_ns - waited))
		tp_problems_add(&generated->notes, TP_ERR_LIMIT, file,
		    "other programs had the processors for %.0f%% of the time that its threads "
		    "could have run, which is taken off self times; record again on an idle "
		    "machine",
		    100 * workload->delayed_ns / (raw_ns - waited));
	if (waited > WAITED_PART * raw_ns)
		tp_problems_add(&generated->notes, TP_ERR_LIMIT, file,
		    "%.0f%% of its functions' time passed without a processor, in %u thread%s, "
		    "waiting or preempted. It is taken off the functions with the longest "
		    "stretches between records; where the function is not known, the time counts "
		    "as not named",
		    100 * waited / raw_ns, workload->waiting, tp_plural(workload->waiting));
}

// Times of the functions, and of the whole run, from the best that there is.
static int find_times(struct tp_generated *generated, bool timed, struct tp_err *err)
{
	const struct tp_generate_options *options = &generated->options;
	struct tp_workload *workload = &generated->workload;
	workload->time_ns = tp_workload_run_ns(workload);
	const bool by_cpu = workload->cpu_ns > 0;
	generated->time_source = by_cpu ? "processor time of the recording" : "the recording";
	if (options->sums) {
		workload->time_ns = options->sums->time_ns;
		generated->time_source = options->sums->time_source;
		generated->quality = TP_QUALITY_EVENTS;
	}
	if (timed) {
		bool believed;
		generated->spent = generated->cost;
		generated->spent.event_ns = profile_cost(generated);
		const int code = tp_workload_compensate(workload, &generated->spent, &believed);
		if (code)
			return tp_err_memory(err, options->profile);
		if (!believed)
			tp_problems_add(&generated->notes, TP_ERR_LIMIT, options->profile,
			    "an event cost of %.1f ns would exceed the whole run; give "
			    "--event-cost, and --time for a run without events",
			    generated->spent.event_ns);
		generated->quality = TP_QUALITY_EVENTS;
		generated->time_source = by_cpu ? "processor time of the recording, less its events"
						: "the recording, less its events";
		note_waiting(generated);
	}
	struct tp_samples samples = {0};
	if (options->samples) {
		const int code = tp_samples_read(&samples, workload, options->samples, err);
		if (code)
			return code;
		if (samples.time_ns > 0) {
			workload->time_ns = samples.time_ns;
			generated->time_source = "the samples";
		}
	}
	if (options->native_ns > 0) {
		workload->time_ns = options->native_ns;
		generated->time_source = "--native";
	}
	if (options->time_ns > 0) {
		workload->time_ns = options->time_ns;
		generated->time_source = "--time";
	}
	if (workload->time_ns <= 0)
		return missing(err, "the profile does not say how long the program ran: give "
				    "--time, such as --time 2.5s");
	if (options->samples) {
		tp_samples_apply(&samples, workload, workload->time_ns);
		generated->quality = TP_QUALITY_SAMPLED;
		generated->elsewhere = 1 - (double)samples.known / (double)samples.all;
	} else if (!timed && !options->sums) {
		if (!generated->has_inventory)
			return missing(err,
			    "calls alone do not show where the time goes: give --samples, a "
			    "--profile with events, or at least --inventory for the sizes");
		tp_workload_guess_times(workload);
		generated->quality = TP_QUALITY_STATIC;
		tp_problems_add(&generated->notes, TP_ERR_NOT_FOUND, NULL,
		    "times are guesses from calls and sizes: give --samples or a --profile for "
		    "measured ones");
	}
	generated->time_ns = workload->time_ns;
	generated->in_cpu_time = workload->cpu_ns > 0 && options->time_ns <= 0 &&
				 options->native_ns <= 0 && samples.time_ns <= 0;
	if (options->cost_factor > 0) {
		generated->cost.event_ns *= options->cost_factor;
		generated->cost.count_ns *= options->cost_factor;
	}
	return 0;
}

static double all_value(const struct tp_workload *workload)
{
	double sum = 0;
	for (uint32_t i = 0; i < workload->function_count; i++)
		sum += workload->functions[i].self_ns;
	return sum;
}

// The size of the code that records, as a cost of each function; what was measured in the program
// has it in it.
static void add_code(struct tp_generated *generated)
{
	const struct tp_workload *workload = &generated->workload;
	struct tp_cost_code code = {.time_ns = generated->time_ns};
	if (generated->cost.source == TP_COST_IN_SITU)
		return;
	for (uint32_t i = 0; i < workload->function_count; i++) {
		const struct tp_workload_function *function = &workload->functions[i];
		if (!function->calls || !function->inventory)
			continue;
		code.instrs += (double)function->inventory->facts.instrs;
		code.functions++;
	}
	for (uint32_t i = 0; i < workload->function_count; i++)
		generated->choices[i].code_ns = tp_cost_code_ns(&code, generated->choices[i].calls);
}

// Without compiling again, all functions keep their code, and those that are left out a closed
// gate.
static void find_closed(struct tp_generated *generated)
{
	for (uint32_t i = 0; i < generated->workload.function_count; i++) {
		const struct tp_choice *choice = &generated->choices[i];
		if (choice->level == TP_CATEGORY_SKIP)
			generated->closed_ns += choice->calls * TP_COST_CLOSED_NS + choice->code_ns;
	}
}

static int choose(struct tp_generated *generated, struct tp_err *err)
{
	const struct tp_generate_options *wanted = &generated->options;
	struct tp_workload *workload = &generated->workload;
	struct tp_choose_options options = {
	    .budget_ns = wanted->budget * generated->time_ns,
	    .budget_bytes = (double)wanted->log_budget,
	    .cost = generated->cost,
	    .sample_worth = wanted->no_sample ? 0 : SAMPLE_WORTH,
	    .count_rest = wanted->count_rest,
	    .path_decay = PATH_DECAY,
	};
	if (wanted->paths) {
		options.nodes = workload->nodes;
		options.node_count = workload->node_count;
	}
	const size_t size = ((size_t)workload->function_count + 1) * sizeof(struct tp_choice);
	struct tp_choice *copy = malloc(size);
	int code = copy ? 0 : TP_ERR_MEMORY;
	for (uint32_t i = 0; !code && wanted->curve && i < TP_GENERATE_POINTS; i++) {
		struct tp_generate_point *point = &generated->points[generated->point_count++];
		struct tp_choose_options other = options;
		other.budget_ns = curve[i] * generated->time_ns;
		point->budget = curve[i];
		memcpy(copy, generated->choices, workload->function_count * sizeof(*copy));
		code = tp_choose(copy, workload->function_count, &other, &point->chosen);
	}
	free(copy);
	if (!code)
		code = tp_choose(
		    generated->choices, workload->function_count, &options, &generated->chosen);
	find_closed(generated);
	if (!code && generated->chosen.over_budget)
		tp_problems_add(&generated->notes, TP_ERR_LIMIT, NULL,
		    "the functions of --keep exceed the budget, so nothing else was chosen");
	return code ? tp_err_set(err, code, NULL, "out of memory while choosing") : 0;
}

static void note_limits(struct tp_generated *generated)
{
	const struct tp_workload *workload = &generated->workload;
	if (workload->threads > 1 && !generated->in_cpu_time)
		tp_problems_add(&generated->notes, TP_ERR_LIMIT, NULL,
		    "the calls of %u threads are summed as if they ran one after the other: where "
		    "they run at once, the overhead is lower",
		    workload->threads);
	if (generated->options.paths && !workload->node_count)
		tp_problems_add(&generated->notes, TP_ERR_NOT_FOUND, NULL,
		    "--paths needs call paths, which come from a --profile with events");
}

int tp_generate(
    struct tp_generated *generated, const struct tp_generate_options *options, struct tp_err *err)
{
	memset(generated, 0, sizeof(*generated));
	generated->options = *options;
	if (generated->options.budget <= 0)
		generated->options.budget = BUDGET;
	tp_workload_init(&generated->workload);
	bool timed = options->profile != NULL;
	bool counts = false;
	int code = read_inventory(generated, err);
	if (!code && options->profile)
		code = read_trace(generated, options->profile, &timed, err);
	if (!code && options->counts)
		code = read_trace(generated, options->counts, &counts, err);
	if (!code && options->sums)
		code = add_sums(generated, err);
	if (!code && generated->has_inventory)
		code = tp_workload_add_inventory(&generated->workload, &generated->inventory, err);
	if (code)
		return code;
	generated->seed = !options->profile && !options->counts && !options->sums;
	if (!generated->seed) {
		find_cost(generated);
		code = refine(generated, err);
		if (!code)
			code = find_times(generated, timed, err);
	}
	if (!code)
		code = tp_generate_pin(generated, err);
	if (code)
		return code;
	if (generated->seed) {
		tp_generate_seed(generated);
		return 0;
	}
	note_limits(generated);
	add_code(generated);
	const double all = all_value(&generated->workload);
	if (all <= 0 && options->sums)
		return tp_err_set(err, TP_ERR_NOT_FOUND, options->sums->name,
		    "no function has self time: were all calls only counted?");
	if (all <= 0)
		return tp_err_set(err, TP_ERR_NOT_FOUND, options->profile,
		    "no function has time left after %.1f ns are taken off for each event: the "
		    "event cost is too high, give --event-cost",
		    generated->quality == TP_QUALITY_EVENTS ? generated->spent.event_ns
							    : generated->cost.event_ns);
	return choose(generated, err);
}

void tp_generated_release(struct tp_generated *generated)
{
	if (generated->has_inventory)
		tp_inventory_release(&generated->inventory);
	tp_workload_release(&generated->workload);
	free(generated->choices);
	memset(generated, 0, sizeof(*generated));
}

static double part(double value, double all)
{
	return all > 0 ? value / all : 0;
}

struct tp_shares tp_generated_shares(
    const struct tp_generated *generated, const struct tp_chosen *chosen)
{
	const double all = chosen->all_value;
	const double overhead = part(chosen->cost_ns, generated->time_ns);
	return (struct tp_shares){
	    .overhead = overhead,
	    .low = overhead * tp_cost_low(&generated->cost),
	    .high = overhead * tp_cost_high(&generated->cost),
	    .events = part(chosen->event_sure, all),
	    .samples = part(chosen->sample_sure, all),
	    .bound = part(chosen->bound, all),
	    .sample_bound = part(chosen->sample_bound, all),
	    .untold = part(all - chosen->all_sure, all),
	};
}
