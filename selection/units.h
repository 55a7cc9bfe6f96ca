/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers with units that a person writes: shares and times. */
#ifndef TP_UNITS_H
#define TP_UNITS_H

#include "common/err.h"

/* "5%", "2.5 %" or "5" as 0.05; above 0 and at most 1000 %. 0 or TP_ERR_SYNTAX; *err says what is wanted. */
int tp_units_share(const char *text, double *share, struct tp_err *err);

/* "15.5", "15.5ns", "3us", "2ms", "0.7s" in nanoseconds, above 0; a bare number is nanoseconds. */
int tp_units_ns(const char *text, double *ns, struct tp_err *err);

/* The same, from 0 on. */
int tp_units_ns_or_zero(const char *text, double *ns, struct tp_err *err);

/* A number above 0 without a unit. */
int tp_units_number(const char *text, double *number, struct tp_err *err);

#endif
