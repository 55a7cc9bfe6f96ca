// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf record: run a program and keep what its instrumented functions log.
// One file above 600 lines: a third of it is the table of options, and the rest checks which of them go together.
#define _GNU_SOURCE
#include "default_trace.h"
#include "edition.h"
#include "port_names.inc"
#include "record_attach.h"
#include "record_followed.h"
#include "record_foreign.h"
#include "record_inner.h"
#include "record_only.h"
#include "record_output.h"
#include "record_secure.h"
#include "shell_word.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clean.h"
#include "recorder/session.h"
#include "recovery/recover.h"

enum { TICK_MS = 200, LAST_TICK_MS = 20, EXIT_NOT_RUNNABLE = 126, EXIT_NOT_FOUND = 127 };

static const char *const mode_words[] = {"stream", "full", "ring", NULL};
static const uint32_t modes[] = {TEEPERF_MODE_STREAM, TEEPERF_MODE_FULL, TEEPERF_MODE_RING};
static const char *const clock_words[] = {
    "auto", "tsc", "tsc-ordered", "soft", "count", "none", NULL};
static const enum tp_clock_choice clocks[] = {TP_CLOCK_CHOICE_AUTO, TP_CLOCK_CHOICE_HARDWARE,
    TP_CLOCK_CHOICE_ORDERED, TP_CLOCK_CHOICE_SOFT, TP_CLOCK_CHOICE_COUNT, TP_CLOCK_CHOICE_NONE};
static const char *const drain_words[] = {"auto", "now", "late", "end", NULL};
static const enum tp_drain_choice drains[] = {
    TP_DRAIN_CHOICE_AUTO, TP_DRAIN_CHOICE_NOW, TP_DRAIN_CHOICE_LATE, TP_DRAIN_CHOICE_END};

static const char *const on_start_words[] = {"on", "off", NULL};

static const char *output = TP_DEFAULT_TRACE;
static int mode;
static int clock_index;
static uint64_t period_ns = TP_COUNTER_PERIOD_NS;
static int drain_index;
static int on_start;
static const char *control;
static bool follow_fork;
static bool inner;
static bool signals;
static uint64_t size_bytes;
static uint64_t ready_bytes;
static uint64_t ring_bytes = UINT64_MAX; // not given
static uint64_t level;
static bool quiet;
static struct tp_record_attach attach = {.timeout_s = UINT64_MAX};
enum { LISTS_MAX = 64 };
static const char *only_items[LISTS_MAX];
static struct tp_option_list only_lists = {only_items, LISTS_MAX, 0};
static const char *module_items[LISTS_MAX];
static struct tp_option_list modules = {module_items, LISTS_MAX, 0};

