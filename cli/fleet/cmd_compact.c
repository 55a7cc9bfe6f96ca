// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet compact: make large files of small ones.
#include "fleet/folder.h"
#include "cli/command/command.h"

#include <inttypes.h>
#include <signal.h>

static bool quiet;

static const struct tp_option options[] = {
    TP_OPT_BOOL('q', "quiet", &quiet, "print no summary"),
    TP_OPT_END,
};

static int run(int argc, char **argv)
{
	struct tp_fleet_rewritten done;
	struct tp_err err;
	if (argc != 1)
		return tp_options_usage("name the fleet's folder");
	signal(SIGXFSZ, SIG_IGN);
	if (tp_fleet_compact_all(argv[0], &done, &err))
		return tp_command_fail(&err);
	if (!quiet)
		tp_command_tell("%" PRIu64 " files of %" PRIu64 " bytes became %" PRIu64
				" of %" PRIu64 "\n",
		    done.files_before, done.bytes_before, done.files_after, done.bytes_after);
	return TP_EXIT_DONE;
}

const struct tp_command tp_fleet_compact = {
    .name = "fleet compact",
    .summary = "merge a fleet's small files into large ones",
    .usage = "[options] DIR",
    .operands = TP_OPERANDS_FOLDERS,
    .description =
	"Merge the runs of each day and program into one file per table, or a few large ones. "
	"The rows\n"
	"do not change.\n"
	"\n"
	"Readers can go on, and never see a run twice: the folder of a table, day and program is\n"
	"exchanged for its new form in one step. "
	"A query that listed the old folder but has not opened\n"
	"its files fails, or with some readers misses these runs: repeat it. "
	"If the command is killed,\n"
	"each folder is either in its old or in its new form. "
	"File systems that cannot exchange folders\n"
	"(NFS, mounted object stores) are refused: compact before you copy runs there.\n",
    .examples = "teeperf fleet compact /srv/profiles\n",
    .options = options,
    .run = run,
};
