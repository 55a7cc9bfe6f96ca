// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An instrumented library that hostile_program loads and closes again and again.
__attribute__((noinline)) static unsigned long twice(unsigned long x)
{
	return 2 * x;
}

unsigned long library_work(unsigned long n);
unsigned long library_work(unsigned long n)
{
	unsigned long sum = 0;
	for (unsigned long i = 0; i < n; i++)
		sum += twice(i);
	return sum;
}
