// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options of `teeperf record`, and which of them go together.
#define _GNU_SOURCE
#include "record.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port_names.inc"

static const char *const mode_words[] = {"stream", "full", "ring", NULL};
static const uint32_t modes[] = {TEEPERF_MODE_STREAM, TEEPERF_MODE_FULL, TEEPERF_MODE_RING};
enum { MODE_RING = 2 }; // of these
static const char *const clock_words[] = {
    "auto", "tsc", "tsc-ordered", "soft", "count", "none", NULL};
static const enum tp_clock_choice clocks[] = {TP_CLOCK_CHOICE_AUTO, TP_CLOCK_CHOICE_HARDWARE,
    TP_CLOCK_CHOICE_ORDERED, TP_CLOCK_CHOICE_SOFT, TP_CLOCK_CHOICE_COUNT, TP_CLOCK_CHOICE_NONE};
static const char *const drain_words[] = {"auto", "now", "late", "end", NULL};
static const enum tp_drain_choice drains[] = {
    TP_DRAIN_CHOICE_AUTO, TP_DRAIN_CHOICE_NOW, TP_DRAIN_CHOICE_LATE, TP_DRAIN_CHOICE_END};

static const char *const sched_words[] = {"auto", "off", NULL};
static const char *const on_start_words[] = {"on", "off", NULL};

enum { LISTS_MAX = 64 };

struct tp_record_options tp_record_options = {
    .wanted = {.output = TP_DEFAULT_TRACE,
	.period_ns = TP_COUNTER_PERIOD_NS,
	.only = {.kind = TEEPERF_ONLY_ALL}},
    .ring_bytes = UINT64_MAX,
    .counters_ms = UINT64_MAX,
    .attach = {.timeout_s = UINT64_MAX},
    .all = {.keep = UINT64_MAX},
    .only = {.most = LISTS_MAX},
    .modules = {.most = LISTS_MAX},
};

#define OF(field) &tp_record_options.field

