// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf record: run a program and keep what its instrumented functions log.
#define _GNU_SOURCE
#include "cli/record/record.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyzer/symbols/build_faults.h"
#include "common/process.h"
#include "recorder/recover/recover.h"

enum { TICK_MS = 200, LAST_TICK_MS = 20 };

static double mega(uint64_t bytes)
{
	return (double)bytes / 1e6;
}

static void show_progress(const struct tp_session *session, uint64_t *last_records)
{
	struct tp_session_counts counts;
	tp_session_count(session, &counts);
	const double rate = (double)(counts.records - *last_records) * (1000.0 / (double)TICK_MS);
	*last_records = counts.records;
	fprintf(stderr, "\r\033[Krecording: %.1f M records, %.1f MB, %.1f M/s, %llu lost",
	    mega(counts.records), mega(counts.file_bytes), rate / 1e6,
	    (unsigned long long)counts.lost);
}

// One line for each log that a killed recorder had left.
static void tell_recovered(const struct tp_recovered *recovered, const struct tp_err *err)
{
	char text[TP_ERR_TEXT_SIZE];
	char trace[PATH_MAX];
	tp_shown_name(trace, recovered->trace);
	if (err)
		tp_command_warn(
		    "the log of a killed recorder was kept, as its trace could not be completed: "
		    "%s",
		    tp_err_format(err, text, sizeof(text)));
	else if (recovered->gone)
		tp_command_warn(
		    "the log of a killed recorder was removed, as its trace '%s' is gone", trace);
	else if (!tp_record_options.quiet)
		tp_command_tell(
		    "'%s', whose recorder had been killed, was completed: %llu chunks with %llu "
		    "records were added\n",
		    trace, (unsigned long long)recovered->chunks,
		    (unsigned long long)recovered->records);
}

// Wait for the end. True if the program ended, false if it was left running.
static bool wait_for_end(struct tp_session *session)
{
	const bool progress =
	    !tp_record_options.quiet && !tp_record_options.attach.all && isatty(STDERR_FILENO);
	uint64_t records = 0;
	enum tp_launch_event event;
	while ((event = tp_session_wait(session, TICK_MS)) == TP_LAUNCH_TIMEOUT) {
		if (progress)
			show_progress(session, &records);
	}
	while (event != TP_LAUNCH_RELEASE && tp_session_is_used(session))
		event = tp_session_wait(session, LAST_TICK_MS);
	if (progress)
		fprintf(stderr, "\r\033[K");
	return session->launch.ended;
}

// End as the program did, so that a shell or make sees the same; one core dump is enough.
static int die_of(int signal_number)
{
	const struct rlimit none = {0};
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	signal(signal_number, SIG_DFL);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	fflush(NULL);
	raise(signal_number);
	return 128 + signal_number;
}

static void warn_of(const char *what, const struct tp_err *why)
{
	char text[TP_ERR_TEXT_SIZE];
	tp_command_warn("%s: %s", what, tp_err_format(why, text, sizeof(text)));
}

static void warn_of_faults(const char *program)
{
	struct tp_build_faults faults;
	char path[PATH_MAX];
	if (!program || !tp_find_program(program, path))
		return;
	tp_build_faults_read(&faults, path);
	for (int i = 0; i < TP_BUILD_FAULTS; i++) {
		char *text = tp_build_faults_text(&faults, i);
		if (text)
			tp_command_warn("'%s': %s", program, text);
		free(text);
	}
}

// Report what the user must know before the program ends.
static void tell_start(const struct tp_record_options *options, const struct tp_session *session)
{
	if (session->region.shrunk_by)
		tp_command_warn(
		    "the log has only %llu MiB, as '%s' allows no more: raise that limit, or give "
		    "'--size'",
		    (unsigned long long)session->region.chunk_count * TP_REGION_CHUNK_SIZE /
			1048576,
		    session->region.shrunk_by);
	if (session->older == TP_OLDER_MOVED && !options->quiet)
		tp_command_tell("the older trace is now '%s.old'\n", options->wanted.output);
	else if (session->older == TP_OLDER_WAITS && !options->quiet)
		tp_command_tell(
		    "the older trace becomes '%s.old' as soon as something is recorded\n",
		    options->wanted.output);
	if (session->late.freed)
		tp_command_warn(
		    "%d thread%s of process %d had been left in a recorder's call when that was "
		    "killed, and %s what the program was doing only now",
		    session->late.freed, session->late.freed == 1 ? "" : "s",
		    (int)session->late.pid, session->late.freed == 1 ? "continues" : "continue");
	warn_of_faults(options->wanted.argv ? options->wanted.argv[0] : NULL);
	if (!session->has_control)
		warn_of("'teeperf ctl' cannot reach this recording", &session->control_err);
	if (session->events_refused.code)
		warn_of("no system events are recorded", &session->events_refused);
	else if (session->sgx_refused.code)
		warn_of("no events of SGX are recorded", &session->sgx_refused);
	if (session->region.note_err.code)
		warn_of("if this recorder is killed, only 'teeperf recover' completes the trace",
		    &session->region.note_err);
	if (!options->quiet)
		tp_record_meters_tell(&session->meters);
	if (!options->quiet && !options->all.daemon)
		tp_record_attach_tell(&options->attach, session, options->wanted.argv != NULL);
}

