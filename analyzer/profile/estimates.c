// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What windows of a budget show of functions that were off, and what follows for their totals.
#include "estimates.h"

#include "analyzer/statistics/estimate.h"
#include "common/array.h"
#include "common/units.h"

#include <stdlib.h>

// What a loop says of an event's cost may be so far off in a program's windows: in some an event
// cost two to three times as much (decision 0041).
#define GUESS_DEVIATION 1.0
// If so much of the time is of calls that ended with the window, nobody knows how long they would
// have taken.
#define CUT_MOST 0.05

// Peaks are looked for in pieces of time that are at most so long.
#define PIECE_NS 4000000

// Stretches beside a window, in lengths of it.
enum { NEAR = 2 };

enum { UNSEEN = 0, STEADY, SWITCHED, ODD };

static void add_end(struct tp_estimates *all, uint64_t ends, uint32_t window)
{
	all->stretches[all->count++] = (struct tp_stretch){.ends = ends, .window = window};
}

/*
 * The stretches. Beside windows there are stretches twice as long, or as long as possible: the
 * calls in them are those that would be in the window if no more functions were on.
 */
static void cut_up(struct tp_estimates *all)
{
	const struct tp_selections *selections = &all->analysis->trace->selections;
	const struct tp_windows *windows = &all->analysis->trace->windows;
	uint64_t begins = 0;
	for (uint32_t i = 0, next = 0; i <= selections->count; i++) {
		const uint64_t ends = i < selections->count ? selections->times[i] : UINT64_MAX;
		const bool is_window = next < windows->count && windows->items[next].selection == i;
		const struct tp_window *before = next ? &windows->items[next - 1] : NULL;
		const struct tp_window *behind =
		    next < windows->count ? &windows->items[next] : NULL;
		if (!is_window && before && before->selection == i - 1) {
			const uint64_t length = NEAR * (before->to - before->from);
			const uint64_t near = before->to + length;
			if (near > before->to && near < ends) {
				add_end(all, near, UINT32_MAX);
				begins = near;
			}
		}
		if (!is_window && behind && behind->selection == i + 1) {
			const uint64_t length = NEAR * (behind->to - behind->from);
			const uint64_t near = ends > length ? ends - length : 0;
			if (near > begins)
				add_end(all, near, UINT32_MAX);
		}
		if (is_window)
			all->at[next] = all->count;
		add_end(all, ends, is_window ? next : UINT32_MAX);
		next += is_window;
		begins = ends;
	}
}

struct tp_estimates *tp_estimates_new(const struct tp_analysis *analysis, bool *failed)
{
	const struct tp_selections *selections = &analysis->trace->selections;
	const struct tp_windows *windows = &analysis->trace->windows;
	const struct tp_analysis_options *options = &analysis->options;
	if (!windows->count || analysis->timeless || analysis->ranged || analysis->least ||
	    options->depth || options->focus_count || options->ignore_count)
		return NULL;
	struct tp_estimates *estimates = calloc(1, sizeof(*estimates));
	*failed = !estimates;
	if (!estimates)
		return NULL;
	*estimates = (struct tp_estimates){.analysis = analysis,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .stretches = calloc(
		selections->count + (size_t)2 * windows->count + 1, sizeof(*estimates->stretches)),
	    .at = calloc(windows->count, sizeof(*estimates->at))};
	if (analysis->compensation.known) {
		const struct tp_profile_cost cost =
		    tp_compensation_cost(&analysis->compensation, &analysis->time);
		estimates->event_ticks = (double)(cost.in + cost.out) / TP_COST_PARTS;
	}
	while (estimates->piece_shift < 40 && UINT64_C(2) << estimates->piece_shift <=
						  tp_timebase_ticks(&analysis->time, PIECE_NS))
		estimates->piece_shift++;
	*failed = !estimates->stretches || !estimates->at;
	if (*failed) {
		tp_estimates_release(estimates);
		return NULL;
	}
	cut_up(estimates);
	return estimates;
}

void tp_estimates_release(struct tp_estimates *estimates)
{
	if (!estimates)
		return;
	free(estimates->stretches);
	free(estimates->at);
	free(estimates->calls);
	free(estimates);
}

// ---- the replay

static uint64_t end_of(const struct tp_estimates *all, uint32_t stretch)
{
	return all->stretches[stretch].ends;
}

