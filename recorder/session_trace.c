// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The trace of a session: what it says of the host, the command and the end, beside what the drain
// writes.
#include "session_steps.h"

#include <string.h>

#include "recorder/region/log_guard.h"

struct tp_host_facts tp_session_facts(const struct tp_session *session)
{
	static const char *const drains[] = {
	    [TP_DRAIN_NOW] = "now", [TP_DRAIN_LATE] = "late", [TP_DRAIN_END] = "end"};
	static const char *const modes[] = {[TEEPERF_MODE_STREAM] = "stream",
	    [TEEPERF_MODE_FULL] = "full",
	    [TEEPERF_MODE_RING] = "ring"};
	const struct tp_err *refused = session->events_refused.code || !session->options.events
					   ? &session->events_refused
					   : &session->unmet;
	return (struct tp_host_facts){
	    .clock = teeperf_clock_name(session->clock_log.clock),
	    .counter_cpu = session->soft ? session->counter.cpu : -1,
	    .cores = session->cores,
	    .mode = modes[session->region.mode],
	    .ring = session->region.ring,
	    .drain = drains[session->drain.policy],
	    .start_off = session->options.start_off,
	    .only = session->options.only.kind != TEEPERF_ONLY_ALL,
	    .attached =
		session->late_threads[1] ? session->late_threads[1] : session->late_threads[0],
	    .attach_pause_ns = tp_load_relaxed(&session->late.pause_ns),
	    .attach_waited_ns = tp_load_relaxed(&session->late.pause_waited_ns),
	    .unrecorded = session->unrecorded,
	    .calibrated = session->options.calibrate.count != 0,
	    .cost = session->cost,
	    .has_cost = session->has_cost,
	    .cost_age_ns = session->cost_age_ns,
	    .budget = session->budget,
	    .port = session->options.port,
	    .transport = session->options.stream  ? "stream"
			 : !session->options.argv ? "attached"
						  : NULL,
	    .ids = !session->drain.foreign                            ? NULL
		   : session->options.paired && session->options.argv ? "virtual"
								      : "foreign",
	    .sgx_refused =
		session->sgx_refused.code && !refused->code ? session->sgx_refused.what : NULL,
	    .events_refused = refused->code ? refused->what : NULL,
	};
}

static void write_host(const struct tp_session *session, bool ended)
{
	const struct tp_host_facts facts = tp_session_facts(session);
	tp_trace_add_host(&session->drain, &facts, ended);
}

void tp_session_trace_tell_host(struct tp_session *session)
{
	write_host(session, false);
}

static int write_command(const struct tp_session *session, struct tp_err *err)
{
	static char *const nobody[] = {NULL};
	char *const *argv = session->options.argv   ? session->options.argv
			    : session->options.late ? NULL
						    : nobody;
	return tp_trace_add_command(&session->drain, argv, session->options.watch, err);
}

void tp_session_trace_begin_snapshot(void *context)
{
	write_host(context, true);
	write_command(context, NULL);
}

int tp_session_trace_open(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_options *options = &session->options;
	const int r =
	    tp_trace_writer_open(&session->writer, options->output, false, options->compress, err);
	session->older = r || !session->writer.old_path ? TP_OLDER_NONE
			 : session->writer.aside        ? TP_OLDER_WAITS
							: TP_OLDER_MOVED;
	return r;
}

int tp_session_trace_begin(struct tp_session *session, struct tp_err *err)
{
	write_host(session, false);
	const int r = write_command(session, err);
	return r ? r : tp_trace_add_log(&session->drain, err);
}

void tp_session_count(const struct tp_session *session, struct tp_session_counts *counts)
{
	const struct teeperf_log_header *header = session->region.header;
	*counts = (struct tp_session_counts){
	    .records = tp_load_relaxed(&session->drain.record_bytes) / 8,
	    .file_bytes = tp_load_relaxed(&session->writer.offset),
	    .lost = tp_region_lost(&session->region),
	    .early = tp_region_early(&session->region),
	    .threads = tp_count_acquire(&header->thread_count),
	    .refused = tp_count_acquire(&header->refused),
	    .forked = tp_count_acquire(&header->forked),
	    .elapsed_ns = tp_clock_monotonic_ns() - session->start_ns,
	    .switches = tp_count_acquire(&header->switch_count),
	    .attach = tp_load32_acquire(&header->attach),
	    .functions = tp_count_acquire(&header->function_count),
	    .functions_left_out = tp_count_acquire(&header->functions_left_out),
	    .listens = tp_load32_acquire(&header->listens),
	    .listens_value = tp_load32_acquire(&header->listens_value),
	};
	if (session->soft) {
		counts->starved_ns = tp_load_relaxed(&session->counter.gaps.starved_ns);
		counts->starved_count = tp_load_relaxed(&session->counter.gaps.starved_count);
		counts->max_gap_ns = tp_load_relaxed(&session->counter.gaps.max_ns);
	}
}

