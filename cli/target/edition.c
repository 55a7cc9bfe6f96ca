// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The texts of the recorder for targets; in place of cli/command/edition.c.
#include "cli/command/command.h"

static const char *const first[] = {"record", "ctl", "recover", NULL};

const struct tp_edition tp_edition = {
    .summary = "record functions of programs on this target",
    .start = "This teeperf only records. The complete TeePerf has all other commands: "
	     "build the program with it\n"
	     "before, and copy the trace back to it.\n",
    .first = first,
    .unknown = "This teeperf only records: the complete TeePerf has all other commands.\n",
    .next = "next, with a complete TeePerf: ",
    .no_inventory = "cannot be read by this teeperf, which only records",
    .get_inventory = "",
};
