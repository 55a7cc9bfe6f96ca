/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Decimal numbers where there are millions of them: several times as fast as printf. */
#ifndef TP_DIGITS_H
#define TP_DIGITS_H

#include <stdint.h>
#include <string.h>

#define TP_DIGITS_MAX 24 /* room for any of these */

/* Write NUMBER at AT, without a NUL; returns where it ends. */
static inline char *tp_digits(char *at, uint64_t number)
{
	char digits[20];
	char *from = digits + sizeof(digits);
	do
		*--from = (char)('0' + number % 10);
	while (number /= 10);
	const size_t size = (size_t)(digits + sizeof(digits) - from);
	memcpy(at, from, size);
	return at + size;
}

/* The same divided by 10 to the power of DECIMALS, which is at most 9, as "1.050". */
static inline char *tp_digits_fixed(char *at, uint64_t number, uint32_t decimals)
{
	uint64_t unit = 1;
	for (uint32_t i = 0; i < decimals; i++)
		unit *= 10;
	at = tp_digits(at, number / unit);
	uint64_t rest = number % unit;
	*at = '.';
	for (uint32_t i = decimals; i > 0; i--, rest /= 10)
		at[i] = (char)('0' + rest % 10);
	return at + 1 + decimals;
}

/* Copy TEXT, without its NUL. */
static inline char *tp_digits_text(char *at, const char *text)
{
	const size_t size = strlen(text);
	memcpy(at, text, size);
	return at + size;
}

#endif
