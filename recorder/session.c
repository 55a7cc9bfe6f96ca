// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One recording from start to end: the table of its steps, in the right order.
#define _GNU_SOURCE
#include "session.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session_steps.h"
#include "recorder/region/proc.h"

static void look_at_end(void *context, pid_t pid)
{
	struct tp_session *session = context;
	tp_cpu_times_look_last(&session->drain.cpu, pid);
}

// A failure need not be reported now: the trace says why it has no switches.
static void see_switches(struct tp_session *session, pid_t pid)
{
	if (session->options.foreign && !session->options.paired)
		tp_err_set(&session->drain.sched.refused, TP_ERR_NOT_FOUND, NULL,
		    "the numbers of its threads are not the host's");
	else
		tp_sched_open(&session->drain.sched, pid, TP_SCHED_FAMILY);
}

// The program is a process, which waits for us.
static void before_program(void *context, pid_t pid)
{
	struct tp_session *session = context;
	if (!session->options.no_sched)
		see_switches(session, pid);
	tp_session_supply_await(session);
}

// ---- Signals come one by one from here on, and no thread is there that could take them.

static int start_signals(struct tp_session *session, struct tp_err *err)
{
	(void)err;
	tp_launch_prepare(&session->launch);
	session->launch.look = look_at_end;
	session->launch.begin = before_program;
	session->launch.context = session;
	return 0;
}

static void stop_signals(struct tp_session *session)
{
	tp_launch_restore(&session->launch);
}

// ---- What Gramine prints of SGX. The process that listens must have neither our threads nor the
// log.

static int start_tap(struct tp_session *session, struct tp_err *err)
{
	const char *counters = session->options.meters.counters;
	return session->options.argv && tp_counters_has(counters, TP_COUNTERS_GRAMINE)
		   ? tp_gramine_tap_start(&session->tap, err)
		   : 0;
}

static void stop_tap(struct tp_session *session)
{
	tp_gramine_tap_stop(&session->tap);
}

// ---- The log.

// Whether there is a core for draining besides those of the program's thread and of the clock.
static bool has_core(const struct tp_session *session, uint32_t clock)
{
	return session->cores > (TEEPERF_CLOCK_IS_SOFT(clock) ? 2 : 1);
}

// Program and clock come first: without a core left over, draining waits.
static enum tp_drain_policy drain_policy(
    const struct tp_session *session, enum tp_drain_choice choice, uint32_t clock)
{
	static const enum tp_drain_policy chosen[] = {[TP_DRAIN_CHOICE_NOW] = TP_DRAIN_NOW,
	    [TP_DRAIN_CHOICE_LATE] = TP_DRAIN_LATE,
	    [TP_DRAIN_CHOICE_END] = TP_DRAIN_END};
	if (choice != TP_DRAIN_CHOICE_AUTO)
		return chosen[choice];
	return has_core(session, clock) ? TP_DRAIN_NOW : TP_DRAIN_LATE;
}

// A program that is started has one thread at first, and waits until this is there.
static uint64_t default_ready(const struct tp_session *session)
{
	const uint64_t chunks =
	    session->options.argv ? TP_REGION_FIRST_CHUNKS : TP_REGION_GUEST_CHUNKS;
	return chunks * TP_REGION_CHUNK_SIZE;
}

// What the supply's thread fetches while all else is made ready, and the program waits for.
static uint64_t default_ahead(const struct tp_session *session)
{
	return session->options.argv && !session->options.ready_bytes
		   ? (uint64_t)TP_REGION_AHEAD_CHUNKS * TP_REGION_CHUNK_SIZE
		   : 0;
}

// The least that is supplied: enough for some hundred threads that begin at once, or until
// functions that cost much are switched off.
static uint32_t warm_least(const struct tp_session *session)
{
	const uint32_t cores = (uint32_t)session->cores * TP_REGION_CORE_CHUNKS;
	return session->options.guide || cores > TP_REGION_AHEAD_CHUNKS ? cores
									: TP_REGION_AHEAD_CHUNKS;
}

