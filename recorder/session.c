// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One recording from start to end, put together in the right order.
// One file above 600 lines: each part that is started is stopped here, in the reverse order, also when a later one fails.
#define _GNU_SOURCE
#include "session.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host_facts.h"
#include "log_guard.h"
#include "session_inner.h"
#include "shared.h"
#include "trace_ends.h"

// Less time than this between two points says too little about the clock's rate.
static const uint64_t RATE_NS = 2 * 1000 * 1000;
// Nobody wakes us when the program is over.
enum { GUEST_TICK_MS = 20 };

static void nap(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = (long)ns};
	nanosleep(&time, NULL);
}

// Its own thread, so that a slow disk, which stops the drain, does not stop the supply.
static void *supply(void *argument)
{
	struct tp_session *session = argument;
	pthread_setname_np(pthread_self(), "teeperf-supply"); // for top -H, and t333
	while (!tp_shared_load_relaxed(&session->stop)) {
		// 48 MiB in reserve last for longer than this at a billion events a second.
		bool grown = tp_region_grow(&session->region);
		grown |= session->has_inner && tp_region_grow(&session->inner.region);
		if (!(session->follows && tp_follow_grow(&session->follow)) && !grown)
			tp_doorbell_wait(&session->supply_bell, 4);
	}
	return NULL;
}

// The rate by now, for the header and the counter thread; better ones follow in the trace.
static uint64_t first_rate(struct tp_session *session)
{
	const uint64_t start = session->clock_log.points[0].monotonic_ns;
	const uint64_t now = tp_clock_monotonic_ns();
	if (now - start < RATE_NS)
		nap(RATE_NS - (now - start));
	tp_clock_log_point(&session->clock_log);
	return tp_clock_log_hz(&session->clock_log);
}

// What recording costs, before the program starts and when it has ended: with whom a virtual machine shares its cores,
// and how busy they are, changes within a second.
static void measure_cost(struct tp_session *session)
{
	struct tp_event_cost cost;
	if (!tp_event_cost_measure(&cost, session->clock_log.clock,
		session->soft ? session->counter.options.word : NULL))
		return;
	if (session->has_cost) {
		const struct tp_event_cost *before = &session->cost;
		cost.in_off_ns =
		    fmax(cost.in_off_ns, before->in_off_ns) + fabs(cost.in_ns - before->in_ns) / 2;
		cost.out_off_ns = fmax(cost.out_off_ns, before->out_off_ns) +
				  fabs(cost.out_ns - before->out_ns) / 2;
		cost.in_ns = (cost.in_ns + before->in_ns) / 2;
		cost.out_ns = (cost.out_ns + before->out_ns) / 2;
		// None: the clock's thread had no processor then.
		cost.wait_ns = cost.wait_ns > 0 && before->wait_ns > 0
				   ? (cost.wait_ns + before->wait_ns) / 2
				   : fmax(cost.wait_ns, before->wait_ns);
		cost.untimed_ns = (cost.untimed_ns + session->cost.untimed_ns) / 2;
	}
	session->cost = cost;
	session->has_cost = true;
}

static int start_clock(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	struct teeperf_log_header *header = session->region.header;
	const uint32_t clock = session->clock_log.clock;
	const bool counts = clock == TEEPERF_CLOCK_SOFT_COUNT;
	session->soft = TEEPERF_CLOCK_IS_SOFT(clock);
	// Part of it in the time that the first rate needs in any case.
	if (!session->soft && !session->clock_log.foreign)
		measure_cost(session);
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
	    .period_ns = options->period_ns,
	};
	const int r = tp_counter_thread_start(&session->counter, &wanted, err);
	session->soft = !r;
	if (!r && counts)
		tp_clock_log_init(&session->clock_log, clock, &session->counter.stores);
	// On the program's cores, as this thread has left that of the counter.
	if (!r)
		measure_cost(session);
	return r;
}

static void stop_clock(struct tp_session *session)
{
	if (session->soft)
		tp_counter_thread_stop(&session->counter);
}

// Whether there is a core for draining besides those of the program's thread and of the clock.
static bool has_core(const struct tp_session *session, uint32_t clock)
{
	return session->cores > (TEEPERF_CLOCK_IS_SOFT(clock) ? 2 : 1);
}

// Program and clock come first: without a core left over, draining waits.
static enum tp_drain_policy drain_policy(
    const struct tp_session *session, enum tp_drain_choice choice, uint32_t clock)
{
	switch (choice) {
	case TP_DRAIN_CHOICE_NOW:
		return TP_DRAIN_NOW;
	case TP_DRAIN_CHOICE_LATE:
		return TP_DRAIN_LATE;
	case TP_DRAIN_CHOICE_END:
		return TP_DRAIN_END;
	case TP_DRAIN_CHOICE_AUTO:
		break;
	}
	return has_core(session, clock) ? TP_DRAIN_NOW : TP_DRAIN_LATE;
}

