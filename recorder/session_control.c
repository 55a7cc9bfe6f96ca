// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a running recording does at the command of `teeperf ctl`.
#define _GNU_SOURCE
#include "session_steps.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	// How long we wait for the program: one that gets a signal, one that does not.
	TOLD_MS = 1000,
	NOT_TOLD_MS = 100,
	FLUSH_MS = 50 * 1000,
};

static pid_t attached_pid(const struct tp_session *session)
{
	const struct teeperf_log_header *header = session->region.header;
	const uint64_t pid = tp_load_relaxed(&header->pid);
	return tp_load32_acquire(&header->attach) == TEEPERF_ATTACH_DONE && pid <= INT_MAX
		   ? (pid_t)pid
		   : 0;
}

bool tp_session_tell(const struct tp_session *session)
{
	const struct teeperf_log_header *header = session->region.header;
	const pid_t pid = attached_pid(session);
	// Call circle with session_late.c: it gives commands, and brings them to a running program.
	if (session->options.late)
		return pid && tp_session_late_tell(session);
	return tp_load32_acquire(&header->listens) == TEEPERF_LISTENS_SIGNAL &&
	       session->options.control_signal && !tp_load32_acquire(&session->drain.foreign) &&
	       pid > 0 && tp_region_is_mapped(&session->region, pid) > 0 &&
	       kill(pid, session->options.control_signal) == 0;
}

bool tp_session_command(struct tp_session *session, bool on)
{
	struct teeperf_log_header *header = session->region.header;
	const uint64_t number = session->control_word / 2 + 1;
	session->control_word = number * 2 + (on ? TEEPERF_ACTIVE : 0);
	tp_store_release(&header->control, session->control_word);
	// It looks when it is called, or takes a chunk: no signal reaches into a TEE.
	if (session->has_inner)
		tp_store_release(&session->inner.region.header->control, session->control_word);
	if (session->follows)
		tp_follow_command(&session->follow, session->control_word);
	return tp_session_tell(session);
}

static bool is_on(const struct tp_session *session)
{
	return attached_pid(session) &&
	       tp_switch_log_state(session->region.header, !session->options.start_off);
}

static bool wait_for(const struct tp_session *session, bool on, int timeout_ms)
{
	const struct timespec nap = {.tv_nsec = 1000 * 1000};
	for (int i = 0; i < timeout_ms && is_on(session) != on; i++)
		nanosleep(&nap, NULL);
	return is_on(session) == on;
}

static enum tp_control_result switch_to(struct tp_session *session, bool on)
{
	const bool told = tp_session_command(session, on);
	if (!attached_pid(session))
		return TP_CONTROL_WAITING;
	if (wait_for(session, on, told ? TOLD_MS : NOT_TOLD_MS))
		return TP_CONTROL_DONE;
	return told ? TP_CONTROL_UNHEARD : TP_CONTROL_LATER;
}

static void name_output(struct tp_control_reply *reply, const char *path)
{
	const size_t length = strlen(path);
	const size_t room = sizeof(reply->output) - 1;
	snprintf(
	    reply->output, sizeof(reply->output), "%s", path + (length > room ? length - room : 0));
}

const char *tp_session_no_selection(const struct tp_session *session)
{
	const struct teeperf_log_header *header = session->region.header;
	if (session->options.follow_fork)
		return "the selection cannot be changed with 'record --follow-fork'";
	if (session->has_inner)
		return "the selection cannot be changed with 'record --tee'";
	if (session->options.calibrate.count)
		return "the selection cannot be changed with 'record --calibrate', which changes "
		       "it itself";
	if (session->options.stream)
		return "the selection cannot be changed with 'record --stream'";
	if (session->clock_log.clock == TEEPERF_CLOCK_NONE)
		return "without a clock, records before and after a change cannot be separated: "
		       "record with another '--clock'";
	if (attached_pid(session) && !tp_load_acquire(&header->selected))
		return "the program's runtime is too old to change its selection: rebuild it";
	return NULL;
}

