// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `teeperf record` says when the recording is over: what went wrong, and what there is.
#define _GNU_SOURCE
#include "record.h"
#include "common/units.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// A program that does not get as far as its own functions has the exit status of the loader, or of
// a shell.
static bool is_not_loaded(const struct tp_launch *launch)
{
	return launch->ended && launch->exit_kind == TEEPERF_EXIT_CODE &&
	       (launch->exit_value == TP_RECORD_NOT_FOUND ||
		   launch->exit_value == TP_RECORD_NOT_RUNNABLE);
}

// No instrumented program came.
static void warn_of_none(
    const struct tp_launch *launch, const struct tp_record_options *options, const char *program)
{
	const struct tp_tee *tee = options->attach.tee;
	const char *secure = tp_record_secure(program);
	if (options->attach.waits)
		return; // reported already
	if (secure)
		tp_command_warn(
		    "'%s' ran without recording: %s, and such a program ignores its caller's "
		    "environment; record a copy without these rights",
		    program, secure);
	else if (is_not_loaded(launch))
		tp_command_warn(
		    "nothing was recorded: '%s' exited with %u, as programs do that cannot be "
		    "loaded (is a library missing?) or find no program to run",
		    program, launch->exit_value);
	else if (tee && tee->transport == TP_TEE_PER_CALL)
		tp_command_warn(
		    "'%s' ran without recording: no code in the TEE has attached to the log: the "
		    "host must pass the log's memory itself (not a copy) with its calls, readable "
		    "and writable, and the called function must pass it to teeperf_enter or "
		    "teeperf_region; where these return 0, teeperf_why_not gives the reason",
		    program);
	else
		tp_command_warn(
		    "'%s' ran without recording: it is not built with 'teeperf cc', or the "
		    "allowlist left no function to instrument, or it clears its environment",
		    program);
}

static void warn_of_attach(const struct tp_session_counts *counts, const struct tp_launch *launch,
    const struct tp_record_options *options, const char *program)
{
	const char *machine;
	const char *foreign = NULL;
	// A library that is loaded later can end a recording that had begun.
	const char *what = counts->records
			       ? "recorded only until an incompatible library was loaded"
			       : "ran without recording";
	const char *reason = tp_record_attach_reason(counts->attach);
	if (counts->attach == TEEPERF_ATTACH_BAD_CLOCK &&
	    options->clock_choice <= TP_CLOCK_CHOICE_ORDERED)
		foreign = tp_record_foreign(options->argv, &machine);
	if (counts->attach == TEEPERF_ATTACH_NONE)
		warn_of_none(launch, options, program);
	else if (reason)
		tp_command_warn("'%s' %s: %s", program, what, reason);
	else if (counts->attach != TEEPERF_ATTACH_BAD_CLOCK)
		return;
	else if (foreign)
		tp_command_warn(
		    "'%s' %s: it is for %s, which has another clock than this machine; record with "
		    "'--clock soft'",
		    foreign, what, machine);
	else if (options->clock_choice == TP_CLOCK_CHOICE_ORDERED)
		tp_command_warn(
		    "'%s' %s: '--clock tsc-ordered' needs code for any clock: build it with "
		    "'--clock auto', which is the default",
		    program, what);
	else
		tp_command_warn(
		    "'%s' %s: it was compiled for another clock; record with '--clock %s', or "
		    "build it with '--clock auto'",
		    program, what, options->clock_choice >= TP_CLOCK_CHOICE_SOFT ? "tsc" : "soft");
}

static void warn_of_switches(const struct tp_session_counts *counts,
    const struct tp_record_options *options, const char *program)
{
	if (counts->attach != TEEPERF_ATTACH_DONE)
		return;
	if (counts->listens == TEEPERF_LISTENS_REFUSED)
		tp_command_warn(
		    "'%s' uses signal %u itself (or it cannot be caught), so 'teeperf ctl' could "
		    "not use it: give another one to '--control'",
		    program, counts->listens_value);
	if (counts->switches_missed)
		tp_command_warn(
		    "%llu of %llu switches were too quick to be noted: calls near them may have "
		    "wrong callers; switch less often, or use an allowlist instead",
		    (unsigned long long)counts->switches_missed,
		    (unsigned long long)counts->switches);
	if (options->wanted.start_off && !counts->switches)
		tp_command_warn(
		    "'%s' ran without recording, which was never switched on: see teeperf-ctl(1) "
		    "and teeperf/teeperf.h",
		    program);
}