static uint32_t stretch_at(const struct tp_estimates *all, uint64_t time)
{
	return TP_LOWER_BOUND(0U, all->count - 1, at, all->stretches[at].ends <= time);
}

static void put_stretch(struct tp_estimates_thread *thread)
{
	struct tp_stretch *stretch = &thread->all->stretches[thread->at];
	if (!thread->calls && !thread->lost)
		return;
	pthread_mutex_lock(&thread->all->lock);
	stretch->calls += thread->calls;
	stretch->steady += thread->steady;
	stretch->lost |= thread->lost;
	pthread_mutex_unlock(&thread->all->lock);
	thread->calls = thread->steady = 0;
}

// Go on to the stretch that TIME is in. Events that were lost may be of all from here to there.
static void go_to(struct tp_estimates_thread *thread, uint64_t time)
{
	if (time >= thread->ends) {
		const uint32_t to = stretch_at(thread->all, time);
		put_stretch(thread);
		while (thread->lost && ++thread->at < to)
			put_stretch(thread);
		thread->at = to;
		thread->ends = end_of(thread->all, thread->at);
	}
	if (thread->lost)
		put_stretch(thread);
	thread->lost = false;
}

static struct tp_local_estimate *function_of(struct tp_estimates_thread *thread, uint32_t node)
{
	const struct tp_profile *profile = thread->profile;
	const uint32_t index = profile->nodes[node].function;
	const struct tp_analysis *analysis = thread->all->analysis;
	if (index >= thread->function_room) {
		const uint32_t before = thread->function_room;
		if (!TP_GROW(thread->functions, thread->function_room, profile->function_count)) {
			thread->no_memory = true;
			return NULL;
		}
		for (uint32_t i = before; i < thread->function_room; i++)
			thread->functions[i] = (struct tp_local_estimate){0};
	}
	struct tp_local_estimate *function = &thread->functions[index];
	if (!function->kind) {
		const struct tp_selected *selected =
		    tp_selected_find(&analysis->selected, profile->functions[index].name);
		function->kind = !selected                                          ? STEADY
				 : selected == &analysis->trace->selections.unknown ? ODD
										    : SWITCHED;
	}
	return function;
}

// Of nothing, without memory.
static struct tp_window_calls *add_entry(
    struct tp_estimates_thread *thread, uint32_t name, uint32_t window)
{
	if (!TP_GROW(thread->entries, thread->entry_room, thread->entry_count + 1)) {
		thread->no_memory = true;
		return &thread->nothing;
	}
	struct tp_window_calls *entry = &thread->entries[thread->entry_count++];
	*entry = (struct tp_window_calls){.name = name, .window = window};
	return entry;
}

static struct tp_window_calls *entry_of(
    struct tp_estimates_thread *thread, uint32_t node, uint32_t stretch)
{
	const uint32_t window = thread->all->stretches[stretch].window;
	struct tp_local_estimate *function =
	    window == UINT32_MAX ? NULL : function_of(thread, node);
	if (!function || function->kind != SWITCHED)
		return NULL;
	if (function->last && thread->entries[function->last - 1].window == window)
		return &thread->entries[function->last - 1];
	struct tp_window_calls *entry =
	    add_entry(thread, thread->profile->nodes[node].name, window);
	function->last = thread->entry_count;
	return entry;
}

// Whether the function is on before, in and behind a window, if STRETCH is one.
static bool is_on_around(
    const struct tp_estimates *all, const struct tp_selected *selected, uint32_t stretch)
{
	const uint32_t number = all->stretches[stretch].window;
	if (number == UINT32_MAX)
		return true;
	const struct tp_window *window = &all->analysis->trace->windows.items[number];
	return window->from && tp_selected_at(selected, window->from - 1) &&
	       tp_selected_at(selected, window->from) && tp_selected_at(selected, window->to);
}

// Whether calls of the function now and in the window here, if there is one, or those beside it may
// be compared: it is on in all of them.
static bool is_steady(
    struct tp_estimates_thread *thread, struct tp_local_estimate *function, uint32_t node)
{
	const struct tp_estimates *all = thread->all;
	if (function->kind != SWITCHED)
		return function->kind == STEADY;
	if (function->steady_in != thread->at + 1) {
		const struct tp_selected *selected =
		    tp_selected_find(&all->analysis->selected, thread->profile->nodes[node].name);
		const uint32_t from = thread->at ? thread->at - 1 : 0;
		const uint32_t to = thread->at + 1 < all->count ? thread->at + 1 : thread->at;
		function->is_steady = true;
		for (uint32_t i = from; i <= to && function->is_steady; i++)
			function->is_steady = is_on_around(all, selected, i);
		function->steady_in = thread->at + 1;
	}
	return function->is_steady;
}

