// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts the sender in Python, and gives it what 'teeperf export' makes.
#define _GNU_SOURCE
#include "cli/fleet/push.h"

#include "analyzer/trace/tracefile.h"
#include "cli/driver/driver.h"
#include "common/array.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const tp_push_servers[] = {"pyroscope", "parca", NULL};

// ---- the server

static bool is_header_text(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

int tp_push_server_check(const struct tp_push_server *server, const char *option, const char *use)
{
	const char *url = server->url;
	uint64_t retries;
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return tp_options_usage(
		    "%s: '%s' does not begin with http:// or https://", option, url);
	if (strpbrk(url, "@?#") || !is_header_text(url))
		return tp_options_usage(
		    "%s: a server's address has no user and no '?': use %s", option, use);
	if (server->user && !is_header_text(server->user))
		return tp_options_usage("--user: the name has a control character");
	if (server->password_file && !server->user)
		return tp_options_usage("--password-file needs --user");
	if (server->retries && (!tp_parse_limit(server->retries, 0, &retries) || retries > 1000))
		return tp_options_usage(
		    "--retries: '%s' is not a number from 0 to 1000", server->retries);
	return TP_EXIT_DONE;
}

int tp_push_become(
    const struct tp_push_server *server, const char *kind, const char *const *words, uint32_t count)
{
	const char *const first[] = {server->url, server->user, server->password_file,
	    server->ca_file, server->retries ? server->retries : "6", kind};
	enum { FIRST = sizeof(first) / sizeof(first[0]) };
	const char **all = calloc(FIRST + (size_t)count + 1, sizeof(*all));
	struct tp_err err;
	for (uint32_t i = 0; all && i < FIRST + count; i++) {
		const char *word = i < FIRST ? first[i] : words[i - FIRST];
		all[i] = word ? word : "";
	}
	if (all)
		tp_driver_python("push", all, &err);
	else
		tp_err_memory(&err, NULL);
	free(all);
	return tp_command_fail(&err);
}

// ---- options of export

// "NAME=VALUE" with a name of letters, digits and '_' that does not begin with a digit, as all of
// these servers take it, and a value.
static bool is_label(const char *label)
{
	const size_t length = strcspn(label, "=");
	const size_t plain =
	    strspn(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return length && plain == length && (*label < '0' || *label > '9') &&
	       label[length] == '=' && label[length + 1];
}

static int check_labels(const struct tp_option_list *labels)
{
	for (uint32_t i = 0; i < labels->count; i++) {
		const char *label = labels->items[i];
		if (!is_label(label))
			return tp_options_usage(
			    "--label: '%s' is not of the form NAME=VALUE, such as "
			    "environment=canary; a name has letters, digits and '_'",
			    label);
		for (uint32_t j = 0; j < i; j++)
			if (strncmp(label, labels->items[j], strcspn(label, "=") + 1) == 0)
				return tp_options_usage("--label: '%.*s' is given twice",
				    (int)strcspn(label, "="), label);
	}
	return TP_EXIT_DONE;
}

int tp_push_check(const struct tp_push_options *options, const struct tp_export *export)
{
	if (!options->server.url)
		return TP_EXIT_DONE;
	if (!export->pushed)
		return tp_options_usage(
		    "--push: profile servers do not accept '%s': give --format pprof",
		    export->name);
	int status = tp_push_server_check(
	    &options->server, "--push", "--user and --password-file, or --token-file");
	if (!status)
		status = check_labels(&options->labels);
	if (status)
		return status;
	if (options->server.user && strchr(options->server.user, ':'))
		return tp_options_usage("--user: the name has a ':', which HTTP cannot send");
	if (options->tenant && !is_header_text(options->tenant))
		return tp_options_usage("--tenant: '%s' has a control character", options->tenant);
	if (options->token_file && options->server.user)
		return tp_options_usage("--token-file and --user cannot be combined");
	return TP_EXIT_DONE;
}

// ---- profiles

// Have PROFILE on standard input.
static int put_input(const struct tp_buf *profile, struct tp_err *err)
{
	const int fd = memfd_create("profile", MFD_CLOEXEC);
	size_t sent = 0;
	ssize_t size = 0;
	while (fd >= 0 && sent < profile->size && size >= 0) {
		size = write(fd, profile->data + sent, profile->size - sent);
		sent += size > 0 ? (size_t)size : 0;
	}
	if (fd < 0 || size < 0 || lseek(fd, 0, SEEK_SET) || dup2(fd, STDIN_FILENO) < 0)
		return tp_err_system(err, errno, NULL, "cannot hand over the profile");
	close(fd);
	return 0;
}

// A label of the trace, which one that was given overrides.
static bool add_label(const struct tp_option_list *given, const char **words, uint32_t *count,
    const char *name, const char *value, char **item)
{
	const size_t size = strlen(name);
	*item = NULL;
	for (uint32_t i = 0; i < given->count; i++)
		if (strncmp(given->items[i], name, size) == 0 && given->items[i][size] == '=')
			return true;
	if (*value && asprintf(item, "%s=%s", name, value) < 0)
		return false;
	if (*item)
		words[(*count)++] = *item;
	return true;
}

int tp_push_export(const struct tp_push_options *options, const struct tp_export *export,
    const struct tp_analysis *analysis, const struct tp_export_options *wanted)
{
	const struct tp_option_list *given = &options->labels;
	const char **words = calloc((size_t)given->count + 5, sizeof(*words));
	char *program = NULL;
	char *machine = NULL;
	char host[256];
	uint32_t count = 0;
	struct tp_buf profile;
	struct tp_err err;
	tp_buf_init(&profile);
	int code = tp_export_render(export, analysis, wanted, &profile, &err);
	if (!tp_tracefile_host(analysis->trace, "host", host, sizeof(host)))
		*host = '\0';
	if (!code && words) {
		words[count++] = tp_push_servers[options->kind < 0 ? 0 : options->kind];
		words[count++] = options->token_file;
		words[count++] = options->tenant;
		for (uint32_t i = 0; i < given->count; i++)
			words[count++] = given->items[i];
	}
	if (!code && (!words || profile.failed ||
			 !add_label(given, words, &count, "service_name",
			     tp_tracefile_program(analysis->trace), &program) ||
			 !add_label(given, words, &count, "host", host, &machine)))
		code = tp_err_memory(&err, NULL);
	if (!code)
		code = put_input(&profile, &err);
	const int status =
	    code ? tp_command_fail(&err) : tp_push_become(&options->server, "export", words, count);
	tp_buf_release(&profile);
	free(words);
	free(program);
	free(machine);
	return status;
}
