/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Linkage names of functions, and their parts. */
#ifndef TP_LINKAGE_NAME_H
#define TP_LINKAGE_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a demangled name; a longer one stays mangled. */
enum { TP_DEMANGLE_MAX = 65536 };

/*
 * The demangled form of NAME, to be freed; NULL if it is not a mangled name, or if it is too long:
 * such names can be made to exhaust memory.
 */
char *tp_demangle(const char *name);

/*
 * Whether a function is from a system header: by its FILE, or, if that is "" as without debug
 * information, by its linkage NAME.
 */
bool tp_is_from_system(const char *file, const char *name);

#endif
