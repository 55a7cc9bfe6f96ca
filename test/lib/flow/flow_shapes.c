// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions with frames of variable length, computed and assembly jumps, thousands of returns, and
// calls that do not return.
#include <alloca.h>
#include <setjmp.h>
#include <string.h>

#include "flow.h"

static jmp_buf place;
static int sum;

KEEP void work(void *p)
{
	(void)p;
	DONE;
}
KEEP void allocates(int n)
{
	for (int i = 0; i < n; i++)
		work(alloca((size_t)i * 16 + 1));
}
KEEP void varies(int n)
{
	char text[n];
	memset(text, n, (size_t)n);
	if (n > 1)
		varies(n / 2);
	work(text);
}
KEEP int computed(const unsigned char *code)
{
	static const void *const labels[] = {&&stop, &&add, &&call, &&skip};
	int value = 0;
	goto *labels[*code];
add:
	value++;
	goto *labels[*++code];
call:
	work(&value);
	goto *labels[*++code];
skip:
	code++;
	goto *labels[*++code];
stop:
	return value;
}
KEEP int branches(int n)
{
#ifdef __x86_64__
	__asm__ goto("testl %0, %0\n\tjz %l1" ::"r"(n) : "cc" : zero);
#else
	__asm__ goto("cbz %w0, %l1" ::"r"(n)::zero);
#endif
	work(&n);
	return 1;
zero:
	return 2;
}
// clang-format off
#define ONE(n) if (x == (n)) { work(&sum); return sum + (n); }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) \
	ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) \
	TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define THOUSAND(n) HUNDRED(n##0) HUNDRED(n##1) HUNDRED(n##2) HUNDRED(n##3) HUNDRED(n##4) \
	HUNDRED(n##5) HUNDRED(n##6) HUNDRED(n##7) HUNDRED(n##8) HUNDRED(n##9)
KEEP int many(int x)
{
	THOUSAND(1) THOUSAND(2) THOUSAND(3)
	return -1;
}
// clang-format on
__attribute__((noreturn)) KEEP void never(int n)
{
	work(&n);
	longjmp(place, n);
}
KEEP int relies(int n)
{
	if (n & 1)
		never(n);
	return n;
}
KEEP int guards(int n)
{
	if (setjmp(place))
		return 1;
	return relies(n);
}
int main(void)
{
	static const unsigned char code[] = {1, 1, 2, 1, 3, 0, 2, 1, 0};
	for (int i = 0; i < 10; i++) {
		allocates(20);
		varies(64);
		sum += computed(code) + branches(i & 1);
		guards(i);
	}
	sum = 0;
	int got = 0;
	for (int i = 1000; i <= 4000; i += 3)
		got += many(i);
	return got != 2498500 - 1;
}

// want: main 1
// want: main;allocates 10
// want: main;allocates;work 200
// want: main;branches 10
// want: main;branches;work 5
// want: main;computed 10
// want: main;computed;work 20
// want: main;guards 10
// want: main;guards;relies 10
// want: main;guards;relies;never 5
// want: main;guards;relies;never;work 5
// want: main;many 1001
// want: main;many;work 1000
// want: main;varies 10
// want: main;varies;varies 10
// want: main;varies;varies;varies 10
// want: main;varies;varies;varies;varies 10
// want: main;varies;varies;varies;varies;varies 10
// want: main;varies;varies;varies;varies;varies;varies 10
// want: main;varies;varies;varies;varies;varies;varies;varies 10
// want: main;varies;varies;varies;varies;varies;varies;varies;work 10
// want: main;varies;varies;varies;varies;varies;varies;work 10
// want: main;varies;varies;varies;varies;varies;work 10
// want: main;varies;varies;varies;varies;work 10
// want: main;varies;varies;varies;work 10
// want: main;varies;varies;work 10
// want: main;varies;work 10