// The threads of a program that runs already come all at once.
static uint32_t warm_first(const struct tp_session *session)
{
	const uint32_t least = warm_least(session);
	return session->options.argv || least > TP_REGION_GUEST_CHUNKS ? least
								       : TP_REGION_GUEST_CHUNKS;
}

static int start_log(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_options *options = &session->options;
	const uint32_t clock = session->clock_log.clock;
	// With a host beside it, it is the TEE's log that is mapped at each call.
	const bool registered = options->registered_bytes && !options->inner;
	// Where draining waits, what was used is not there to be used again. Who asks for memory
	// that is ready is to have it.
	const bool warm =
	    drain_policy(session, options->drain, clock) == TP_DRAIN_NOW && !options->ready_bytes;
	const struct tp_region_options region = {
	    .size = registered ? options->registered_bytes : options->size_bytes,
	    .small_tables = registered,
	    .ready = options->ready_bytes ? options->ready_bytes : default_ready(session),
	    .ahead = default_ahead(session),
	    .touch_later = !options->ready_bytes && options->argv,
	    .warm_first = warm ? warm_first(session) : 0,
	    .warm_least = warm ? warm_least(session) : 0,
	    .mode = options->mode,
	    .ring = options->ring,
	    .clock = clock,
	    .only = options->only,
	    .place = options->place,
	};
	return tp_region_create(&session->region, &region, err);
}

static void stop_log(struct tp_session *session)
{
	if (session->options.late)
		tp_region_empty(&session->region);
	tp_region_release(&session->region);
}

// ---- Who switches functions on and off. The drain tells it what it takes, to the end.

static int prepare_guide(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_guide *guide = session->options.guide;
	return guide ? guide->prepare(guide->context, err) : 0;
}

static void forget_guide(struct tp_session *session)
{
	const struct tp_session_guide *guide = session->options.guide;
	if (guide)
		guide->forget(guide->context);
}

static int start_guide(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_guide *guide = session->options.guide;
	return guide ? guide->start(guide->context, session, err) : 0;
}

static void stop_guide(struct tp_session *session)
{
	const struct tp_session_guide *guide = session->options.guide;
	if (guide)
		guide->stop(guide->context);
}

// With a third core the drain is faster alone; with one there is none between two stores.
static bool does_clock_help(const struct tp_session *session)
{
	return session->soft && session->cores == 2 &&
	       tp_counter_thread_has_time(&session->counter);
}

// ---- The drain. It is described here, as the trace's beginning says how it works.

static int begin_trace(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_options *options = &session->options;
	session->drain = (struct tp_drain){
	    .region = &session->region,
	    .writer = &session->writer,
	    .clock_log = &session->clock_log,
	    .counter = session->soft ? &session->counter : NULL,
	    .slices = does_clock_help(session) ? &session->counter.slices : NULL,
	    .ready = options->ready_bytes || !options->argv ? session->region.ready
							    : TP_REGION_WORKING_CHUNKS,
	    .policy = options->mode == TEEPERF_MODE_RING
			  ? TP_DRAIN_END
			  : drain_policy(session, options->drain, session->clock_log.clock),
	    .start_off = options->start_off,
	    .foreign = options->foreign || !options->argv, // until it is met
	    .started = options->argv != NULL,
	    .snapshots = {.begin = tp_session_trace_begin_snapshot,
		.context = session,
		.start_ns = &session->start_ns},
	};
	if (options->guide) {
		session->drain.see = options->guide->see;
		session->drain.see_context = options->guide->context;
	}
	tp_session_guest_await(session);
	return tp_session_trace_begin(session, err);
}