// Memory that is taken later is taken on the program's core if there is no other.
static uint64_t ready_bytes(const struct tp_session *session, uint64_t wanted, uint32_t clock)
{
	const uint64_t chunks =
	    has_core(session, clock) ? TP_REGION_FIRST_CHUNKS : TP_REGION_SHARED_FIRST_CHUNKS;
	return wanted ? wanted : chunks * TP_REGION_CHUNK_SIZE;
}

static int usable_cores(void)
{
	cpu_set_t allowed;
	return sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);
}

static struct tp_host_facts host_facts(const struct tp_session *session)
{
	static const char *const drains[] = {
	    [TP_DRAIN_NOW] = "now", [TP_DRAIN_LATE] = "late", [TP_DRAIN_END] = "end"};
	static const char *const modes[] = {[TEEPERF_MODE_STREAM] = "stream",
	    [TEEPERF_MODE_FULL] = "full",
	    [TEEPERF_MODE_RING] = "ring"};
	return (struct tp_host_facts){
	    .clock = tp_clock_name(session->clock_log.clock),
	    .counter_cpu = session->soft ? session->counter.cpu : -1,
	    .cores = session->cores,
	    .log_bytes = (uint64_t)session->region.chunk_count * TP_REGION_CHUNK_SIZE,
	    .mode = modes[session->region.mode],
	    .ring = session->region.ring,
	    .drain = drains[session->drain.policy],
	    .start_off = session->start_off,
	    .only = session->has_only,
	    .cost = session->cost,
	    .has_cost = session->has_cost,
	    .port = session->port,
	    .transport = session->stream     ? "stream"
			 : session->attaches ? "attached"
					     : NULL,
	};
}

static void write_host_to(struct tp_session *session, struct tp_trace_writer *writer, bool ended)
{
	const struct teeperf_log_header *header = session->region.header;
	struct tp_host_facts facts = host_facts(session);
	facts.clock_gaps = session->soft ? tp_counter_thread_starved_count(&session->counter) : 0;
	facts.ended = ended;
	facts.switches_missed = session->drain.switches.missed;
	facts.log_gone_bytes = tp_log_guard_lost_bytes(session->region.map);
	facts.functions = tp_shared_count_acquire(&header->function_count);
	facts.functions_left_out = tp_shared_count_acquire(&header->functions_left_out);
	tp_trace_add_host(writer, &facts);
}

static void write_host(struct tp_session *session, bool ended)
{
	write_host_to(session, &session->writer, ended);
}

static int write_command(
    const struct tp_session *session, struct tp_trace_writer *writer, struct tp_err *err)
{
	struct tp_buf command;
	tp_buf_init(&command);
	static char *const nobody[] = {NULL};
	tp_host_facts_command(&command, session->argv ? session->argv : nobody);
	int r = 0;
	if (command.failed)
		r = tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "out of memory");
	else
		tp_trace_writer_add(writer, TEEPERF_SECTION_COMMAND, command.data, command.size);
	tp_buf_release(&command);
	return r;
}

static void look_at_end(void *context, pid_t pid)
{
	struct tp_session *session = context;
	tp_cpu_times_look_last(&session->drain.cpu, pid);
}

// What a snapshot of the rings has that does not come from the log.
static void frame_snapshot(void *context, struct tp_trace_writer *writer, bool end)
{
	struct tp_session *session = context;
	if (!end) {
		write_host_to(session, writer, true);
		write_command(session, writer, NULL);
		return;
	}
	tp_trace_add_end(writer, &session->region,
	    &(struct teeperf_trace_end){.exit_kind = TEEPERF_EXIT_UNKNOWN,
		.start_ns = session->start_ns,
		.end_ns = tp_clock_monotonic_ns()});
}

static int start_threads(struct tp_session *session, struct tp_err *err)
{
	int r = tp_doorbell_init(&session->supply_bell, err);
	if (r)
		return r;
	r = tp_drain_start(&session->drain, err);
	if (r)
		goto fail;
	const int error = pthread_create(&session->supply_thread, NULL, supply, session);
	if (!error)
		return 0;
	r = tp_err_system(err, error, NULL, "cannot start the supply thread");
	tp_drain_stop(&session->drain);
	tp_drain_finish(&session->drain);
fail:
	tp_doorbell_release(&session->supply_bell);
	return r;
}

