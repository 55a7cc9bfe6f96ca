// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sends what 'teeperf export' makes to a server of profiles.
#include "cli/profile_push.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { RETRIES = 6 };

const char *const tp_push_servers[] = {
    [TP_PROFILE_PYROSCOPE] = "pyroscope",
    [TP_PROFILE_PARCA] = "parca",
    NULL,
};

static bool is_header_text(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

static int check_url(const char *url)
{
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return tp_options_usage(
		    "--push: '%s' does not begin with http:// or https://", url);
	if (strpbrk(url, "@?#") || !is_header_text(url))
		return tp_options_usage(
		    "--push: a server's address has no user and no '?': use --user and "
		    "--password-file, or --token-file");
	return TP_EXIT_DONE;
}

static int check_labels(const struct tp_option_list *labels)
{
	for (uint32_t i = 0; i < labels->count; i++) {
		const char *label = labels->items[i];
		if (!tp_profile_label_check(label))
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

// Options that mean nothing without --push.
static int check_alone(const struct tp_push_options *options)
{
	const char *given = options->labels.count    ? "label"
			    : options->server >= 0   ? "server"
			    : options->user          ? "user"
			    : options->password_file ? "password-file"
			    : options->token_file    ? "token-file"
			    : options->tenant        ? "tenant"
			    : options->ca_file       ? "cacert"
			    : options->retries       ? "retries"
						     : NULL;
	return given ? tp_options_usage("--%s needs --push URL", given) : TP_EXIT_DONE;
}

int tp_push_check(const struct tp_push_options *options, const struct tp_export *export)
{
	uint64_t retries;
	if (!options->url)
		return check_alone(options);
	if (!export->pushed)
		return tp_options_usage(
		    "--push: profile servers do not accept '%s': give --format pprof",
		    export->name);
	int status = check_url(options->url);
	if (!status)
		status = check_labels(&options->labels);
	if (status)
		return status;
	if (options->user && (strchr(options->user, ':') || !is_header_text(options->user)))
		return tp_options_usage(
		    "--user: the name has a ':' or a control character, which HTTP cannot send");
	if (options->tenant && !is_header_text(options->tenant))
		return tp_options_usage("--tenant: '%s' has a control character", options->tenant);
	if (options->password_file && !options->user)
		return tp_options_usage("--password-file needs --user");
	if (options->token_file && options->user)
		return tp_options_usage("--token-file and --user cannot be combined");
	if (options->retries && (!tp_parse_limit(options->retries, 0, &retries) || retries > 1000))
		return tp_options_usage(
		    "--retries: '%s' is not a number from 0 to 1000", options->retries);
	return TP_EXIT_DONE;
}

static void tell_retry(void *context, const struct tp_err *err, double seconds)
{
	(void)context;
	tp_command_warn("%s: retrying in %g seconds", err->what, seconds);
}

static int send_profile(const struct tp_push_options *options,
    const struct tp_export_options *wanted, const struct tp_buf *profile, struct tp_err *err)
{
	struct tp_profile_pushed pushed;
	uint64_t retries = RETRIES;
	if (options->retries)
		tp_parse_limit(options->retries, 0, &retries);
	const struct tp_profile_push push = {
	    .server = options->server < 0 ? TP_PROFILE_PYROSCOPE
					  : (enum tp_profile_server)options->server,
	    .url = options->url,
	    .labels = wanted->labels,
	    .label_count = wanted->label_count,
	    .user = options->user,
	    .password_file = options->password_file,
	    .token_file = options->token_file,
	    .tenant = options->tenant,
	    .ca_file = options->ca_file,
	    .retries = (uint32_t)retries,
	    .retry = tell_retry,
	};
	const int code = tp_profile_push(&push, profile, &pushed, err);
	if (!code)
		tp_command_tell(
		    "pushed %" PRIu64 " bytes to '%s'\n", pushed.bytes, pushed.url.data);
	tp_profile_pushed_release(&pushed);
	return code;
}

int tp_push_label(const struct tp_push_options *options, const struct tp_analysis *analysis,
    struct tp_profile_labels *labels, struct tp_export_options *wanted)
{
	struct tp_err err;
	const int code = tp_profile_labels_init(
	    labels, analysis, options->labels.items, options->labels.count, &err);
	wanted->labels = (const char *const *)labels->items;
	wanted->label_count = labels->count;
	return code ? tp_command_fail(&err) : TP_EXIT_DONE;
}

int tp_push_export(const struct tp_push_options *options, const struct tp_export *export,
    const struct tp_analysis *analysis, const struct tp_export_options *wanted)
{
	struct tp_buf profile;
	struct tp_err err;
	tp_buf_init(&profile);
	int code = tp_export_render(export, analysis, wanted, &profile, &err);
	if (!code && profile.failed)
		code = tp_err_memory(&err, NULL);
	if (!code)
		code = send_profile(options, wanted, &profile, &err);
	tp_buf_release(&profile);
	return code ? tp_command_fail(&err) : TP_EXIT_DONE;
}
