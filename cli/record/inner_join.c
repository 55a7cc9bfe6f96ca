// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 'teeperf record --tee' has recorded: the two traces become one.
#include "cli/analyze/open_trace.h"
#include "record.h"

#include <unistd.h>

bool tp_record_inner_join(const char *host, const char *tee, bool quiet, bool *joined)
{
	bool damaged = false;
	*joined = !tp_join_files(host, tee, host, true, quiet, &damaged);
	if (*joined)
		unlink(tee);
	return *joined && !damaged;
}