// Before the program is forked, which is how its process is known. A recording can do without; the
// caller tells why.
static int start_events(struct tp_session *session, struct tp_err *err)
{
	(void)err;
	const struct tp_session_options *options = &session->options;
	struct tp_bpf *bpf = &session->bpf;
	const enum tp_bpf_whose whose = !options->argv         ? TP_BPF_JOINED
					: options->follow_fork ? TP_BPF_FAMILY
							       : TP_BPF_CHILD;
	if (options->events && tp_bpf_open(bpf, options->events, whose))
		session->events_refused = bpf->refused;
	session->sgx_refused = bpf->missing;
	if (options->argv)
		tp_bpf_reader_init(&session->drain.system, bpf, 0);
	return 0;
}

// The rest is written with the rest of the trace.
static void stop_events(struct tp_session *session)
{
	tp_bpf_close(&session->bpf);
	if (!session->end)
		tp_bpf_release(&session->bpf);
}

static int start_drain(struct tp_session *session, struct tp_err *err)
{
	return tp_drain_start(&session->drain, err);
}

// tp_session_trace_close takes the rest when nothing runs beside it any more.
static void stop_drain(struct tp_session *session)
{
	tp_drain_stop(&session->drain);
	tp_session_guest_settle(session);
	if (!session->end)
		tp_drain_finish(&session->drain);
}

// ---- Other processes.

struct tp_recording_options tp_session_common(const struct tp_session *session)
{
	return (struct tp_recording_options){
	    .clock = session->clock_log.clock,
	    .compress = session->options.compress,
	    .policy = session->drain.policy,
	    .origin = session->clock_log.points[0],
	    .counter = session->drain.counter,
	    .start_off = session->options.start_off,
	    .no_sched = session->options.no_sched,
	    .facts = tp_session_facts(session),
	};
}

static int start_follow(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_options *options = &session->options;
	if (!options->follow_fork)
		return 0;
	if (!session->writer.regular)
		return tp_err_set(err, TP_ERR_LIMIT, options->output,
		    "'--follow-fork' needs a regular file as output: the other traces are named "
		    "after it");
	const struct tp_follow_options follow = {
	    .output = options->output,
	    .first = &session->region,
	    .control_signal = options->control_signal,
	    .only = options->only,
	    .bpf = &session->bpf,
	    .common = tp_session_common(session),
	};
	const int r = tp_follow_start(&session->follow, &follow, err);
	session->follows = !r;
	return r;
}

static void stop_follow(struct tp_session *session)
{
	if (session->follows)
		tp_follow_stop(&session->follow);
	if (!session->end)
		tp_session_forget(session); // else the caller tells of them first
}

// ---- The supply of memory: its own thread, so that a slow disk, which stops the drain, does not
// stop it.

// What the program begins with. Meanwhile the recording gets ready.
static void supply_ahead(struct tp_session *session)
{
	struct tp_session_supply *supply = &session->supply;
	const struct tp_region *region = &session->region;
	while (!tp_load_relaxed(&supply->worker.stop) && region->committed < region->ahead &&
	       !region->stunted)
		tp_region_grow(&session->region);
	pthread_mutex_lock(&supply->lock);
	supply->is_ahead = true;
	pthread_cond_signal(&supply->changed);
	pthread_mutex_unlock(&supply->lock);
}

void tp_session_supply_await(struct tp_session *session)
{
	struct tp_session_supply *supply = &session->supply;
	if (!supply->runs)
		return;
	pthread_mutex_lock(&supply->lock);
	while (!supply->is_ahead)
		pthread_cond_wait(&supply->changed, &supply->lock);
	pthread_mutex_unlock(&supply->lock);
}

void tp_session_supply_move(struct tp_session *session)
{
	cpu_set_t allowed;
	if (!sched_getaffinity(0, sizeof(allowed), &allowed))
		pthread_setaffinity_np(session->supply.worker.thread, sizeof(allowed), &allowed);
}

