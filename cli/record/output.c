// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where 'teeperf record' writes to, looked at before anything is started.
#include "record.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool is_null_device(const struct stat *info)
{
	return S_ISCHR(info->st_mode) && info->st_rdev == makedev(1, 3);
}

static bool is_open_on(int fd, const struct stat *output)
{
	struct stat info;
	return fstat(fd, &info) == 0 && info.st_dev == output->st_dev &&
	       info.st_ino == output->st_ino;
}

int tp_record_output_check(const char *output, bool starts, bool quiet, bool *away)
{
	struct stat there;
	*away = false;
	if (strcmp(output, "-") == 0)
		return tp_options_usage(
		    "option '--output' takes no '-' here: name /dev/stdout for standard output, or "
		    "'./-' for a file of this name");
	// A file becomes FILE.old, and whoever has it open writes to that; a link's target does not.
	if (lstat(output, &there) || S_ISREG(there.st_mode) || stat(output, &there) ||
	    is_null_device(&there))
		return TP_EXIT_DONE;
	if (is_open_on(STDERR_FILENO, &there))
		return tp_options_usage(
		    "standard error goes to '%s', too, and what is written there would destroy the trace: "
		    "redirect it, or choose another file",
		    output);
	*away = starts && is_open_on(STDOUT_FILENO, &there);
	if (*away && !quiet)
		tp_command_tell("the trace goes to standard output, so that of the program goes to "
				"standard error\n");
	return TP_EXIT_DONE;
}
