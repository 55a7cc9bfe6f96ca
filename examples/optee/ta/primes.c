// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The recorded part: nothing in it knows of TeePerf. noinline, so that each is a function of its
// own in a program this small.
#include "primes.h"

__attribute__((noinline)) static int divides(uint32_t divisor, uint32_t number)
{
	return number % divisor == 0;
}

__attribute__((noinline)) static int is_prime(uint32_t number)
{
	uint32_t divisor;

	for (divisor = 2; divisor * divisor <= number; divisor++)
		if (divides(divisor, number))
			return 0;
	return 1;
}

uint32_t primes_below(uint32_t limit)
{
	uint32_t count = 0;
	uint32_t number;

	for (number = 2; number < limit; number++)
		count += (uint32_t)is_prime(number);
	return count;
}
