/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Decimal numbers where there are millions of them: several times as fast as printf. */
#ifndef TP_DIGITS_H
#define TP_DIGITS_H

#include <stdint.h>
#include <string.h>

#define TP_DIGITS_MAX 24 /* room for any of these */

/* Write NUMBER at AT, without a NUL; returns where it ends. Two digits with each division. */
static inline char *tp_digits(char *at, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	uint32_t size = 1;
	for (uint64_t power = 10; size < 20 && number >= power; power *= 10)
		size++;
	char *from = at + size;
	for (; number >= 100; number /= 100)
		memcpy(from -= 2, pairs + number % 100 * 2, 2);
	if (number >= 10)
		memcpy(from - 2, pairs + number * 2, 2);
	else
		from[-1] = (char)('0' + number);
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
