// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet add: put recordings into the folder of a fleet.
#include "fleet/results.h"
#include "cli/analyze/open_trace.h"
#include "cli/command/command.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static const char *to;
static struct tp_option_list labels;
static struct tp_fleet_said said;
static bool quiet;
static struct tp_open_options open_options = {.symbol_cache = true, .fine_histograms = true};

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "to", &to, "DIR", "add to the fleet in DIR, creating it if needed"),
    TP_OPT_LIST(0, "label", &labels, "KEY=VALUE",
	"label the runs, such as environment=canary; can be repeated"),
    TP_OPT_STRING(0, "git-revision", &said.git_revision, "REV",
	"the revision from which the program was built"),
    TP_OPT_STRING(0, "host", &said.host, "NAME",
	"the machine on which it ran, instead of the one named in the trace"),
    TP_OPT_BOOL(0, "calls", &said.calls, "also add single calls, about 10 bytes each"),
    TP_OPT_BOOL('q', "quiet", &quiet, "print no summary"),
    TP_OPEN_SYMBOLS(open_options),
    TP_OPEN_DEBUG_DIRS(open_options.debug_dirs),
    TP_OPEN_PROGRAMS(open_options.programs),
    TP_OPT_END,
};

static int check_options(int argc)
{
	if (!to || !*to)
		return tp_options_usage("where to? give the fleet's folder with --to DIR");
	if (!argc)
		return tp_options_usage(
		    "which recordings? name one or more traces, or folders of experiments' "
		    "results");
	for (uint32_t i = 0; i < labels.count; i++) {
		const char *equals = strchr(labels.items[i], '=');
		if (!equals || equals == labels.items[i])
			return tp_options_usage(
			    "--label: '%s' is not of the form KEY=VALUE, such as "
			    "environment=canary",
			    labels.items[i]);
		for (uint32_t j = 0; j < i; j++)
			if (strncmp(labels.items[i], labels.items[j],
				(size_t)(equals - labels.items[i]) + 1) == 0)
				return tp_options_usage("--label: '%.*s' is given twice",
				    (int)(equals - labels.items[i]), labels.items[i]);
	}
	said.labels = labels.items;
	said.label_count = labels.count;
	return TP_EXIT_DONE;
}

static void tell(const char *file, const struct tp_fleet_added *added)
{
	char shown[PATH_MAX];
	uint64_t bytes = 0;
	for (int i = 0; i < TP_FLEET_TABLES; i++)
		bytes += added->bytes[i];
	if (quiet)
		return;
	if (added->already)
		tp_command_tell("'%s' is already in the fleet, as run %s\n",
		    tp_shown_name(shown, file), added->id);
	else
		tp_command_tell("added '%s' as run %s: %" PRIu64 " functions, %" PRIu64
				" paths, %" PRIu64 " bytes\n",
		    tp_shown_name(shown, file), added->id, added->rows[TP_FLEET_FUNCTIONS],
		    added->rows[TP_FLEET_PATHS], bytes);
}

static void tell_results(void *context, const char *task, const struct tp_fleet_added *added)
{
	char shown[PATH_MAX];
	if (quiet)
		return;
	if (added->already)
		tp_command_tell("'%s', task '%s' is already in the fleet, as run %s\n",
		    tp_shown_name(shown, context), task, added->id);
	else
		tp_command_tell("added '%s', task '%s' as run %s: %" PRIu64 " figures, %" PRIu64
				" bytes\n",
		    tp_shown_name(shown, context), task, added->id,
		    added->rows[TP_FLEET_EXPERIMENTS], added->bytes[TP_FLEET_EXPERIMENTS]);
}

static int add_results(const char *folder)
{
	struct tp_err err;
	const struct tp_fleet_results_watch watch = {(void *)(uintptr_t)folder, tell_results};
	return tp_fleet_add_results(to, folder, &said, &watch, &err) ? tp_command_fail(&err)
								     : TP_EXIT_DONE;
}

static bool is_folder(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int add(const char *file)
{
	struct tp_open_trace open;
	struct tp_fleet_added added;
	struct tp_err err;
	int status = tp_open_trace(&open, file, &open_options);
	if (!status) {
		tp_open_trace_warn(&open);
		status = tp_fleet_add_run(to, &open.analysis, &said, &added, &err)
			     ? tp_command_fail(&err)
			     : TP_EXIT_DONE;
	}
	if (!status)
		tell(file, &added);
	// It is there, with what could be read of it; the table 'runs' tells.
	if (!status && open.damaged)
		status = TP_EXIT_FAILED;
	tp_open_trace_release(&open);
	return status;
}

static int run(int argc, char **argv)
{
	int status = check_options(argc);
	if (status)
		return status;
	// A file that grows too large is an error of write(), not the end of us.
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < argc; i++) {
		const int one = is_folder(argv[i]) ? add_results(argv[i]) : add(argv[i]);
		status = one ? one : status;
	}
	return status;
}

const struct tp_command tp_fleet_add = {
    .name = "fleet add",
    .summary = "add recordings to a folder of Parquet files",
    .usage = "--to DIR [options] TRACE|RESULTS...",
    .operands = TP_OPERANDS_TRACES,
    .description =
	"Sum up each TRACE and add it to the fleet in DIR: a row in the table runs, and sums for "
	"its\n"
	"functions, call paths and durations. Functions and paths keep their keys across runs and\n"
	"builds, so query engines can sum them. docs/fleet.md describes the tables, columns and "
	"keys.\n"
	"\n"
	"RESULTS is a folder of results from 'teeperf experiment'; each of its tasks is added to "
	"the\n"
	"table experiments.\n"
	"\n"
	"A trace that the fleet already has is skipped. A run appears in runs only when it is "
	"complete.\n"
	"Several processes can add to a folder at the same time. If one trace fails, the others "
	"are\n"
	"still added.\n",
    .examples =
	"teeperf fleet add --to /srv/profiles teeperf.trace\n"
	"teeperf fleet add --to /srv/profiles --label environment=canary --git-revision $(git "
	"rev-parse HEAD) *.trace\n",
    .options = options,
    .run = run,
};
