// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No 'record --budget' here: it takes the symbols of programs. In place of cli/record/budget.c.
#include "cli/record/record.h"

int tp_record_budget_check(struct tp_record_options *options)
{
	return options->budget
		   ? tp_options_usage("this teeperf only records, and has no '--budget': choose "
				      "with '--only'")
		   : 0;
}

void tp_record_budget_tell(const struct tp_session *session, bool quiet)
{
	(void)session;
	(void)quiet;
}
