// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run's pieces, from switches and wakes.
#include "run.h"

#include "analyzer/profile/system.h"
#include "analyzer/trace/host_threads.h"
#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// The clocks of switches and of wakes are two, and converted: they disagree by less.
#define SLACK_NS 50000
#define NOBODY UINT32_MAX
// A trace that tells of more tells nothing.
#define PROCESSORS_MAX (1U << 20)

// What ended a stretch without a processor.
struct wake {
	uint64_t at;
	uint32_t thread; // that did it, of the run; NOBODY: none that is recorded
	bool starts;     // the thread was made then
};

// A moment at which a thread woke another one.
struct point {
	uint64_t at;
	uint32_t thread;
};

// From `at` on, the number of the run's threads that run, and the number that could.
struct load {
	uint64_t at;
	int64_t running; // first the change
	int64_t ready;
	double taken; // before `at`, of each thread that could have run: what others took of it
};

struct work {
	struct tp_run *run;
	const struct tp_sched_thread **scheds; // of the run's threads
	struct wake **wakes;                   // for each stretch of each of them
	struct point *points;                  // by thread and time
	uint64_t point_count;
	uint64_t point_room;
	struct load *loads;
	uint64_t load_count;
	uint64_t load_room;
};

// ---- threads

static uint64_t end_of(const struct tp_run *run, const struct tp_sched_thread *sched)
{
	return sched->end < run->to ? sched->end : run->to;
}

static uint32_t find(const struct tp_run *run, uint64_t os_tid)
{
	const uint32_t i =
	    TP_LOWER_BOUND(0U, run->thread_count, middle, run->threads[middle].os_tid < os_tid);
	return i < run->thread_count && run->threads[i].os_tid == os_tid ? i : NOBODY;
}

static bool list_threads(struct work *work)
{
	struct tp_run *run = work->run;
	const struct tp_sched_read *sched = &run->analysis->trace->sched;
	run->threads = calloc((size_t)sched->thread_count + 1, sizeof(*run->threads));
	work->scheds = calloc((size_t)sched->thread_count + 1, sizeof(*work->scheds));
	work->wakes = calloc((size_t)sched->thread_count + 1, sizeof(*work->wakes));
	if (!run->threads || !work->scheds || !work->wakes)
		return false;
	for (uint32_t i = 0; i < sched->thread_count; i++) {
		const struct tp_sched_thread *thread = &sched->threads[i];
		if (end_of(run, thread) <= run->from)
			continue;
		struct wake *wakes =
		    malloc(((size_t)thread->off.count + 1) * sizeof(*work->wakes[0]));
		if (!wakes)
			return false;
		for (uint32_t j = 0; j < thread->off.count; j++)
			wakes[j].thread = NOBODY;
		work->wakes[run->thread_count] = wakes;
		work->scheds[run->thread_count] = thread;
		run->threads[run->thread_count++].os_tid = thread->os_tid;
	}
	return true;
}

// ---- who woke whom

// That in which AT is, or the nearest one, if that is near; NOBODY: none.
static uint32_t find_stretch(const struct tp_off_list *off, uint64_t at, uint64_t slack)
{
	const uint32_t i = TP_LOWER_BOUND(0U, off->count, middle, off->items[middle].to < at);
	const uint64_t before = i ? at - off->items[i - 1].to : UINT64_MAX;
	uint64_t behind = UINT64_MAX;
	if (i < off->count)
		behind = off->items[i].from > at ? off->items[i].from - at : 0;
	if (behind <= before)
		return behind <= slack ? i : NOBODY;
	return before <= slack ? i - 1 : NOBODY;
}

static void take_wake(
    struct work *work, const struct teeperf_system_event *event, uint64_t at, uint64_t slack)
{
	const uint32_t thread = find(work->run, event->os_tid);
	const uint32_t waker = find(work->run, event->waker_tid);
	if (thread == NOBODY || waker == NOBODY || thread == waker || at < work->run->from)
		return;
	const struct tp_off_list *off = &work->scheds[thread]->off;
	const uint32_t i = find_stretch(off, at, slack);
	if (i == NOBODY || off->items[i].preempted)
		return;
	struct wake *wake = &work->wakes[thread][i];
	const struct tp_off_stretch *stretch = &off->items[i];
	const uint64_t bounded = at < stretch->from ? stretch->from
				 : at > stretch->to ? stretch->to
						    : at;
	// The last one is that after which it ran.
	if (wake->thread == NOBODY || wake->at <= bounded)
		*wake = (struct wake){bounded, waker, event->kind == TEEPERF_SYSTEM_START};
}

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a;
	const struct point *y = b;
	const int order = TP_COMPARE(x->thread, y->thread);
	return order ? order : TP_COMPARE(x->at, y->at);
}

