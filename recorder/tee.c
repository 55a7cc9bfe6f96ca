// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of TEEs.
#include "tee.h"

#include <stddef.h>
#include <string.h>

#define TP_TEE(tee) extern const struct tp_tee tee;
#include "tees.inc"
#undef TP_TEE

static const struct tp_tee *const tees[] = {
#define TP_TEE(tee) &tee,
#include "tees.inc"
#undef TP_TEE
    NULL,
};

const struct tp_tee *const *tp_tees(void)
{
	return tees;
}

const struct tp_tee *tp_tee_find(const char *name)
{
	for (const struct tp_tee *const *at = tees; *at; at++)
		if (!strcmp((*at)->name, name))
			return *at;
	return NULL;
}