static void *supply(void *argument)
{
	struct tp_session *session = argument;
	struct tp_worker *worker = &session->supply.worker;
	// It looks more often while the program is young, as there is little in reserve, and while
	// it needs more.
	static const uint64_t often_ns = 200 * 1000 * 1000;
	pthread_setname_np(pthread_self(), "teeperf-supply"); // for top -H, and follow/process-ends
	supply_ahead(session);
	uint64_t grown_ns = tp_clock_monotonic_ns();
	uint64_t due_ns = grown_ns;
	while (!tp_load_relaxed(&worker->stop)) {
		const bool all = tp_load_acquire(&session->supply.of_all);
		const uint64_t look_ns = tp_clock_monotonic_ns();
		const bool fast = tp_region_follow_pace(
		    &session->region, look_ns, look_ns > due_ns ? look_ns - due_ns : 0);
		// 48 MiB in reserve last for longer than this at a billion events a second.
		bool grown = tp_region_grow(&session->region);
		grown |= all && session->has_inner && tp_region_grow(&session->inner.region);
		grown |= all && session->follows && tp_follow_grow(&session->follow);
		const uint64_t now_ns = tp_clock_monotonic_ns();
		due_ns = look_ns;
		if (grown) {
			grown_ns = now_ns;
			continue;
		}
		const int wait_ms = fast || now_ns - grown_ns < often_ns ? 1 : 4;
		due_ns = now_ns + (uint64_t)wait_ms * 1000 * 1000;
		tp_doorbell_wait(&worker->bell, wait_ms);
	}
	return NULL;
}

static int start_supply(struct tp_session *session, struct tp_err *err)
{
	struct tp_session_supply *own = &session->supply;
	pthread_mutex_init(&own->lock, NULL);
	pthread_cond_init(&own->changed, NULL);
	const int r = tp_worker_start(&own->worker, supply, session, "the supply thread", err);
	own->runs = !r;
	if (!r)
		return 0;
	pthread_cond_destroy(&own->changed);
	pthread_mutex_destroy(&own->lock);
	return r;
}

static void stop_supply(struct tp_session *session)
{
	struct tp_session_supply *own = &session->supply;
	if (!own->runs)
		return;
	tp_worker_stop(&own->worker);
	pthread_cond_destroy(&own->changed);
	pthread_mutex_destroy(&own->lock);
	own->runs = false;
}

// From here on it has all logs of the recording to look after. It stops before the first of them
// goes.
static int share_supply(struct tp_session *session, struct tp_err *err)
{
	(void)err;
	tp_store_release(&session->supply.of_all, 1);
	return 0;
}

// ---- What the program is to do when it comes.

static int switch_on(struct tp_session *session, struct tp_err *err)
{
	(void)err;
	session->start_ns = tp_clock_monotonic_ns();
	if (session->soft)
		tp_clock_gaps_begin(&session->counter.gaps, session->start_ns);
	session->control_word = session->options.start_off ? 0 : TEEPERF_ACTIVE;
	tp_store_release(&session->region.header->control, session->control_word);
	if (session->has_inner)
		tp_store_release(&session->inner.region.header->control, session->control_word);
	return 0;
}

static void switch_off(struct tp_session *session)
{
	tp_session_command(session, false);
}

// ---- Counters and energy. Counters are of what this thread starts next, or of a process that is
// there already.

static int start_meters(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_options *options = &session->options;
	return tp_meters_start(&session->meters, &options->meters,
	    options->argv ? 0 : options->watch, &session->region.header->switch_count, err);
}

// What they have read goes into the trace: tp_session_trace_close.
static void stop_meters(struct tp_session *session)
{
	tp_meters_stop(&session->meters);
	if (!session->end)
		tp_meters_release(&session->meters);
}

// ---- 'teeperf ctl'. Without it the program can still be recorded.

static int start_control(struct tp_session *session, struct tp_err *err)
{
	(void)err;
	session->control.answer = tp_session_answer;
	session->control.context = session;
	session->has_control = !tp_control_server_start(&session->control, &session->control_err);
	return 0;
}

static void stop_control(struct tp_session *session)
{
	if (session->has_control)
		tp_control_server_stop(&session->control);
	session->has_control = false;
}

/*
 * Each needs those before it. The clock's thread stops after the drain's, so that nothing takes a
 * core from the final writes; the program is ordered to record no more after 'teeperf ctl' has
 * stopped, so that nobody contradicts the order.
 */
