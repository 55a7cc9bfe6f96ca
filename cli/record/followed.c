// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What 'teeperf record --follow-fork' says about the other processes.
#include "followed.h"

#include <stdio.h>

// Who starts hundreds of processes wants to read of some.
enum { LINES_MAX = 40 };

static void tell(const struct tp_follow_result *result)
{
	fprintf(stderr, "teeperf record: process %d (%s): %llu records", (int)result->pid,
	    result->name, (unsigned long long)result->records);
	if (result->lost)
		fprintf(stderr, ", %llu lost", (unsigned long long)result->lost);
	if (result->path)
		fprintf(stderr, " in '%s'", result->path);
	if (result->running)
		fprintf(stderr, ", runs on without recording");
	else if (result->replaced)
		fprintf(stderr, ", became another program");
	else if (result->exit_kind == TEEPERF_EXIT_SIGNAL)
		fprintf(stderr, ", killed by signal %u", result->exit_value);
	else if (result->exit_kind == TEEPERF_EXIT_CODE)
		fprintf(stderr, ", exit code %u", result->exit_value);
	fprintf(stderr, "\n");
}

void tp_record_add_followed(const struct tp_follow *follow, struct tp_session_counts *counts)
{
	for (uint64_t i = 0; i < follow->result_count; i++) {
		const struct tp_follow_result *result = &follow->results[i];
		counts->forked += result->forked;
		counts->refused += result->refused;
		counts->modules_refused += result->modules_refused;
		counts->log_gone_bytes += result->log_gone_bytes;
		counts->stunted |= result->stunted;
	}
}

bool tp_record_tell_followed(const struct tp_follow *follow, bool quiet)
{
	uint64_t lost = 0;
	bool whole = true;
	for (uint64_t i = 0; i < follow->result_count; i++) {
		const struct tp_follow_result *result = &follow->results[i];
		lost += result->lost;
		whole &= !result->failed;
		if (!quiet && i < LINES_MAX)
			tell(result);
		if (result->failed)
			tp_command_warn(
			    "'%s' lacks chunks: it could not be written; what it holds can be analyzed",
			    result->path ? result->path : "a trace");
	}
	if (!quiet && follow->result_count > LINES_MAX)
		fprintf(stderr, "teeperf record: and %llu more processes, %llu in all\n",
		    (unsigned long long)(follow->result_count - LINES_MAX),
		    (unsigned long long)follow->result_count);
	if (lost)
		tp_command_warn(
		    "%llu events of the other processes were lost: give a larger '--size', or "
		    "instrument less with an allowlist",
		    (unsigned long long)lost);
	if (follow->failures)
		tp_command_warn("%llu process%s could not be recorded: %s",
		    (unsigned long long)follow->failures, follow->failures == 1 ? "" : "es",
		    follow->error.what);
	return whole;
}
