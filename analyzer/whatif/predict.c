// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What would become of a run if functions were faster.
#include "predict.h"

#include "analyzer/profile/pattern.h"
#include "analyzer/whatif/run.h"
#include "common/array.h"

#include <stdlib.h>

// Times of functions in pieces that are held at once, 8 bytes each.
#define CELLS_MAX (UINT64_C(1) << 23)

static const double usual_of_one[] = {0.1, 0.2, 0.3, 0.5, 0.75, 1};
static const double usual_of_all[] = {0.2};

struct work {
	const struct tp_analysis *analysis;
	const struct tp_predict_options *options;
	struct tp_predictions *result;
	struct tp_run run;
	uint32_t *functions;
	uint32_t count;
	const double *speedups;
	uint32_t speedup_count;
};

// ---- which functions

static uint64_t time_of(const struct tp_function *function, bool callees)
{
	if (function->has_no_parts)
		return callees ? function->inclusive : function->self;
	return callees ? function->parts.inclusive_cpu : function->parts.self_cpu;
}

struct candidate {
	uint64_t time;
	uint32_t function;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a;
	const struct candidate *y = b;
	const int order = TP_COMPARE(y->time, x->time);
	return order ? order : TP_COMPARE(x->function, y->function);
}

static int add_matching(struct work *work, bool *marks, const char *text, struct tp_err *err)
{
	const struct tp_analysis *analysis = work->analysis;
	struct tp_pattern pattern;
	bool found = false;
	int code = tp_pattern_init(&pattern, text, err);
	for (uint32_t i = 0; !code && i < analysis->function_count; i++)
		if (tp_pattern_matches(&pattern, &analysis->functions[i].symbol))
			marks[i] = found = true;
	if (!code && !found)
		code = tp_pattern_fail(text, analysis, err);
	tp_pattern_release(&pattern);
	return code;
}

static int choose_functions(struct work *work, struct tp_err *err)
{
	const struct tp_analysis *analysis = work->analysis;
	const struct tp_predict_options *options = work->options;
	const size_t room = (size_t)analysis->function_count + 1;
	bool *marks = calloc(room, sizeof(*marks));
	struct candidate *candidates = malloc(room * sizeof(*candidates));
	work->functions = malloc(room * sizeof(*work->functions));
	int code = marks && candidates && work->functions
		       ? 0
		       : tp_err_memory(err, analysis->trace->source.name);
	for (uint32_t i = 0; !code && i < options->function_count; i++)
		code = add_matching(work, marks, options->functions[i], err);
	for (uint32_t i = 0; !code && i < analysis->function_count; i++) {
		const uint64_t time = time_of(&analysis->functions[i], options->callees);
		if (options->function_count ? marks[i] : time != 0)
			candidates[work->count++] = (struct candidate){time, i};
	}
	if (work->count)
		qsort(candidates, work->count, sizeof(*candidates), compare_candidates);
	for (uint32_t i = 0; i < work->count; i++)
		work->functions[i] = candidates[i].function;
	free(candidates);
	free(marks);
	if (code)
		return code;
	const uint64_t most = options->view.limit ? options->view.limit : UINT32_MAX;
	if (!options->function_count && work->count > most)
		work->count = (uint32_t)most;
	work->speedups = options->speedups;
	work->speedup_count = options->speedup_count;
	if (!work->speedup_count && work->count == 1) {
		work->speedups = usual_of_one;
		work->speedup_count = sizeof(usual_of_one) / sizeof(usual_of_one[0]);
	} else if (!work->speedup_count) {
		work->speedups = usual_of_all;
		work->speedup_count = sizeof(usual_of_all) / sizeof(usual_of_all[0]);
	}
	return 0;
}

// ---- what becomes of the run

// Ticks of the model on the scale of the measured time.
static double scaled(const struct tp_predictions *result, double ticks)
{
	return result->replayed > 0 ? ticks / result->replayed * result->measured : 0;
}

// What becomes of the run without what recording has cost.
static int predict_net(struct work *work, struct tp_err *err)
{
	struct tp_predictions *result = work->result;
	double costs = 0;
	double ticks;
	for (uint32_t i = 0; i < work->run.thread_count; i++)
		for (uint64_t j = 0; j < work->run.threads[i].count; j++)
			costs += work->run.threads[i].pieces[j].cost;
	result->ran -= costs < (double)result->ran ? (uint64_t)(costs + 0.5) : result->ran;
	if (tp_run_simulate(&work->run, NULL, 0, &ticks))
		return tp_err_memory(err, work->analysis->trace->source.name);
	result->net = scaled(result, ticks);
	return 0;
}

