// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 'teeperf record --tee': the TEE's side beside that of its host program.
#include "record.h"
#include "common/units.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static char path[PATH_MAX];

int tp_record_inner_prepare(struct tp_session_options *wanted)
{
	if (wanted->place || wanted->inherit)
		return tp_options_usage(
		    "'--tee' is for a host program that shares memory with its TEE: '--attach' "
		    "and this '--port' are for programs that run entirely inside");
	if (wanted->follow_fork)
		return tp_options_usage(
		    "'--tee' and '--follow-fork' cannot be combined: there is one log for the TEE");
	if (wanted->mode == TEEPERF_MODE_RING)
		return tp_options_usage(
		    "'--tee' and '--mode ring' cannot be combined: marks would be missing");
	if (wanted->clock == TP_CLOCK_CHOICE_NONE)
		return tp_options_usage(
		    "the two sides cannot be joined with '--clock none': leave out '--tee'");
	if (snprintf(path, sizeof(path), "%s.tee", wanted->output) >= (int)sizeof(path))
		return tp_options_usage("the name of the output is too long");
	wanted->inner = path;
	// The program is the host, whatever kind its TEE is of.
	wanted->foreign = false;
	return TP_EXIT_DONE;
}

static void warn_of_attach(uint32_t attach)
{
	if (attach == TEEPERF_ATTACH_NONE)
		tp_command_warn(
		    "the TEE recorded nothing: its part is not built with 'teeperf cc', or the "
		    "host did not hand it the log (teeperf_host_log, in teeperf/host.h), so the "
		    "trace has only one side");
	else if (attach == TEEPERF_ATTACH_BAD_CLOCK)
		tp_command_warn(
		    "the TEE's side ran without recording: it was compiled for another clock; "
		    "record with '--clock soft', or build it with '--clock auto'");
	else if (tp_record_attach_reason(attach))
		tp_command_warn(
		    "the TEE's side ran without recording: %s", tp_record_attach_reason(attach));
}

static void tell_apart(const char *host, const char *tee)
{
	tp_command_warn(
	    "the two sides are not joined: the host's is '%s', the TEE's '%s'; 'teeperf join' "
	    "does it later",
	    host, tee);
}

bool tp_record_inner_judge(const struct tp_session *session,
    const struct tp_session_options *wanted, int failed, bool quiet)
{
	const struct tp_recording_result *result = &session->inner_result;
	warn_of_attach(result->attach);
	if (result->lost)
		tp_command_warn(
		    "%llu events of the TEE were lost: give a larger '--size', or instrument less "
		    "with an allowlist; calls around them may be joined to others",
		    (unsigned long long)result->lost);
	if (result->refused)
		tp_command_warn(
		    "%llu more enclave%s, or instance%s of the TEE's application, %s not recorded: "
		    "the log takes one, for as long as the program runs",
		    (unsigned long long)result->refused, tp_plural(result->refused),
		    tp_plural(result->refused), tp_by_count(result->refused, "was", "were"));
	if (result->modules_refused)
		tp_command_warn("%llu modules of the TEE were not recorded",
		    (unsigned long long)result->modules_refused);
	if (result->log_gone_bytes)
		tp_command_warn("%llu KiB of the TEE's log went away",
		    (unsigned long long)result->log_gone_bytes / 1024);
	if (result->failed)
		tp_command_warn("'%s' lacks chunks: it could not be written", path);
	if (!failed && !result->failed && !result->records &&
	    result->attach == TEEPERF_ATTACH_NONE) {
		unlink(path);
		return true;
	}
	bool joined = false;
	const bool whole = !failed && tp_record_inner_join(wanted->output, path, quiet, &joined);
	if (!joined)
		tell_apart(wanted->output, path);
	return whole && !result->failed;
}
