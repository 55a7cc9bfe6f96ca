// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf recover: complete a trace whose recorder was killed.
#include "cli/command/command.h"
#include "recorder/recover/recover.h"

#include <limits.h>

static bool quiet;

static const struct tp_option options[] = {
    TP_OPT_BOOL('q', "quiet", &quiet, "print no summary"),
    TP_OPT_END,
};

// What no log has any more.
static void say_lacks(const struct tp_recovered *recovered, const char *trace)
{
	const struct tp_lacks *lacks = &recovered->lacks;
	const unsigned long long others = lacks->chunks - lacks->counted;
	if (lacks->counted)
		tp_command_tell(
		    "%llu chunks with %llu events are gone: the recorder could not write them\n",
		    (unsigned long long)lacks->counted, (unsigned long long)lacks->events);
	if (others)
		tp_command_tell(
		    "%llu chunks, with up to %llu events, are gone: they are neither in "
		    "the trace nor in a log\n",
		    others, (unsigned long long)lacks->more);
	if (lacks->open && !lacks->chunks)
		tp_command_tell(
		    "'%s' could not be reread to its end, so it is unknown whether anything is "
		    "missing\n",
		    trace);
}

static void say(const struct tp_recovered *recovered)
{
	char trace[PATH_MAX];
	char word[TP_SHELL_WORD_SIZE];
	tp_shown_name(trace, recovered->trace);
	if (quiet) {
		say_lacks(recovered, trace); // the reason for the exit status
		return;
	}
	if (recovered->ended) {
		const bool whole = !recovered->lacks.chunks && !recovered->lacks.open;
		tp_command_tell("'%s' %s: there is nothing to recover\n", trace,
		    recovered->damaged
			? whole ? "has an end, but is damaged" : "has an end, and is incomplete"
			: "is complete");
		say_lacks(recovered, trace);
		return;
	}
	tp_command_tell("%llu chunks with %llu records were added to '%s', %llu events were lost; "
			"%steeperf analyze %s\n",
	    (unsigned long long)recovered->chunks, (unsigned long long)recovered->records, trace,
	    (unsigned long long)recovered->lost, tp_edition.next,
	    tp_shell_word(word, recovered->trace));
	if (recovered->cut)
		tp_command_tell("%llu bytes of a half-written section were cut off\n",
		    (unsigned long long)recovered->cut);
	say_lacks(recovered, trace);
}

static int run(int argc, char **argv)
{
	if (argc != 1)
		return tp_options_usage(
		    argc ? "only one trace at a time" : "which trace? name its FILE");
	static struct tp_recovered recovered;
	struct tp_err err;
	if (tp_recover(argv[0], &recovered, &err))
		return tp_command_fail(&err);
	say(&recovered);
	if (recovered.soft && !recovered.ended)
		tp_command_warn(
		    "the soft clock stopped with its recorder: later calls have no times");
	return recovered.lacks.chunks || recovered.lacks.open ? TP_EXIT_FAILED : TP_EXIT_DONE;
}

const struct tp_command tp_cmd_recover = {
    .name = "recover",
    .summary = "complete a trace whose recorder was killed",
    .usage = "[options] FILE",
    .operands = TP_OPERANDS_TRACES,
    .description =
	"Add the events that were still in the log when the recorder was killed to the trace "
	"FILE,\n"
	"and remove the log. Afterwards only events that the program counted as lost, or that the\n"
	"recorder failed to write, are missing; the command reports them. The program must have\n"
	"ended. The next 'teeperf record' does the same for all traces of this user.\n",
    .examples = "teeperf recover teeperf.trace\n",
    .options = options,
    .run = run,
};