// The programs that the kernel has reported, without those that asked for a log. One that asks more
// than once (dlmopen) stands for others, so there may be more of them.
static uint64_t count_unrecorded(const struct tp_session *session)
{
	const struct teeperf_log_header *header = session->region.header;
	const uint64_t programs = session->drain.sched.programs.count;
	const uint64_t asked = (tp_load32_acquire(&header->attach) != TEEPERF_ATTACH_NONE) +
			       tp_count_acquire(&header->refused) +
			       (session->follows ? session->follow.programs : 0);
	const bool apart = session->drain.foreign || session->has_inner;
	return apart || programs < asked ? 0 : programs - asked;
}

// The counts when all is written.
static void count_end(const struct tp_session *session)
{
	struct tp_session_counts *counts = session->end->counts;
	tp_session_count(session, counts);
	counts->elapsed_ns = session->end->end_ns - session->start_ns;
	counts->chunks = session->writer.chunks;
	counts->hurried = session->writer.hurried;
	counts->missing_chunks = session->writer.missing.chunks;
	counts->missing_events = session->writer.missing.events;
	counts->stunted = session->region.stunted;
	counts->no_rings = session->region.mode == TEEPERF_MODE_RING &&
			   counts->attach == TEEPERF_ATTACH_DONE &&
			   !tp_load_relaxed(&session->region.header->keeps);
	counts->unrecorded = session->unrecorded;
	counts->switches_missed = session->drain.switches.missed;
	counts->modules_refused = session->drain.modules_refused;
	counts->drain_ns = session->drain.ran_ns;
	counts->write_ns = session->drain.wrote_ns;
	counts->absent_ns = session->drain.absent_ns;
	counts->forged = tp_region_is_forged(&session->region);
	counts->locked_bytes = tp_region_unasked(&session->region);
	counts->log_gone_bytes = tp_log_guard_lost_bytes(session->region.map);
}

static void write_meters(struct tp_session *session)
{
	struct tp_buf counters;
	struct tp_buf energy;
	tp_buf_init(&counters);
	tp_buf_init(&energy);
	if (session->meters.counters.with_gramine) {
		// Children of the program may have its standard error for longer than we want to
		// wait.
		tp_gramine_tap_finish(&session->tap, session->launch.ended ? 2000 : 0);
		tp_meters_set_gramine(&session->meters, session->tap.heard);
	}
	tp_meters_add_counters(&session->meters, &counters);
	tp_meters_add_energy(&session->meters, &energy);
	if (session->writer.failed) {
		// The room is for what ends the file.
		session->writer.unwritten |=
		    UINT32_C(1) << TEEPERF_SECTION_COUNTERS | UINT32_C(1) << TEEPERF_SECTION_ENERGY;
		counters.size = energy.size = 0;
	}
	if (counters.size && !counters.failed)
		tp_trace_writer_add(
		    &session->writer, TEEPERF_SECTION_COUNTERS, counters.data, counters.size);
	if (energy.size && !energy.failed)
		tp_trace_writer_add(
		    &session->writer, TEEPERF_SECTION_ENERGY, energy.data, energy.size);
	tp_buf_release(&counters);
	tp_buf_release(&energy);
	tp_meters_release(&session->meters);
}

// Whether the trace says nothing that an older one, which it would replace, did not say better.
static bool is_worthless(const struct tp_session *session)
{
	const struct tp_session_options *options = &session->options;
	const struct tp_trace_writer *writer = &session->writer;
	return writer->old_path && writer->fd >= 0 && !writer->failed && !writer->chunks &&
	       !writer->missing.chunks && !session->end->counts->lost && !options->events &&
	       !options->meters.counters && !options->meters.energy;
}

void tp_session_trace_close(struct tp_session *session)
{
	if (!session->end) {
		tp_trace_writer_discard(&session->writer);
		return;
	}
	const struct tp_stream *stream = session->options.stream;
	if (stream) {
		memcpy(session->clock_log.points, stream->points,
		    stream->point_count * sizeof(stream->points[0]));
		session->clock_log.count = stream->point_count;
	}
	tp_drain_finish(&session->drain);
	tp_bpf_release(&session->bpf);
	session->unrecorded = count_unrecorded(session);
	write_host(session, true);
	write_meters(session);
	tp_trace_add_end(
	    &session->drain, &(struct teeperf_trace_end){.exit_kind = session->launch.exit_kind,
				 .exit_value = session->launch.exit_value,
				 .start_ns = session->start_ns,
				 .end_ns = session->end->end_ns});
	count_end(session);
	session->end->counts->older_stays = is_worthless(session);
	if (session->end->counts->older_stays)
		tp_trace_writer_discard(&session->writer);
	else
		session->end->status = tp_trace_writer_close(&session->writer, session->end->err);
}
