// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which pieces of a run functions ran: each thread is replayed once more.
#include "run.h"

#include "analyzer/profile/calls.h"
#include "common/array.h"

#include <stdlib.h>

// Of the own time of an open call, that in one piece.
struct own {
	uint64_t piece;
	double ticks;
};

struct open {
	uint32_t number; // as in number_of
	uint64_t owns;   // of these, the first that is not its callers'
};

// Of a function with callees, its outermost call that is open.
struct outermost {
	uint32_t depth; // calls of it that are open
	uint64_t since;
	uint64_t piece; // in which it began, and what that piece had cost before
	double cost;
};

struct shares {
	struct tp_run *run;
	uint32_t *number_of; // of each function of the analysis: of those that are asked for, + 1
	double *in;
	bool callees;
	struct tp_run_thread *thread; // whose calls come
	const struct tp_thread_result *result;
	uint64_t at;       // the thread's first piece that is not over
	struct open *open; // calls, the innermost last
	uint64_t open_count;
	uint64_t open_room;
	struct own *owns; // of these calls
	uint64_t own_count;
	uint64_t own_room;
	uint64_t since;              // the innermost runs
	struct outermost *outermost; // for each number (with callees)
	bool failed;
};

static double *in_of(const struct shares *shares, uint32_t number)
{
	return shares->in + (number - 1) * shares->run->piece_count + shares->thread->first;
}

// Of the time from FROM to TO, the part in a piece; 0 where the thread did not run.
static double ran_in(const struct tp_piece *piece, uint64_t from, uint64_t to)
{
	const uint64_t begin = piece->from > from ? piece->from : from;
	const uint64_t end = piece->to < to ? piece->to : to;
	return piece->kind == TP_PIECE_RUN && end > begin ? (double)(end - begin) : 0;
}

// Of the innermost call's own time, TICKS more are in the piece. False: no memory.
static bool add_own(struct shares *shares, double ticks)
{
	struct own *last = shares->own_count ? &shares->owns[shares->own_count - 1] : NULL;
	if (shares->own_count > shares->open[shares->open_count - 1].owns &&
	    last->piece == shares->at) {
		last->ticks += ticks;
		return true;
	}
	if (!TP_GROW(shares->owns, shares->own_room, shares->own_count + 1))
		return false;
	shares->owns[shares->own_count++] = (struct own){shares->at, ticks};
	return true;
}

// The innermost call ran up to TIME.
static void settle(struct shares *shares, uint64_t time)
{
	const struct tp_run_thread *thread = shares->thread;
	const uint64_t since = shares->since;
	shares->since = time;
	for (; shares->at < thread->count; shares->at++) {
		const struct tp_piece *piece = &thread->pieces[shares->at];
		const double ticks = ran_in(piece, since, time);
		if (ticks > 0 && shares->open_count && !add_own(shares, ticks)) {
			shares->failed = true;
			return;
		}
		if (piece->to > time)
			return;
	}
}

static uint32_t number_of(const struct shares *shares, uint32_t node)
{
	const struct tp_profile *profile = &shares->result->profile;
	if (!node || node >= profile->node_count)
		return 0;
	const struct tp_function *function =
	    tp_analysis_function(shares->run->analysis, shares->result, &profile->nodes[node]);
	return shares->number_of[function - shares->run->analysis->functions];
}

static void begin(struct shares *shares, uint32_t node, uint64_t time)
{
	const struct tp_run_thread *thread = shares->thread;
	const uint32_t number = number_of(shares, node);
	settle(shares, time);
	if (!TP_GROW(shares->open, shares->open_room, shares->open_count + 1)) {
		shares->failed = true;
		return;
	}
	shares->open[shares->open_count++] = (struct open){number, shares->own_count};
	struct outermost *outermost = &shares->outermost[number];
	if (!number || outermost->depth++)
		return;
	outermost->since = time;
	outermost->piece = shares->at;
	outermost->cost = shares->at < thread->count ? thread->pieces[shares->at].cost : 0;
}

