// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that does nothing but one call: its time is the cost of starting and ending.
#include <stdio.h>

__attribute__((noinline)) static int answer(void)
{
	__asm__ volatile("");
	return 42;
}

int main(void)
{
	printf("%d\n", answer());
	return 0;
}