// Why events were lost, with what was measured of it.
static void warn_of_losses(
    const struct tp_session_counts *counts, const struct tp_record_options *options)
{
	const unsigned long long lost = counts->lost;
	const double passed = (double)counts->drain_ns / 1e9;
	const double absent = (double)counts->absent_ns / 1e9;
	const double writing = (double)counts->write_ns / 1e9;
	if (options->wanted.mode == TEEPERF_MODE_FULL)
		tp_command_warn(
		    "%llu events were lost: the log was full; give a larger '--size' or use "
		    "'--mode stream'",
		    lost);
	else if (options->wanted.mode == TEEPERF_MODE_RING)
		tp_command_warn(
		    "%llu events were lost: there were more threads than the log has room for (or "
		    "signal handlers interrupted the runtime); give a larger '--size'",
		    lost);
	else
		tp_command_warn(
		    "%llu events were lost: the program was faster than the recorder, which in "
		    "%.2f s had no processor for %.2f s and wrote for %.2f s (or signal handlers "
		    "interrupted the runtime); %sgive a larger '--size', or instrument less with "
		    "an allowlist",
		    lost, passed, absent, writing,
		    absent > passed / 4 && absent > writing ? "leave a processor to it, "
		    : writing > passed / 4                  ? "write to a faster disk, "
							    : "");
}

// Of a log: less is not worth a word.
enum { LOCKED_LEAST = 32 << 20 };

void tp_record_warn(const struct tp_session_counts *counts, const struct tp_launch *launch,
    const struct tp_record_options *options)
{
	const char *program = options->argv[0] ? options->argv[0] : "the program";
	const char *machine;
	if (counts->forged)
		tp_command_warn(
		    "the log has impossible counts: something else than the runtime wrote into it. "
		    "They are not shown, and other data may be wrong");
	// Where 'auto' stands for soft the program's counter may not be read, or is not this
	// machine's.
	const bool is_tee =
	    options->attach.tee && options->attach.tee->clock == TP_CLOCK_CHOICE_SOFT;
	warn_of_attach(counts, launch, options, program);
	warn_of_switches(counts, options, program);
	if (options->only.count && counts->functions &&
	    counts->functions == counts->functions_left_out)
		tp_command_warn(
		    "'--only' left out all of the %llu instrumented functions of '%s': see "
		    "'teeperf inventory %s' for their names",
		    (unsigned long long)counts->functions, program, program);
	if (counts->forked)
		tp_command_warn("%llu forked child%s not recorded%s",
		    (unsigned long long)counts->forked,
		    tp_by_count(counts->forked, " was", "ren were"),
		    options->wanted.follow_fork ? ""
		    : counts->forked == 1 ? ": record with '--follow-fork' to record it as well"
					  : ": record with '--follow-fork' to record them as well");
	if (counts->refused && options->attach.tee &&
	    options->attach.tee->transport == TP_TEE_PER_CALL)
		tp_command_warn(
		    "%llu calls were not recorded: the log serves one instance of one program in "
		    "the TEE, and these were made to another one",
		    (unsigned long long)counts->refused);
	else if (counts->refused)
		tp_command_warn("%llu more process%s instrumented but not recorded: the log takes "
				"the first one%s",
		    (unsigned long long)counts->refused,
		    tp_by_count(counts->refused, " is", "es are"),
		    options->attach.tee
			? ""
			: " (a library with its own runtime counts as a process, and so does one "
			  "that dlmopen loads)");
	if (counts->unrecorded)
		tp_command_warn("%llu instrumented program%s not recorded, as %s not given the "
				"variables TEEPERF_* of the environment: pass them on",
		    (unsigned long long)counts->unrecorded,
		    tp_by_count(counts->unrecorded, " was", "s were"),
		    tp_by_count(counts->unrecorded, "it was", "they were"));
	if (counts->modules_refused)
		tp_command_warn(
		    "%llu module%s not recorded: too many for the log, or at ambiguous addresses "
		    "(run it again)",
		    (unsigned long long)counts->modules_refused,
		    tp_by_count(counts->modules_refused, " was", "s were"));
	if (counts->no_rings)
		tp_command_warn(
		    "'%s' has an older runtime without '--mode ring', so the trace has the start "
		    "and not the end: rebuild it",
		    program);
	if (counts->stunted)
		tp_command_warn(
		    "/dev/shm ran full, so the log was smaller than allowed: make room there");
	if (counts->log_gone_bytes)
		tp_command_warn(
		    "%llu KiB of the shared log were lost: '%s' has damaged the log's file, or "
		    "memory ran out; the trace lacks their records",
		    (unsigned long long)counts->log_gone_bytes / 1024, program);
	if (counts->early)
		tp_command_warn("%llu events came before the program had its log, as those of "
				"functions in .preinit_array and of interposers that the loader "
				"calls: the trace begins after them",
		    (unsigned long long)counts->early);
	if (counts->locked_bytes >= LOCKED_LEAST)
		tp_command_warn(
		    "'%s' has locked its memory (mlockall), and with it %llu MiB of the log that "
		    "it did not use, which took memory and time: give '--size 16M'",
		    program, (unsigned long long)counts->locked_bytes >> 20);
	if (counts->lost)
		warn_of_losses(counts, options);
	// One part in a hundred is where times of single calls start to mislead.
	if (counts->starved_ns > counts->elapsed_ns / 100)
		tp_command_warn(
		    "the soft clock stood still for %.1f %% of the time, in %llu place%s (%.1f ms "
		    "at most): times there are %s; leave a core to it%s",
		    100.0 * (double)counts->starved_ns / (double)counts->elapsed_ns,
		    (unsigned long long)counts->starved_count, tp_plural(counts->starved_count),
		    (double)counts->max_gap_ns / 1e6,
		    options->clock_choice == TP_CLOCK_CHOICE_COUNT ? "lost" : "coarse",
		    tp_record_foreign(options->argv, &machine) || is_tee
			? ""
			: ", or use '--clock tsc'");
}

