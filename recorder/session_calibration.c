// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The windows of 'record --calibrate': functions are left out in turns while the program runs.
#define _GNU_SOURCE
#include "session_steps.h"

#include <pthread.h>

enum {
	WINDOW_MS = 20,
	LOOK_MS = 1,
	// Then it is known well enough, and the list of windows long enough.
	WINDOWS_MAX = 1 << 14,
	ENTRIES_MAX_BYTES = 32 << 20,
};

// Ask for WANTED, and wait until the program has obeyed. False: the recording is over, or WANTED is
// impossible.
static bool choose(struct tp_session *session, const struct tp_region_only *wanted)
{
	struct tp_worker *worker = &session->calibrator;
	struct tp_selection_log *log = &session->drain.selections;
	struct tp_err err;
	if (tp_selection_ask(log, &session->region, TP_SELECTION_ONLY, wanted, &err))
		return false;
	tp_session_tell(session);
	while (!tp_load_relaxed(&worker->stop)) {
		if (tp_selection_is_obeyed(log))
			return true;
		tp_doorbell_ring(&session->drain.worker.bell);
		tp_doorbell_wait(&worker->bell, LOOK_MS);
	}
	return false;
}

static bool is_enough(struct tp_session *session, uint32_t windows)
{
	struct tp_selection_log *log = &session->drain.selections;
	pthread_mutex_lock(&log->lock);
	const bool enough = windows >= WINDOWS_MAX || log->entries.size >= ENTRIES_MAX_BYTES;
	pthread_mutex_unlock(&log->lock);
	return enough;
}

static void *calibrate(void *argument)
{
	struct tp_session *session = argument;
	struct tp_worker *worker = &session->calibrator;
	pthread_setname_np(pthread_self(), "teeperf-windows");
	while (!tp_load_relaxed(&worker->stop) && !tp_load_acquire(&session->region.header->pid))
		tp_doorbell_wait(&worker->bell, LOOK_MS);
	bool goes_on = true;
	for (uint32_t windows = 0;
	     goes_on && !tp_load_relaxed(&worker->stop) && !is_enough(session, windows);
	     windows++) {
		const struct tp_region_only wanted = tp_calibration_next(&session->calibration);
		goes_on = choose(session, &wanted);
		if (goes_on)
			tp_doorbell_wait(&worker->bell, WINDOW_MS);
	}
	if (goes_on && !tp_load_relaxed(&worker->stop))
		choose(session, &session->calibration.base);
	return NULL;
}

int tp_session_calibration_start(struct tp_session *session, struct tp_err *err)
{
	const struct tp_session_options *options = &session->options;
	if (!options->calibrate.count)
		return 0;
	int r =
	    tp_calibration_init(&session->calibration, &options->only, &options->calibrate, err);
	if (!r)
		r = tp_worker_start(
		    &session->calibrator, calibrate, session, "the thread for calibration", err);
	if (r)
		tp_calibration_release(&session->calibration);
	return r;
}

void tp_session_calibration_stop(struct tp_session *session)
{
	if (!session->options.calibrate.count)
		return;
	tp_worker_stop(&session->calibrator);
	tp_calibration_release(&session->calibration);
}
