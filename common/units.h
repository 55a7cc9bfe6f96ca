/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Numbers with units, as people read and write them. Printed text goes into TEXT, which is
 * returned. The rounding of each kind must not change, because users compare the results.
 */
#ifndef TP_UNITS_H
#define TP_UNITS_H

#include <stdbool.h>

#include "common/err.h"

#define TP_TEXT_NUMBER 32 /* room for any number below */

/* "0", "123 ns", "1.234 us", "12.35 ms", ...: four significant digits. */
char *tp_text_ns(char text[TP_TEXT_NUMBER], uint64_t ns);
/* The same; below a microsecond with a fraction: "12.3 ns". */
char *tp_text_ns_real(char text[TP_TEXT_NUMBER], double ns);
/* "1.234 s", "12.35 ms", "12.35 us", "12.3 ns": as many decimals for each unit. */
char *tp_text_ns_fixed(char text[TP_TEXT_NUMBER], double ns);
/* A count of ticks or calls with thin groups: "1,234,567". */
char *tp_text_count(char text[TP_TEXT_NUMBER], uint64_t count);
/* From ten millions on in millions: "12.3 M". */
char *tp_text_count_short(char text[TP_TEXT_NUMBER], uint64_t count);
/* "1.2 MiB". */
char *tp_text_bytes(char text[TP_TEXT_NUMBER], double bytes);
/* "12.3%", below 1 % "0.12%". */
char *tp_text_share(char text[TP_TEXT_NUMBER], double share);
/* With decimals only where there are any: "5%". */
char *tp_text_share_exact(char text[TP_TEXT_NUMBER], double share);

/* The word that goes with COUNT things. */
static inline const char *tp_by_count(uint64_t count, const char *one, const char *more)
{
	return count == 1 ? one : more;
}
/* The end of a noun: "" or "s". */
static inline const char *tp_plural(uint64_t count)
{
	return tp_by_count(count, "", "s");
}

/*
 * "5%", "2.5 %" or "5" as 0.05; above 0 and at most 1000 %. 0 or TP_ERR_SYNTAX; *err says which
 * form was expected.
 */
int tp_units_share(const char *text, double *share, struct tp_err *err);

/* "15.5", "15.5ns", "3us", "2ms", "0.7s" in nanoseconds, above 0; a bare number is nanoseconds. */
int tp_units_ns(const char *text, double *ns, struct tp_err *err);

/* The same, from 0 on. */
int tp_units_ns_or_zero(const char *text, double *ns, struct tp_err *err);

/* A number above 0 without a unit. */
int tp_units_number(const char *text, double *number, struct tp_err *err);

/* A sum that stays at the largest number: hostile files have more than can be counted. */
static inline uint64_t tp_add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/*
 * The estimated count in all of ENABLED_NS of a counter that shares its hardware, and COUNTED in
 * RUNNING_NS of them.
 * False: it never had the hardware, so nothing is known.
 */
static inline bool tp_scale_counted(
    uint64_t counted, uint64_t enabled_ns, uint64_t running_ns, double *value)
{
	const bool shared = running_ns && running_ns < enabled_ns;
	*value = (double)counted * (shared ? (double)enabled_ns / (double)running_ns : 1);
	return running_ns || !enabled_ns;
}

#endif
