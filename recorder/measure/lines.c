// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of what was measured.
#include "measure.h"

#include "common/clean.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void tp_measure_metric(struct tp_buf *lines, const char *name, const char *unit, double value)
{
	if (isfinite(value))
		tp_buf_addf(lines, "metric\t%s\t%s\t%.17g\n", name, unit, value);
}

void tp_measure_note(struct tp_buf *lines, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	const int size = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	tp_clean(text, size < (int)sizeof(text) ? (size_t)size : sizeof(text) - 1);
	tp_buf_addf(lines, "note\t%s\n", text);
}
