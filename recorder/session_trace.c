// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The trace of a session: what it says of the host, the command and the end, beside what the drain writes.
#define _GNU_SOURCE
#include "session_steps.h"

#include <string.h>

#include "recorder/region/log_guard.h"
#include "recorder/drain/trace_ends.h"

struct tp_host_facts tp_session_facts(const struct tp_session *session)
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
	struct tp_host_facts facts = tp_session_facts(session);
	facts.clock_gaps = session->soft ? tp_counter_thread_starved_count(&session->counter) : 0;
	facts.ended = ended;
	facts.switches_missed = session->drain.switches.missed;
	facts.log_gone_bytes = tp_log_guard_lost_bytes(session->region.map);
	facts.functions = tp_count_acquire(&header->function_count);
	facts.functions_left_out = tp_count_acquire(&header->functions_left_out);
	tp_trace_add_host(writer, &facts);
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

void tp_session_trace_frame(void *context, struct tp_trace_writer *writer, bool end)
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

int tp_session_trace_open(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	int r = tp_trace_writer_open(&session->writer, options->output, err);
	if (r || !options->compress)
		return r;
	r = tp_trace_writer_pack(&session->writer, options->compress, err);
	if (r)
		tp_trace_writer_discard(&session->writer);
	return r;
}

int tp_session_trace_begin(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	write_host_to(session, &session->writer, false);
	const int r = write_command(session, &session->writer, err);
	return r ? r
		 : tp_trace_add_log(&session->writer, &session->region, options->compress,
		       options->start_off, options->output, err);
}

// What is known when all is written.
static void count_end(const struct tp_session *session, const struct tp_session_end *end)
{
	struct tp_session_counts *counts = end->counts;
	tp_session_count(session, counts);
	counts->elapsed_ns = end->end_ns - session->start_ns;
	counts->missing_chunks = session->writer.missing.chunks;
	counts->missing_events = session->writer.missing.events;
	counts->stunted = session->region.stunted;
	counts->no_rings = session->region.mode == TEEPERF_MODE_RING &&
			   counts->attach == TEEPERF_ATTACH_DONE &&
			   !tp_load_relaxed(&session->region.header->keeps);
	counts->switches_missed = session->drain.switches.missed;
	counts->modules_refused = session->drain.modules_refused;
	counts->write_ns = session->writer.write_ns;
	counts->absent_ns = session->drain.absent_ns;
	counts->forged = tp_region_is_forged(&session->region);
	counts->log_gone_bytes = tp_log_guard_lost_bytes(session->region.map);
	counts->output_gone = !tp_trace_writer_in_place(&session->writer);
}

void tp_session_trace_close(struct tp_session *session, struct tp_session_end *end)
{
	if (!end) {
		tp_trace_writer_discard(&session->writer);
		return;
	}
	const struct tp_stream *stream = session->stream;
	if (stream) {
		memcpy(session->clock_log.points, stream->points,
		    stream->point_count * sizeof(stream->points[0]));
		session->clock_log.count = stream->point_count;
	}
	tp_drain_finish(&session->drain);
	write_host_to(session, &session->writer, true);
	tp_trace_add_end(&session->writer, &session->region,
	    &(struct teeperf_trace_end){.exit_kind = session->launch.exit_kind,
		.exit_value = session->launch.exit_value,
		.start_ns = session->start_ns,
		.end_ns = end->end_ns});
	count_end(session, end);
	end->status = tp_trace_writer_close(&session->writer, end->err);
}