// Where most functions are on, the program does little in a piece of time but record.
static void end_piece(struct tp_estimates_thread *thread)
{
	const struct tp_estimates *all = thread->all;
	const double length = (double)(UINT64_C(1) << all->piece_shift);
	const double own = tp_estimate_own(length, (double)thread->piece_calls, all->event_ticks);
	for (uint32_t i = 0; i < thread->touched_count; i++) {
		struct tp_local_estimate *function = &thread->functions[thread->touched[i]];
		const uint64_t calls = (uint64_t)((double)function->calls * length / own);
		function->peak = calls > function->peak ? calls : function->peak;
		function->calls = 0;
	}
	thread->touched_count = 0;
	thread->piece_calls = 0;
}

static void count_in_piece(
    struct tp_estimates_thread *thread, struct tp_local_estimate *function, uint64_t time)
{
	const uint64_t piece = time >> thread->all->piece_shift;
	if (piece != thread->piece)
		end_piece(thread);
	thread->piece = piece;
	thread->piece_calls++;
	if (!function || function->kind != SWITCHED)
		return;
	if (!function->calls) {
		if (!TP_GROW(thread->touched, thread->touched_room,
			thread->touched_count + UINT64_C(1))) {
			thread->no_memory = true;
			return;
		}
		thread->touched[thread->touched_count++] = (uint32_t)(function - thread->functions);
	}
	function->calls++;
}

static void enter(void *context, uint64_t id, uint32_t node, uint64_t time)
{
	(void)id;
	struct tp_estimates_thread *thread = context;
	struct tp_local_estimate *function = function_of(thread, node);
	go_to(thread, time);
	count_in_piece(thread, function, time);
	struct tp_window_calls *entry = entry_of(thread, node, thread->at);
	thread->calls++;
	thread->steady += function && is_steady(thread, function, node);
	if (entry)
		entry->calls++;
}

static void leave(void *context, const struct tp_call *call)
{
	struct tp_estimates_thread *thread = context;
	const struct tp_profile *profile = thread->profile;
	struct tp_window_calls *entry =
	    entry_of(thread, call->node, stretch_at(thread->all, call->start));
	// Of recursive calls the outermost count.
	if (!entry || profile->functions[profile->nodes[call->node].function].active)
		return;
	entry->ticks += call->chosen;
	entry->cost += call->duration - call->net.inclusive;
	if (call->how == TP_CALL_CUT || call->how == TP_CALL_OPEN)
		entry->cut += call->chosen;
}

static void lost(void *context, uint64_t count, uint64_t time)
{
	struct tp_estimates_thread *thread = context;
	go_to(thread, time);
	thread->lost = count != 0;
}

struct tp_call_sink *tp_estimates_begin(struct tp_estimates_thread *thread,
    struct tp_estimates *estimates, const struct tp_profile *profile)
{
	if (!estimates)
		return NULL;
	*thread = (struct tp_estimates_thread){
	    .sink = {.context = thread, .enter = enter, .leave = leave, .lost = lost},
	    .all = estimates,
	    .profile = profile,
	    .ends = end_of(estimates, 0),
	};
	return &thread->sink;
}

void tp_estimates_finish(struct tp_estimates_thread *thread)
{
	struct tp_estimates *all = thread->all;
	if (!all)
		return;
	put_stretch(thread);
	end_piece(thread);
	for (uint32_t i = 0; i < thread->function_room && i < thread->profile->function_count; i++)
		if (thread->functions[i].kind == SWITCHED)
			add_entry(thread, thread->profile->functions[i].name, TP_WINDOW_PEAK)
			    ->calls = thread->functions[i].peak;
	pthread_mutex_lock(&all->lock);
	all->no_memory |= thread->no_memory || !TP_GROW(all->calls, all->call_room,
						   all->call_count + thread->entry_count);
	for (uint64_t i = 0; !all->no_memory && i < thread->entry_count; i++)
		all->calls[all->call_count++] = thread->entries[i];
	pthread_mutex_unlock(&all->lock);
	free(thread->functions);
	free(thread->touched);
	free(thread->entries);
	*thread = (struct tp_estimates_thread){0};
}

