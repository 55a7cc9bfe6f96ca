// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf ctl: command a running recording.
#include "cli/record/record.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <teeperf/log.h>

#include "recorder/control/control.h"
#include "common/units.h"

static struct tp_option_list modules;

static const struct {
	const char *word;
	enum tp_control_verb verb;
} verbs[] = {
    {"on", TP_CONTROL_ON},
    {"off", TP_CONTROL_OFF},
    {"status", TP_CONTROL_STATUS},
    {"flush", TP_CONTROL_FLUSH},
    {"mark", TP_CONTROL_MARK},
    {"stop", TP_CONTROL_STOP},
    {"only", TP_CONTROL_ONLY},
    {"add", TP_CONTROL_ADD},
    {"drop", TP_CONTROL_DROP},
};
enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static bool is_choice(enum tp_control_verb verb)
{
	return verb == TP_CONTROL_ONLY || verb == TP_CONTROL_ADD || verb == TP_CONTROL_DROP;
}

// The number that an enclave gives itself says nothing here, if its host program is known.
static uint32_t program_of(const struct tp_control_reply *reply)
{
	return reply->attached && !(reply->foreign && reply->program) ? reply->attached
								      : reply->program;
}

static void show_status(const struct tp_control_reply *reply)
{
	printf("recording  %s\n", !reply->attached ? "no instrumented program has attached yet"
				  : reply->on      ? "on"
						   : "off");
	if (reply->wanted_on != reply->on && reply->attached)
		printf("requested  %s\n", reply->wanted_on ? "on" : "off");
	printf("recorder   process %u\n", reply->recorder);
	printf("program    process %u\n", program_of(reply));
	if (reply->listens == TEEPERF_LISTENS_SIGNAL)
		printf("listens    to signal %u\n", reply->listens_value);
	else
		printf("listens    when it takes a new chunk of the log\n");
	const char *functions = tp_plural(reply->only_count);
	if (reply->only == TEEPERF_ONLY_ALL)
		printf("functions  all that are instrumented\n");
	else
		printf("functions  %s%u function%s on a list\n",
		    reply->only == TEEPERF_ONLY_REST ? "all but " : "", reply->only_count,
		    functions);
	printf("choices    %u%s\n", reply->selections,
	    !reply->pending   ? ""
	    : reply->attached ? ", the last one pending: the program has not read it yet"
			      : ", pending: no program has attached yet");
	printf("switches   %llu\n", (unsigned long long)reply->switches);
	printf("records    %llu in the trace\n", (unsigned long long)reply->records);
	printf("lost       %llu\n", (unsigned long long)reply->lost);
	printf("trace      %.1f MB in '%s'\n", (double)reply->file_bytes / 1e6, reply->output);
	printf("running    %.1f s\n", (double)reply->elapsed_ns / 1e9);
}

static int report(enum tp_control_verb verb, const struct tp_control_reply *reply)
{
	switch ((enum tp_control_result)reply->result) {
	case TP_CONTROL_DONE:
		if (verb == TP_CONTROL_STATUS)
			show_status(reply);
		if (reply->snapshot)
			printf("snapshot '%s'\n", reply->output);
		return TP_EXIT_DONE;
	case TP_CONTROL_WAITING:
		tp_command_tell("no instrumented program has attached yet; it will begin %s\n",
		    is_choice(verb)         ? "with these functions"
		    : verb == TP_CONTROL_ON ? "recording"
					    : "without recording");
		return TP_EXIT_DONE;
	case TP_CONTROL_LATER:
		if (is_choice(verb)) {
			tp_command_tell(
			    "process %u obeys when it next takes a chunk of the log, makes a "
			    "record after a second or more, loads a library, or calls "
			    "teeperf_poll(); until then the choice cannot be changed again; for "
			    "an immediate effect, record with '--control'\n",
			    program_of(reply));
			return TP_EXIT_DONE;
		}
		// A program that records takes chunks; one that does not has no reason to look.
		tp_command_tell("process %u %s\n", program_of(reply),
		    verb == TP_CONTROL_OFF && reply->foreign
			? "obeys when it next takes a chunk of the log, or calls teeperf_poll()"
		    : reply->foreign
			? "reads no commands until it calls teeperf_poll() in the TEE; with "
			  "'--tee' each call into it is enough"
		    : verb == TP_CONTROL_OFF
			? "obeys when it next takes a chunk of the log; for an immediate effect, "
			  "record with '--control'"
			: "reads no commands until it calls teeperf_poll(): to switch recording "
			  "on from outside, record with '--control'");
		return verb == TP_CONTROL_OFF ? TP_EXIT_DONE : TP_EXIT_FAILED;
	case TP_CONTROL_UNHEARD:
		tp_command_tell(
		    "process %u was sent signal %u but has not obeyed yet: it is stopped, "
		    "or blocks that signal\n",
		    reply->attached, reply->listens_value);
		return TP_EXIT_FAILED;
	case TP_CONTROL_FAILED:
		if (reply->snapshot) {
			tp_command_tell(
			    "the snapshot '%s' could not be written: there is no room for it, or "
			    "the trace is not a file\n",
			    reply->output);
			return TP_EXIT_FAILED;
		}
		tp_command_tell("'%s' could not be written in full\n", reply->output);
		return TP_EXIT_FAILED;
	case TP_CONTROL_REFUSED:
		tp_command_tell("%s\n", reply->output);
		return TP_EXIT_FAILED;
	case TP_CONTROL_UNKNOWN:
		break;
	}
	tp_command_tell("the recorder does not know this command\n");
	return TP_EXIT_FAILED;
}