const struct tp_option tp_record_option_table[] = {
    TP_OPT_STRING('o', "output", OF(wanted.output), "FILE",
	"write the trace to FILE (default: teeperf.trace)"),
    TP_OPT_CHOICE('m', "mode", OF(mode), mode_words, "stream|full|ring",
	"when the log fills up, drain it and go on (stream), stop recording (full), or overwrite "
	"each thread's oldest events (ring) (default: stream)"),
    TP_OPT_SIZE('s', "size", OF(wanted.size_bytes), "SIZE",
	"use at most SIZE bytes of memory for the log (default: an eighth of free memory, 64M to "
	"1G; with '--port optee', 1M and at most 8M for the TEE's log)"),
    TP_OPT_SIZE(0, "ready", OF(wanted.ready_bytes), "SIZE",
	"allocate SIZE bytes of the log before PROGRAM starts, and the rest as needed (default: "
	"16M)"),
    TP_OPT_CHOICE(0, "drain", OF(drain), drain_words, "auto|now|late|end",
	"write to the trace at once (now), when the log is half full (late), or when PROGRAM has "
	"ended (end) (default: auto, which is now if there is a core for it, else late)"),
    TP_OPT_LEVEL("compress", OF(level), "LEVEL",
	"compress the trace to about a tenth, with zstd at LEVEL, 1 to 19 (default: 1)"),
    TP_OPT_CHOICE('c', "clock", OF(clock), clock_words, "auto|tsc|tsc-ordered|soft|count|none",
	"take times from the processor's counter (tsc), from the same in strict order, which is "
	"slower but exact for short functions (tsc-ordered), from a word in memory where the "
	"recorder stores the time (soft) or counts (count), or not at all (none) (default: auto)"),
    TP_OPT_COUNT(0, "clock-period", OF(wanted.period_ns), "NS",
	"with soft and count, store the word every NS nanoseconds, or continuously if 0 "
	"(default: 2000)"),
    TP_OPT_CHOICE(0, "on-start", OF(on_start), on_start_words, "on|off",
	"start recording at once, or wait for 'teeperf ctl on', the program or a signal "
	"(default: on)"),
    TP_OPT_LIST(0, "only", OF(only), "LIST",
	"record only the instrumented functions that this allowlist allows; can be repeated"),
    TP_OPT_STRING(0, "budget", OF(budget), "SHARE",
	"keep the cost of recording below this share of processor time, such as 5%, by switching "
	"functions off and on"),
    TP_OPT_BOOL(0, "calibrate", OF(calibrate),
	"switch functions off in turns, 20 ms each, to measure the cost of recording them for "
	"'analyze --costs'"),
    TP_OPT_CHOICE(0, "sched", OF(sched), sched_words, "auto|off",
	"ask the kernel when threads run, wait and are preempted, if it allows that (default: "
	"auto)"),
    TP_OPT_STRING(0, "events", OF(events), "LIST",
	"also record what the kernel does for PROGRAM: a comma-separated list of sched, "
	"syscalls, io, faults, mem and sgx; needs root"),
    TP_OPT_STRING(0, "counters", OF(wanted.meters.counters), "LIST",
	"count processor and kernel events for the whole run, such as "
	"cycles,instructions,page-faults; 'list' prints all names"),
    TP_OPT_WORD("energy", OF(energy), "MS",
	"measure the machine's energy use every MS milliseconds (default: 100)"),
    TP_OPT_SIZE(0, "max-size", OF(all.max_bytes), "SIZE",
	"keep each thread's newest records, at most SIZE bytes in all, as '--mode ring' with a "
	"log of SIZE does; with '--daemon', keep at most SIZE bytes of traces (default: no "
	"limit)"),
    TP_OPT_BOOL('q', "quiet", OF(quiet), "print neither progress nor the summary"),
    TP_OPT_BOOL(0, "no-warnings", &tp_command_no_warnings,
	"print no warnings: with '-q', nothing but errors comes between the program's own output"),
    TP_OPT_NEEDS("--mode ring|--max-size"),
    TP_OPT_SIZE(0, "ring", OF(ring_bytes), "SIZE",
	"with '--mode ring', keep the last SIZE bytes of each thread's records (default: 1M)"),
    TP_OPT_NEEDS("--only|--calibrate"),
    TP_OPT_LIST(0, "inventory", OF(modules), "FILE",
	"with '--only', also choose among the functions of this library or inventory; can be "
	"repeated"),
    TP_OPT_NEEDS("--counters"),
    TP_OPT_COUNT(0, "counters-interval", OF(counters_ms), "MS",
	"read the counters every MS milliseconds, or only where phases begin and end if 0 "
	"(default: 100)"),
    TP_OPT_GROUP("A program that is started here", "PROGRAM"),
    TP_OPT_BOOL('f', "follow-fork", OF(wanted.follow_fork),
	"also record forked children and instrumented programs that PROGRAM starts, each in "
	"FILE.PID"),
    TP_OPT_BOOL(0, "tee", OF(inner),
	"record the host PROGRAM and its TEE, and join both sides in one trace"),
    TP_OPT_WORD("control", OF(control), "SIGNAL",
	"make PROGRAM obey 'teeperf ctl' at once, by sending it this signal (default: URG)"),
    TP_OPT_BOOL(0, "signals", OF(wanted.switch_signals),
	"let SIGUSR1 switch recording on in PROGRAM, and SIGUSR2 switch it off"),
    TP_OPT_GROUP("A running program", NULL),
    TP_OPT_COUNT(0, "pid", OF(attach.pid), "PID",
	"record the running process PID; with '--attach' or '--stream', end when process PID on "
	"this machine ends"),
    TP_OPT_STRING(0, "all", OF(all.pattern), "NAME",
	"record each running process with this name (a glob, or cgroup:PATH) into FILE.PID"),
    TP_OPT_STRING(0, "duration", OF(attach.duration), "TIME",
	"with '--pid', '--all', '--attach' or '--stream', end after TIME, such as 10s or 500ms "
	"(default with '--daemon': 10s)"),
    TP_OPT_GROUP("A program that is started elsewhere, for example in a TEE", NULL),
    TP_OPT_STRING(0, "port", OF(attach.port_name), "NAME",
	"the program runs in a TEE of this kind: " TP_PORT_NAMES),
    TP_OPT_STRING(0, "attach", OF(attach.file), "FILE",
	"put the log in FILE, for a program that is started elsewhere, such as by a TEE's "
	"launcher"),
    TP_OPT_STRING(0, "stream", OF(attach.stream_name), "SOURCE",
	"read the log from a stream: a file, a pipe, '-', or a connection to unix:PATH or "
	"vsock:[CID]:PORT"),
    TP_OPT_NEEDS("--attach"),
    TP_OPT_SIZE(0, "offset", OF(attach.offset), "SIZE",
	"with '--attach', put the log at this offset in FILE, after memory that has other uses"),
    TP_OPT_NEEDS("--attach|--stream"),
    TP_OPT_COUNT(0, "attach-timeout", OF(attach.timeout_s), "SECONDS",
	"with '--attach' or '--stream', give up if no program attaches or no data arrives for "
	"this time (default: wait)"),
    TP_OPT_NEEDS("--attach|--port|--pid|--all"),
    TP_OPT_BOOL(0, "force", OF(attach.force),
	"with '--attach', overwrite FILE even if it is not a log; with "
	"'--pid' or '--all', attach even to a program with a seccomp filter"),
    TP_OPT_GROUP("Running programs, again and again", "--all"),
    TP_OPT_BOOL(0, "daemon", OF(all.daemon),
	"with '--all', look for processes periodically, record each for --duration, and keep the "
	"newest traces; sets '--budget' to 5% by default"),
    TP_OPT_NEEDS("--daemon"),
    TP_OPT_STRING(0, "every", OF(all.every), "TIME",
	"with '--daemon', look for processes at this interval (default: 5m)"),
    TP_OPT_STRING(0, "output-dir", OF(all.folder), "DIR",
	"with '--daemon', write traces to DIR (default: the current folder)"),
    TP_OPT_COUNT(0, "keep", OF(all.keep), "N",
	"with '--daemon', keep the newest N traces in that folder (default: 24)"),
    TP_OPT_END,
};

