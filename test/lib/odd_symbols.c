// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions with names that steer terminals, reverse text, are not UTF-8, or begin formulas.
#include <stdio.h>

// Each takes much longer than recording it: a list that is generated has no functions that take no
// time.
#define ODD(id, text)                                   \
	int id(int) __asm__(text);                      \
	__attribute__((noinline)) int id(int x)         \
	{                                               \
		for (volatile int i = 0; i < 3000; i++) \
			;                               \
		return x + 1;                           \
	}

ODD(escape, "escape\033[31mred\033]0;title\007")
ODD(control, "control\xc2\x9b"
	     "31m")
ODD(carriage, "carriage\rreturn")
ODD(lines, "two\nlines;\tand a tab")
ODD(override, "override\xe2\x80\xae"
	      "reversed")
ODD(isolate, "isolate\xe2\x81\xa6"
	     "d")
ODD(latin, "latin\xe9\xff")
ODD(formula, "=cmd|'/c calc'!A1")
ODD(letters, "gr\xc3\xbc\xc3\x9f"
	     "e")

static inline int inlined(int x)
{
	return x * 3;
}

int main(void)
{
	int sum = 0;
	for (int i = 0; i < 3; i++)
		sum += escape(i) + control(i) + carriage(i) + lines(i) + override(i) + isolate(i) +
		       latin(i) + formula(i) + letters(i) + inlined(i);
	printf("%d\n", sum);
	return 0;
}
