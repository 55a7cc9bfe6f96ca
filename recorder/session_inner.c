// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The TEE's side of a session: a log and a trace of its own, which the host program hands on.
// docs/decisions/0028-joined-traces.md.
#include "session_steps.h"

static struct tp_host_facts inner_facts(const struct tp_session *session)
{
	struct tp_host_facts facts = tp_session_facts(session);
	facts.transport = "host";
	facts.has_cost = false;
	return facts;
}

int tp_session_inner_open(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_options *options = &session->options;
	if (!options->inner)
		return 0;
	if (!session->writer.regular)
		return tp_err_set(err, TP_ERR_LIMIT, options->output,
		    "'--tee' needs a regular file as output, to join the two sides in");
	const struct tp_region_options region = {
	    .size = options->registered_bytes ? options->registered_bytes : options->size_bytes,
	    .small_tables = options->registered_bytes != 0,
	    .behind = TEEPERF_LABEL_ROOM,
	    .ready = (uint64_t)TP_REGION_INNER_CHUNKS * TP_REGION_CHUNK_SIZE,
	    .mode = options->mode,
	    .clock = session->clock_log.clock,
	    .only = options->only,
	};
	const int r =
	    tp_recording_create(&session->inner, &region, options->inner, options->compress, err);
	if (r)
		return r;
	session->has_inner = true;
	session->inner.region.header->border = 1;
	session->inner.drain.foreign = true;
	return 0;
}

void tp_session_inner_close(struct tp_session *session)
{
	struct tp_recording *inner = &session->inner;
	if (!session->has_inner)
		return;
	session->has_inner = false;
	if (!session->end) {
		tp_recording_discard(inner);
		return;
	}
	const struct tp_host_facts facts = inner_facts(session);
	const struct teeperf_trace_end known = {
	    .exit_kind = session->launch.exit_kind,
	    .exit_value = session->launch.exit_value,
	    .start_ns = session->start_ns,
	    .end_ns = session->end->end_ns,
	};
	tp_recording_finish(inner, &facts, &known, &session->inner_result);
	session->inner_result.failed = tp_recording_close(inner) != 0;
}

int tp_session_inner_start(struct tp_session *session, struct tp_err *err)
{
	if (!session->has_inner)
		return 0;
	const struct tp_recording_options common = tp_session_common(session);
	const struct tp_host_facts facts = inner_facts(session);
	tp_recording_prepare(&session->inner, &common);
	tp_trace_add_host(&session->inner.drain, &facts, false);
	return tp_recording_start(&session->inner, err);
}

void tp_session_inner_stop(struct tp_session *session)
{
	if (!session->has_inner)
		return;
	tp_drain_stop(&session->inner.drain);
	if (!session->end)
		tp_drain_finish(&session->inner.drain);
}