void tp_record_summarize(const struct tp_session_counts *counts, const struct tp_launch *launch,
    const struct tp_record_options *options, const char *how, bool can_be_read)
{
	char shown[PATH_MAX];
	tp_shown_name(shown, options->wanted.output);
	if (counts->older_stays)
		tp_command_tell(
		    "nothing was recorded in %.2f s, so no trace was written: '%s' is the "
		    "older one",
		    (double)counts->elapsed_ns / 1e9, shown);
	else
		tp_command_tell(
		    "%llu records of %llu thread%s in %.2f s, %llu lost, %.1f MB in '%s'",
		    (unsigned long long)counts->records, (unsigned long long)counts->threads,
		    tp_plural(counts->threads), (double)counts->elapsed_ns / 1e9,
		    (unsigned long long)counts->lost, (double)counts->file_bytes / 1e6, shown);
	if (counts->hurried)
		fprintf(stderr, "; %llu of %llu chunks are not compressed, for lack of time",
		    (unsigned long long)counts->hurried, (unsigned long long)counts->chunks);
	if (launch->ended && launch->exit_kind == TEEPERF_EXIT_SIGNAL)
		fprintf(stderr, "; the program was killed by signal %u (%s)", launch->exit_value,
		    strsignal((int)launch->exit_value));
	else if (launch->ended && launch->exit_value)
		fprintf(stderr, "; the program exited with %u", launch->exit_value);
	if (how)
		fprintf(stderr, "; %s", how);
	// Calls may have been counted, which are no records.
	char word[TP_SHELL_WORD_SIZE];
	if (can_be_read && !counts->older_stays &&
	    (counts->attach != TEEPERF_ATTACH_NONE || counts->records))
		fprintf(stderr, "; %steeperf analyze %s", tp_edition.next,
		    tp_shell_word(word, options->wanted.output));
	fputc('\n', stderr);
}

// ---- the other processes of --follow-fork

// Who starts hundreds of processes wants to read of some.
enum { LINES_MAX = 40 };

static void tell_process(const struct tp_follow_result *result)
{
	tp_command_tell("process %d (%s): %llu records", (int)result->pid, result->name,
	    (unsigned long long)result->log.records);
	if (result->log.lost)
		fprintf(stderr, ", %llu lost", (unsigned long long)result->log.lost);
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
		counts->early += result->log.early;
		counts->forked += result->log.forked;
		counts->refused += result->log.refused;
		counts->modules_refused += result->log.modules_refused;
		counts->log_gone_bytes += result->log.log_gone_bytes;
		counts->stunted |= result->log.stunted;
	}
}

bool tp_record_tell_followed(const struct tp_follow *follow, bool quiet)
{
	uint64_t lost = 0;
	bool whole = true;
	for (uint64_t i = 0; i < follow->result_count; i++) {
		const struct tp_follow_result *result = &follow->results[i];
		lost += result->log.lost;
		whole &= !result->log.failed;
		if (!quiet && i < LINES_MAX)
			tell_process(result);
		if (result->log.failed)
			tp_command_warn(
			    "'%s' lacks chunks, which could not be written; the rest can be "
			    "analyzed",
			    result->path ? result->path : "a trace");
	}
	if (!quiet && follow->result_count > LINES_MAX)
		tp_command_tell("and %llu more processes, %llu in all\n",
		    (unsigned long long)(follow->result_count - LINES_MAX),
		    (unsigned long long)follow->result_count);
	if (lost)
		tp_command_warn(
		    "%llu events of the other processes were lost: give a larger '--size', or "
		    "instrument less with an allowlist",
		    (unsigned long long)lost);
	if (follow->failures)
		tp_command_warn("%llu process%s could not be recorded: %s",
		    (unsigned long long)follow->failures, tp_by_count(follow->failures, "", "es"),
		    follow->error.what);
	return whole;
}
