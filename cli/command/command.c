// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How commands report errors and warnings.
#include "command.h"

#include "common/clean.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

// Whether the error has a place in a text file that is there.
static bool has_place(const struct tp_err *err)
{
	return err->line && access(err->file, F_OK) == 0;
}

int tp_command_fail(const struct tp_command *command, const struct tp_err *err)
{
	char text[TP_ERR_TEXT_SIZE];
	if (has_place(err))
		tp_command_tell_place(err, "error");
	else
		fprintf(stderr, "teeperf %s: %s\n", command->name,
		    tp_err_render(err, text, sizeof(text)));
	return TP_EXIT_FAILED;
}

void tp_command_tell_place(const struct tp_err *err, const char *severity)
{
	char text[TP_ERR_TEXT_SIZE];
	char place[sizeof(err->file) + 32];
	snprintf(
	    place, sizeof(place), "%s:%" PRIu32 ":%" PRIu32 ":", err->file, err->line, err->column);
	tp_clean(place, strlen(place));
	struct tp_err message = *err;
	message.file[0] = '\0';
	fprintf(
	    stderr, "%s %s: %s\n", place, severity, tp_err_render(&message, text, sizeof(text)));
}

void tp_command_warn(const struct tp_command *command, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "teeperf %s: warning: ", command->name);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

void tp_command_drop_output(void)
{
	__fpurge(stdout);
	clearerr(stdout);
}
