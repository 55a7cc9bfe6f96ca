/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the standard libraries define. */
#ifndef TP_SYSTEM_HEADER_H
#define TP_SYSTEM_HEADER_H

#include <stdbool.h>

/* Whether a function is from a system header: by its FILE, or, if that is "" as without debug information, by
 * its linkage NAME. */
bool tp_is_from_system(const char *file, const char *name);

#endif
