// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet expire: take old runs out.
#include "fleet/folder.h"
#include "cli/command/command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *older_than;
static const char *keep_last;
static bool dry_run;
static bool quiet;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "older-than", &older_than, "AGE",
	"remove runs that began longer ago than AGE, such as 90d, 12h or 8w"),
    TP_OPT_STRING(0, "keep-last", &keep_last, "N", "keep only the N newest runs of each program"),
    TP_OPT_BOOL('n', "dry-run", &dry_run,
	"list the runs that would be removed without removing "
	"them"),
    TP_OPT_BOOL('q', "quiet", &quiet, "print no summary"),
    TP_OPT_END,
};

// "90d": seconds. False: it is no age.
static bool parse_age(const char *text, uint64_t *seconds)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
	char *end;
	const unsigned long long number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || number > 1000000 || !*end || end[1])
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].unit == *end) {
			*seconds = number * units[i].seconds;
			return true;
		}
	return false;
}

static void list(void *context, const char *id, const char *program)
{
	(void)context;
	if (dry_run)
		printf("%s  %s\n", id, program);
}

static int run(int argc, char **argv)
{
	struct tp_fleet_old old = {.dry_run = dry_run, .each = list};
	struct tp_fleet_rewritten done;
	struct tp_err err;
	uint64_t age = 0;
	if (argc != 1)
		return tp_options_usage("name the fleet's folder");
	if (!older_than && !keep_last)
		return tp_options_usage(
		    "which runs? give --older-than AGE, --keep-last N, or both");
	if (older_than && !parse_age(older_than, &age))
		return tp_options_usage("--older-than: '%s' is not an age such as 90d", older_than);
	if (keep_last && (!tp_parse_limit(keep_last, 0, &old.keep) || !old.keep))
		return tp_options_usage("--keep-last: '%s' is not a number of runs", keep_last);
	const uint64_t now = (uint64_t)time(NULL);
	old.by_age = older_than != NULL;
	old.before_unix_s = age < now ? now - age : 0;
	old.by_count = keep_last != NULL;
	signal(SIGXFSZ, SIG_IGN);
	if (tp_fleet_expire_runs(argv[0], &old, &done, &err))
		return tp_command_fail(&err);
	if (!quiet && dry_run)
		tp_command_tell("%" PRIu64 " runs would be removed\n", done.runs);
	else if (!quiet)
		tp_command_tell("removed %" PRIu64 " runs: %" PRIu64 " files of %" PRIu64
				" bytes became %" PRIu64 " of %" PRIu64 "\n",
		    done.runs, done.files_before, done.bytes_before, done.files_after,
		    done.bytes_after);
	return TP_EXIT_DONE;
}

const struct tp_command tp_fleet_expire = {
    .name = "fleet expire",
    .summary = "remove old runs from a fleet",
    .usage = "--older-than AGE | --keep-last N [options] DIR",
    .operands = TP_OPERANDS_FOLDERS,
    .description =
	"Remove the rows of old runs from all tables, and files that have no other rows. With "
	"both\n"
	"options, a run is removed if either matches. A run's row in the table runs is removed "
	"first;\n"
	"if the command is killed, run it again. Readers can go on, as with "
	"teeperf-fleet-compact(1),\n"
	"and the same file systems are refused.\n",
    .examples = "teeperf fleet expire --older-than 90d /srv/profiles\n"
		"teeperf fleet expire --keep-last 1000 --dry-run /srv/profiles\n",
    .options = options,
    .run = run,
};
