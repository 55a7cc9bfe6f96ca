// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// perf.data as text: runs perf, which alone knows all versions of its format.
#include "perf_report.h"

#include "common/process.h"

#include <errno.h>

int tp_perf_report(const char *file, struct tp_buf *report, struct tp_err *err)
{
	// A setting of the user's must not hide functions or demangle names.
	const char *const argv[] = {"perf", "report", "--stdio", "--no-children", "-g", "none",
	    "--no-demangle", "--percent-limit", "0", "-F", "sample,sym", "-t", "\t", "-i", file,
	    NULL};
	int status = 0;
	const int code =
	    tp_process_run(&(struct tp_program){.argv = argv, .output = report}, &status);
	if (code == ENOENT)
		return tp_err_set(err, TP_ERR_SYSTEM, file, TP_ERR_NO_OFFSET,
		    "is read by perf, which is not installed: install it (Debian: linux-perf), or "
		    "give lines 'NAME<TAB>SAMPLES' instead");
	if (code)
		return tp_err_system(err, code, file, "cannot run perf to read it");
	if (report->failed)
		return tp_err_set(
		    err, TP_ERR_MEMORY, file, TP_ERR_NO_OFFSET, "no memory for perf's report");
	if (status)
		return tp_err_set(err, TP_ERR_SYSTEM, file, TP_ERR_NO_OFFSET,
		    "perf cannot read it: see what 'perf report -i %s' says", file);
	return 0;
}