// The signal of '--control': a name with or without SIG, a number, or nothing. -1 if there is none.
static int signal_number(const char *text)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {
	    // By default a program ignores SIGURG, so one that comes at a wrong moment does no
	    // harm.
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

// 0, or an exit code; *number: of the signal, 0: none.
static int check_signal(const struct tp_record_options *options, int *number)
{
	*number = options->control ? signal_number(options->control) : 0;
	if (*number < 0)
		return tp_options_usage(
		    "option '--control' takes a signal that can be caught, such as URG, IO or a "
		    "number, not '%s'",
		    options->control);
	if (is_of_fault(*number))
		return tp_options_usage(
		    "option '--control' cannot use the fault signal %d: a fault of the program "
		    "would be taken for a command; use URG",
		    *number);
	if (options->wanted.switch_signals && (*number == SIGUSR1 || *number == SIGUSR2))
		return tp_options_usage(
		    "with '--signals' the signal of '--control' cannot be SIGUSR1 or SIGUSR2");
	return 0;
}

// '--max-size' of a single recording: a flight recorder whose log is so large, of which a thread
// has a quarter. 0, or an exit code.
static int check_max_size(struct tp_record_options *options)
{
	static const uint64_t least = 1 << 20;
	static const uint64_t most = (uint64_t)TEEPERF_RING_LOG_CHUNKS * TP_REGION_CHUNK_SIZE;
	const uint64_t size = options->all.max_bytes;
	if (!size || options->all.daemon)
		return 0;
	if (modes[options->mode] == TEEPERF_MODE_FULL || options->wanted.size_bytes)
		return tp_options_usage(
		    "option '--max-size' keeps the newest records in a log of that size: leave "
		    "'%s' out",
		    options->wanted.size_bytes ? "--size" : "--mode full");
	if (size < least || size > most)
		return tp_options_usage("option '--max-size' takes 1M to 1G");
	options->mode = MODE_RING;
	options->wanted.size_bytes = size;
	if (options->ring_bytes == UINT64_MAX)
		// The log is a power of two.
		options->ring_bytes = (uint64_t)1 << (61 - __builtin_clzll(size));
	return 0;
}

// 0, or an exit code; *chunks: that each thread keeps, 0 in other modes.
static int check_ring(const struct tp_record_options *options, uint32_t *chunks)
{
	const bool is_ring = modes[options->mode] == TEEPERF_MODE_RING;
	*chunks = is_ring ? TP_REGION_KEPT_CHUNKS : 0;
	if (options->drain && is_ring)
		return tp_options_usage(
		    "with '--mode ring' nothing is drained while the program runs: leave '--drain' "
		    "out ('teeperf ctl flush' writes a snapshot)");
	if (options->ring_bytes == UINT64_MAX)
		return 0;
	if (options->ring_bytes < 2 * TP_REGION_CHUNK_SIZE)
		return tp_options_usage(
		    "option '--ring' takes at least %dK", 2 * TP_REGION_CHUNK_SIZE / 1024);
	if (options->ring_bytes / TP_REGION_CHUNK_SIZE > TEEPERF_RING_LOG_CHUNKS / 4)
		return tp_options_usage("option '--ring' takes at most %dM",
		    TEEPERF_RING_LOG_CHUNKS / 4096 * (TP_REGION_CHUNK_SIZE / 1024));
	*chunks = (uint32_t)(options->ring_bytes / TP_REGION_CHUNK_SIZE);
	return 0;
}

// 0, or an exit code.
static int check_events(struct tp_record_options *options)
{
	struct tp_err err;
	if (!options->events)
		return 0;
	options->wanted.events = tp_bpf_groups(options->events, &err);
	if (!options->wanted.events)
		return tp_options_usage("option '--events': %s", err.what);
	if (modes[options->mode] == TEEPERF_MODE_RING)
		return tp_options_usage(
		    "option '--events' cannot be combined with '--mode ring', which keeps calls "
		    "only");
	return 0;
}

// 0, or an exit code.
static int check_calibrate(struct tp_record_options *options)
{
	if (!options->calibrate)
		return 0;
	const char *other = options->wanted.follow_fork                     ? "--follow-fork"
			    : options->inner                                ? "--tee"
			    : options->attach.stream_name                   ? "--stream"
			    : !options->wanted.argv && options->attach.pid  ? "--pid"
			    : options->attach.all                           ? "--all"
			    : !options->wanted.argv                         ? "--attach"
			    : options->mode                                 ? "--mode"
			    : options->budget                               ? "--budget"
			    : options->clock_choice == TP_CLOCK_CHOICE_NONE ? "--clock none"
									    : NULL;
	if (other)
		return tp_options_usage(
		    "option '--calibrate' cannot be combined with '%s': record with it once, and "
		    "give that trace to 'analyze --costs'",
		    other);
	if (!options->wanted.control_signal)
		options->wanted.control_signal = SIGURG;
	return 0;
}

// What the options say by themselves. 0 or an exit code.
static int check_values(struct tp_record_options *options)
{
	struct tp_session_options *wanted = &options->wanted;
	if (wanted->period_ns > TP_COUNTER_MAX_PERIOD_NS)
		return tp_options_usage(
		    "option '--clock-period' takes at most %d", TP_COUNTER_MAX_PERIOD_NS);
	if (options->level > TP_PACKER_LEVEL_MAX)
		return tp_options_usage("option '--compress' takes 1 to %d", TP_PACKER_LEVEL_MAX);
	if (options->level && !tp_packer_is_there())
		return tp_options_usage(
		    "this teeperf is built without zstd: leave out '--compress'");
	int status = check_signal(options, &wanted->control_signal);
	if (!status)
		status = check_events(options);
	if (!status)
		status = check_calibrate(options);
	if (!status)
		status = check_ring(options, &wanted->ring);
	return status ? status : tp_record_meters_check(options, &wanted->meters);
}

// The clock to record with: 'auto' takes no hardware's clock where the program's is another one.
static enum tp_clock_choice choose_clock(const struct tp_record_options *options)
{
	const char *machine;
	const char *foreign = tp_record_foreign(options->argv, &machine);
	if (options->clock_choice != TP_CLOCK_CHOICE_AUTO || !foreign)
		return options->clock_choice;
	if (!options->quiet)
		tp_command_tell(
		    "'%s' is for %s, which has another clock than this machine: recording with "
		    "'--clock soft'\n",
		    foreign, machine);
	return TP_CLOCK_CHOICE_SOFT;
}

int tp_record_options_check(struct tp_record_options *options, int argc, char **argv)
{
	struct tp_session_options *wanted = &options->wanted;
	options->argv = argv;
	options->clock_choice = clocks[options->clock];
	int status = check_max_size(options);
	if (status)
		return status;
	wanted->mode = modes[options->mode];
	wanted->compress = (int)options->level;
	wanted->drain = drains[options->drain];
	wanted->start_off = options->on_start == 1;
	wanted->no_sched = options->sched == 1;
	wanted->argv = argc ? argv : NULL;
	options->attach.all = options->all.pattern != NULL;
	if (options->all.daemon && !options->budget)
		options->budget = "5%";
	status = tp_record_all_check(options);
	if (!status)
		status = tp_record_budget_check(options);
	if (!status)
		status = check_values(options);
	if (!status)
		status =
		    tp_record_output_check(wanted->output, argc > 0, options->quiet, &wanted->away);
	if (!status && options->only.count)
		status = tp_record_only(
		    &options->only, &options->modules, argc ? argv[0] : NULL, &wanted->only);
	if (!status && options->calibrate)
		status = tp_record_measured(
		    &options->only, &options->modules, argv[0], &wanted->calibrate);
	if (status)
		return status;
	wanted->clock = choose_clock(options);
	status = tp_record_attach_prepare(&options->attach, wanted, options->quiet);
	if (!status && options->inner)
		status = tp_record_inner_prepare(wanted);
	if (status)
		tp_record_options_release(options);
	return status;
}

void tp_record_options_release(struct tp_record_options *options)
{
	tp_record_attach_release(&options->attach);
	free((void *)(uintptr_t)options->wanted.only.hashes);
	free((void *)(uintptr_t)options->wanted.calibrate.hashes);
	options->wanted.only.hashes = options->wanted.calibrate.hashes = NULL;
}
