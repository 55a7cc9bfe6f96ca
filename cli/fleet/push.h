/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What 'teeperf fleet push' and 'teeperf export --push' have in common: the server, and that both
 * become the sender in Python (python/teeperf/push); and the options of the latter.
 */
#ifndef TP_CLI_FLEET_PUSH_H
#define TP_CLI_FLEET_PUSH_H

#include "analyzer/output/format/export.h"
#include "cli/command/command.h"

/* How to reach a server, as it was given. */
struct tp_push_server {
	const char *url;
	const char *user;
	const char *password_file;
	const char *ca_file;
	const char *retries;
};

#define TP_PUSH_SERVER_OPTIONS(o, user_help, retries_help)                 \
	TP_OPT_STRING(0, "user", &(o).user, "NAME", user_help),            \
	    TP_OPT_STRING(0, "password-file", &(o).password_file, "FILE",  \
		"read the password from the first line of FILE"),          \
	    TP_OPT_STRING(0, "cacert", &(o).ca_file, "FILE",               \
		"trust the certificates in FILE instead of the system's"), \
	    TP_OPT_STRING(0, "retries", &(o).retries, "N",                 \
		"retry a failed " retries_help                             \
		" N times, after 0.5, 1, 2, 4 ... 30 seconds (default: 6)")

/*
 * Whether it can be reached; OPTION is "--to" or "--push", USE what to give instead of a user in
 * the address. Returns an exit code.
 */
int tp_push_server_check(const struct tp_push_server *server, const char *option, const char *use);
/*
 * Become the sender of KIND ("fleet" or "export") with the arguments WORDS, of which NULL is none.
 * Returns an exit code.
 */
int tp_push_become(const struct tp_push_server *server, const char *kind, const char *const *words,
    uint32_t count);

/* Starts with kind -1 and {0}. */
struct tp_push_options {
	struct tp_push_server server;
	int kind; /* which of tp_push_servers; -1: not said */
	struct tp_option_list labels;
	const char *token_file;
	const char *tenant;
};

extern const char *const tp_push_servers[];

#define TP_PUSH_OPTIONS(o)                                                            \
	TP_OPT_STRING(0, "push", &(o).server.url, "URL",                              \
	    "send pprof output to a profile server, such as http://localhost:4040, "  \
	    "instead of writing a file"),                                             \
	    TP_OPT_NEEDS("--push"),                                                   \
	    TP_OPT_CHOICE(0, "server", &(o).kind, tp_push_servers, "pyroscope|parca", \
		"the kind of server for --push (default: pyroscope)"),                \
	    TP_OPT_LIST(0, "label", &(o).labels, "NAME=VALUE",                        \
		"in --push, label the profile, such as environment=canary; can be "   \
		"repeated"),                                                          \
	    TP_OPT_STRING(0, "token-file", &(o).token_file, "FILE",                   \
		"read a bearer token from the first line of FILE"),                   \
	    TP_OPT_STRING(0, "tenant", &(o).tenant, "ID",                             \
		"push to this tenant of the server (X-Scope-OrgID)"),                 \
	    TP_PUSH_SERVER_OPTIONS(                                                   \
		(o).server, "push as this user, with HTTP basic authentication", "push")

/* Whether they go together, and with EXPORT. Returns an exit code. */
int tp_push_check(const struct tp_push_options *options, const struct tp_export *export);
/* Send the export of ANALYSIS. Returns an exit code. */
int tp_push_export(const struct tp_push_options *options, const struct tp_export *export,
    const struct tp_analysis *analysis, const struct tp_export_options *wanted);

#endif
