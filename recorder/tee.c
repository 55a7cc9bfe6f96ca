// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of TEEs.
#include "tee.h"

#include <stddef.h>
#include <string.h>

#define TP_HINTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define TP_PORT(port, kind, machines, files, ...) \
	{.name = #port, .runtime = TP_TEE_RUNTIME_##kind, __VA_ARGS__},

static const struct tp_tee tees[] = {
#include "runtime/ports.def"
    {0},
};

const struct tp_tee *tp_tees(void)
{
	return tees;
}

const struct tp_tee *tp_tee_find(const char *name)
{
	for (const struct tp_tee *at = tees; at->name; at++)
		if (!strcmp(at->name, name))
			return at;
	return NULL;
}