static bool list_wakes(struct work *work)
{
	const struct tp_analysis *analysis = work->run->analysis;
	const struct tp_tracefile *trace = analysis->trace;
	const uint64_t slack = tp_timebase_ticks(&analysis->time, SLACK_NS);
	for (uint64_t i = 0; i < trace->system.count; i++) {
		const struct teeperf_system_event *event = &trace->system.events[i];
		if (event->kind != TEEPERF_SYSTEM_START && !tp_system_event_woken(analysis, event))
			continue;
		const uint64_t at = tp_timebase_find(
		    &analysis->time, &trace->clock, trace->points, event->woken_ns);
		take_wake(work, event, at, slack);
	}
	for (uint32_t t = 0; t < work->run->thread_count; t++)
		for (uint32_t i = 0; i < work->scheds[t]->off.count; i++) {
			const struct wake *wake = &work->wakes[t][i];
			if (wake->thread == NOBODY)
				continue;
			if (!TP_GROW(work->points, work->point_room, work->point_count + 1))
				return false;
			work->points[work->point_count++] = (struct point){wake->at, wake->thread};
		}
	if (work->point_count)
		qsort(work->points, work->point_count, sizeof(*work->points), compare_points);
	return true;
}

// ---- what others took of the processors

static bool add_load(struct work *work, uint64_t from, uint64_t to, bool runs)
{
	const int64_t running = runs;
	const int64_t ready = !runs;
	if (from >= to)
		return true;
	if (!TP_GROW(work->loads, work->load_room, work->load_count + 2))
		return false;
	work->loads[work->load_count++] = (struct load){from, running, ready, 0};
	work->loads[work->load_count++] = (struct load){to, -running, -ready, 0};
	return true;
}

static int compare_loads(const void *a, const void *b)
{
	return TP_COMPARE(((const struct load *)a)->at, ((const struct load *)b)->at);
}

static bool list_thread_loads(struct work *work, uint32_t number)
{
	const struct tp_off_list *off = &work->scheds[number]->off;
	const uint64_t end = end_of(work->run, work->scheds[number]);
	uint64_t at = work->run->from;
	for (uint32_t i = 0; i < off->count && at < end; i++) {
		const struct tp_off_stretch *item = &off->items[i];
		const struct wake *wake = &work->wakes[number][i];
		const uint64_t from = item->from > at ? item->from : at;
		const uint64_t ready = item->preempted          ? from
				       : wake->thread == NOBODY ? item->to
				       : wake->at > from        ? wake->at
								: from;
		if (!add_load(work, at, item->from < end ? item->from : end, true) ||
		    !add_load(work, ready, item->to < end ? item->to : end, false))
			return false;
		at = item->to > at ? item->to : at;
	}
	return add_load(work, at, end, true);
}

// While processors are free for the program, and threads could run: others have them, and each
// thread lacks its part.
static double taken_at(const struct load *load, uint32_t processors)
{
	const int64_t others = (int64_t)processors - load->running;
	if (others <= 0 || load->ready <= 0)
		return 0;
	return others < load->ready ? (double)others / (double)load->ready : 1;
}

// PROCESSORS, 0: as many as ran at a time.
static bool list_loads(struct work *work, uint32_t processors)
{
	struct tp_run *run = work->run;
	for (uint32_t t = 0; t < run->thread_count; t++)
		if (!list_thread_loads(work, t))
			return false;
	if (work->load_count)
		qsort(work->loads, work->load_count, sizeof(*work->loads), compare_loads);
	int64_t most = 1;
	for (uint64_t i = 1; i < work->load_count; i++) {
		struct load *load = &work->loads[i];
		load->running += load[-1].running;
		load->ready += load[-1].ready;
		// Of several at one time the last has the sum.
		const bool last = i + 1 == work->load_count || load[1].at > load->at;
		most = last && load->running > most ? load->running : most;
	}
	run->processors = processors ? processors : (uint32_t)most;
	for (uint64_t i = 1; i < work->load_count; i++) {
		struct load *load = &work->loads[i];
		load->taken = load[-1].taken + taken_at(&load[-1], run->processors) *
						   (double)(load->at - load[-1].at);
	}
	return true;
}

static double taken_before(const struct work *work, uint64_t at)
{
	const uint64_t i =
	    TP_LOWER_BOUND((uint64_t)0, work->load_count, middle, work->loads[middle].at <= at);
	if (!i)
		return 0;
	const struct load *load = &work->loads[i - 1];
	return load->taken + taken_at(load, work->run->processors) * (double)(at - load->at);
}

