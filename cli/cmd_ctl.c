// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf ctl: command a running recording.
#include "cli/command/command.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <teeperf/log.h>

#include "recorder/control/control.h"

static const struct tp_option options[] = {{0}};

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
};
enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static void show_status(const struct tp_control_reply *reply)
{
	printf("recording  %s\n", !reply->attached ? "no instrumented program has come yet"
				  : reply->on      ? "on"
						   : "off");
	if (reply->wanted_on != reply->on && reply->attached)
		printf("asked for  %s\n", reply->wanted_on ? "on" : "off");
	printf("recorder   process %u\n", reply->recorder);
	printf("program    process %u\n", reply->attached ? reply->attached : reply->program);
	if (reply->listens == TEEPERF_LISTENS_SIGNAL)
		printf("listens    to signal %u\n", reply->listens_value);
	else
		printf("listens    when it takes a new chunk of the log\n");
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
		tp_command_tell("no instrumented program has come yet; it will begin %s\n",
		    verb == TP_CONTROL_ON ? "recording" : "without recording");
		return TP_EXIT_DONE;
	case TP_CONTROL_LATER:
		// A program that records takes chunks; one that does not has no reason to look.
		tp_command_tell("process %u %s\n", reply->attached,
		    verb == TP_CONTROL_OFF
			? "obeys when it next takes a chunk of the log; to be obeyed at once, record "
			  "with '--control'"
			: "does not look until it calls teeperf_poll(): to switch recording on from "
			  "outside, record with '--control'");
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
			    "the snapshot '%s' could not be written: there is no room for it, "
			    "or the trace is no file\n",
			    reply->output);
			return TP_EXIT_FAILED;
		}
		tp_command_tell("'%s' could not be written in full\n", reply->output);
		return TP_EXIT_FAILED;
	case TP_CONTROL_NO_METERS:
		tp_command_tell(
		    "there is nothing to mark: record with '--counters' or '--energy'\n");
		return TP_EXIT_FAILED;
	case TP_CONTROL_UNKNOWN:
		break;
	}
	tp_command_tell("the recorder does not know this command\n");
	return TP_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
	if (argc != 2)
		return tp_options_usage("a command and a process id are needed");
	int verb = 0;
	while (verb < VERB_COUNT && strcmp(verbs[verb].word, argv[0]))
		verb++;
	if (verb == VERB_COUNT)
		return tp_options_usage(
		    "the command is on, off, status, flush, mark or stop, not '%s'", argv[0]);
	const pid_t pid = tp_parse_pid(argv[1]);
	if (!pid)
		return tp_options_usage("'%s' is no process id", argv[1]);
	struct tp_control_reply reply;
	struct tp_err err;
	if (tp_control_ask(pid, verbs[verb].verb, &reply, &err))
		return tp_command_fail(&err);
	return report(verbs[verb].verb, &reply);
}

const struct tp_command tp_cmd_ctl = {
    .name = "ctl",
    .summary = "switch a running recording on and off, end it, or ask how it does",
    .usage = "[options] on|off|status|flush|mark|stop PID",
    .description =
	"Commands the recording whose 'teeperf record' or whose program has process id PID.\n"
	"\n"
	"  on      record from here on\n"
	"  off     record no more, until it is switched on again\n"
	"  status  show whether it records, and how much has been recorded\n"
	"  flush   write all that is complete to the trace now; with 'record --mode ring', write\n"
	"          what the rings hold to a trace of its own, FILE.snapshot-1, -2 and so on\n"
	"  mark    begin a new phase of the counters of 'record --counters' and '--energy'\n"
	"  stop    end the recording: the trace is completed, and the program runs on\n"
	"\n"
	"The program obeys at once if it was started with 'teeperf record --control', else\n"
	"when one of its threads has filled a chunk of the log or calls teeperf_poll().\n",
    .examples = "  teeperf record --control --on-start off ./server &\n"
		"  teeperf ctl on $!\n"
		"  teeperf ctl stop $!\n",
    .options = options,
    .run = run,
};