static const struct tp_option options[] = {
    {TP_OPTION_STRING, 'o', "output", "FILE", "write the trace to FILE (default: teeperf.trace)",
	&output, NULL},
    {TP_OPTION_CHOICE, 'm', "mode", "stream|full|ring",
	"recycle the log's memory while the program runs, or stop when it is full, or be a flight "
	"recorder: keep the last events of each thread (default: stream)",
	&mode, mode_words},
    {TP_OPTION_SIZE, 0, "ring", "SIZE",
	"with '--mode ring', keep the last SIZE bytes of records of each thread (default: 1M)",
	&ring_bytes, NULL},
    {TP_OPTION_CHOICE, 'c', "clock", "auto|tsc|tsc-ordered|soft|count|none",
	"read the processor's counter, also at the cost of waiting for exact borders between short "
	"functions (tsc-ordered), or a word in memory where the recorder publishes the time or counts, or "
	"take no times (default: auto)",
	&clock_index, clock_words},
    {TP_OPTION_COUNT, 0, "clock-period", "NS",
	"soft and count: store the word once in NS nanoseconds, 0: all the time (default: 2000)",
	&period_ns, NULL},
    {TP_OPTION_SIZE, 's', "size", "SIZE",
	"use at most SIZE bytes of memory for the log (default: an eighth of what is free, 64M to 1G; "
	"with '--port optee' 1M, and at most 8M, for the TEE's)",
	&size_bytes, NULL},
    {TP_OPTION_SIZE, 0, "ready", "SIZE",
	"have so much of the log's memory in place before PROGRAM starts (default: 64M, or 256M if "
	"there is no core to do it later)",
	&ready_bytes, NULL},
    {TP_OPTION_CHOICE, 0, "drain", "auto|now|late|end",
	"write to the trace at once, when half of the log is full, or when PROGRAM has ended "
	"(default: auto, now if there is a core for it, else late)",
	&drain_index, drain_words},
    {TP_OPTION_LEVEL, 0, "compress", "LEVEL",
	"write a smaller trace, about a tenth; LEVEL, 1 to 19, is zstd's (default: 1)", &level,
	NULL},
    {TP_OPTION_BOOL, 'f', "follow-fork", NULL,
	"record forked children and instrumented programs that PROGRAM starts, too, each in FILE.PID",
	&follow_fork, NULL},
    {TP_OPTION_BOOL, 0, "tee", NULL,
	"PROGRAM is the host of a TEE that it hands a second log to: record both sides, joined",
	&inner, NULL},
    {TP_OPTION_CHOICE, 0, "on-start", "on|off",
	"begin recording, or wait until 'teeperf ctl on', the program or a signal says so (default: on)",
	&on_start, on_start_words},
    {TP_OPTION_WORD, 0, "control", "SIGNAL",
	"tell PROGRAM of 'teeperf ctl' at once, by this signal (default: URG)", &control, NULL},
    {TP_OPTION_BOOL, 0, "signals", NULL,
	"let SIGUSR1 switch recording on in PROGRAM, and SIGUSR2 off", &signals, NULL},
    {TP_OPTION_LIST, 0, "only", "LIST",
	"record only those of the instrumented functions that this allowlist allows; may be given more "
	"than once",
	&only_lists, NULL},
    {TP_OPTION_LIST, 0, "inventory", "FILE",
	"with '--only', a library or inventory whose functions it is about besides PROGRAM's; may be "
	"given more than once",
	&modules, NULL},
    {TP_OPTION_STRING, 0, "attach", "FILE",
	"keep the log in FILE for a program that somebody else starts, as a TEE's launcher does",
	&attach.file, NULL},
    {TP_OPTION_SIZE, 0, "offset", "SIZE",
	"with '--attach', begin so far behind FILE's beginning: memory that has other users, too",
	&attach.offset, NULL},
    {TP_OPTION_BOOL, 0, "force", NULL,
	"with '--attach', write over FILE though it holds something that is no log of ours",
	&attach.force, NULL},
    {TP_OPTION_STRING, 0, "stream", "SOURCE",
	"read what the program sends: from a file, a pipe, '-', or a connection to unix:PATH or "
	"vsock:[CID]:PORT",
	&attach.stream_name, NULL},
    {TP_OPTION_STRING, 0, "port", "NAME", "the program runs in a TEE of this kind: " TP_PORT_NAMES,
	&attach.port_name, NULL},
    {TP_OPTION_COUNT, 0, "pid", "PID",
	"with '--attach' or '--stream', end when process PID of this machine ends", &attach.pid,
	NULL},
    {TP_OPTION_COUNT, 0, "attach-timeout", "SECONDS",
	"with '--attach' or '--stream', give up if no program comes, or nothing of the stream, for so "
	"long (default: wait)",
	&attach.timeout_s, NULL},
    {TP_OPTION_BOOL, 'q', "quiet", NULL, "show neither progress nor the summary", &quiet, NULL},
    {0},
};

static int run(int argc, char **argv);