// Of a time in which a thread could have run, but did not: what others took of the processors.
static double taken_between(const struct work *work, uint64_t from, uint64_t to)
{
	return from < to ? taken_before(work, to) - taken_before(work, from) : 0;
}

// ---- pieces

// The next one; NULL: no memory.
static struct tp_piece *add_piece(
    struct tp_run_thread *thread, enum tp_piece_kind kind, uint64_t from, uint64_t to)
{
	if (!TP_GROW(thread->pieces, thread->room, thread->count + 1))
		return NULL;
	struct tp_piece *piece = &thread->pieces[thread->count++];
	*piece =
	    (struct tp_piece){.from = from, .to = to, .length = (double)(to - from), .kind = kind};
	return piece;
}

// It ran, and woke others at the points in between, of which *POINT is the next.
static bool add_running(
    struct work *work, uint32_t number, uint64_t from, uint64_t to, uint64_t *point)
{
	struct tp_run_thread *thread = &work->run->threads[number];
	work->run->ran += to > from ? to - from : 0;
	for (; *point < work->point_count && work->points[*point].thread == number &&
	       work->points[*point].at < to;
	     ++*point) {
		const uint64_t at = work->points[*point].at;
		if (at <= from)
			continue;
		if (!add_piece(thread, TP_PIECE_RUN, from, at))
			return false;
		from = at;
	}
	return from >= to || add_piece(thread, TP_PIECE_RUN, from, to);
}

static bool add_stretch(struct work *work, uint32_t number, uint32_t index, uint64_t from)
{
	struct tp_run *run = work->run;
	struct tp_run_thread *thread = &run->threads[number];
	const struct tp_off_stretch *off = &work->scheds[number]->off.items[index];
	const struct wake *wake = &work->wakes[number][index];
	const uint64_t to = off->to < run->to ? off->to : run->to;
	if (off->preempted && thread->count) {
		// A neighbour takes its part of whatever time the work takes.
		thread->pieces[thread->count - 1].length += taken_between(work, from, to);
		return true;
	}
	if (wake->thread == NOBODY) {
		// The first one is from before the thread was made.
		run->stood += index ? to - from : 0;
		return add_piece(thread, TP_PIECE_STAND, from, to);
	}
	const uint64_t at = wake->at < from ? from : wake->at > to ? to : wake->at;
	struct tp_piece *piece = add_piece(thread, TP_PIECE_WAIT, from, to);
	if (!piece)
		return false;
	run->waited += wake->starts ? 0 : at - from;
	piece->length = taken_between(work, at, to);
	piece->thread = wake->thread;
	return true;
}

static bool add_pieces(struct work *work)
{
	struct tp_run *run = work->run;
	uint64_t point = 0;
	uint64_t last = run->from;
	for (uint32_t t = 0; t < run->thread_count; t++) {
		struct tp_run_thread *thread = &run->threads[t];
		const struct tp_off_list *off = &work->scheds[t]->off;
		const uint64_t end = end_of(run, work->scheds[t]);
		uint64_t at = run->from;
		while (point < work->point_count && work->points[point].thread < t)
			point++;
		for (uint32_t i = 0; i < off->count && at < end; i++) {
			const struct tp_off_stretch *item = &off->items[i];
			if (item->to <= at)
				continue;
			const uint64_t from = item->from > at ? item->from : at;
			if (from >= end)
				break;
			if (!add_running(work, t, at, from, &point) ||
			    !add_stretch(work, t, i, from))
				return false;
			at = item->to;
		}
		if (at < end && !add_running(work, t, at, end, &point))
			return false;
		while (thread->count && thread->pieces[thread->count - 1].kind != TP_PIECE_RUN)
			thread->count--;
		if (thread->count && thread->pieces[thread->count - 1].to > last)
			last = thread->pieces[thread->count - 1].to;
		thread->first = run->piece_count;
		run->piece_count += thread->count;
	}
	run->idle = run->to - last;
	return true;
}

