// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The clock of a session: its rate, its thread, and what recording costs with it.
#define _GNU_SOURCE
#include "session_steps.h"
#include "recorder/cost_cache.h"

#include <math.h>
#include <time.h>

// Less time than this between two points says too little about the clock's rate.
static const uint64_t RATE_NS = 2 * 1000 * 1000;

// The rate by now, for the header and the counter thread; better ones follow in the trace.
static uint64_t first_rate(struct tp_session *session)
{
	const uint64_t start = session->clock_log.points[0].monotonic_ns;
	const uint64_t now = tp_clock_monotonic_ns();
	if (now - start < RATE_NS)
		nanosleep(&(struct timespec){.tv_nsec = (long)(RATE_NS - (now - start))}, NULL);
	tp_clock_log_point(&session->clock_log);
	return tp_clock_log_hz(&session->clock_log);
}

static struct tp_cost_key cost_key(const struct tp_session *session)
{
	return (struct tp_cost_key){
	    .clock = session->clock_log.clock,
	    .period_ns = session->soft ? session->options.period_ns : 0,
	    .cores = session->cores,
	    .counter_cpu = session->soft ? session->counter.cpu : -1,
	};
}

// Of costs with a soft clock whose thread had no processor meanwhile nobody else should have to
// hear.
static bool was_stored(const struct tp_session *session, uint64_t stores, uint64_t took_ns)
{
	const uint64_t period_ns = session->options.period_ns;
	return !session->soft || !period_ns ||
	       tp_load_relaxed(&session->counter.stores) - stores >= took_ns / period_ns / 2;
}

enum { TRIES = 3 };

static double all_of(const struct tp_event_cost *cost)
{
	return cost->in_ns + cost->out_ns;
}

// Measure, and again if no call can cost so much; the least of them counts.
static bool measure_sure(const struct tp_session *session, struct tp_event_cost *cost)
{
	const uint64_t *word = session->soft ? session->counter.options.word : NULL;
	struct tp_event_cost tried;
	bool has = false;
	for (int i = 0; i < TRIES; i++) {
		if (!tp_event_cost_measure(&tried, session->clock_log.clock, word))
			break;
		if (!has || all_of(&tried) < all_of(cost))
			*cost = tried;
		has = true;
		if (!tp_event_cost_is_absurd(all_of(cost), cost->least_ns))
			break;
	}
	return has;
}

// Measure, and keep it for those who come.
static bool measure(struct tp_session *session, struct tp_event_cost *cost)
{
	// Nothing else should run meanwhile.
	tp_session_supply_await(session);
	const uint64_t stores = session->soft ? tp_load_relaxed(&session->counter.stores) : 0;
	const uint64_t start_ns = tp_clock_monotonic_ns();
	if (!measure_sure(session, cost))
		return false;
	session->cost_took_ns = tp_clock_monotonic_ns() - start_ns;
	if (was_stored(session, stores, session->cost_took_ns)) {
		const struct tp_cost_key key = cost_key(session);
		tp_cost_cache_write(
		    &key, &(struct tp_cost_kept){.cost = *cost, .took_ns = session->cost_took_ns});
	}
	return true;
}

// What an earlier recording of this day has found, if a quick look finds nothing else.
static bool is_kept(const struct tp_session *session, struct tp_cost_kept *kept)
{
	const struct tp_cost_key key = cost_key(session);
	if (!tp_cost_cache_read(&key, kept))
		return false;
	const double all = all_of(&kept->cost);
	kept->cost.least_ns = tp_event_cost_least(
	    session->clock_log.clock, session->soft ? session->counter.options.word : NULL);
	return !tp_event_cost_is_absurd(all, kept->cost.least_ns) &&
	       !tp_event_cost_is_absurd(kept->cost.least_ns, all);
}