// End the recording and tell what became of it. Whether all of it is as it should be; `ended`: the
// program has.
static bool finish(const struct tp_record_options *options, struct tp_session *session, bool ended)
{
	struct tp_session_counts counts;
	struct tp_err err;
	const char *how;
	const int r = tp_session_finish(session, &counts, &err);
	if (options->wanted.follow_fork)
		tp_record_add_followed(&session->follow, &counts);
	const bool came = tp_record_attach_judge(&options->attach, session, &counts, ended, &how);
	if (came && options->wanted.events && !session->events_refused.code && session->unmet.code)
		warn_of("no system events are recorded", &session->unmet);
	tp_record_warn(&counts, &session->launch, options);
	if (r)
		tp_command_fail(&err);
	if (r && counts.missing_chunks)
		tp_command_warn(
		    "'%s' lacks the last %llu chunks, with %llu events; the rest can be analyzed",
		    options->wanted.output, (unsigned long long)counts.missing_chunks,
		    (unsigned long long)counts.missing_events);
	if (!r && !options->quiet)
		tp_record_summarize(&counts, &session->launch, options, how, session->writer.made);
	bool whole = !r && came;
	if (!r)
		tp_record_budget_tell(session, options->quiet);
	if (options->inner)
		whole &= tp_record_inner_judge(session, &options->wanted, r, options->quiet);
	if (options->wanted.follow_fork) {
		whole &= tp_record_tell_followed(&session->follow, options->quiet);
		tp_session_forget(session);
	}
	return whole;
}

static void recover(void)
{
	tp_recover_all(tell_recovered);
}

static int record(struct tp_record_options *options)
{
	static struct tp_session session;
	struct tp_err err;
	if (!options->attach.all)
		recover();
	if (tp_session_start(&session, &options->wanted, &err)) {
		tp_command_fail(&err);
		if (!session.launch.start_errno)
			return TP_EXIT_FAILED;
		return session.launch.start_errno == ENOENT ? TP_RECORD_NOT_FOUND
							    : TP_RECORD_NOT_RUNNABLE;
	}
	tell_start(options, &session);
	const bool ended = wait_for_end(&session);
	if (!finish(options, &session, ended))
		return TP_EXIT_FAILED;
	if (options->attach.waits || options->attach.late)
		return TP_EXIT_DONE;
	if (!ended) {
		tp_command_tell("'%s' (process %d) runs on without recording\n", options->argv[0],
		    (int)session.launch.pid);
		return TP_EXIT_DONE;
	}
	if (session.launch.exit_kind == TEEPERF_EXIT_SIGNAL)
		return die_of((int)session.launch.exit_value);
	return (int)session.launch.exit_value;
}

static int run(int argc, char **argv)
{
	struct tp_record_options *options = &tp_record_options;
	if (tp_record_meters_list(options))
		return TP_EXIT_DONE;
	int status = tp_record_options_check(options, argc, argv);
	if (status)
		return status;
	status = options->attach.all ? tp_record_all(options, record, recover) : record(options);
	tp_record_options_release(options);
	return status;
}

const struct tp_command tp_cmd_record = {
    .name = "record",
    .summary = "run a program and record its function calls",
    .usage = "[options] [--] [PROGRAM [ARGS...]]",
    .operands = TP_OPERANDS_PROGRAM,
    .description =
	"Runs PROGRAM, which was built with 'teeperf cc', and writes the events of its functions\n"
	"to a trace file. Exits with PROGRAM's exit code, or dies of the signal that killed it.\n"
	"An existing trace is renamed to FILE.old, unless nothing is recorded.\n"
	"\n"
	"Signals sent to teeperf are passed on to PROGRAM. A second SIGINT, or the first one if\n"
	"PROGRAM ignores it, ends the recording and leaves PROGRAM running, as 'teeperf ctl stop'\n"
	"does. The trace is complete in every case.\n"
	"\n"
	"Without PROGRAM, '--attach' or '--stream' wait for a program that is started elsewhere,\n"
	"for example in a TEE. The recording ends when that program reports its end, when no\n"
	"process maps the log any more, or at Ctrl-C.\n"
	"\n"
	"'--pid' alone records a running program that was started without a recorder; the program\n"
	"runs on when the recording ends. '--all' does the same for all processes of a name or a\n"
	"control group, and '--daemon' repeats that.\n",
    .examples = "  teeperf record ./app input.txt\n"
		"  teeperf record -o app.trace --clock soft -- ./app --verbose\n"
		"  teeperf record --only parser.allow ./app\n"
		"  teeperf record --budget 5% ./server\n"
		"  teeperf record --mode ring --ring 4M ./server\n"
		"  sudo teeperf record --events sched,syscalls,io,faults ./server\n"
		"  teeperf record --port gramine -- gramine-sgx app\n"
		"  teeperf record --tee --port sgxsdk -- ./app\n"
		"  teeperf record --attach /dev/shm/app.log\n"
		"  teeperf record --stream unix:/tmp/app.sock\n"
		"  teeperf record --pid 1234 --duration 10s\n"
		"  teeperf record --all redis-server --duration 10s\n"
		"  teeperf record --daemon --all redis-server --every 5m --output-dir traces\n",
    .options = tp_record_option_table,
    .order = TP_OPTIONS_FIRST,
    .run = run,
};