// At the end of which piece the thread was that woke the others. Where it did nothing before, they
// did not wait for it.
static void join_pieces(struct work *work)
{
	struct tp_run *run = work->run;
	for (uint32_t t = 0; t < run->thread_count; t++) {
		uint32_t stretch = 0;
		for (uint64_t i = 0; i < run->threads[t].count; i++) {
			struct tp_piece *piece = &run->threads[t].pieces[i];
			if (piece->kind != TP_PIECE_WAIT)
				continue;
			while (work->scheds[t]->off.items[stretch].to < piece->to)
				stretch++;
			const uint64_t at = work->wakes[t][stretch].at;
			const struct tp_run_thread *waker = &run->threads[piece->thread];
			uint64_t behind = TP_LOWER_BOUND(
			    (uint64_t)0, waker->count, middle, waker->pieces[middle].to <= at);
			// It ran to do so. Each wait is behind what it waits for, so there are no
			// circles.
			while (behind && waker->pieces[behind - 1].kind != TP_PIECE_RUN)
				behind--;
			piece->piece = behind ? behind - 1 : 0;
			if (!behind) {
				piece->kind = TP_PIECE_STAND;
				piece->length = (double)(piece->to - piece->from);
			}
		}
	}
}

// ---- the whole

// Where the recorder was killed, calls may go on behind the last switch that it wrote.
static void bound(struct tp_run *run)
{
	const struct tp_tracefile *trace = run->analysis->trace;
	char text[32];
	uint64_t last = 0;
	if (trace->has_end && !tp_tracefile_host(trace, "recovered", text, sizeof(text)))
		return;
	for (uint32_t i = 0; i < trace->sched.thread_count; i++) {
		const struct tp_sched_thread *thread = &trace->sched.threads[i];
		const uint32_t count = thread->off.count;
		const uint64_t known = thread->end != UINT64_MAX ? thread->end
				       : count                   ? thread->off.items[count - 1].to
								 : 0;
		last = known > last ? known : last;
	}
	run->to = last < run->to ? last : run->to;
}

static int check(struct tp_run *run, struct tp_err *err)
{
	const struct tp_analysis *analysis = run->analysis;
	const struct tp_tracefile *trace = analysis->trace;
	char why[256];
	uint32_t threads = 0;
	run->from = UINT64_MAX;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		if (thread->first > thread->last)
			continue;
		threads++;
		run->from = thread->first < run->from ? thread->first : run->from;
		run->to = thread->last > run->to ? thread->last : run->to;
	}
	if (run->from >= run->to)
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "has no calls with times, so there is nothing to make faster");
	if (!trace->sched.thread_count || !analysis->time.has_origin) {
		tp_analysis_why_no_parts(trace, why, sizeof(why));
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "has no running and waiting times: %s", why);
	}
	if (tp_tracefile_host(trace, "ids", why, sizeof(why)) && tp_host_threads_unknown(trace)) {
		tp_analysis_why_no_parts(trace, why, sizeof(why));
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "has no running and waiting times: %s", why);
	}
	bound(run);
	if (threads < 2 ||
	    (trace->system.has && (trace->system.head.groups & TEEPERF_SYSTEM_SCHED)))
		return 0;
	if (tp_tracefile_host(trace, "events_refused", why, sizeof(why)))
		return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
		    "does not show which thread waited for which: %s", why);
	return tp_err_set(err, TP_ERR_NOT_FOUND, trace->source.name,
	    "does not show which thread waited for which: record with '--events sched'");
}

// 0: not known.
static uint32_t processors_of(const struct tp_tracefile *trace)
{
	char text[32];
	if (!tp_tracefile_host(trace, "cores", text, sizeof(text)))
		return 0;
	unsigned long cores = strtoul(text, NULL, 10);
	// The software counter has one for itself.
	if (tp_tracefile_host(trace, "counter_cpu", text, sizeof(text)) && cores > 1)
		cores--;
	return cores <= PROCESSORS_MAX ? (uint32_t)cores : 0;
}

int tp_run_init(
    struct tp_run *run, const struct tp_analysis *analysis, uint32_t processors, struct tp_err *err)
{
	*run = (struct tp_run){.analysis = analysis};
	const int code = check(run, err);
	if (code)
		return code;
	struct work work = {.run = run};
	const bool done =
	    list_threads(&work) && list_wakes(&work) &&
	    list_loads(&work, processors ? processors : processors_of(analysis->trace)) &&
	    add_pieces(&work);
	if (done)
		join_pieces(&work);
	for (uint32_t i = 0; work.wakes && i < run->thread_count; i++)
		free(work.wakes[i]);
	free(work.wakes);
	free(work.scheds);
	free(work.points);
	free(work.loads);
	if (!done)
		return tp_err_memory(err, analysis->trace->source.name);
	if (!run->piece_count)
		return tp_err_set(err, TP_ERR_NOT_FOUND, analysis->trace->source.name,
		    "its thread switches are from other times than its calls, so the times when "
		    "they ran are unknown");
	return 0;
}

void tp_run_release(struct tp_run *run)
{
	for (uint32_t i = 0; i < run->thread_count; i++)
		free(run->threads[i].pieces);
	free(run->threads);
	*run = (struct tp_run){0};
}
