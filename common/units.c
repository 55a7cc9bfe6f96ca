// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers with units, as people read and write them.
#include "units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT_MAX 1000

char *tp_text_ns(char text[TP_TEXT_NUMBER], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	if (ns < 1000) {
		snprintf(text, TP_TEXT_NUMBER, "%" PRIu64 " ns", ns);
		return text;
	}
	double value = (double)ns;
	int unit = 0;
	// 999.95 would be printed as 1000.0: it belongs to the next unit.
	while (value >= 999.95 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, TP_TEXT_NUMBER, "%.*f %s",
	    value < 9.9995   ? 3
	    : value < 99.995 ? 2
			     : 1,
	    value, units[unit]);
	return text;
}

char *tp_text_count(char text[TP_TEXT_NUMBER], uint64_t count)
{
	char digits[TP_TEXT_NUMBER];
	const int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = text;
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

char *tp_text_share(char text[TP_TEXT_NUMBER], double share)
{
	snprintf(
	    text, TP_TEXT_NUMBER, share > 0 && share < 0.00995 ? "%.2f%%" : "%.1f%%", share * 100);
	return text;
}

char *tp_text_share_exact(char text[TP_TEXT_NUMBER], double share)
{
	snprintf(text, TP_TEXT_NUMBER, "%.6g%%", share * 100);
	return text;
}

char *tp_text_ns_real(char text[TP_TEXT_NUMBER], double ns)
{
	if (ns < 1000) {
		snprintf(text, TP_TEXT_NUMBER, "%.1f ns", ns);
		return text;
	}
	return tp_text_ns(text, ns < 1e18 ? (uint64_t)(ns + 0.5) : UINT64_C(1000000000000000000));
}

char *tp_text_bytes(char text[TP_TEXT_NUMBER], double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	int unit = 0;
	while (bytes >= 1023.5 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, TP_TEXT_NUMBER, unit && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes,
	    units[unit]);
	return text;
}

char *tp_text_ns_fixed(char text[TP_TEXT_NUMBER], double ns)
{
	if (ns >= 1e9)
		snprintf(text, TP_TEXT_NUMBER, "%.3f s", ns / 1e9);
	else if (ns >= 1e6)
		snprintf(text, TP_TEXT_NUMBER, "%.2f ms", ns / 1e6);
	else if (ns >= 1e3)
		snprintf(text, TP_TEXT_NUMBER, "%.2f us", ns / 1e3);
	else
		snprintf(text, TP_TEXT_NUMBER, "%.1f ns", ns);
	return text;
}

char *tp_text_count_short(char text[TP_TEXT_NUMBER], uint64_t count)
{
	if (count >= 10000000)
		snprintf(text, TP_TEXT_NUMBER, "%.1f M", (double)count / 1e6);
	else
		snprintf(text, TP_TEXT_NUMBER, "%" PRIu64, count);
	return text;
}

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
	return tp_err_set(err, TP_ERR_SYNTAX, NULL, "'%s' is not %s", text, wanted);
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
