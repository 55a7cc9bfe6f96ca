// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How commands report errors and warnings.
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>

int tp_command_fail(const struct tp_command *command, const struct tp_err *err)
{
	char text[TP_ERR_TEXT_SIZE];
	fprintf(stderr, "teeperf %s: %s\n", command->name, tp_err_render(err, text, sizeof(text)));
	return TP_EXIT_FAILED;
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