const struct tp_command tp_cmd_record = {
    .name = "record",
    .summary = "run a program and record its function calls",
    .usage = "[options] [--] [PROGRAM [ARGS...]]",
    .description =
	"Runs PROGRAM, which has been built with 'teeperf cc', and writes what its functions\n"
	"log to a trace file. Exits with PROGRAM's exit code, or dies of the signal that\n"
	"killed it. A trace that is already there is kept as FILE.old.\n"
	"\n"
	"Signals sent to teeperf are passed on to PROGRAM; a second SIGINT, or the first one if\n"
	"PROGRAM ignores it, ends the recording and leaves PROGRAM running, as 'teeperf ctl stop'\n"
	"does. The trace is complete in every case.\n"
	"\n"
	"Without PROGRAM, '--attach' or '--stream' wait for one program that somebody else\n"
	"starts, in a TEE for example. The recording ends when that program says that it is\n"
	"over, when nobody has the log mapped any more, or at Ctrl-C.\n",
    .examples = "  teeperf record ./app input.txt\n"
		"  teeperf record -o app.trace --clock soft -- ./app --verbose\n"
		"  teeperf record --only parser.allow ./app\n"
		"  teeperf record --mode ring --ring 4M ./server\n"
		"  teeperf record --port gramine -- gramine-sgx app\n"
		"  teeperf record --tee --port sgxsdk -- ./app\n"
		"  teeperf record --attach /dev/shm/app.log\n"
		"  teeperf record --stream unix:/tmp/app.sock\n",
    .options = options,
    .run = run,
};

static double mega(uint64_t bytes)
{
	return (double)bytes / 1e6;
}

static void show_progress(const struct tp_session *session, uint64_t *last_records)
{
	struct tp_session_counts counts;
	tp_session_count(session, &counts);
	const double rate = (double)(counts.records - *last_records) * 1000 / TICK_MS;
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
	snprintf(trace, sizeof(trace), "%s", recovered->trace);
	tp_clean(trace, strlen(trace));
	if (err)
		tp_command_warn(&tp_cmd_record,
		    "the log of a killed recorder was left, as its trace could not be completed: %s",
		    tp_err_format(err, text, sizeof(text)));
	else if (recovered->gone)
		tp_command_warn(&tp_cmd_record,
		    "the log of a killed recorder was removed, as its trace '%s' is gone", trace);
	else if (!quiet)
		fprintf(stderr,
		    "teeperf record: '%s', whose recorder had been killed, was completed: %llu chunks "
		    "with %llu records more\n",
		    trace, (unsigned long long)recovered->chunks,
		    (unsigned long long)recovered->records);
}