const struct tp_session_step tp_session_steps[] = {
    {"signals", start_signals, stop_signals},
    {"running process", tp_session_late_find, tp_session_late_forget},
    {"program's messages", start_tap, stop_tap},
    {"log", start_log, stop_log},
    {"supply", start_supply, stop_supply},
    {"what the budget learns", prepare_guide, forget_guide},
    {"trace", tp_session_trace_open, tp_session_trace_close},
    {"TEE's log and trace", tp_session_inner_open, tp_session_inner_close},
    {"clock", tp_session_clock_start, tp_session_clock_stop},
    {"trace's beginning", begin_trace, NULL},
    {"TEE's drain", tp_session_inner_start, tp_session_inner_stop},
    {"events", start_events, stop_events},
    {"drain", start_drain, stop_drain},
    {"other processes", start_follow, stop_follow},
    {"supply of all logs", share_supply, stop_supply},
    {"switch", switch_on, switch_off},
    {"meters", start_meters, stop_meters},
    {"control", start_control, stop_control},
    {"budget", start_guide, stop_guide},
    {"calibration", tp_session_calibration_start, tp_session_calibration_stop},
    {"program", tp_session_program_start, tp_session_program_stop},
    {NULL, NULL, NULL},
};

static void stop_steps(struct tp_session *session)
{
	for (uint32_t i = session->step_count; i--;)
		if (session->steps[i].stop)
			session->steps[i].stop(session);
}

static int usable_cores(void)
{
	cpu_set_t allowed;
	return sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);
}

int tp_session_start_steps(struct tp_session *session, const struct tp_session_options *options,
    const struct tp_session_step *steps, struct tp_err *err)
{
	memset(session, 0, sizeof(*session));
	const struct teeperf_log_header *sent =
	    options->stream ? &options->stream->frames.start : NULL;
	uint32_t clock = sent ? sent->clock : 0;
	int r = sent ? 0 : tp_clock_choose(options->clock, &clock, err);
	if (r)
		return r;
	session->options = *options;
	session->cores = usable_cores();
	if (sent)
		tp_clock_log_init_foreign(&session->clock_log, clock, sent->clock_hz);
	else
		tp_clock_log_init(&session->clock_log, clock, NULL);
	session->steps = steps;
	for (; !r && steps[session->step_count].name; session->step_count += !r)
		r = steps[session->step_count].start(session, err);
	if (r)
		stop_steps(session);
	return r;
}

int tp_session_start(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	return tp_session_start_steps(session, options, tp_session_steps, err);
}

/*
 * A child that is just being forked has its parent's log mapped, which is the only sign of it when
 * the parent has ended.
 */
static bool has_log_users(void)
{
	char log[64];
	snprintf(log, sizeof(log), TP_REGION_FOLDER "/" TP_REGION_PREFIX "%d-", (int)getpid());
	return tp_proc_user(&(struct tp_mapped){.path = log}) != 0;
}

bool tp_session_is_used(struct tp_session *session)
{
	uint64_t records;
	uint64_t lost;
	return session->follows &&
	       (tp_follow_count(&session->follow, &records, &lost) || has_log_users());
}

void tp_session_forget(struct tp_session *session)
{
	if (session->follows)
		tp_follow_release(&session->follow);
	session->follows = false;
}

int tp_session_finish(
    struct tp_session *session, struct tp_session_counts *counts, struct tp_err *err)
{
	struct tp_session_end end = {
	    .end_ns = tp_clock_monotonic_ns(),
	    .counts = counts,
	    .err = err,
	};
	if (session->soft)
		tp_clock_gaps_end(&session->counter.gaps, end.end_ns);
	tp_meters_read(&session->meters, TEEPERF_READING_END);
	// It may be fetching memory, which nobody needs any more.
	if (session->launch.ended && !session->follows)
		tp_worker_ask_stop(&session->supply.worker);
	session->end = &end;
	stop_steps(session);
	session->end = NULL;
	return end.status;
}