// Stop all that runs beside the program, then write what is left.
static void stop_threads(struct tp_session *session)
{
	tp_shared_store_relaxed(&session->stop, 1);
	tp_doorbell_ring(&session->supply_bell);
	pthread_join(session->supply_thread, NULL);
	tp_doorbell_release(&session->supply_bell);
	tp_drain_stop(&session->drain);
	stop_clock(session);
	const struct tp_stream *stream = session->stream;
	if (stream) {
		memcpy(session->clock_log.points, stream->points,
		    stream->point_count * sizeof(stream->points[0]));
		session->clock_log.count = stream->point_count;
	}
	tp_drain_finish(&session->drain);
}

// What the program is asked to listen to (log.h, TEEPERF_CONTROL_ENV); empty: nothing.
static void make_control(const struct tp_session_options *options, char text[32])
{
	text[0] = '\0';
	if (options->switch_signals)
		snprintf(text, 32, "%d,%d,%d", options->control_signal, SIGUSR1, SIGUSR2);
	else if (options->control_signal)
		snprintf(text, 32, "%d", options->control_signal);
}

static int start_follow(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	if (!options->follow_fork)
		return 0;
	if (!session->writer.regular)
		return tp_err_set(err, TP_ERR_LIMIT, options->output, TP_ERR_NO_OFFSET,
		    "with '--follow-fork' the output must be a regular file: the names of the other "
		    "traces come from it");
	const struct tp_follow_options follow = {
	    .output = options->output,
	    .first = &session->region,
	    .clock = session->clock_log.clock,
	    .compress = options->compress,
	    .policy = session->drain.policy,
	    .origin = session->clock_log.points[0],
	    .counter = session->soft ? &session->counter : NULL,
	    .start_off = options->start_off,
	    .control_signal = options->control_signal,
	    .facts = host_facts(session),
	};
	const int r = tp_follow_start(&session->follow, &follow, &options->only,
	    options->start_off ? 0 : TEEPERF_ACTIVE, err);
	session->follows = !r;
	return r;
}

static void stop_follow(struct tp_session *session)
{
	if (session->follows)
		tp_follow_stop(&session->follow);
}

// The program is somebody else's: be ready to hear of its end.
static int start_guest(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	int r = tp_guest_start(&session->guest, session->stream ? NULL : &session->region,
	    options->watch, options->timeout_ms, err);
	if (r)
		return r;
	if (session->stream)
		r = tp_stream_start(session->stream, &session->region, err);
	if (r)
		tp_guest_stop(&session->guest);
	return r;
}

static void stop_control(struct tp_session *session)
{
	if (session->has_control)
		tp_control_server_stop(&session->control);
	session->has_control = false;
}

static int start_program(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	session->control_word = options->start_off ? 0 : TEEPERF_ACTIVE;
	tp_shared_store_release(&session->region.header->control, session->control_word);
	if (session->has_inner)
		tp_shared_store_release(
		    &session->inner.region.header->control, session->control_word);
	session->control.answer = tp_session_answer;
	session->control.context = session;
	// Without it the program can still be recorded.
	session->has_control = !tp_control_server_start(&session->control, &session->control_err);
	int r = 0;
	// Nobody can find it before.
	if (session->region.place)
		tp_region_publish(&session->region);
	char control[32];
	make_control(options, control);
	const struct tp_launch_settings settings = {
	    .log = tp_region_where(&session->region),
	    .log_offset = session->region.offset,
	    .inherit = options->inherit,
	    .control = control[0] ? control : NULL,
	    .follow = session->follows ? session->follow.setting : NULL,
	    .tee = session->has_inner ? session->inner.region.path : NULL,
	    .away = options->away,
	};
	if (options->argv)
		r = tp_launch_start(&session->launch, options->argv, &settings, err);
	else
		r = start_guest(session, options, err);
	if (r)
		stop_control(session);
	return r;
}

