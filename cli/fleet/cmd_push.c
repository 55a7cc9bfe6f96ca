// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet push: put the runs of a fleet into ClickHouse.
#include "analyzer/fleet/clickhouse.h"
#include "analyzer/fleet/push.h"
#include "cli/command/command.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const char *to;
static const char *database = TP_CLICKHOUSE_DATABASE;
static const char *user;
static const char *password_file;
static const char *ca_file;
static const char *retries;
static uint64_t batch = 4 << 20;
static bool quiet;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "to", &to, "URL",
	"send to this server, such as http://localhost:8123 or https://db.example.com:8443"),
    TP_OPT_STRING(
	0, "database", &database, "NAME", "the database with the tables (default: teeperf)"),
    TP_OPT_STRING(0, "user", &user, "NAME", "the user (default: the server's)"),
    TP_OPT_STRING(0, "password-file", &password_file, "FILE",
	"read the password from the first line of FILE"),
    TP_OPT_STRING(
	0, "cacert", &ca_file, "FILE", "trust the certificates in FILE instead of the system's"),
    TP_OPT_SIZE(
	0, "batch", &batch, "SIZE", "send rows in batches of at least SIZE bytes (default: 4M)"),
    TP_OPT_STRING(0, "retries", &retries, "N",
	"retry a failed request N times, after 0.5, 1, 2, 4 ... 30 seconds (default: 6)"),
    TP_OPT_BOOL('q', "quiet", &quiet, "print no summary"),
    TP_OPT_END,
};

static void tell_each(void *context, const char *day, const char *program, uint64_t runs,
    uint64_t rows, uint64_t rest)
{
	char shown[PATH_MAX];
	(void)context;
	if (quiet)
		return;
	tp_command_tell("%s, '%s': %" PRIu64 " runs, %" PRIu64 " rows", day,
	    tp_shown_name(shown, program), runs, rows);
	if (rest)
		fprintf(stderr, "; %" PRIu64 " of its runs left", rest);
	fputc('\n', stderr);
}

static void tell_retry(void *context, const struct tp_err *err, double seconds)
{
	(void)context;
	tp_command_warn("%s: retrying in %g seconds", err->what, seconds);
}

static bool is_header_text(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

static int check_options(int argc, uint64_t *tries)
{
	if (argc != 1)
		return tp_options_usage("name the fleet's folder");
	if (!to)
		return tp_options_usage(
		    "where to? give the server with --to http://localhost:8123");
	if (strncmp(to, "http://", 7) != 0 && strncmp(to, "https://", 8) != 0)
		return tp_options_usage("--to: '%s' does not begin with http:// or https://", to);
	if (strpbrk(to, "@?#") || !is_header_text(to))
		return tp_options_usage(
		    "--to: a server's address has no user and no '?': use --user and "
		    "--password-file");
	if (!tp_clickhouse_is_name(database))
		return tp_options_usage(
		    "--database: '%s' has characters other than letters, digits and '_'", database);
	if (user && !is_header_text(user))
		return tp_options_usage("--user: the name has a control character");
	if (password_file && !user)
		return tp_options_usage("--password-file needs --user");
	if (retries && (!tp_parse_limit(retries, 0, tries) || *tries > 1000))
		return tp_options_usage("--retries: '%s' is not a number from 0 to 1000", retries);
	return TP_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct tp_fleet_pushed pushed;
	struct tp_err err;
	uint64_t tries = 6;
	const int status = check_options(argc, &tries);
	if (status)
		return status;
	const struct tp_fleet_push push = {
	    .directory = argv[0],
	    .url = to,
	    .database = database,
	    .user = user,
	    .password_file = password_file,
	    .ca_file = ca_file,
	    .batch_bytes = batch,
	    .retries = (uint32_t)tries,
	    .each = tell_each,
	    .retry = tell_retry,
	};
	const int code = tp_fleet_push_runs(&push, &pushed, &err);
	if (!quiet)
		tp_command_tell("pushed %" PRIu64 " runs: %" PRIu64 " rows in %" PRIu64
				" bytes, %" PRIu64 " requests; %" PRIu64 " were already there\n",
		    pushed.runs, pushed.rows, pushed.bytes, pushed.requests, pushed.already);
	return code ? tp_command_fail(&err) : TP_EXIT_DONE;
}

const struct tp_command tp_fleet_push = {
    .name = "fleet push",
    .summary = "copy the runs of a fleet to ClickHouse",
    .usage = "--to URL [options] DIR",
    .operands = TP_OPERANDS_FOLDERS,
    .description =
	"Send the runs in the folder DIR that the server does not have to its tables, over HTTP "
	"or\n"
	"HTTPS. 'teeperf fleet schema clickhouse' creates these tables. DIR does not change.\n"
	"\n"
	"Pushing a run twice stores it once. If a push fails or is killed, push again: rows of\n"
	"incomplete runs are replaced. Until the server has merged its files, such rows exist "
	"twice:\n"
	"query with FINAL, as the statements in docs/fleet.md do.\n"
	"\n"
	"Without https, others can read the password and the rows in transit.\n",
    .examples = "teeperf fleet schema clickhouse | clickhouse-client --multiquery\n"
		"teeperf fleet push --to http://localhost:8123 /srv/profiles\n"
		"teeperf fleet push --to https://db.example.com:8443 --user fleet --password-file "
		"~/.fleet-password /srv/profiles\n",
    .options = options,
    .run = run,
};
