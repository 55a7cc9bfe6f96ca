// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 'teeperf record' of programs in a TEE.
#define _GNU_SOURCE
#include "record.h"

#include "port_names.inc"

#include "common/units.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_LOG_BYTES = 16 << 20, STRANGERS_MAX = 8 };

static int find_tee(struct tp_record_attach *attach)
{
	if (!attach->port_name)
		return 0;
	attach->tee = tp_tee_find(attach->port_name);
	if (attach->tee)
		return 0;
	return tp_options_usage(
	    "option '--port' takes " TP_PORT_NAMES ", not '%s'", attach->port_name);
}

// What does not go together.
static int check(const struct tp_record_attach *attach, const struct tp_session_options *wanted)
{
	const struct tp_tee *tee = attach->tee;
	if (attach->stream_name && wanted->argv)
		return tp_options_usage(
		    "with '--stream' you start the program yourself: unexpected '%s'",
		    wanted->argv[0]);
	if (attach->stream_name && (attach->file || attach->offset || attach->force))
		return tp_options_usage("'--stream' and '--attach' cannot be combined");
	if (attach->offset && tee && tee->at_start)
		return tp_options_usage(
		    "'%s' programs look for the log at the file's beginning: leave '--offset' out",
		    tee->name);
	if (attach->late && tee)
		return tp_options_usage(
		    "'--pid' and '--all' cannot reach into a TEE: leave '--port' out");
	if (attach->late && wanted->only.kind != TEEPERF_ONLY_ALL)
		return tp_options_usage("'--only' needs a program that is started here");
	if (attach->duration_ns && !attach->late && !attach->waits)
		return tp_options_usage(
		    "'--duration' needs '--pid', '--all', '--attach' or '--stream'");
	if (!attach->waits && !attach->late && !wanted->argv)
		return tp_options_usage("no program to run was given%s",
		    tee ? ", and neither '--attach' nor '--stream'" : "");
	if (wanted->argv && tee && tee->transport == TP_TEE_STREAM)
		return tp_options_usage(
		    "'%s' shares no memory: start the program yourself, and give the source of "
		    "its frames to '--stream'",
		    tee->name);
	if (wanted->argv && tee && tee->elsewhere && !attach->file)
		return tp_options_usage(
		    "'%s' programs cannot be started from here: give '--attach' or '--stream', "
		    "and no program",
		    tee->name);
	if (attach->pid && wanted->argv)
		return tp_options_usage(
		    "'--pid' names a running process: leave '%s' out", wanted->argv[0]);
	if (!attach->waits && attach->timeout_s != UINT64_MAX)
		return tp_options_usage(
		    "'--attach-timeout' needs '--attach' or '--stream', without a program");
	if (attach->pid > INT_MAX)
		return tp_options_usage("option '--pid' takes a process id");
	if (wanted->follow_fork && attach->place.path)
		return tp_options_usage(
		    "'--follow-fork' cannot share a file that was named beforehand");
	if (attach->waits && wanted->events && (attach->stream_name || (tee && tee->foreign)))
		return tp_options_usage(
		    "'--events' needs a program that is started here, or '--attach' and a program "
		    "that is a process on this machine");
	if (attach->stream_name && wanted->mode == TEEPERF_MODE_FULL)
		return tp_options_usage("'--mode full' needs shared memory");
	if (attach->stream_name && wanted->mode == TEEPERF_MODE_RING)
		return tp_options_usage(
		    "'--mode ring' needs shared memory: records that were sent cannot be "
		    "overwritten");
	if (attach->stream_name && wanted->start_off)
		return tp_options_usage(
		    "'--on-start off' needs shared memory: recording could not be switched on");
	if (attach->stream_name && wanted->only.kind != TEEPERF_ONLY_ALL)
		return tp_options_usage("'--only' needs shared memory");
	if (attach->stream_name && wanted->clock != TP_CLOCK_CHOICE_AUTO)
		return tp_options_usage(
		    "with '--stream' the clock is the program's choice: leave '--clock' out");
	return 0;
}

int tp_record_read_time(const char *name, const char *text, uint64_t *time_ns)
{
	double ns = 0;
	char *end;
	struct tp_err err;
	const double number = strtod(text, &end);
	if (end != text && !*end)
		ns = number * 1e9;
	else if (end != text && !strcmp(end, "m"))
		ns = number * 60e9;
	else if (end != text && !strcmp(end, "h"))
		ns = number * 3600e9;
	else if (tp_units_ns(text, &ns, &err))
		ns = 0;
	if (!(ns >= 1e6 && ns <= 1e18))
		return tp_options_usage(
		    "option '--%s' takes a time such as 10s or 5m, not '%s'", name, text);
	*time_ns = (uint64_t)ns;
	return 0;
}

static struct tp_stream source;
static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
	const int error = errno;
	interrupted = signal_number;
	tp_inlet_stop(&source.inlet);
	errno = error;
}