// The outermost call of a function ends: the costs of all calls inside are known.
static void add_with_callees(struct shares *shares, uint32_t number, uint64_t time)
{
	const struct outermost *outermost = &shares->outermost[number];
	const struct tp_run_thread *thread = shares->thread;
	double *in = in_of(shares, number);
	for (uint64_t i = outermost->piece; i < thread->count && i <= shares->at; i++) {
		const struct tp_piece *piece = &thread->pieces[i];
		in[i] += ran_in(piece, outermost->since, time) - piece->cost +
			 (i == outermost->piece ? outermost->cost : 0);
	}
}

// The innermost call ends, or is paused. COST ticks of its own time were for recording, which are
// in all parts of that alike.
static void end(struct shares *shares, uint64_t time, double cost)
{
	settle(shares, time);
	if (!shares->open_count || shares->failed)
		return;
	const struct open *open = &shares->open[--shares->open_count];
	double ticks = 0;
	for (uint64_t i = open->owns; i < shares->own_count; i++)
		ticks += shares->owns[i].ticks;
	for (uint64_t i = open->owns; i < shares->own_count; i++) {
		const struct own *own = &shares->owns[i];
		const double part = cost * own->ticks / ticks;
		shares->thread->pieces[own->piece].cost += part;
		if (open->number && !shares->callees)
			in_of(shares, open->number)[own->piece] += own->ticks - part;
	}
	shares->own_count = open->owns;
	if (open->number && !--shares->outermost[open->number].depth && shares->callees)
		add_with_callees(shares, open->number, time);
}

static void on_enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	(void)id;
	begin(context, node, time);
}

static void on_leave(void *context, const struct tp_call *call)
{
	struct shares *shares = context;
	const double cost = (double)call->self - (double)call->net.self;
	if (!call->away) {
		end(shares, call->end, cost);
		return;
	}
	// Its stack was left for good: its time is known, and its cost comes now.
	const uint32_t number = number_of(shares, call->node);
	const uint64_t count = shares->thread->count;
	if (!count)
		return;
	const uint64_t piece = shares->at < count ? shares->at : count - 1;
	if (!shares->open_count)
		shares->thread->pieces[piece].cost += cost;
	if (number)
		in_of(shares, number)[piece] -= cost;
}

static void on_pause(void *context, uint32_t node, uint64_t time)
{
	(void)node;
	end(context, time, 0);
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
		shares->at = 0;
		shares->open_count = 0;
		shares->own_count = 0;
		shares->since = 0;
		// What there is of a damaged thread counts.
		if (tp_calls_each(analysis, i, &sink, err) == TP_ERR_MEMORY)
			return TP_ERR_MEMORY;
		while (shares->open_count)
			end(shares, shares->since, 0);
	}
	return shares->failed ? TP_ERR_MEMORY : 0;
}

int tp_run_shares(struct tp_run *run, const uint32_t *functions, uint32_t count, bool callees,
    double *in, struct tp_err *err)
{
	const struct tp_analysis *analysis = run->analysis;
	struct shares shares = {
	    .run = run,
	    .callees = callees,
	    .in = in,
	    .number_of = calloc((size_t)analysis->function_count + 1, sizeof(*shares.number_of)),
	    .outermost = calloc((size_t)count + 1, sizeof(*shares.outermost)),
	};
	int code = TP_ERR_MEMORY;
	for (uint32_t i = 0; i < run->thread_count; i++)
		for (uint64_t j = 0; j < run->threads[i].count; j++)
			run->threads[i].pieces[j].cost = 0;
	if (shares.number_of && shares.outermost) {
		for (uint32_t i = 0; i < count; i++)
			shares.number_of[functions[i]] = i + 1;
		code = replay(&shares, err);
	}
	free(shares.number_of);
	free(shares.outermost);
	free(shares.open);
	free(shares.owns);
	return code ? tp_err_memory(err, analysis->trace->source.name) : 0;
}
