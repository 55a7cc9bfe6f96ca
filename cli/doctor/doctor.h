/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What `teeperf doctor` looks at, one file each; each thing found is one line, with the remedy
 * behind it.
 */
#ifndef TP_DOCTOR_H
#define TP_DOCTOR_H

#include "common/err.h"

#include <stdbool.h>

/* MARK is "ok", "-", "wrong" or "missing" (docs/man/teeperf-doctor.1). */
void tp_doctor_show(const char *mark, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Compilers, plugins and the runtime. *GOOD becomes false if one is missing that is needed. 0 or a
 * tp_error.
 */
int tp_doctor_build(bool *good, struct tp_err *err);

/*
 * The TEEs that the system with its root in folder ROOT ("" for this one) has, or is inside of:
 * which clock is legal there, and how a log gets out.
 */
void tp_doctor_tees(const char *root);

/* Whether FILE can be recorded and its functions named. False: it cannot be recorded. */
bool tp_doctor_program(const char *file);

#endif
