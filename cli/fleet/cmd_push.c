// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet push: becomes the sender in Python (python/teeperf/push), which puts the runs of a
// fleet into ClickHouse. That calls 'teeperf fleet push :rows DIR TABLE DAY PROGRAM DATABASE' for
// the rows of the runs whose ids are on standard input, sorted.
#define _GNU_SOURCE
#include "fleet/clickhouse.h"
#include "cli/command/command.h"
#include "cli/fleet/push.h"
#include "common/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static struct tp_push_server server;
static const char *database = TP_CLICKHOUSE_DATABASE;
static uint64_t batch = 4 << 20;
static bool quiet;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "to", &server.url, "URL",
	"send to this server, such as http://localhost:8123 or https://db.example.com:8443"),
    TP_OPT_STRING(
	0, "database", &database, "NAME", "the database with the tables (default: teeperf)"),
    TP_OPT_SIZE(
	0, "batch", &batch, "SIZE", "send rows in batches of at least SIZE bytes (default: 4M)"),
    TP_PUSH_SERVER_OPTIONS(server, "the user (default: the server's)", "request"),
    TP_OPT_BOOL('q', "quiet", &quiet, "print no summary"),
    TP_OPT_END,
};

// Keep others from compacting and expiring, until the sender has ended.
static int hold(const char *directory, struct tp_err *err)
{
	char path[TP_FLEET_PATH];
	int code = tp_fleet_check(directory, err);
	if (!code)
		code = tp_fleet_path(path, err, "%s/.compact.lock", directory);
	if (code)
		return code;
	int fd = open(path, O_RDWR | O_CREAT, 0666); // the sender inherits it
	if (fd < 0)
		fd = open(path, O_RDONLY);
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		code = tp_err_set(err, TP_ERR_LIMIT, directory,
		    "another 'teeperf fleet' is compacting or expiring it: wait for it");
	return code;
}

// The ids on standard input.
static int read_ids(struct tp_fleet_names *ids, struct tp_buf *text, struct tp_err *err)
{
	int code = tp_read_all(text, STDIN_FILENO, NULL, "the runs", UINT64_C(1) << 32, err);
	char *rest = NULL;
	for (char *id = code ? NULL : strtok_r(text->data, "\n", &rest); !code && id;
	     id = strtok_r(NULL, "\n", &rest)) {
		if (!tp_fleet_names_add(ids, id))
			code = tp_err_memory(err, NULL);
	}
	return code;
}

static int print_rows(char **words)
{
	struct tp_fleet_place place = {.directory = words[0], .day = words[2], .program = words[3]};
	struct tp_fleet_names ids = {0};
	struct tp_buf text;
	struct tp_err err;
	tp_buf_init(&text);
	for (int id = 0; id < TP_FLEET_TABLES; id++)
		if (strcmp(tp_fleet_tables[id].name, words[1]) == 0)
			place.table = &tp_fleet_tables[id];
	int code = place.table ? read_ids(&ids, &text, &err)
			       : tp_err_set(&err, TP_ERR_NOT_FOUND, words[1], "is no table");
	if (!code)
		code = tp_clickhouse_print(&place, &ids, words[4], &err);
	tp_fleet_names_release(&ids);
	tp_buf_release(&text);
	return code ? tp_command_fail(&err) : TP_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	char size[32];
	struct tp_err err;
	if (argc == 6 && strcmp(argv[0], ":rows") == 0)
		return print_rows(argv + 1);
	if (argc != 1)
		return tp_options_usage("name the fleet's folder");
	if (!server.url)
		return tp_options_usage(
		    "where to? give the server with --to http://localhost:8123");
	const int status = tp_push_server_check(&server, "--to", "--user and --password-file");
	if (status)
		return status;
	if (!tp_clickhouse_is_name(database))
		return tp_options_usage(
		    "--database: '%s' has characters other than letters, digits and '_'", database);
	if (hold(argv[0], &err))
		return tp_command_fail(&err);
	snprintf(size, sizeof(size), "%" PRIu64, batch);
	const char *words[4 + TP_FLEET_TABLES] = {argv[0], database, size, quiet ? "quiet" : NULL};
	// The table of runs is the last.
	for (uint32_t id = 0; id <= TP_FLEET_RUNS; id++)
		words[4 + id] = tp_fleet_tables[id].name;
	return tp_push_become(&server, "fleet", words, 4 + TP_FLEET_RUNS + 1);
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