// Wait for the end. True if the program ended, false if it was left running.
static bool wait_for_end(struct tp_session *session)
{
	const bool progress = !quiet && isatty(STDERR_FILENO);
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

// A program that does not get as far as its own functions has the exit status of the loader, or of a shell.
static bool is_not_loaded(const struct tp_launch *launch)
{
	return launch->ended && launch->exit_kind == TEEPERF_EXIT_CODE &&
	       (launch->exit_value == EXIT_NOT_FOUND || launch->exit_value == EXIT_NOT_RUNNABLE);
}

// The clock to record with: 'auto' takes no hardware's clock where the program's is another one.
static enum tp_clock_choice choose_clock(char *const *argv)
{
	const char *machine;
	const char *foreign = tp_record_foreign(argv, &machine);
	if (clocks[clock_index] != TP_CLOCK_CHOICE_AUTO || !foreign)
		return clocks[clock_index];
	if (!quiet)
		fprintf(stderr,
		    "teeperf record: '%s' is for %s, whose clock is not that of this machine: recording "
		    "with '--clock soft'\n",
		    foreign, machine);
	return TP_CLOCK_CHOICE_SOFT;
}

static void warn_of_attach(
    const struct tp_session_counts *counts, const struct tp_launch *launch, char *const *argv)
{
	const char *program = argv[0] ? argv[0] : "the program";
	const char *machine;
	const char *foreign;
	// A library that is loaded later can end a recording that had begun.
	const char *what = counts->records
			       ? "recorded only until a library was loaded that does not fit"
			       : "ran without recording";
	switch (counts->attach) {
	case TEEPERF_ATTACH_NONE:
		if (attach.waits)
			break; // it was told already
		if (tp_record_secure(program)) {
			tp_command_warn(&tp_cmd_record,
			    "'%s' ran without recording: %s, and such a program does not write where "
			    "its caller says; record a copy without these rights",
			    program, tp_record_secure(program));
			break;
		}
		if (attach.tee && attach.tee->transport == TP_TEE_PER_CALL &&
		    !is_not_loaded(launch)) {
			tp_command_warn(&tp_cmd_record,
			    "'%s' ran without recording: no code in the TEE has taken the log: the host "
			    "must pass the log's own memory with its calls, for reading and writing and no "
			    "copy of it, and what is called must give it to teeperf_enter or "
			    "teeperf_region; where these return 0, teeperf_why_not says why",
			    program);
			break;
		}
		if (is_not_loaded(launch)) {
			tp_command_warn(&tp_cmd_record,
			    "nothing was recorded: '%s' exited with %u, as programs do that cannot be "
			    "loaded (a library that is missing?) or find no program to run",
			    program, launch->exit_value);
			break;
		}
		tp_command_warn(&tp_cmd_record,
		    "'%s' ran without recording: it is not built with 'teeperf cc', or the "
		    "allowlist left no function to instrument, or it clears its environment",
		    program);
		break;
	case TEEPERF_ATTACH_BAD_CLOCK:
		foreign = tp_record_foreign(argv, &machine);
		if (foreign && clocks[clock_index] <= TP_CLOCK_CHOICE_ORDERED) {
			tp_command_warn(&tp_cmd_record,
			    "'%s' %s: it is for %s, whose clock is not that of this machine; record "
			    "with '--clock soft'",
			    foreign, what, machine);
			break;
		}
		if (clocks[clock_index] == TP_CLOCK_CHOICE_ORDERED) {
			tp_command_warn(&tp_cmd_record,
			    "'%s' %s: '--clock tsc-ordered' needs code for any clock: build it with '--clock "
			    "auto', which is the default",
			    program, what);
			break;
		}
		tp_command_warn(&tp_cmd_record,
		    "'%s' %s: it was compiled for another clock; record with '--clock %s', or build "
		    "it with '--clock auto'",
		    program, what, clocks[clock_index] >= TP_CLOCK_CHOICE_SOFT ? "tsc" : "soft");
		break;
	case TEEPERF_ATTACH_BAD_MODULE:
		tp_command_warn(&tp_cmd_record,
		    "'%s' %s: a part of it was compiled by another version of teeperf than it was "
		    "linked with; build all of it again",
		    program, what);
		break;
	default:
		if (tp_record_attach_reason(counts->attach))
			tp_command_warn(&tp_cmd_record, "'%s' %s: %s", program, what,
			    tp_record_attach_reason(counts->attach));
		break;
	}
}

static void warn_of_switches(const struct tp_session_counts *counts, const char *program)
{
	if (counts->attach != TEEPERF_ATTACH_DONE)
		return;
	if (counts->listens == TEEPERF_LISTENS_REFUSED)
		tp_command_warn(&tp_cmd_record,
		    "'%s' has a use of its own for signal %u (or it cannot be caught), so it was not "
		    "listened for: give another one to '--control'",
		    program, counts->listens_value);
	if (counts->switches_missed)
		tp_command_warn(&tp_cmd_record,
		    "%llu of %llu switches came too fast to be noted: near them calls may have the "
		    "wrong callers; switch less often, or use an allowlist instead",
		    (unsigned long long)counts->switches_missed,
		    (unsigned long long)counts->switches);
	if (on_start == 1 && !counts->switches)
		tp_command_warn(&tp_cmd_record,
		    "'%s' ran without recording, which was never switched on: see teeperf-ctl(1) and "
		    "teeperf/teeperf.h",
		    program);
}

static void warn_of(const char *what, const struct tp_err *why)
{
	char text[TP_ERR_TEXT_SIZE];
	tp_command_warn(&tp_cmd_record, "%s: %s", what, tp_err_format(why, text, sizeof(text)));
}

// Why events were lost, with what was measured of it.
static void warn_of_losses(const struct tp_session_counts *counts)
{
	const unsigned long long lost = counts->lost;
	const double passed = (double)counts->elapsed_ns / 1e9;
	const double absent = (double)counts->absent_ns / 1e9;
	const double writing = (double)counts->write_ns / 1e9;
	if (modes[mode] == TEEPERF_MODE_FULL)
		tp_command_warn(&tp_cmd_record,
		    "%llu events were lost: the log was full; give a larger '--size' or use '--mode "
		    "stream'",
		    lost);
	else if (modes[mode] == TEEPERF_MODE_RING)
		tp_command_warn(&tp_cmd_record,
		    "%llu events were lost: there were more threads than the log has room for (or "
		    "signal handlers interrupted the runtime); give a larger '--size'",
		    lost);
	else
		tp_command_warn(&tp_cmd_record,
		    "%llu events were lost: the program was faster than the recorder, which in %.2f s "
		    "did not get to run for %.2f s and wrote for %.2f s (or signal handlers interrupted "
		    "the runtime); %sgive a larger '--size', or instrument less with an allowlist",
		    lost, passed, absent, writing,
		    absent > passed / 4 && absent > writing ? "leave a processor to it, "
		    : writing > passed / 4                  ? "write to a faster disk, "
							    : "");
}

static void warn(
    const struct tp_session_counts *counts, const struct tp_launch *launch, char *const *argv)
{
	const char *program = argv[0] ? argv[0] : "the program";
	const char *machine;
	if (counts->forged)
		tp_command_warn(&tp_cmd_record,
		    "the log has counts that nobody can have counted: something beside the program "
		    "wrote into it. They are not shown, and what else it says may be wrong");
	// Where 'auto' stands for soft the program's counter may not be read, or is not this machine's.
	const bool is_tee = attach.tee && attach.tee->clock == TP_CLOCK_CHOICE_SOFT;
	warn_of_attach(counts, launch, argv);
	warn_of_switches(counts, program);
	if (only_lists.count && counts->functions &&
	    counts->functions == counts->functions_left_out)
		tp_command_warn(&tp_cmd_record,
		    "'--only' left out all of the %llu instrumented functions of '%s': see 'teeperf "
		    "inventory %s' for their names",
		    (unsigned long long)counts->functions, program, program);
	if (counts->forked)
		tp_command_warn(&tp_cmd_record, "%llu forked child%s not recorded%s",
		    (unsigned long long)counts->forked, counts->forked == 1 ? " was" : "ren were",
		    follow_fork           ? ""
		    : counts->forked == 1 ? ": record with '--follow-fork' to have it, too"
					  : ": record with '--follow-fork' to have them, too");
	if (counts->refused && attach.tee && attach.tee->transport == TP_TEE_PER_CALL)
		tp_command_warn(&tp_cmd_record,
		    "%llu calls were not recorded: the log takes one instance of one program in the TEE, and "
		    "they came to another one",
		    (unsigned long long)counts->refused);
	else if (counts->refused)
		tp_command_warn(&tp_cmd_record,
		    "%llu more process%s instrumented but not recorded: the log takes "
		    "the first one%s",
		    (unsigned long long)counts->refused, counts->refused == 1 ? " is" : "es are",
		    attach.tee
			? ""
			: " (a library that dlmopen loads with a C library of its own counts as "
			  "a process)");
	if (counts->modules_refused)
		tp_command_warn(&tp_cmd_record,
		    "%llu module%s not recorded: more than the log has room for, or at addresses that "
		    "cannot be told from others' (run it again)",
		    (unsigned long long)counts->modules_refused,
		    counts->modules_refused == 1 ? " was" : "s were");
	if (counts->no_rings)
		tp_command_warn(&tp_cmd_record,
		    "'%s' has an older runtime that knows no '--mode ring', so what was kept is the "
		    "beginning and not the end: build it again",
		    program);
	if (counts->stunted)
		tp_command_warn(&tp_cmd_record,
		    "/dev/shm ran full, so the log was smaller than allowed: make room there");
	if (counts->output_gone)
		tp_command_warn(&tp_cmd_record,
		    "'%s' was moved, removed or replaced while it was written: what is there now is not "
		    "this trace",
		    output);
	if (counts->log_gone_bytes)
		tp_command_warn(&tp_cmd_record,
		    "%llu KiB of the shared log went away: '%s' has damaged the log's file, or memory "
		    "ran out; what was in there is not in the trace",
		    (unsigned long long)counts->log_gone_bytes / 1024, program);
	if (counts->lost)
		warn_of_losses(counts);
	// One part in a hundred is where times of single calls start to mislead.
	if (counts->starved_ns > counts->elapsed_ns / 100)
		tp_command_warn(&tp_cmd_record,
		    "the soft clock stood still for %.1f %% of the time, in %llu place%s (%.1f ms at "
		    "most): times there are %s; leave a core to it%s",
		    100.0 * (double)counts->starved_ns / (double)counts->elapsed_ns,
		    (unsigned long long)counts->starved_count,
		    counts->starved_count == 1 ? "" : "s", (double)counts->max_gap_ns / 1e6,
		    clocks[clock_index] == TP_CLOCK_CHOICE_COUNT ? "lost" : "coarse",
		    tp_record_foreign(argv, &machine) || is_tee ? "" : ", or use '--clock tsc'");
}

// `how` it ended, if it was not started here. `can_be_read`: the output is a file of ours, no pipe or device.
static void summarize(const struct tp_session_counts *counts, const struct tp_launch *launch,
    const char *how, bool can_be_read)
{
	char shown[PATH_MAX];
	snprintf(shown, sizeof(shown), "%s", output);
	tp_clean(shown, strlen(shown));
	fprintf(stderr,
	    "teeperf record: %llu records of %llu thread%s in %.2f s, %llu lost, %.1f MB in '%s'",
	    (unsigned long long)counts->records, (unsigned long long)counts->threads,
	    counts->threads == 1 ? "" : "s", (double)counts->elapsed_ns / 1e9,
	    (unsigned long long)counts->lost, mega(counts->file_bytes), shown);
	if (launch->ended && launch->exit_kind == TEEPERF_EXIT_SIGNAL)
		fprintf(stderr, "; the program was killed by signal %u (%s)", launch->exit_value,
		    strsignal((int)launch->exit_value));
	else if (launch->ended && launch->exit_value)
		fprintf(stderr, "; the program exited with %u", launch->exit_value);
	if (how)
		fprintf(stderr, "; %s", how);
	// Calls may have been counted, which are no records.
	char word[TP_SHELL_WORD_SIZE];
	if (can_be_read && (counts->attach != TEEPERF_ATTACH_NONE || counts->records))
		fprintf(
		    stderr, "; %steeperf analyze %s", tp_edition.next, tp_shell_word(word, output));
	fputc('\n', stderr);
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

// The signal of '--control': a name with or without SIG, a number, or nothing. -1 if there is none.
static int signal_number(const char *text)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {
	    // By default a program ignores SIGURG, so one that comes at a wrong moment does no harm.
	    {"", SIGURG},
	    {"URG", SIGURG},
	    {"IO", SIGIO},
	    {"HUP", SIGHUP},
	    {"USR1", SIGUSR1},
	    {"USR2", SIGUSR2},
	    {"WINCH", SIGWINCH},
	    {"PWR", SIGPWR},
	    {"ALRM", SIGALRM},
	    {"PROF", SIGPROF},
	    {"VTALRM", SIGVTALRM},
	};
	char *end;
	const long number = strtol(text, &end, 10);
	if (*text && !*end)
		return number > 0 && number <= SIGRTMAX && number != SIGKILL && number != SIGSTOP
			   ? (int)number
			   : -1;
	const char *name = strncmp(text, "SIG", 3) ? text : text + 3;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(known[i].name, name))
			return known[i].number;
	}
	return -1;
}