// Wait until the program has obeyed all choices, for less time if it gets no signal.
static bool wait_for_choice(struct tp_session *session, bool told)
{
	const struct timespec nap = {.tv_nsec = 1000 * 1000};
	for (int i = 0; i < (told ? TOLD_MS : NOT_TOLD_MS); i++) {
		if (tp_selection_is_obeyed(&session->drain.selections))
			return true;
		tp_doorbell_ring(&session->drain.worker.bell);
		nanosleep(&nap, NULL);
	}
	return false;
}

int tp_session_choose(
    struct tp_session *session, const struct tp_region_only *wanted, struct tp_err *err)
{
	return tp_selection_ask(
	    &session->drain.selections, &session->region, TP_SELECTION_ONLY, wanted, err);
}

bool tp_session_has_chosen(struct tp_session *session)
{
	if (tp_selection_is_obeyed(&session->drain.selections))
		return true;
	tp_doorbell_ring(&session->drain.worker.bell);
	return false;
}

void tp_session_note_window(struct tp_session *session)
{
	tp_selection_note_window(&session->drain.selections);
}

static enum tp_control_result select_functions(struct tp_session *session,
    const struct tp_control_request *request, const uint64_t *hashes, char *why, size_t room)
{
	static const enum tp_selection_verb verbs[] = {
	    TP_SELECTION_ONLY, TP_SELECTION_ADD, TP_SELECTION_DROP};
	struct tp_selection_log *selections = &session->drain.selections;
	const char *refused =
	    session->options.guide
		? "'record --budget' selects the functions: record without it to select them "
		  "yourself"
		: tp_session_no_selection(session);
	const struct tp_region_only wanted = {
	    .kind = (enum teeperf_only)(request->only & 3),
	    .hashes = hashes,
	    .count = request->hash_count,
	};
	struct tp_err err;
	if (!refused && attached_pid(session) && !tp_selection_is_obeyed(selections))
		wait_for_choice(session, tp_session_tell(session));
	if (!refused && tp_selection_ask(selections, &session->region,
			    verbs[request->verb - TP_CONTROL_ONLY], &wanted, &err))
		refused = err.what;
	if (refused) {
		snprintf(why, room, "%.*s", (int)room - 1, refused);
		return TP_CONTROL_REFUSED;
	}
	const bool told = tp_session_tell(session);
	if (!attached_pid(session))
		return TP_CONTROL_WAITING;
	if (wait_for_choice(session, told))
		return TP_CONTROL_DONE;
	return told ? TP_CONTROL_UNHEARD : TP_CONTROL_LATER;
}

static void describe_selection(struct tp_session *session, struct tp_control_reply *reply)
{
	struct tp_selection_log *log = &session->drain.selections;
	pthread_mutex_lock(&log->lock);
	reply->pending = log->word != log->obeyed;
	reply->selections = TEEPERF_SELECTION_NUMBER(log->word);
	reply->only = log->hashes ? log->only : (uint32_t)session->options.only.kind;
	reply->only_count = log->hashes ? log->count : session->options.only.count;
	pthread_mutex_unlock(&log->lock);
}

static void describe(struct tp_session *session, struct tp_control_reply *reply)
{
	struct tp_session_counts counts;
	tp_session_count(session, &counts);
	const pid_t attached = attached_pid(session);
	reply->program = (uint32_t)__atomic_load_n(&session->launch.pid, __ATOMIC_RELAXED);
	reply->attached = (uint32_t)attached;
	// In a container, processes have other numbers than here.
	if (session->options.late)
		reply->program = (uint32_t)session->options.watch;
	if (session->options.late && attached)
		reply->attached = (uint32_t)session->options.watch;
	reply->on = is_on(session);
	reply->wanted_on = session->control_word & TEEPERF_ACTIVE;
	reply->listens = counts.listens;
	reply->listens_value = counts.listens_value;
	// Without the gaps that choices leave.
	const uint64_t gaps = 2 * tp_load_relaxed(&session->drain.switches.gaps);
	reply->switches = counts.switches > gaps ? counts.switches - gaps : 0;
	reply->records = counts.records;
	reply->lost = counts.lost;
	if (session->follows) {
		uint64_t records;
		uint64_t lost;
		tp_follow_count(&session->follow, &records, &lost);
		reply->records += records;
		reply->lost += lost;
	}
	if (session->has_inner) {
		reply->records += tp_load_relaxed(&session->inner.drain.record_bytes) / 8;
		reply->lost += tp_region_lost(&session->inner.region);
	}
	reply->file_bytes = counts.file_bytes;
	reply->elapsed_ns = counts.elapsed_ns;
	reply->foreign = tp_load32_acquire(&session->drain.foreign);
	describe_selection(session, reply);
	name_output(reply, session->options.output);
}

