// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program of a session: started here, or somebody else's.
#define _GNU_SOURCE
#include "session_steps.h"

#include <signal.h>
#include <stdio.h>

// Nobody wakes us when the program is over.
enum { GUEST_TICK_MS = 20 };

// What the program is asked to listen to (log.h, TEEPERF_CONTROL_ENV); empty: nothing.
static void make_control(const struct tp_session_options *options, char text[32])
{
	text[0] = '\0';
	if (options->switch_signals)
		snprintf(text, 32, "%d,%d,%d", options->control_signal, SIGUSR1, SIGUSR2);
	else if (options->control_signal)
		snprintf(text, 32, "%d", options->control_signal);
}

// The program is somebody else's: be ready to hear of its end.
static int start_guest(struct tp_session *session, struct tp_err *err)
{
	int r = tp_guest_start(&session->guest, session->options.stream ? NULL : &session->region,
	    session->options.watch, session->options.timeout_ms, err);
	if (r)
		return r;
	if (session->options.stream)
		r = tp_stream_start(session->options.stream, &session->region, err);
	else if (session->options.late)
		r = tp_session_late_start(session, err);
	if (r)
		tp_guest_stop(&session->guest);
	return r;
}

int tp_session_program_start(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_options *options = &session->options;
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
	    .errors = session->tap.heard ? &session->tap.program : NULL,
	};
	if (options->argv) {
		const int r = tp_launch_start(&session->launch, options->argv, &settings, err);
		tp_gramine_tap_given(&session->tap);
		return r;
	}
	return start_guest(session, err);
}

void tp_session_program_stop(struct tp_session *session)
{
	if (session->options.argv)
		return;
	tp_session_late_stop(session);
	tp_guest_stop(&session->guest);
	if (session->options.stream)
		tp_stream_stop(session->options.stream);
}

// What ends a recording whose program is somebody else's.
static enum tp_launch_event look_at_guest(struct tp_session *session)
{
	struct tp_stream *stream = session->options.stream;
	const enum tp_guest_state state = tp_guest_look(&session->guest);
	if (stream) {
		// What it has sent is there, though it is gone.
		if (state == TP_GUEST_GONE)
			tp_inlet_finish(&stream->inlet);
		if (!tp_load_acquire(&stream->over))
			return TP_LAUNCH_TIMEOUT;
	} else if (state == TP_GUEST_AWAITED || state == TP_GUEST_RUNS) {
		return TP_LAUNCH_TIMEOUT;
	}
	const uint64_t word =
	    stream ? stream->frames.end : tp_load_acquire(&session->region.header->ended);
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
	const uint64_t duration = session->options.duration_ns;
	const uint64_t start_ns = session->late_ns ? session->late_ns : session->start_ns;
	if (tp_load_relaxed(&session->stop_asked) ||
	    (duration && tp_clock_monotonic_ns() - start_ns >= duration))
		return TP_LAUNCH_RELEASE;
	if (!session->options.argv) {
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
