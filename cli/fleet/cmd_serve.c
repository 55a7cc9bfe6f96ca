// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet serve: a web page over a fleet.
#include "fleet/serve/serve.h"
#include "cli/command/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *listen_at = "127.0.0.1";
static struct tp_option_list hosts;
static uint64_t memory = UINT64_C(1) << 30;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "listen", &listen_at, "HOST[:PORT]",
	"listen on this name or address, such as [::1]:8000; without PORT, on a free port "
	"(default: 127.0.0.1)"),
    TP_OPT_LIST(
	0, "host", &hosts, "NAME", "also answer requests for the host NAME; can be repeated"),
    TP_OPT_SIZE(0, "memory", &memory, "SIZE", "cache at most SIZE bytes of sums (default: 1G)"),
    TP_OPT_END,
};

// HOST is made of TEXT, which stays.
static int parse_place(char *host, size_t size, uint16_t *port, const char *text)
{
	const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *colon = end ? (end[1] == ':' ? end + 1 : NULL) : strrchr(text, ':');
	const char *from = end ? text + 1 : text;
	const size_t length = end     ? (size_t)(end - from)
			      : colon ? (size_t)(colon - from)
				      : strlen(from);
	const bool tail = end && end[1] && end[1] != ':';
	*port = 0;
	if (!length || length >= size || tail || (text[0] == '[' && !end) ||
	    (!end && colon && strchr(text, ':') != colon))
		return tp_options_usage(
		    "--listen: '%s' is not of the form HOST:PORT, such as 127.0.0.1:8000 or "
		    "[::1]:8000",
		    text);
	memcpy(host, from, length);
	host[length] = '\0';
	if (colon) {
		char *behind;
		const unsigned long number = strtoul(colon + 1, &behind, 10);
		if (behind == colon + 1 || *behind || number > 65535)
			return tp_options_usage("--listen: '%s' is not a port", colon + 1);
		*port = (uint16_t)number;
	}
	return TP_EXIT_DONE;
}

static int serve_until_told(struct tp_serve *serve, const sigset_t *signals, const char *directory)
{
	const struct timespec second = {.tv_sec = 1};
	int signal = -1;
	// Scripts read the line, so it is there before the first request.
	printf("%s\n", tp_serve_url(serve));
	if (fflush(stdout) != 0)
		return tp_command_refuse(TP_ERR_SYSTEM, NULL, "cannot write to standard output");
	tp_command_tell("serving %s until Ctrl-C\n", directory);
	if (tp_serve_is_open(serve))
		tp_command_warn(
		    "anyone who can reach this address can read the fleet: it has no password and "
		    "no TLS");
	while (signal != SIGINT && signal != SIGTERM && signal != SIGHUP) {
		signal = sigtimedwait(signals, NULL, &second);
		tp_serve_tend(serve);
	}
	return TP_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct tp_serve *serve = NULL;
	struct tp_serve_options serve_options = {.memory_limit = memory};
	struct tp_err err;
	char host[256];
	sigset_t signals;
	if (argc != 1)
		return tp_options_usage("name the fleet's folder");
	int status = parse_place(host, sizeof(host), &serve_options.port, listen_at);
	if (status)
		return status;
	serve_options.directory = argv[0];
	serve_options.host = host;
	serve_options.names = hosts.items;
	serve_options.name_count = hosts.count;
	serve_options.memory_limit = memory;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	// A fleet on a slow disk is read for long: until it serves, Ctrl-C ends it at once.
	const int code = tp_serve_start(&serve, &serve_options, &err);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	status = code ? tp_command_fail(&err) : serve_until_told(serve, &signals, argv[0]);
	// A second Ctrl-C does not wait for answers that are being made.
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	tp_serve_stop(serve);
	return status;
}

const struct tp_command tp_fleet_serve = {
    .name = "fleet serve",
    .summary = "show a fleet in a browser",
    .usage = "[options] DIR",
    .description =
	"Serve a web page about the fleet in DIR, and print its address: runs over time, the flame "
	"graph\n"
	"and functions of a set of runs, a comparison of two sets with a test of significance, and "
	"a\n"
	"function's history. docs/fleet.md describes the JSON behind it.\n"
	"\n"
	"Only this machine can reach the page, unless --listen says otherwise. The server writes\n"
	"nothing, and reads only the tables in DIR. Reload the page to see runs added meanwhile.\n",
    .examples =
	"teeperf fleet serve /srv/profiles\n"
	"teeperf fleet serve --listen 127.0.0.1:8000 /srv/profiles\n"
	"ssh -L 8000:127.0.0.1:8000 server.example.com teeperf fleet serve --listen 127.0.0.1:8000 "
	"/srv/profiles\n",
    .options = options,
    .run = run,
};
