// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line of the doctor's.
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>

void tp_doctor_show(const char *mark, const char *subject, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	printf("%-8s %-10s ", mark, subject);
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
}
