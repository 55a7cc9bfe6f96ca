// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The trace that is meant when none is named.
#include "default_trace.h"

#include <stddef.h>
#include <unistd.h>

int tp_default_trace(const struct tp_command *command, int *argc, char ***argv)
{
	static char name[] = TP_DEFAULT_TRACE;
	static char *names[] = {name, NULL};
	if (*argc)
		return TP_EXIT_DONE;
	if (access(name, F_OK))
		return tp_options_usage(command,
		    "which trace? name its FILE, as there is no '%s', which 'teeperf record' writes, in this folder",
		    name);
	*argc = 1;
	*argv = names;
	return TP_EXIT_DONE;
}
