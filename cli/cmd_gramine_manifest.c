// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf gramine-manifest: the lines by which a Gramine manifest lets a program at its log.
#include "cli/command.h"
#include "recorder/tee.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "/dev/shm/"

static const char *log_file;

static const struct tp_option options[] = {
    {TP_OPTION_STRING, 0, "log", "FILE",
	"the log, as given to record --attach (default: that of record --port gramine)", &log_file,
	NULL},
    {.type = TP_OPTION_END},
};

extern const struct tp_command tp_cmd_gramine_manifest;

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

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	if (!tp_options_parse(&tp_cmd_gramine_manifest, &argc, &argv, true, &status))
		return status;
	if (argc)
		return tp_options_usage(
		    &tp_cmd_gramine_manifest, "unexpected argument '%s'", argv[0]);
	const char *file = log_file ? log_file : tp_tee_find("gramine")->place;
	if (!is_usable(file))
		return tp_options_usage(&tp_cmd_gramine_manifest,
		    "--log: Gramine shares files of " FOLDER
		    " with the host: give one there, of letters, digits, '.', '_' and '-'");
	printf(
	    "# For the manifest of a program that TeePerf profiles. What is there already of these\n"
	    "# arrays stays: add the entries to it. Not for production: whoever runs the enclave sees\n"
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
	return status;
}

const struct tp_command tp_cmd_gramine_manifest = {
    .name = "gramine-manifest",
    .summary = "print what a Gramine manifest needs for recording",
    .usage = "[options]",
    .description =
	"Under Gramine a program sees only the files that its manifest names, and shares memory with\n"
	"the host only where it says so. This prints the lines for the log of 'teeperf record --port\n"
	"gramine', or of a log elsewhere in /dev/shm, as TOML.\n",
    .examples = "teeperf gramine-manifest >>app.manifest.template\n"
		"teeperf gramine-manifest --log /dev/shm/db.log\n",
    .options = options,
    .run = run,
};