// ---- the program's own time

// What all functions' estimates need.
struct work {
	const struct tp_estimates *all;
	const struct tp_windows *windows;
	struct tp_estimate_cost cost;
	uint64_t first;
	uint64_t last;
	double *own;  // at the beginning of each stretch, since the first record
	double *wall; // wall ticks of each stretch that were recorded
	// That ran at once, as far as nobody knows: events of all of them pass within the same
	// time.
	double threads;
	struct tp_estimate_sample *samples;
};

static uint64_t clip(const struct work *work, uint64_t time)
{
	return time < work->first ? work->first : time > work->last ? work->last : time;
}

// From when to when a stretch is in the time that was recorded.
static void bounds(const struct work *work, uint32_t stretch, uint64_t *from, uint64_t *to)
{
	*from = clip(work, stretch ? end_of(work->all, stretch - 1) : 0);
	*to = clip(work, end_of(work->all, stretch));
}

// Without the time for which recording as a whole was switched off, and without that of OFF, which
// may be NULL. *AT: that of tp_off_between.
static double recorded_in(const struct tp_gaps *gaps, const struct tp_off_list *off, uint32_t *at,
    uint64_t from, uint64_t to)
{
	double sum = 0;
	uint32_t i = TP_LOWER_BOUND(0U, gaps->count, gap, gaps->items[gap].to <= from);
	for (; from < to; i++) {
		const bool is_last = i >= gaps->count || gaps->items[i].from >= to;
		const uint64_t end = is_last ? to : gaps->items[i].from;
		if (end > from) {
			const struct tp_off without =
			    off ? tp_off_between(off, at, from, end) : (struct tp_off){0};
			sum += (double)(end - from - without.blocked - without.preempted);
		}
		from = is_last ? to : gaps->items[i].to;
	}
	return sum;
}

static void add_near(const struct work *work, uint32_t stretch, struct tp_estimate_pace *pace)
{
	const struct tp_stretch *at = &work->all->stretches[stretch];
	if (at->lost)
		return;
	pace->near_time += work->wall[stretch];
	pace->near_events += (double)at->calls;
	pace->near_steady += (double)at->steady;
}

// What an event costs. False: that is not known.
static bool find_cost(struct work *work)
{
	const double ticks = work->all->event_ticks;
	const double mean = (ticks + ticks / work->threads) / 2;
	const double spread = ticks - mean;
	const struct tp_estimate_cost guess = {
	    mean, mean * mean * GUESS_DEVIATION * GUESS_DEVIATION + spread * spread};
	struct tp_estimate_pace *paces = calloc(work->windows->count + (size_t)1, sizeof(*paces));
	if (!paces)
		return false;
	uint32_t count = 0;
	for (uint32_t i = 0; i < work->windows->count; i++) {
		const uint32_t number = work->all->at[i];
		const struct tp_stretch *window = &work->all->stretches[number];
		struct tp_estimate_pace pace = {.time = work->wall[number],
		    .events = (double)window->calls,
		    .steady = (double)window->steady};
		add_near(work, number - 1, &pace);
		add_near(work, number + 1, &pace);
		if (!window->lost && pace.near_time > 0)
			paces[count++] = pace;
	}
	const bool known = tp_estimate_cost(paces, count, &guess, &work->cost);
	free(paces);
	return known;
}

static void sum_own(struct work *work)
{
	double sum = 0;
	for (uint32_t i = 0; i < work->all->count; i++) {
		work->own[i] = sum;
		sum += tp_estimate_own(
		    work->wall[i], (double)work->all->stretches[i].calls, work->cost.ticks);
	}
	work->own[work->all->count] = sum;
}

// The program's own time from the first record to TIME. Within a stretch it is taken to pass
// evenly.
static double own_at(const struct work *work, uint64_t time)
{
	uint64_t from;
	uint64_t to;
	const uint32_t stretch = stretch_at(work->all, time);
	bounds(work, stretch, &from, &to);
	const double whole = work->own[stretch + 1] - work->own[stretch];
	if (time >= to)
		return work->own[stretch + 1];
	return work->own[stretch] +
	       (time > from ? whole * (double)(time - from) / (double)(to - from) : 0);
}

// ---- the estimates