int tp_session_start(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	memset(session, 0, sizeof(*session));
	uint32_t clock;
	const struct teeperf_log_header *sent =
	    options->stream ? &options->stream->frames.start : NULL;
	int r = 0;
	if (sent)
		clock = sent->clock;
	else
		r = tp_clock_choose(options->clock, &clock, err);
	if (r)
		return r;
	session->stream = options->stream;
	session->port = options->port;
	session->attaches = !options->argv;
	session->foreign = options->foreign || !options->argv;
	session->output = options->output;
	session->argv = options->argv;
	session->control_signal = options->control_signal;
	session->start_off = options->start_off;
	session->has_only = options->only.kind != TEEPERF_ONLY_ALL;
	session->cores = usable_cores();
	tp_launch_prepare(&session->launch);
	session->launch.look = look_at_end;
	session->launch.context = session;
	if (sent)
		tp_clock_log_init_foreign(&session->clock_log, clock, sent->clock_hz);
	else
		tp_clock_log_init(&session->clock_log, clock, NULL);
	// With a host beside it, it is the TEE's log that is mapped at each call.
	const bool registered = options->registered_bytes && !options->inner;
	const struct tp_region_options region = {
	    .size = registered ? options->registered_bytes : options->size_bytes,
	    .small_tables = registered,
	    .ready = ready_bytes(session, options->ready_bytes, clock),
	    .mode = options->mode,
	    .ring = options->ring,
	    .clock = clock,
	    .only = options->only,
	    .place = options->place};
	r = tp_region_create(&session->region, &region, err);
	if (r)
		goto fail;
	r = tp_trace_writer_open(&session->writer, options->output, err);
	if (r)
		goto fail_region;
	if (options->compress)
		r = tp_trace_writer_pack(&session->writer, options->compress, err);
	if (!r)
		r = tp_session_inner_create(session, options, err);
	if (r)
		goto fail_writer;
	r = start_clock(session, options, err);
	if (r)
		goto fail_writer;
	session->drain = (struct tp_drain){
	    .region = &session->region,
	    .writer = &session->writer,
	    .clock_log = &session->clock_log,
	    .counter = session->soft ? &session->counter : NULL,
	    .policy = options->mode == TEEPERF_MODE_RING
			  ? TP_DRAIN_END
			  : drain_policy(session, options->drain, clock),
	    .start_off = options->start_off,
	    .foreign = session->foreign,
	    .snapshots = {.frame = frame_snapshot, .context = session},
	};
	write_host(session, false);
	r = write_command(session, &session->writer, err);
	if (!r)
		r = tp_trace_add_log(&session->writer, &session->region, options->compress,
		    options->start_off, options->output, err);
	if (r)
		goto fail_clock;
	r = start_follow(session, options, err);
	if (r)
		goto fail_clock;
	const struct tp_host_facts facts = host_facts(session);
	r = tp_session_inner_start(session, options, &facts, err);
	if (r)
		goto fail_follow;
	r = start_threads(session, err);
	if (r)
		goto fail_inner;
	session->start_ns = tp_clock_monotonic_ns();
	if (session->soft)
		tp_clock_gaps_begin(&session->counter.gaps, session->start_ns);
	r = start_program(session, options, err);
	if (!r)
		return 0;
	stop_follow(session);
	stop_threads(session);
	tp_session_forget(session);
	if (session->has_inner)
		tp_inner_stop(&session->inner);
	goto fail_writer;
fail_inner:
	if (session->has_inner)
		tp_inner_stop(&session->inner);
fail_follow:
	stop_follow(session);
	tp_session_forget(session);
fail_clock:
	stop_clock(session);
fail_writer:
	tp_session_inner_discard(session);
	tp_trace_writer_discard(&session->writer);
fail_region:
	tp_region_release(&session->region);
fail:
	tp_launch_restore(&session->launch);
	return r;
}

// What ends a recording whose program is somebody else's.
static enum tp_launch_event look_at_guest(struct tp_session *session)
{
	struct tp_stream *stream = session->stream;
	const enum tp_guest_state state = tp_guest_look(&session->guest);
	if (stream) {
		// What it has sent is there, though it is gone.
		if (state == TP_GUEST_GONE)
			tp_stream_finish(stream);
		if (!tp_stream_is_over(stream))
			return TP_LAUNCH_TIMEOUT;
	} else if (state == TP_GUEST_AWAITED || state == TP_GUEST_RUNS) {
		return TP_LAUNCH_TIMEOUT;
	}
	const uint64_t word =
	    stream ? stream->frames.end : tp_shared_load_acquire(&session->region.header->ended);
	const uint64_t known = TEEPERF_ENDED | TEEPERF_ENDED_HAS_CODE;
	if ((word & known) == known) {
		session->launch.exit_kind = TEEPERF_EXIT_CODE;
		session->launch.exit_value = (uint32_t)(word >> TEEPERF_ENDED_CODE_SHIFT);
	}
	session->guest_state = state;
	session->launch.ended = true;
	return TP_LAUNCH_ENDED;
}

