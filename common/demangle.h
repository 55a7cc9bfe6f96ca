/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* C++ names as people write them. */
#ifndef TP_DEMANGLE_H
#define TP_DEMANGLE_H

#include <stdint.h>

/* Bytes of a demangled name; what would be longer stays mangled. */
enum { TP_DEMANGLE_MAX = 65536 };

/*
 * The demangled form of NAME, to be freed; NULL if it is not a mangled name, or one that is too long, as
 * can be made to exhaust memory.
 */
char *tp_demangle(const char *name);

#endif