static bool is_of_fault(int number)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (faults[i] == number)
			return true;
	return false;
}

// Mode ring: of each thread; 0 in other modes.
static uint32_t chunks_to_keep(void)
{
	if (modes[mode] != TEEPERF_MODE_RING)
		return 0;
	return ring_bytes != UINT64_MAX ? (uint32_t)(ring_bytes / TP_REGION_CHUNK_SIZE)
					: TP_REGION_KEPT_CHUNKS;
}

static int run(int argc, char **argv)
{
	int status;
	if (!tp_options_parse(&tp_cmd_record, &argc, &argv, false, &status))
		return status;
	if (period_ns > TP_COUNTER_MAX_PERIOD_NS)
		return tp_options_usage(&tp_cmd_record, "option '--clock-period' takes at most %d",
		    TP_COUNTER_MAX_PERIOD_NS);
	if (level > TP_PACKER_LEVEL_MAX)
		return tp_options_usage(
		    &tp_cmd_record, "option '--compress' takes 1 to %d", TP_PACKER_LEVEL_MAX);
	if (level && !tp_packer_is_there())
		return tp_options_usage(
		    &tp_cmd_record, "this teeperf is built without zstd: leave out '--compress'");
	const int control_signal = control ? signal_number(control) : 0;
	if (control_signal < 0)
		return tp_options_usage(&tp_cmd_record,
		    "option '--control' takes a signal that can be caught, such as URG, IO or a "
		    "number, not '%s'",
		    control);
	if (is_of_fault(control_signal))
		return tp_options_usage(&tp_cmd_record,
		    "option '--control' takes no signal of a fault, as %d is: a fault of the program would "
		    "be taken for a command, and come again for ever; URG does no harm",
		    control_signal);
	if (signals && (control_signal == SIGUSR1 || control_signal == SIGUSR2))
		return tp_options_usage(&tp_cmd_record,
		    "with '--signals' the signal of '--control' cannot be SIGUSR1 or SIGUSR2");
	const bool has_ring = ring_bytes != UINT64_MAX;
	if (has_ring && modes[mode] != TEEPERF_MODE_RING)
		return tp_options_usage(
		    &tp_cmd_record, "option '--ring' goes with '--mode ring' only");
	if (drain_index && modes[mode] == TEEPERF_MODE_RING)
		return tp_options_usage(&tp_cmd_record,
		    "with '--mode ring' nothing is drained while the program runs: leave '--drain' out "
		    "('teeperf ctl flush' writes a snapshot)");
	if (has_ring && ring_bytes < 2 * TP_REGION_CHUNK_SIZE)
		return tp_options_usage(&tp_cmd_record, "option '--ring' takes at least %dK",
		    2 * TP_REGION_CHUNK_SIZE / 1024);
	if (has_ring && ring_bytes / TP_REGION_CHUNK_SIZE > TEEPERF_RING_LOG_CHUNKS / 4)
		return tp_options_usage(&tp_cmd_record, "option '--ring' takes at most %dM",
		    TEEPERF_RING_LOG_CHUNKS / 4096 * (TP_REGION_CHUNK_SIZE / 1024));
	bool away;
	status = tp_record_output_check(&tp_cmd_record, output, argc > 0, quiet, &away);
	if (status)
		return status;
	struct tp_region_only only = {.kind = TEEPERF_ONLY_ALL};
	if (only_lists.count) {
		status = tp_record_only(
		    &tp_cmd_record, &only_lists, &modules, argc ? argv[0] : NULL, &only);
		if (status)
			return status;
	}
	struct tp_session_options wanted = {
	    .only = only,
	    .output = output,
	    .away = away,
	    .size_bytes = size_bytes,
	    .ready_bytes = ready_bytes,
	    .mode = modes[mode],
	    .ring = chunks_to_keep(),
	    .compress = (int)level,
	    .clock = choose_clock(argv),
	    .period_ns = period_ns,
	    .drain = drains[drain_index],
	    .follow_fork = follow_fork,
	    .start_off = on_start == 1,
	    .control_signal = control_signal,
	    .switch_signals = signals,
	    .argv = argc ? argv : NULL,
	};
	status = tp_record_attach_prepare(&tp_cmd_record, &attach, &wanted, quiet);
	if (status) {
		free((void *)(uintptr_t)only.hashes);
		return status;
	}
	if (inner) {
		status = tp_record_inner_prepare(&tp_cmd_record, &wanted);
		if (status) {
			tp_record_attach_release(&attach);
			free((void *)(uintptr_t)only.hashes);
			return status;
		}
	}
	tp_recover_all(tell_recovered);
	static struct tp_session session;
	struct tp_err err;
	const int started = tp_session_start(&session, &wanted, &err);
	free((void *)(uintptr_t)only.hashes);
	if (started) {
		tp_record_attach_release(&attach);
		tp_command_fail(&tp_cmd_record, &err);
		if (!session.launch.start_errno)
			return TP_EXIT_FAILED;
		return session.launch.start_errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
	}
	if (session.region.shrunk_by)
		tp_command_warn(&tp_cmd_record,
		    "the log has only %llu MiB, as '%s' allows no more: raise that limit, or choose with "
		    "'--size'",
		    (unsigned long long)session.region.chunk_count * TP_REGION_CHUNK_SIZE / 1048576,
		    session.region.shrunk_by);
	if (session.writer.old_path && !quiet)
		fprintf(stderr, "teeperf record: the older trace is now '%s'\n",
		    session.writer.old_path);
	if (!session.has_control)
		warn_of("'teeperf ctl' cannot reach this recording", &session.control_err);
	if (session.region.note_err.code)
		warn_of("if this recorder is killed, only 'teeperf recover' completes the trace",
		    &session.region.note_err);
	if (!quiet)
		tp_record_attach_tell(&attach, &session, argc > 0);
	const bool ended = wait_for_end(&session);
	struct tp_session_counts counts;
	const int r = tp_session_finish(&session, &counts, &err);
	if (follow_fork)
		tp_record_add_followed(&session.follow, &counts);
	const char *how;
	const bool came =
	    tp_record_attach_judge(&tp_cmd_record, &attach, &session, &counts, ended, &how);
	tp_record_attach_release(&attach);
	warn(&counts, &session.launch, argv);
	if (r) {
		tp_command_fail(&tp_cmd_record, &err);
		if (counts.missing_chunks)
			tp_command_warn(&tp_cmd_record,
			    "'%s' lacks the last %llu chunks, with %llu events; what it holds can be "
			    "analyzed",
			    output, (unsigned long long)counts.missing_chunks,
			    (unsigned long long)counts.missing_events);
	}
	if (!r && !quiet)
		summarize(
		    &counts, &session.launch, how, session.writer.made && !counts.output_gone);
	bool whole = !r && came;
	if (inner)
		whole &= tp_record_inner_judge(&tp_cmd_record, &session, &wanted, r, quiet);
	if (follow_fork) {
		whole &= tp_record_tell_followed(&tp_cmd_record, &session.follow, quiet);
		tp_session_forget(&session);
	}
	if (!whole)
		return TP_EXIT_FAILED;
	if (attach.waits)
		return TP_EXIT_DONE;
	if (!ended) {
		fprintf(stderr, "teeperf record: '%s' (process %d) runs on without recording\n",
		    argv[0], (int)session.launch.pid);
		return TP_EXIT_DONE;
	}
	if (session.launch.exit_kind == TEEPERF_EXIT_SIGNAL)
		return die_of((int)session.launch.exit_value);
	return (int)session.launch.exit_value;
}