// The process that has the functions: the one that records, or else the program that was started;
// 0: its number says nothing.
static pid_t process_of(const struct tp_control_reply *reply)
{
	const uint32_t pid = reply->foreign    ? 0
			     : reply->attached ? reply->attached
					       : reply->program;
	return pid <= INT_MAX ? (pid_t)pid : 0;
}

static int choose(enum tp_control_verb verb, const char *pattern, pid_t pid)
{
	struct tp_control_reply reply;
	struct tp_err err;
	if (tp_control_ask(pid, TP_CONTROL_STATUS, &reply, &err))
		return tp_command_fail(&err);
	struct tp_region_only only = {0};
	const int status = tp_record_only_running(
	    pattern, verb == TP_CONTROL_ONLY, &modules, process_of(&reply), &only);
	if (status)
		return status;
	if (only.count > TP_CONTROL_HASHES_MAX) {
		free((void *)(uintptr_t)only.hashes);
		return tp_command_refuse(TP_ERR_LIMIT, NULL,
		    "'%s' names %u functions, more than %d", pattern, only.count,
		    TP_CONTROL_HASHES_MAX);
	}
	const struct tp_control_request request = {
	    .verb = verb, .only = only.kind, .hash_count = only.count};
	const int r = tp_control_ask_with(pid, &request, only.hashes, &reply, &err);
	free((void *)(uintptr_t)only.hashes);
	return r ? tp_command_fail(&err) : report(verb, &reply);
}

// Where a timeline has it, as the program's own marks.
static int mark(const char *name, pid_t pid)
{
	uint64_t words[TP_CONTROL_NAME_WORDS] = {0};
	struct tp_control_request request = {.verb = TP_CONTROL_MARK};
	struct tp_control_reply reply;
	struct tp_err err;
	if (name && (!*name || strlen(name) >= sizeof(words)))
		return tp_options_usage(
		    "the name of a mark must have 1 to %zu bytes, but '%s' has %zu",
		    sizeof(words) - 1, name, strlen(name));
	if (name) {
		memcpy(words, name, strlen(name));
		request.hash_count = TP_CONTROL_NAME_WORDS;
	}
	if (tp_control_ask_with(pid, &request, words, &reply, &err))
		return tp_command_fail(&err);
	return report(TP_CONTROL_MARK, &reply);
}

static int run(int argc, char **argv)
{
	int verb = 0;
	while (argc && verb < VERB_COUNT && strcmp(verbs[verb].word, argv[0]))
		verb++;
	if (argc && verb == VERB_COUNT)
		return tp_options_usage(
		    "the command is on, off, status, flush, mark, stop, only, add or drop, not "
		    "'%s'",
		    argv[0]);
	if (argc && is_choice(verbs[verb].verb) && argc != 3)
		return tp_options_usage("'%s' needs %s and a process id", argv[0],
		    verbs[verb].verb == TP_CONTROL_ONLY ? "an allowlist" : "a pattern");
	const bool marks = argc && verbs[verb].verb == TP_CONTROL_MARK;
	if (argc < 2 || (argc != 2 + is_choice(verbs[verb].verb) && !(marks && argc == 3)))
		return tp_options_usage("a command and a process id are needed");
	const pid_t pid = tp_parse_pid(argv[argc - 1]);
	if (!pid)
		return tp_options_usage("'%s' is not a process id", argv[argc - 1]);
	if (is_choice(verbs[verb].verb))
		return choose(verbs[verb].verb, argv[1], pid);
	if (marks)
		return mark(argc == 3 ? argv[1] : NULL, pid);
	struct tp_control_reply reply;
	struct tp_err err;
	if (tp_control_ask(pid, verbs[verb].verb, &reply, &err))
		return tp_command_fail(&err);
	return report(verbs[verb].verb, &reply);
}

static const struct tp_option options[] = {
    TP_OPT_LIST(
	0, "module", &modules, "FILE", "with only, add and drop, also look for functions in FILE"),
    TP_OPT_END,
};

const struct tp_command tp_cmd_ctl = {
    .name = "ctl",
    .summary = "control a running recording",
    .usage = "[options] on|off|status|flush|stop PID | mark [NAME] PID | only LIST PID | add|drop "
	     "PATTERN PID",
    .operands = "on off status flush mark stop only add drop",
    .description =
	"Controls the recording whose 'teeperf record' or whose program has process id PID.\n"
	"\n"
	"  on      switch recording on\n"
	"  off     switch recording off\n"
	"  status  show whether recording is on, and how much has been recorded\n"
	"  flush   write everything complete to the trace now; with 'record --mode ring', write "
	"the\n"
	"          contents of the rings to a separate trace, FILE.snapshot-1, -2 and so on\n"
	"  mark    mark this moment as NAME in the trace's timeline ('--time-range mark:NAME'), "
	"and\n"
	"          begin a new phase for the counters of 'record --counters' and '--energy'\n"
	"  stop    end the recording and complete the trace; the program runs on\n"
	"  only    record only instrumented functions that the allowlist LIST allows\n"
	"  add     also record the functions that PATTERN matches\n"
	"  drop    stop recording the functions that PATTERN matches\n"
	"\n"
	"PATTERN is a glob for linkage and demangled names, or a line of an allowlist\n"
	"(src:*/net/*). If a call is open when its function is dropped, it ends there.\n"
	"\n"
	"The program obeys at once if it was started with 'teeperf record --control'. Otherwise "
	"it\n"
	"obeys when one of its threads fills a chunk of the log or calls teeperf_poll().\n",
    .examples = "  teeperf record --control --on-start off ./server &\n"
		"  teeperf ctl on $!\n"
		"  teeperf ctl drop 'parse_*' $!\n"
		"  teeperf ctl stop $!\n",
    .options = options,
    .run = run,
};