// Wait for a program; others who connect are reported, up to a maximum.
static int await_program(struct tp_err *err)
{
	char text[TP_ERR_TEXT_SIZE];
	bool again;
	int told = 0;
	int r;
	while ((r = tp_stream_await(&source, &again, err)) && again)
		if (told++ < STRANGERS_MAX)
			tp_command_warn("a connection was closed, as it was not a program's: %s",
			    tp_err_format(err, text, sizeof(text)));
	return r;
}

static int open_stream(struct tp_record_attach *attach, uint64_t timeout_ms, bool quiet)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };
	struct tp_err err;
	if (tp_stream_open(&source, attach->stream_name, timeout_ms, &err))
		return tp_command_fail(&err);
	// The session takes signals later, once it is there. What was ignored stays so.
	struct sigaction old[SIGNAL_COUNT];
	const struct sigaction ours = {.sa_handler = interrupt};
	for (int i = 0; i < SIGNAL_COUNT; i++)
		if (!sigaction(signals[i], NULL, &old[i]) && old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &ours, NULL);
	// Who reads this may start the program at once.
	if (!quiet)
		tp_command_tell("waiting for a program at '%s'\n", attach->stream_name);
	int r = await_program(&err);
	for (int i = 0; i < SIGNAL_COUNT; i++)
		sigaction(signals[i], &old[i], NULL);
	if (interrupted)
		r = tp_err_set(&err, TP_ERR_NOT_FOUND, attach->stream_name,
		    "ended by signal %d before a program attached", (int)interrupted);
	if (r) {
		tp_stream_release(&source);
		return tp_command_fail(&err);
	}
	attach->stream = &source;
	return 0;
}

int tp_record_attach_prepare(
    struct tp_record_attach *attach, struct tp_session_options *wanted, bool quiet)
{
	int status = find_tee(attach);
	if (!status && attach->duration)
		status = tp_record_read_time("duration", attach->duration, &attach->duration_ns);
	if (status)
		return status;
	const struct tp_tee *tee = attach->tee;
	attach->waits = !wanted->argv && (attach->file || attach->stream_name);
	attach->late = !wanted->argv && !attach->waits && (attach->pid || attach->all);
	attach->place = (struct tp_place){
	    .path = attach->file          ? attach->file
		    : tee && wanted->argv ? tee->place
					  : NULL,
	    .offset = attach->offset,
	    .force = attach->force,
	    .guessable = !attach->file,
	};
	status = check(attach, wanted);
	if (status)
		return status;
	const uint64_t timeout_ms =
	    attach->timeout_s > UINT64_MAX / 1000 ? UINT64_MAX : attach->timeout_s * 1000;
	if (attach->stream_name) {
		status = open_stream(attach, timeout_ms, quiet);
		if (status)
			return status;
		// A stream needs little log: it waits until its data is written.
		if (!wanted->size_bytes)
			wanted->size_bytes = STREAM_LOG_BYTES;
		// Frames wait for chunks to be free, so these must not wait for each other.
		wanted->drain = TP_DRAIN_CHOICE_NOW;
	}
	if (tee && wanted->clock == TP_CLOCK_CHOICE_AUTO)
		wanted->clock = tee->clock;
	if (tee && tee->log_limit_bytes && wanted->size_bytes > tee->log_limit_bytes)
		return tp_options_usage(
		    "with '--port %s' '--size' is at most %lluM: a larger log can be registered, "
		    "but each command that passes it fails, as the TEE lacks memory to map it",
		    tee->name, (unsigned long long)(tee->log_limit_bytes >> 20));
	// Such a log is small, and each call takes a chunk of it, which must not wait for others.
	if (tee && tee->log_bytes && wanted->drain == TP_DRAIN_CHOICE_AUTO &&
	    wanted->mode == TEEPERF_MODE_STREAM)
		wanted->drain = TP_DRAIN_CHOICE_NOW;
	if (tee && tee->log_bytes)
		wanted->registered_bytes = wanted->size_bytes ? wanted->size_bytes : tee->log_bytes;
	wanted->place = attach->place.path ? &attach->place : NULL;
	wanted->stream = attach->stream;
	wanted->inherit = tee && tee->transport == TP_TEE_INHERITED;
	wanted->foreign = tee && tee->foreign;
	wanted->paired = tee && tee->paired;
	wanted->port = tee ? tee->name : NULL;
	wanted->watch = (pid_t)attach->pid;
	wanted->late = attach->late;
	wanted->late_off = wanted->start_off;
	wanted->late_forced = attach->force;
	wanted->start_off |= attach->late;
	wanted->duration_ns = attach->duration_ns;
	wanted->timeout_ms = timeout_ms;
	return 0;
}