// Own time for which the function was off from FROM to TO.
static double own_off(
    const struct work *work, const struct tp_selected *selected, uint64_t from, uint64_t to)
{
	double sum = 0;
	for (uint32_t i = tp_selected_moves(selected, from); from < to; i++) {
		const uint64_t move = i < selected->count ? selected->moves[i] : to;
		const uint64_t end = move < to ? move : to;
		if (!(selected->at_first ^ (i & 1)))
			sum += own_at(work, end) - own_at(work, from);
		from = end;
	}
	return sum;
}

static bool is_window_of(
    const struct work *work, const struct tp_selected *selected, uint32_t window)
{
	const struct tp_window *at = &work->windows->items[window];
	const uint32_t stretch = work->all->at[window];
	return at->from >= work->first && at->to <= work->last &&
	       !work->all->stretches[stretch].lost && work->wall[stretch] > 0 && at->from &&
	       tp_selected_at(selected, at->from) && !tp_selected_at(selected, at->from - 1);
}

// The windows in which the function is on and was off before, with the time off that they stand
// for. Returns how many.
static uint32_t list_windows(
    const struct work *work, const struct tp_selected *selected, uint32_t *windows)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < work->windows->count; i++)
		if (is_window_of(work, selected, i))
			windows[count++] = i;
	uint64_t from = work->first;
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_window *at = &work->windows->items[windows[i]];
		const struct tp_window *next =
		    at + (i + 1 < count ? windows[i + 1] - windows[i] : 0);
		const uint64_t to = next == at ? work->last : at->to + (next->from - at->to) / 2;
		const uint32_t stretch = work->all->at[windows[i]];
		const double events = (double)work->all->stretches[stretch].calls;
		work->samples[i] = (struct tp_estimate_sample){
		    .off = own_off(work, selected, from, to),
		    .time = tp_estimate_own(work->wall[stretch], events, work->cost.ticks),
		    .events = events,
		};
		from = to;
	}
	return count;
}

// Whether each event inside a call had the same taken off its time.
static bool are_costs_even(const struct tp_analysis *analysis)
{
	return analysis->compensation.applied && !analysis->options.costs &&
	       (analysis->options.time == TP_TIME_WALL || analysis->options.time == TP_TIME_CPU);
}

// Of a hostile trace it may be anything.
static uint64_t whole(double value)
{
	return value < 9e18 ? (uint64_t)(value + 0.5) : UINT64_MAX / 2;
}

static struct tp_function_estimate make(struct work *work, const struct tp_function *function,
    const struct tp_window_calls *calls, uint64_t call_count, uint32_t *windows)
{
	const uint32_t count = list_windows(work, function->selected, windows);
	struct tp_function_estimate estimate = {.windows = count};
	if (count < TP_ESTIMATE_WINDOWS)
		return estimate;
	uint64_t ticks = 0;
	uint64_t cut = 0;
	double peak = 0;
	for (uint64_t i = call_count; i-- && calls[i].window == TP_WINDOW_PEAK;)
		peak += (double)calls[i].calls;
	peak /= (double)(UINT64_C(1) << work->all->piece_shift);
	for (uint32_t part = 0; part < 2; part++) {
		for (uint64_t i = 0, at = 0; i < count; i++) {
			double sum = 0;
			double cost = 0;
			for (; at < call_count && calls[at].window <= windows[i]; at++) {
				if (calls[at].window < windows[i])
					continue;
				sum += (double)(part ? calls[at].ticks : calls[at].calls);
				cost += part ? (double)calls[at].cost : 0;
				ticks += part ? calls[at].ticks : 0;
				cut += part ? calls[at].cut : 0;
			}
			// What an event costs is known better than when the cost was taken off.
			const double events =
			    work->all->event_ticks > 0 ? cost / work->all->event_ticks : 0;
			work->samples[i].amount = sum + cost - events * work->cost.ticks;
			work->samples[i].own_events = events;
		}
		if (!part && !tp_estimate_tells(work->samples, count, &work->cost))
			return estimate;
		const double each = part && function->calls
					? (double)function->inclusive / (double)function->calls
					: 1;
		const struct tp_estimate off =
		    tp_estimate_off(work->samples, count, &work->cost, peak * each);
		const uint64_t known = part ? function->inclusive : function->calls;
		*(part ? &estimate.inclusive : &estimate.calls) = (struct tp_estimated){
		    tp_add_capped(known, whole(off.value)), whole(off.margin)};
	}
	// An estimate that may be off by all of itself says nothing.
	estimate.has_calls = estimate.calls.margin < estimate.calls.value;
	// A call that began in a window while an outer one of the same function ran would be taken
	// for an outermost one.
	estimate.has_inclusive = estimate.inclusive.margin < estimate.inclusive.value && ticks &&
				 are_costs_even(work->all->analysis) &&
				 (double)cut <= CUT_MOST * (double)ticks &&
				 function->total == function->inclusive;
	return estimate;
}

