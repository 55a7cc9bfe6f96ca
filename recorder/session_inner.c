// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The TEE's side of a session.
#include "session_steps.h"

int tp_session_inner_open(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	if (!options->inner)
		return 0;
	if (!session->writer.regular)
		return tp_err_set(err, TP_ERR_LIMIT, options->output, TP_ERR_NO_OFFSET,
		    "with '--tee' the output must be a regular file: the two sides are joined there");
	const struct tp_region_options region = {
	    .size = options->registered_bytes ? options->registered_bytes : options->size_bytes,
	    .small_tables = options->registered_bytes != 0,
	    .behind = TEEPERF_LABEL_ROOM,
	    .ready = (uint64_t)TP_REGION_FIRST_CHUNKS / 4 * TP_REGION_CHUNK_SIZE,
	    .mode = options->mode,
	    .clock = session->clock_log.clock,
	    .only = options->only,
	};
	const int r =
	    tp_inner_create(&session->inner, &region, options->inner, options->compress, err);
	session->has_inner = !r;
	return r;
}

void tp_session_inner_close(struct tp_session *session, struct tp_session_end *end)
{
	if (!session->has_inner)
		return;
	session->has_inner = false;
	if (!end) {
		tp_inner_discard(&session->inner);
		return;
	}
	const struct tp_host_facts facts = tp_session_facts(session);
	const struct teeperf_trace_end known = {
	    .exit_kind = session->launch.exit_kind,
	    .exit_value = session->launch.exit_value,
	    .start_ns = session->start_ns,
	    .end_ns = end->end_ns,
	};
	tp_inner_finish(&session->inner, &facts, &known, &session->inner_result);
}

int tp_session_inner_start(
    struct tp_session *session, const struct tp_session_options *options, struct tp_err *err)
{
	if (!session->has_inner)
		return 0;
	const struct tp_host_facts facts = tp_session_facts(session);
	return tp_inner_start(&session->inner, session->clock_log.clock,
	    &session->clock_log.points[0], session->soft ? &session->counter : NULL,
	    session->drain.policy, options->start_off, &facts, err);
}

void tp_session_inner_stop(struct tp_session *session, struct tp_session_end *end)
{
	if (!session->has_inner)
		return;
	tp_drain_stop(&session->inner.drain);
	if (!end)
		tp_drain_finish(&session->inner.drain);
}
