// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place of run.c and screen.c where ncurses is not there.
#include "run.h"

int tp_tui_run(const char *what, const struct tp_tui_options *options)
{
	(void)options;
	return tp_command_refuse(TP_ERR_NOT_FOUND, what,
	    "this teeperf was built without ncurses, which draws on terminals: install it (package "
	    "libncurses-dev) and build again, or use 'teeperf analyze' or 'teeperf report'");
}
