// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers with units that a person writes: shares and times.
#include "units.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT_MAX 1000

// The number that TEXT begins with, and what follows it without blanks; false: none.
static bool parse(const char *text, double *number, const char **rest)
{
	char *end;
	*number = strtod(text, &end);
	// No sign, exponent, hexadecimal number or word.
	if (end == text || end != text + strspn(text, "0123456789."))
		return false;
	*rest = end + strspn(end, " \t");
	return true;
}

static int wrong(struct tp_err *err, const char *text, const char *wanted)
{
	return tp_err_set(
	    err, TP_ERR_SYNTAX, NULL, TP_ERR_NO_OFFSET, "'%s' is not %s", text, wanted);
}

int tp_units_share(const char *text, double *share, struct tp_err *err)
{
	const char *rest;
	if (!parse(text, share, &rest) || (*rest && strcmp(rest, "%") != 0) || *share <= 0 ||
	    *share > PERCENT_MAX)
		return wrong(err, text, "a share such as 5%");
	*share /= 100;
	return 0;
}

int tp_units_ns_or_zero(const char *text, double *ns, struct tp_err *err)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	const char *rest;
	if (parse(text, ns, &rest))
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (strcmp(rest, units[i].unit) == 0) {
				*ns *= units[i].ns;
				return 0;
			}
	return wrong(err, text, "a time such as 15.5ns, 20ms or 3s");
}

int tp_units_ns(const char *text, double *ns, struct tp_err *err)
{
	const int code = tp_units_ns_or_zero(text, ns, err);
	return code || *ns > 0 ? code : wrong(err, text, "a time above 0");
}

int tp_units_number(const char *text, double *number, struct tp_err *err)
{
	const char *rest;
	if (!parse(text, number, &rest) || *rest || *number <= 0)
		return wrong(err, text, "a number above 0");
	return 0;
}
