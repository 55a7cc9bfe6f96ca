/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* C++ names as people write them. */
#ifndef TP_DEMANGLE_H
#define TP_DEMANGLE_H

/* The demangled form of NAME, to be freed; NULL if it is not a mangled name. */
char *tp_demangle(const char *name);

#endif
