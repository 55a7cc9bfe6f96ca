// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which pieces of a run functions ran: each thread is replayed once more.
#include "run.h"

#include "analyzer/profile/calls.h"
#include "common/array.h"

#include <stdlib.h>

struct shares {
	const struct tp_run *run;
	uint32_t *number_of; // of each function of the analysis: of those that are asked for, + 1
	double *in;
	bool callees;
	const struct tp_run_thread *thread; // whose calls come
	const struct tp_thread_result *result;
	uint32_t *open; // numbers of the calls that are open, the innermost last
	uint64_t open_count;
	uint64_t open_room;
	uint64_t since;   // the innermost runs
	uint32_t *depth;  // for each number (with callees): calls of it that are open
	uint64_t *sinces; // and since when
	bool failed;
};

// The function ran from FROM to TO, as far as the thread ran.
static void add(struct shares *shares, uint32_t number, uint64_t from, uint64_t to)
{
	const struct tp_run_thread *thread = shares->thread;
	if (!number)
		return;
	double *in = shares->in + (number - 1) * shares->run->piece_count + thread->first;
	uint64_t i =
	    TP_LOWER_BOUND((uint64_t)0, thread->count, middle, thread->pieces[middle].to <= from);
	for (; i < thread->count && thread->pieces[i].from < to; i++) {
		const struct tp_piece *piece = &thread->pieces[i];
		const uint64_t begin = piece->from > from ? piece->from : from;
		const uint64_t end = piece->to < to ? piece->to : to;
		if (piece->kind == TP_PIECE_RUN && end > begin)
			in[i] += (double)(end - begin);
	}
}

static void settle(struct shares *shares, uint64_t time)
{
	if (!shares->callees && shares->open_count)
		add(shares, shares->open[shares->open_count - 1], shares->since, time);
	shares->since = time;
}

static void begin(struct shares *shares, uint32_t node, uint64_t time)
{
	const struct tp_profile *profile = &shares->result->profile;
	uint32_t number = 0;
	settle(shares, time);
	if (node && node < profile->node_count) {
		const struct tp_function *function = tp_analysis_function(
		    shares->run->analysis, shares->result, &profile->nodes[node]);
		number = shares->number_of[function - shares->run->analysis->functions];
	}
	if (!TP_GROW(shares->open, shares->open_room, shares->open_count + 1)) {
		shares->failed = true;
		return;
	}
	shares->open[shares->open_count++] = number;
	if (shares->callees && number && !shares->depth[number]++)
		shares->sinces[number] = time;
}

static void end(struct shares *shares, uint64_t time)
{
	settle(shares, time);
	if (!shares->open_count)
		return;
	const uint32_t number = shares->open[--shares->open_count];
	if (shares->callees && number && !--shares->depth[number])
		add(shares, number, shares->sinces[number], time);
}

static void on_enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	(void)id;
	begin(context, node, time);
}

static void on_leave(void *context, const struct tp_call *call)
{
	if (!call->away)
		end(context, call->end);
}

static void on_pause(void *context, uint32_t node, uint64_t time)
{
	(void)node;
	end(context, time);
}

static void on_resume(void *context, uint32_t node, uint64_t time)
{
	begin(context, node, time);
}

static int replay(struct shares *shares, struct tp_err *err)
{
	const struct tp_analysis *analysis = shares->run->analysis;
	struct tp_call_sink sink = {
	    .context = shares,
	    .enter = on_enter,
	    .leave = on_leave,
	    .pause = on_pause,
	    .resume = on_resume,
	};
	for (uint32_t i = 0; i < analysis->thread_count && !shares->failed; i++) {
		const struct tp_run *run = shares->run;
		const uint64_t os_tid = analysis->threads[i].thread->host_tid;
		const uint32_t at = TP_LOWER_BOUND(
		    0U, run->thread_count, middle, run->threads[middle].os_tid < os_tid);
		if (at == run->thread_count || run->threads[at].os_tid != os_tid)
			continue;
		shares->thread = &run->threads[at];
		shares->result = &analysis->threads[i];
		shares->open_count = 0;
		// What there is of a damaged thread counts.
		if (tp_calls_each(analysis, i, &sink, err) == TP_ERR_MEMORY)
			return TP_ERR_MEMORY;
		while (shares->open_count)
			end(shares, shares->since);
	}
	return shares->failed ? TP_ERR_MEMORY : 0;
}

int tp_run_shares(const struct tp_run *run, const uint32_t *functions, uint32_t count, bool callees,
    double *in, struct tp_err *err)
{
	const struct tp_analysis *analysis = run->analysis;
	struct shares shares = {
	    .run = run,
	    .callees = callees,
	    .in = in,
	    .number_of = calloc((size_t)analysis->function_count + 1, sizeof(*shares.number_of)),
	    .depth = calloc((size_t)count + 1, sizeof(*shares.depth)),
	    .sinces = calloc((size_t)count + 1, sizeof(*shares.sinces)),
	};
	int code = TP_ERR_MEMORY;
	if (shares.number_of && shares.depth && shares.sinces) {
		for (uint32_t i = 0; i < count; i++)
			shares.number_of[functions[i]] = i + 1;
		code = replay(&shares, err);
	}
	free(shares.number_of);
	free(shares.depth);
	free(shares.sinces);
	free(shares.open);
	return code ? tp_err_memory(err, analysis->trace->source.name) : 0;
}
