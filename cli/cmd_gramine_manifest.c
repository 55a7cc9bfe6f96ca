// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf gramine-manifest: the lines by which a Gramine manifest lets a program at its log.
#include "cli/analyze/open_trace.h"
#include "cli/command/command.h"
#include "cli/manifest_edit.h"
#include "common/read_all.h"
#include "recorder/tee.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/dev/shm/"
#define MANIFEST_MAX (1 << 20)

static const char *log_file;
static const char *edited;

static const struct tp_option options[] = {
    TP_OPT_STRING(0, "log", &log_file, "FILE",
	"the log given to record --attach (default: the log of record --port gramine)"),
    TP_OPT_STRING(0, "edit", &edited, "FILE", "add missing lines to this manifest or template"),
    TP_OPT_END,
};

// A file right in the folder, whose name needs no quoting anywhere.
static bool is_usable(const char *file)
{
	if (strncmp(file, FOLDER, strlen(FOLDER)) != 0 || !file[strlen(FOLDER)])
		return false;
	for (const char *at = file + strlen(FOLDER); *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
			return false;
	return true;
}

// Put the manifest in its place again, with what the log needs.
static int edit(const char *log)
{
	struct tp_err err;
	struct tp_buf text;
	struct tp_buf changed;
	tp_buf_init(&text);
	tp_buf_init(&changed);
	const int fd = open(edited, O_RDONLY | O_CLOEXEC);
	int code = fd < 0 ? tp_err_system(&err, errno, edited, "cannot read it") : 0;
	if (!code)
		code = tp_read_all(&text, fd, edited, "the manifest", MANIFEST_MAX, &err);
	if (fd >= 0)
		close(fd);
	if (!code && strlen(text.data) != text.size)
		code = tp_err_set_at(
		    &err, TP_ERR_FORMAT, edited, strlen(text.data), "not a text file");
	if (!code)
		code = tp_manifest_edit(&changed, text.data, edited, log, &err);
	if (!code && (text.failed || changed.failed))
		code = tp_err_memory(&err, NULL);
	int status = code ? tp_command_fail(&err) : TP_EXIT_DONE;
	if (!code && strcmp(text.data, changed.data) == 0)
		tp_command_tell("'%s' already has all lines\n", edited);
	else if (!code)
		status = tp_write_out(&changed, edited);
	tp_buf_release(&text);
	tp_buf_release(&changed);
	return status;
}

static int run(int argc, char **argv)
{
	if (argc)
		return tp_options_usage("unexpected argument '%s'", argv[0]);
	const char *file = log_file ? log_file : tp_tee_find("gramine")->place;
	if (!is_usable(file))
		return tp_options_usage(
		    "--log: Gramine shares files of " FOLDER
		    " with the host: give one there, of letters, digits, '.', '_' and '-'");
	if (edited)
		return edit(file);
	printf(
	    "# For the manifest of a program that TeePerf profiles. If it already has these\n"
	    "# arrays, add the entries to them. Not for production: whoever runs the enclave sees\n"
	    "# in the log when it calls which function.\n"
	    "fs.mounts = [\n"
	    "  { type = \"untrusted_shm\", path = \"/dev/shm\", uri = \"dev:/dev/shm\" },\n"
	    "]\n"
	    "# Its contents are the host's, and not measured.\n"
	    "sgx.allowed_files = [\n"
	    "  \"dev:%s\",\n"
	    "]\n"
	    "loader.env.TEEPERF_LOG = \"%s\"\n"
	    "# The runtime starts no thread: sgx.max_threads stays as it is.\n",
	    file, file);
	return TP_EXIT_DONE;
}

const struct tp_command tp_cmd_gramine_manifest = {
    .name = "gramine-manifest",
    .summary = "print the lines that recording needs in a Gramine manifest",
    .usage = "[options]",
    .operands = TP_OPERANDS_NONE,
    .description =
	"Under Gramine, a program sees only the files that its manifest names, "
	"and shares memory with\n"
	"the host only where the manifest allows it. This command prints the lines for the log of\n"
	"'teeperf record --port gramine', or of another log in /dev/shm, as TOML, "
	"or adds them to an\n"
	"existing manifest. If a manifest has mounts of its own, "
	"the arrays must be merged; --edit\n"
	"does that.\n",
    .examples = "teeperf gramine-manifest --edit app.manifest.template\n"
		"teeperf gramine-manifest --log /dev/shm/db.log\n",
    .options = options,
    .run = run,
};