// What recording costs, before the program starts: as it was kept, or measured now.
static void learn_cost(struct tp_session *session)
{
	struct tp_cost_kept kept;
	if (!is_kept(session, &kept)) {
		session->has_cost = measure(session, &session->cost);
		return;
	}
	session->has_cost = true;
	session->cost = kept.cost;
	// By so much again as two measurements differ (event_cost.c), since the machine was another
	// one then.
	session->cost.in_off_ns += kept.cost.in_ns * TP_EVENT_COST_DRIFT;
	session->cost.out_off_ns += kept.cost.out_ns * TP_EVENT_COST_DRIFT;
	session->cost_took_ns = kept.took_ns;
	session->cost_age_ns = kept.age_ns;
}

/*
 * ... and again when it has ended: with whom a virtual machine shares its cores, and how busy they
 * are, changes within a second. Not if that would take more than this part of the recording, which
 * the user waits for.
 */
enum { LOOK_AGAIN_SHARE = 200 };

static void look_again(struct tp_session *session)
{
	struct tp_event_cost cost;
	const struct tp_event_cost *before = &session->cost;
	if (session->end->end_ns - session->start_ns < LOOK_AGAIN_SHARE * session->cost_took_ns ||
	    !measure(session, &cost))
		return;
	// Of two that cannot both be true the larger one was interrupted.
	if (tp_event_cost_is_absurd(all_of(&cost), all_of(before)))
		return;
	if (tp_event_cost_is_absurd(all_of(before), all_of(&cost))) {
		session->cost = cost;
		session->cost_age_ns = 0;
		return;
	}
	cost.in_off_ns =
	    fmax(cost.in_off_ns, before->in_off_ns) + fabs(cost.in_ns - before->in_ns) / 2;
	cost.out_off_ns =
	    fmax(cost.out_off_ns, before->out_off_ns) + fabs(cost.out_ns - before->out_ns) / 2;
	cost.in_ns = (cost.in_ns + before->in_ns) / 2;
	cost.out_ns = (cost.out_ns + before->out_ns) / 2;
	// None: the clock's thread had no processor then.
	cost.wait_ns = cost.wait_ns > 0 && before->wait_ns > 0
			   ? (cost.wait_ns + before->wait_ns) / 2
			   : fmax(cost.wait_ns, before->wait_ns);
	cost.untimed_ns = (cost.untimed_ns + before->untimed_ns) / 2;
	cost.least_ns = fmin(cost.least_ns, before->least_ns);
	session->cost = cost;
	session->cost_age_ns = 0;
}

int tp_session_clock_start(struct tp_session *session, struct tp_err *err)
{
	struct teeperf_log_header *header = session->region.header;
	const uint32_t clock = session->clock_log.clock;
	const bool counts = clock == TEEPERF_CLOCK_SOFT_COUNT;
	session->soft = TEEPERF_CLOCK_IS_SOFT(clock);
	// Part of it in the time that the first rate needs in any case.
	if (!session->soft && !session->clock_log.foreign)
		learn_cost(session);
	if (session->clock_log.foreign) {
		header->clock_hz = session->clock_log.stated_hz;
		session->soft = false;
		return 0;
	}
	if (!counts)
		header->clock_hz = first_rate(session);
	if (session->has_inner)
		session->inner.region.header->clock_hz = header->clock_hz;
	if (!session->soft)
		return 0;
	// Both sides load the TEE's word: one word is one clock.
	uint64_t *word =
	    session->has_inner ? &session->inner.region.header->counter : &header->counter;
	const struct tp_counter_options wanted = {
	    .word = word,
	    .clock = clock,
	    .hz = header->clock_hz,
	    .period_ns = session->options.period_ns,
	};
	const int r = tp_counter_thread_start(&session->counter, &wanted, err);
	session->soft = !r;
	if (!r && counts)
		tp_clock_log_init(&session->clock_log, clock, &session->counter.stores);
	// On the program's cores, as this thread has left that of the counter.
	if (!r) {
		tp_session_supply_move(session);
		learn_cost(session);
	}
	return r;
}

void tp_session_clock_stop(struct tp_session *session)
{
	if (session->end && session->has_cost)
		look_again(session);
	if (session->soft)
		tp_counter_thread_stop(&session->counter);
}
