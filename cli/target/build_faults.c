// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No look at how a program was built, which takes libelf. In place of symbols/build_faults.c.
#include "analyzer/symbols/build_faults.h"

#include <stddef.h>

void tp_build_faults_read(struct tp_build_faults *faults, const char *path)
{
	(void)path;
	*faults = (struct tp_build_faults){0};
}

char *tp_build_faults_text(const struct tp_build_faults *faults, int i)
{
	(void)faults;
	(void)i;
	return NULL;
}
