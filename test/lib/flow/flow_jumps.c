// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setjmp in its forms; out of signal handlers, from a deep stack, again and again to one place.
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "flow.h"

static jmp_buf place, plain;
static sigjmp_buf out;
static volatile int laps;
#ifdef __x86_64__
static void *bare[5];
#define BARE_SETJMP __builtin_setjmp(bare)
#define BARE_LONGJMP __builtin_longjmp(bare, 1)
#else // not every processor has them
#define BARE_SETJMP setjmp(place)
#define BARE_LONGJMP longjmp(place, 1)
#endif

KEEP void work(void)
{
	DONE;
}
KEEP void jumps(int n)
{
	if (n == 0)
		longjmp(place, 1);
	jumps(n - 1);
	DONE;
}
KEEP void _jumps(int n)
{
	if (n == 0)
		_longjmp(plain, 1);
	_jumps(n - 1);
	DONE;
}
KEEP void handler(int number)
{
	(void)number;
	work();
	siglongjmp(out, 1);
}
KEEP void crashes(int n)
{
	if (n == 0)
		raise(SIGUSR1);
	else
		crashes(n - 1);
	DONE;
}
KEEP void lands(void)
{
	if (!setjmp(place))
		jumps(2);
	work();
}
KEEP void _lands(void)
{
	if (!_setjmp(plain))
		_jumps(1);
	work();
}
KEEP void survives(void)
{
	if (!sigsetjmp(out, 1))
		crashes(2);
	work();
}
// One setjmp, many jumps to it.
KEEP void loops(void)
{
	laps = 0;
	setjmp(place);
	work();
	if (laps++ < 3)
		jumps(1);
}
// A jump over a frame that has a place of its own.
KEEP void inner(void)
{
	if (!_setjmp(plain))
		jumps(1);
	DONE;
}
KEEP void over(void)
{
	if (!setjmp(place))
		inner();
	work();
}
// The compiler's own, behind which no register but the frame pointer is what it was.
KEEP void bare_jumps(int n)
{
	if (n == 0)
		BARE_LONGJMP;
	bare_jumps(n - 1);
	DONE;
}
KEEP int bare_lands(int a, int b)
{
	const int c = a * b;
	if (!BARE_SETJMP) {
		bare_jumps(2);
		return 0;
	}
	work();
	return a + b + c;
}
int main(void)
{
	int wrong = 0;
	signal(SIGUSR1, handler);
	for (int i = 0; i < 50; i++) {
		lands();
		_lands();
		survives();
		loops();
		over();
		wrong |= bare_lands(i, 3) != 4 * i + 3;
		work();
	}
	return wrong;
}

// want: main 1
// want: main;_lands 50
// want: main;_lands;_jumps 50
// want: main;_lands;_jumps;_jumps 50
// want: main;_lands;work 50
// want: main;bare_lands 50
// want: main;bare_lands;bare_jumps 50
// want: main;bare_lands;bare_jumps;bare_jumps 50
// want: main;bare_lands;bare_jumps;bare_jumps;bare_jumps 50
// want: main;bare_lands;work 50
// want: main;lands 50
// want: main;lands;jumps 50
// want: main;lands;jumps;jumps 50
// want: main;lands;jumps;jumps;jumps 50
// want: main;lands;work 50
// want: main;loops 50
// want: main;loops;jumps 150
// want: main;loops;jumps;jumps 150
// want: main;loops;work 200
// want: main;over 50
// want: main;over;inner 50
// want: main;over;inner;jumps 50
// want: main;over;inner;jumps;jumps 50
// want: main;over;work 50
// want: main;survives 50
// want: main;survives;crashes 50
// want: main;survives;crashes;crashes 50
// want: main;survives;crashes;crashes;crashes 50
// want: main;survives;crashes;crashes;crashes;handler 50
// want: main;survives;crashes;crashes;crashes;handler;work 50
// want: main;survives;work 50
// want: main;work 50