static int compare_calls(const void *a, const void *b)
{
	const struct tp_window_calls *x = a;
	const struct tp_window_calls *y = b;
	const int order = TP_COMPARE(x->name, y->name);
	return order ? order : TP_COMPARE(x->window, y->window);
}

static void make_all(struct tp_analysis *analysis, struct work *work, uint32_t *windows)
{
	const struct tp_estimates *all = work->all;
	if (all->call_count)
		qsort(all->calls, all->call_count, sizeof(*all->calls), compare_calls);
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		struct tp_function *function = &analysis->functions[i];
		if (!function->selected || !function->key.low_half ||
		    function->selected == &analysis->trace->selections.unknown ||
		    function->counted || function->sampled)
			continue;
		const uint32_t name = (uint32_t)function->key.address;
		const uint64_t from =
		    TP_LOWER_BOUND(UINT64_C(0), all->call_count, at, all->calls[at].name < name);
		uint64_t to = from;
		while (to < all->call_count && all->calls[to].name == name)
			to++;
		function->estimate = make(work, function, all->calls + from, to - from, windows);
		analysis->estimated_count += function->estimate.has_calls;
	}
}

// Whether it is known of each thread when it had a processor.
static bool knows_processors(const struct tp_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		if (analysis->threads[i].thread->chunk_count && !analysis->threads[i].thread->off)
			return false;
	return true;
}

// Add a thread's time with a processor to that of the stretches.
static void add_running(struct work *work, const struct tp_thread_result *thread)
{
	uint32_t at = 0;
	if (thread->first >= thread->last)
		return;
	for (uint32_t i = stretch_at(work->all, thread->first); i < work->all->count; i++) {
		uint64_t from;
		uint64_t to;
		bounds(work, i, &from, &to);
		if (from >= thread->last)
			break;
		from = from > thread->first ? from : thread->first;
		to = to < thread->last ? to : thread->last;
		if (to > from)
			work->wall[i] += recorded_in(
			    &work->all->analysis->trace->gaps, thread->thread->off, &at, from, to);
	}
}

static bool find_times(struct work *work)
{
	const struct tp_analysis *analysis = work->all->analysis;
	double alive = 0;
	work->first = UINT64_MAX;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		if (thread->first < thread->last)
			alive += (double)(thread->last - thread->first);
		work->first = thread->first < work->first ? thread->first : work->first;
		work->last = thread->last > work->last ? thread->last : work->last;
	}
	if (work->first >= work->last)
		return false;
	const bool processors = knows_processors(analysis);
	const double mean = alive / (double)(work->last - work->first);
	work->threads = !processors && mean > 1 ? mean : 1;
	for (uint32_t i = 0; processors && i < analysis->thread_count; i++)
		if (analysis->threads[i].thread->chunk_count)
			add_running(work, &analysis->threads[i]);
	for (uint32_t i = 0; !processors && i < work->all->count; i++) {
		uint64_t from;
		uint64_t to;
		bounds(work, i, &from, &to);
		work->wall[i] = recorded_in(&analysis->trace->gaps, NULL, NULL, from, to);
	}
	return true;
}

bool tp_estimates_make(struct tp_analysis *analysis)
{
	const struct tp_estimates *all = analysis->estimates;
	// Calls on stacks that went from thread to thread are not followed.
	if (!all || analysis->counts.moved)
		return true;
	struct work work = {.all = all, .windows = &analysis->trace->windows};
	uint32_t *windows = calloc(work.windows->count, sizeof(*windows));
	work.own = calloc(all->count + (size_t)1, sizeof(*work.own));
	work.wall = calloc(all->count, sizeof(*work.wall));
	work.samples = calloc(work.windows->count, sizeof(*work.samples));
	const bool memory = !all->no_memory && windows && work.own && work.wall && work.samples;
	if (memory && find_times(&work) && find_cost(&work)) {
		sum_own(&work);
		make_all(analysis, &work, windows);
		analysis->event_ticks = work.cost.ticks;
	}
	free(windows);
	free(work.own);
	free(work.wall);
	free(work.samples);
	return memory;
}