static int predict_one(struct work *work, uint32_t function, const double *in, struct tp_err *err)
{
	struct tp_predictions *result = work->result;
	double running = 0;
	for (uint64_t i = 0; i < work->run.piece_count; i++)
		running += in[i];
	for (uint32_t i = 0; i < work->speedup_count; i++) {
		struct tp_prediction *item = &result->items[result->count];
		*item = (struct tp_prediction){
		    .function = function, .running = running, .speedup = work->speedups[i]};
		double ticks;
		if (tp_run_simulate(&work->run, in, item->speedup, &ticks))
			return tp_err_memory(err, work->analysis->trace->source.name);
		item->time = scaled(result, ticks);
		result->count++;
	}
	return 0;
}

static int predict_all(struct work *work, struct tp_err *err)
{
	const char *name = work->analysis->trace->source.name;
	const uint64_t pieces = work->run.piece_count + 1;
	const uint64_t fit = CELLS_MAX / pieces;
	const uint32_t most = fit < 1 ? 1 : fit > work->count ? work->count : (uint32_t)fit;
	int code = 0;
	work->result->items =
	    calloc((uint64_t)work->count * work->speedup_count + 1, sizeof(*work->result->items));
	if (!work->result->items)
		return tp_err_memory(err, name);
	for (uint32_t begin = 0; !code && begin < work->count; begin += most) {
		const uint32_t count = work->count - begin < most ? work->count - begin : most;
		double *in = calloc(count * pieces, sizeof(*in));
		code = in ? tp_run_shares(&work->run, work->functions + begin, count,
				work->options->callees, in, err)
			  : tp_err_memory(err, name);
		if (!code && !begin)
			code = predict_net(work, err);
		for (uint32_t i = 0; !code && i < count; i++)
			code = predict_one(
			    work, work->functions[begin + i], in + i * work->run.piece_count, err);
		free(in);
	}
	return code;
}

// Functions by what the first speedup gains.
static int compare_gains(const void *a, const void *b)
{
	const struct tp_prediction *x = *(const struct tp_prediction *const *)a;
	const struct tp_prediction *y = *(const struct tp_prediction *const *)b;
	int order = TP_COMPARE(x->time, y->time);
	order = order ? order : TP_COMPARE(y->running, x->running);
	return order ? order : TP_COMPARE(x->function, y->function);
}

static bool sort(struct work *work)
{
	struct tp_predictions *result = work->result;
	const uint32_t each = work->speedup_count;
	const struct tp_prediction **first = malloc(((size_t)work->count + 1) * sizeof(*first));
	struct tp_prediction *sorted = calloc(result->count + 1, sizeof(*sorted));
	if (first && sorted) {
		for (uint32_t i = 0; i < work->count; i++)
			first[i] = &result->items[(uint64_t)i * each];
		qsort(first, work->count, sizeof(*first), compare_gains);
		for (uint32_t i = 0; i < work->count; i++)
			for (uint32_t j = 0; j < each; j++)
				sorted[(uint64_t)i * each + j] = first[i][j];
		free(result->items);
		result->items = sorted;
		sorted = NULL;
	}
	const bool done = first && !sorted;
	free(first);
	free(sorted);
	return done;
}

int tp_predict(struct tp_predictions *predictions, const struct tp_analysis *analysis,
    const struct tp_predict_options *options, struct tp_err *err)
{
	*predictions = (struct tp_predictions){0};
	struct work work = {.analysis = analysis, .options = options, .result = predictions};
	int code = tp_run_init(&work.run, analysis, options->processors, err);
	if (!code)
		code = choose_functions(&work, err);
	if (!code) {
		predictions->measured = (double)(work.run.to - work.run.from);
		predictions->net = predictions->measured;
		predictions->ran = work.run.ran;
		predictions->waited = work.run.waited;
		predictions->stood = work.run.stood;
		predictions->threads = work.run.thread_count;
		predictions->processors = work.run.processors;
		code = tp_run_simulate(&work.run, NULL, 0, &predictions->replayed);
		code = code ? tp_err_memory(err, analysis->trace->source.name)
			    : predict_all(&work, err);
	}
	if (!code && !sort(&work))
		code = tp_err_memory(err, analysis->trace->source.name);
	free(work.functions);
	tp_run_release(&work.run);
	return code;
}

void tp_predictions_release(struct tp_predictions *predictions)
{
	free(predictions->items);
	*predictions = (struct tp_predictions){0};
}
