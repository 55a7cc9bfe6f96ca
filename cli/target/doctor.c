// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What 'teeperf doctor' cannot look at without compiler and analyzer. In place of
// cli/doctor/build.c and cli/doctor/program.c.
#include "cli/doctor/doctor.h"
#include "common/chunks/chunk_codec.h"

int tp_doctor_build(bool *good, struct tp_err *err)
{
	(void)good;
	(void)err;
	tp_doctor_show("-", "compiler",
	    "no compiler here: this is a target; programs are built elsewhere, with 'teeperf cc', "
	    "and recorded here");
	if (!tp_packer_is_there())
		tp_doctor_show("-", "zstd",
		    "this teeperf is built without it: 'record --compress' is not available");
	return 0;
}

bool tp_doctor_program(const char *file)
{
	tp_doctor_show("missing", "program",
	    "this teeperf only records and cannot look into '%s': use 'teeperf doctor' of a "
	    "complete TeePerf, on any machine",
	    file);
	return false;
}