enum tp_launch_event tp_session_wait(struct tp_session *session, uint32_t timeout_ms)
{
	if (tp_shared_load_relaxed(&session->stop_asked))
		return TP_LAUNCH_RELEASE;
	if (session->attaches) {
		if (look_at_guest(session) == TP_LAUNCH_ENDED)
			return TP_LAUNCH_ENDED;
		return tp_launch_wait(
		    &session->launch, timeout_ms < GUEST_TICK_MS ? timeout_ms : GUEST_TICK_MS);
	}
	const enum tp_launch_event event = tp_launch_wait(&session->launch, timeout_ms);
	if (event != TP_LAUNCH_SIGNAL)
		return event;
	if (session->follows && session->launch.signal)
		tp_follow_signal(&session->follow, session->launch.signal);
	return TP_LAUNCH_TIMEOUT;
}

bool tp_session_is_used(struct tp_session *session)
{
	uint64_t records;
	uint64_t lost;
	return session->follows &&
	       (tp_follow_count(&session->follow, &records, &lost) || tp_session_has_log_users());
}

void tp_session_forget(struct tp_session *session)
{
	if (session->follows)
		tp_follow_release(&session->follow);
	session->follows = false;
}

void tp_session_count(const struct tp_session *session, struct tp_session_counts *counts)
{
	const struct teeperf_log_header *header = session->region.header;
	*counts = (struct tp_session_counts){
	    .records = tp_shared_load_relaxed(&session->drain.record_bytes) / 8,
	    .file_bytes = tp_shared_load_relaxed(&session->writer.offset),
	    .lost = tp_region_lost(&session->region),
	    .threads = tp_shared_count_acquire(&header->thread_count),
	    .refused = tp_shared_count_acquire(&header->refused),
	    .forked = tp_shared_count_acquire(&header->forked),
	    .elapsed_ns = tp_clock_monotonic_ns() - session->start_ns,
	    .switches = tp_shared_count_acquire(&header->switch_count),
	    .attach = tp_shared_load32_acquire(&header->attach),
	    .functions = tp_shared_count_acquire(&header->function_count),
	    .functions_left_out = tp_shared_count_acquire(&header->functions_left_out),
	    .listens = tp_shared_load32_acquire(&header->listens),
	    .listens_value = tp_shared_load32_acquire(&header->listens_value),
	};
	if (session->soft) {
		counts->starved_ns = tp_counter_thread_starved_ns(&session->counter);
		counts->starved_count = tp_counter_thread_starved_count(&session->counter);
		counts->max_gap_ns = tp_counter_thread_max_gap_ns(&session->counter);
	}
}

static void stop_guest(struct tp_session *session)
{
	tp_guest_stop(&session->guest);
	if (session->stream)
		tp_stream_stop(session->stream);
}

int tp_session_finish(
    struct tp_session *session, struct tp_session_counts *counts, struct tp_err *err)
{
	const uint64_t end_ns = tp_clock_monotonic_ns();
	if (session->soft)
		tp_clock_gaps_end(&session->counter.gaps, end_ns);
	stop_control(session);
	tp_session_command(session, false);
	if (session->attaches)
		stop_guest(session);
	stop_follow(session);
	if (session->has_cost)
		measure_cost(session);
	// Before the clock's last word goes with its log.
	stop_threads(session);
	const struct tp_host_facts facts = host_facts(session);
	tp_session_inner_finish(session, &facts, end_ns);
	write_host(session, true);
	tp_trace_add_end(&session->writer, &session->region,
	    &(struct teeperf_trace_end){.exit_kind = session->launch.exit_kind,
		.exit_value = session->launch.exit_value,
		.start_ns = session->start_ns,
		.end_ns = end_ns});
	tp_session_count(session, counts);
	counts->elapsed_ns = end_ns - session->start_ns;
	counts->missing_chunks = session->writer.missing.chunks;
	counts->missing_events = session->writer.missing.events;
	counts->stunted = session->region.stunted;
	counts->no_rings = session->region.mode == TEEPERF_MODE_RING &&
			   counts->attach == TEEPERF_ATTACH_DONE &&
			   !tp_shared_load_relaxed(&session->region.header->keeps);
	counts->switches_missed = session->drain.switches.missed;
	counts->modules_refused = session->drain.modules_refused;
	counts->write_ns = session->writer.write_ns;
	counts->absent_ns = session->drain.absent_ns;
	counts->forged = tp_region_is_forged(&session->region);
	counts->log_gone_bytes = tp_log_guard_lost_bytes(session->region.map);
	counts->output_gone = !tp_trace_writer_in_place(&session->writer);
	const int r = tp_trace_writer_close(&session->writer, err);
	tp_region_release(&session->region);
	tp_launch_restore(&session->launch);
	return r;
}