const char *tp_record_attach_reason(uint32_t attach)
{
	if (attach == TEEPERF_ATTACH_NO_MODULE)
		return "it attached to the log, but has no code built with 'teeperf cc', or its "
		       "allowlist selects no function";
	if (attach == TEEPERF_ATTACH_BAD_LOG)
		return "it entered with the log, but was given only a part of it, or its runtime "
		       "is of another version of teeperf";
	if (attach == TEEPERF_ATTACH_BAD_MODULE)
		return "parts of it were compiled by different versions of teeperf; rebuild all of "
		       "it";
	return NULL;
}

void tp_record_attach_release(struct tp_record_attach *attach)
{
	if (attach->stream)
		tp_stream_release(attach->stream);
	attach->stream = NULL;
}

static void tell_hints(const struct tp_tee *tee, const char *where)
{
	static const char mark[] = "@LOG@";
	for (const char *const *hint = tee->hints; hint && *hint; hint++) {
		const char *at = strstr(*hint, mark);
		if (at)
			tp_command_tell("%s: %.*s%s%s\n", tee->name, (int)(at - *hint), *hint,
			    where, at + sizeof(mark) - 1);
		else
			tp_command_tell("%s: %s\n", tee->name, *hint);
	}
}

// On a busy machine. Less is not worth a word.
enum { TOLD_WAIT_NS = 1000 * 1000 };

void tp_record_attach_tell(
    const struct tp_record_attach *attach, const struct tp_session *session, bool launched)
{
	char where[PATH_MAX];
	tp_shown_name(where, tp_region_where(&session->region));
	if (attach->tee)
		tell_hints(attach->tee, where);
	if (launched || attach->stream)
		return;
	if (attach->late) {
		char waited[64] = "";
		if (session->late.pause_waited_ns >= TOLD_WAIT_NS)
			snprintf(waited, sizeof(waited), " (%.1f of it without a processor)",
			    (double)session->late.pause_waited_ns / 1e6);
		tp_command_tell(
		    "recording process %d, of which one thread was stopped for %.1f ms%s: end it "
		    "with Ctrl-C or 'teeperf ctl stop %d'\n",
		    (int)attach->pid, (double)session->late.pause_ns / 1e6, waited,
		    (int)attach->pid);
		if (session->late.others)
			tp_command_warn(
			    "process %d has %u runtimes of teeperf, and only one is recorded: the "
			    "code that uses the one in '%s' is not (link libraries with 'teeperf "
			    "cc', so that they use the executable's)",
			    (int)attach->pid, session->late.others + 1, session->late.other);
		return;
	}
	tp_command_tell("now start the program, with TEEPERF_LOG=%s", where);
	if (attach->offset)
		fprintf(stderr, " and TEEPERF_LOG_OFFSET=%llu", (unsigned long long)attach->offset);
	fprintf(stderr, " (where it sees that file) in its environment\n");
}

static void warn_of_stream(const struct tp_stream *stream)
{
	char text[TP_ERR_TEXT_SIZE];
	if (stream->failed)
		tp_command_warn("reading the stream stopped: %s",
		    tp_err_format(&stream->error, text, sizeof(text)));
	else if (!stream->frames.ended)
		tp_command_warn(
		    "the stream ended without an end mark: the last records may be missing");
	const uint64_t rest = stream->frames.ended ? tp_inlet_rest(&stream->inlet) : 0;
	if (rest)
		tp_command_warn(
		    "%llu bytes of another run follow and were not read: give each run its own "
		    "file",
		    (unsigned long long)rest);
}

bool tp_record_attach_judge(const struct tp_record_attach *attach, const struct tp_session *session,
    const struct tp_session_counts *counts, bool ended, const char **how)
{
	*how = NULL;
	if (session->late_err.code) {
		char text[TP_ERR_TEXT_SIZE];
		tp_command_warn(
		    "process %d still has the log, and stops recording when it is full: %s",
		    (int)attach->pid, tp_err_format(&session->late_err, text, sizeof(text)));
	}
	if (!attach->waits && !attach->late)
		return true;
	if (attach->stream) {
		warn_of_stream(attach->stream);
		*how = attach->stream->frames.ended ? "the program reported its end" : NULL;
		return !attach->stream->failed;
	}
	if (counts->attach == TEEPERF_ATTACH_NONE) {
		tp_command_warn(
		    "no instrumented program attached to '%s'%s: start it after 'now start', with "
		    "TEEPERF_LOG in its environment and write permission for that file; a program "
		    "looks for its log only when it starts",
		    attach->file,
		    session->guest_state == TP_GUEST_MISSING ? " in time"
		    : session->guest_state == TP_GUEST_GONE  ? " before the process ended"
							     : "");
		return false;
	}
	if (ended && session->guest_state == TP_GUEST_ENDED)
		*how = "the program reported its end";
	else if (ended && session->guest_state == TP_GUEST_GONE)
		*how = "the process that was watched ended";
	else if (ended && session->guest_state == TP_GUEST_LEFT)
		*how =
		    "no process had the log open any more: the program was killed, or called _exit";
	return true;
}
