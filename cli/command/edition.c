// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The texts of the complete command.
#include "command.h"

static const char *const first[] = {"cc", "record", "analyze", "report", "diff", NULL};

const struct tp_edition tp_edition = {
    .summary = "profile functions of programs inside and outside TEEs",
    .start = "Start with:\n"
	     "  teeperf cc -O2 -g -o app app.c\n"
	     "  teeperf record -- ./app\n"
	     "  teeperf analyze teeperf.trace\n",
    .first = first,
    .unknown = "",
    .next = "next: ",
    .no_inventory = "has no inventory",
    .get_inventory = "; build it with 'teeperf cc', or give '--inventory'",
};
