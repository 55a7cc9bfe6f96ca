// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ordinary program: which number below a limit takes the most steps to reach 1. noinline, so
// that each is a function of its own in a program this small.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static uint64_t next(uint64_t number)
{
	return number % 2 ? 3 * number + 1 : number / 2;
}

__attribute__((noinline)) static unsigned steps(uint64_t number)
{
	unsigned count = 0;
	for (; number != 1; number = next(number))
		count++;
	return count;
}

int main(int argc, char **argv)
{
	const uint64_t limit = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
	uint64_t best = 1;
	unsigned most = 0;
	for (uint64_t number = 1; number < limit; number++) {
		const unsigned count = steps(number);
		if (count > most) {
			most = count;
			best = number;
		}
	}
	printf("%llu takes %u steps\n", (unsigned long long)best, most);
	return 0;
}
