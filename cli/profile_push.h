/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Options of 'teeperf export' that send the output to a server of profiles instead of writing a
 * file.
 */
#ifndef TP_CLI_PROFILE_PUSH_H
#define TP_CLI_PROFILE_PUSH_H

#include "analyzer/fleet/profile_push.h"
#include "analyzer/output/format/export.h"
#include "cli/command/command.h"

/* Starts with server -1 and {0}. */
struct tp_push_options {
	const char *url;
	int server; /* enum tp_profile_server; -1: not said */
	struct tp_option_list labels;
	const char *user;
	const char *password_file;
	const char *token_file;
	const char *tenant;
	const char *ca_file;
	const char *retries;
};

extern const char *const tp_push_servers[];

#define TP_PUSH_OPTIONS(o)                                                              \
	TP_OPT_STRING(0, "push", &(o).url, "URL",                                       \
	    "send pprof output to a profile server, such as http://localhost:4040, "    \
	    "instead of writing a file"),                                               \
	    TP_OPT_CHOICE(0, "server", &(o).server, tp_push_servers, "pyroscope|parca", \
		"the kind of server for --push (default: pyroscope)"),                  \
	    TP_OPT_LIST(0, "label", &(o).labels, "NAME=VALUE",                          \
		"in --push, label the profile, such as environment=canary; can be "     \
		"repeated"),                                                            \
	    TP_OPT_STRING(0, "user", &(o).user, "NAME",                                 \
		"push as this user, with HTTP basic "                                   \
		"authentication"),                                                      \
	    TP_OPT_STRING(0, "password-file", &(o).password_file, "FILE",               \
		"read the password from the first line of FILE"),                       \
	    TP_OPT_STRING(0, "token-file", &(o).token_file, "FILE",                     \
		"read a bearer token from the first line of FILE"),                     \
	    TP_OPT_STRING(0, "tenant", &(o).tenant, "ID",                               \
		"push to this tenant of the server (X-Scope-OrgID)"),                   \
	    TP_OPT_STRING(0, "cacert", &(o).ca_file, "FILE",                            \
		"trust the certificates in FILE instead of the system's"),              \
	    TP_OPT_STRING(0, "retries", &(o).retries, "N",                              \
		"retry a failed push N times, after 0.5, 1, 2, 4 ... 30 seconds (default: 6)")

/* Whether they go together, and with EXPORT. Returns an exit code. */
int tp_push_check(const struct tp_push_options *options, const struct tp_export *export);
/*
 * Have the LABELS in WANTED: those that were given, and those of the trace. Returns an exit code;
 * release them in any case.
 */
int tp_push_label(const struct tp_push_options *options, const struct tp_analysis *analysis,
    struct tp_profile_labels *labels, struct tp_export_options *wanted);
/* Send the export of ANALYSIS. Returns an exit code. */
int tp_push_export(const struct tp_push_options *options, const struct tp_export *export,
    const struct tp_analysis *analysis, const struct tp_export_options *wanted);

#endif
