// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which process a program is that somebody else has started, and what the kernel tells of it then.
#define _GNU_SOURCE
#include "session_steps.h"

#include <string.h>
#include <sys/stat.h>

#include "recorder/region/proc.h"

// A number by itself says nothing: it may be that of a library OS, a container or another machine.
// That process has the log.
static bool has_log(const struct tp_session *session, pid_t pid)
{
	struct stat log;
	return !fstat(session->region.fd, &log) &&
	       tp_proc_maps(pid, &(struct tp_mapped){.device = log.st_dev, .inode = log.st_ino}) >
		   0;
}

// It has hundreds of threads perhaps, and fills the log meanwhile: the drain goes on.
static void *join(void *context)
{
	struct tp_session *session = context;
	struct tp_meeting *meeting = &session->meeting;
	if (session->bpf.head.groups)
		meeting->has_no_events = tp_bpf_join(&session->bpf, meeting->pid) != 0;
	if (!session->options.no_sched)
		tp_sched_join(&meeting->sched, meeting->pid);
	tp_store32_release(&meeting->over, 1);
	tp_doorbell_ring(&session->drain.worker.bell);
	return NULL;
}

// Take over what the thread has joined.
static void settle(struct tp_session *session)
{
	struct tp_meeting *meeting = &session->meeting;
	struct tp_drain *drain = &session->drain;
	pthread_join(meeting->thread, NULL);
	meeting->runs = false;
	session->unmet = (struct tp_err){0};
	if (meeting->has_no_events) {
		session->unmet = session->bpf.refused;
		tp_bpf_close(&session->bpf); // other processes need not pay for it
	} else if (session->bpf.head.groups) {
		tp_bpf_reader_init(&drain->system, &session->bpf, 0);
	}
	meeting->sched.most = drain->sched.most;
	drain->sched = meeting->sched;
	tp_store32_release(&drain->foreign, false);
	// The first one's statement about the numbers does not hold any more, even if we do not
	// finish.
	tp_session_trace_tell_host(session);
}

void tp_session_guest_settle(struct tp_session *session)
{
	if (session->meeting.runs)
		settle(session);
}

static void refuse(struct tp_session *session)
{
	if (!session->options.no_sched)
		session->drain.sched.refused = session->unmet;
	tp_bpf_close(&session->bpf);
}

static bool meet(void *context, uint64_t told)
{
	struct tp_session *session = context;
	struct tp_meeting *meeting = &session->meeting;
	if (meeting->runs) {
		if (!tp_load32_acquire(&meeting->over))
			return false;
		settle(session);
		return true;
	}
	meeting->pid = told < INT32_MAX ? (pid_t)told : 0;
	if (meeting->pid && has_log(session, meeting->pid)) {
		const int error = pthread_create(&meeting->thread, NULL, join, session);
		meeting->runs = !error;
		if (!error)
			return false;
		tp_err_system(
		    &session->unmet, error, NULL, "cannot start a thread to watch the program");
		refuse(session);
		return true;
	}
	tp_err_set(&session->unmet, TP_ERR_NOT_FOUND, NULL,
	    "the log names process %llu, which does not map it on this machine: in a TEE, a "
	    "container or another machine, thread numbers differ",
	    (unsigned long long)told);
	refuse(session);
	return true;
}

void tp_session_guest_await(struct tp_session *session)
{
	const struct tp_session_options *options = &session->options;
	if (options->argv)
		return;
	if (options->stream) {
		// Also a process of this machine: by its clock nobody finds the moment of a switch.
		tp_err_set(&session->unmet, TP_ERR_NOT_FOUND, NULL,
		    "the program sent its log, with a clock and thread numbers of its own");
	} else if (options->foreign) {
		tp_err_set(&session->unmet, TP_ERR_NOT_FOUND, NULL,
		    "the numbers of its threads are not the host's");
	} else {
		tp_err_set(&session->unmet, TP_ERR_NOT_FOUND, NULL,
		    "the program has not named its process");
		session->drain.meet = meet;
		session->drain.context = session;
	}
	refuse(session);
}