static enum tp_control_result flush(struct tp_session *session)
{
	const bool done = tp_drain_flush(&session->drain, FLUSH_MS) &&
			  (!session->has_inner || tp_drain_flush(&session->inner.drain, FLUSH_MS));
	return done && (!session->follows || tp_follow_flush(&session->follow, FLUSH_MS))
		   ? TP_CONTROL_DONE
		   : TP_CONTROL_FAILED;
}

// Of all processes; of a host and its TEE, in the host's trace, which both are joined into.
static enum tp_control_result mark(struct tp_session *session,
    const struct tp_control_request *request, const uint64_t *words, char *why, size_t room)
{
	const uint64_t now = tp_clock_monotonic_ns();
	char name[TEEPERF_MARK_NAME] = "";
	const size_t size = request->hash_count * sizeof(*words);
	if (words)
		memcpy(name, words, size < sizeof(name) ? size : sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	// They begin a new phase of the counters, too, if there are any.
	tp_meters_read(&session->meters, TEEPERF_READING_MARK);
	if (!tp_mark_log_add(&session->drain.marks, now, name)) {
		snprintf(why, room, "the recording already has %d marks, the most that fit",
		    TP_MARK_LOG_MAX);
		return TP_CONTROL_REFUSED;
	}
	tp_doorbell_ring(&session->drain.worker.bell);
	if (session->follows)
		tp_follow_mark(&session->follow, now, name);
	return TP_CONTROL_DONE;
}

void tp_session_answer(void *context, const struct tp_control_request *request,
    const uint64_t *hashes, struct tp_control_reply *reply)
{
	struct tp_session *session = context;
	const uint32_t verb = request->verb;
	char why[sizeof(reply->output)];
	enum tp_control_result result = TP_CONTROL_DONE;
	switch (verb) {
	case TP_CONTROL_STATUS:
		break;
	case TP_CONTROL_ON:
	case TP_CONTROL_OFF:
		result = switch_to(session, verb == TP_CONTROL_ON);
		tp_meters_read(&session->meters, TEEPERF_READING_SWITCH);
		break;
	case TP_CONTROL_MARK:
		result = mark(session, request, hashes, why, sizeof(why));
		break;
	case TP_CONTROL_ONLY:
	case TP_CONTROL_ADD:
	case TP_CONTROL_DROP:
		result = select_functions(session, request, hashes, why, sizeof(why));
		break;
	case TP_CONTROL_FLUSH:
		result = flush(session);
		break;
	case TP_CONTROL_STOP:
		tp_store_relaxed(&session->stop_asked, 1);
		break;
	default:
		result = TP_CONTROL_UNKNOWN;
	}
	describe(session, reply);
	reply->result = result;
	// One that is still being written has no name for us.
	reply->snapshot = verb == TP_CONTROL_FLUSH && session->region.mode == TEEPERF_MODE_RING &&
			  tp_drain_has_flushed(&session->drain, session->drain.flush_asked);
	if (reply->snapshot)
		name_output(reply, session->drain.snapshots.last);
	if (result == TP_CONTROL_REFUSED)
		snprintf(reply->output, sizeof(reply->output), "%s", why);
}
