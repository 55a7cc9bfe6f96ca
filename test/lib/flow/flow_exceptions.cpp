// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions: nested, rethrown, in and out of destructors, through frames with and without landing
// pads, kept for another thread, caught by a function's own try block.
#include <exception>
#include <stdexcept>
#include <thread>

#include "flow.h"

KEEP void note(int)
{
	DONE;
}
KEEP void bare(int n) // no landing pad
{
	if (n == 0)
		throw std::runtime_error("bare");
	bare(n - 1);
	DONE;
}
struct Guard {
	~Guard()
	{
		note(1);
	}
};
KEEP void guarded(int n)
{
	Guard guard;
	bare(n);
	DONE;
}
// A destructor that runs during unwinding, throws within, and catches it.
KEEP void inside(int n)
{
	try {
		bare(n);
	} catch (...) {
		note(2);
	}
}
struct Catcher {
	~Catcher()
	{
		inside(1);
	}
};
KEEP void unwound(int n)
{
	Catcher catcher;
	guarded(n);
	DONE;
}
// A destructor that lets one out.
struct Thrower {
	~Thrower() noexcept(false)
	{
		bare(0);
	}
};
KEEP void out(void)
{
	Thrower thrower;
	DONE;
}
KEEP void nested(void)
{
	try {
		bare(0);
	} catch (std::exception &) {
		try {
			bare(1);
		} catch (std::exception &) {
			note(3);
		}
		note(4);
	}
}
// Handlers that do not match are passed.
KEEP void passes(void)
{
	try {
		guarded(1);
	} catch (int) {
		note(5);
	} catch (const char *) {
		note(6);
	}
}
KEEP void again(void)
{
	try {
		passes();
	} catch (std::runtime_error &) {
		note(7);
		throw;
	}
}
KEEP void other(void)
{
	try {
		again();
	} catch (...) {
		throw 5;
	}
}
struct Whole {
	Whole()
	try {
		bare(0);
	} catch (...) {
		note(8);
	}
};
KEEP void whole(void)
{
	Whole all;
	DONE;
}
static std::exception_ptr kept;
KEEP void keeps(void)
{
	try {
		bare(2);
	} catch (...) {
		kept = std::current_exception();
	}
}
KEEP void gives(void)
{
	std::rethrow_exception(kept);
}
KEEP void takes(void)
{
	try {
		gives();
	} catch (std::exception &) {
		note(9);
	}
}
KEEP int quiet(void (*call)(void))
{
	try {
		call();
	} catch (int) {
		return 1;
	} catch (...) {
		return 2;
	}
	return 0;
}
static void unwinds(void)
{
	unwound(2);
}
// Volatile: no optimiser makes copies of quiet for each of them.
static void (*volatile const calls[])(void) = {unwinds, out, nested, other, whole};
int main()
{
	int sum = 0;
	for (int i = 0; i < 50; i++) {
		for (void (*volatile const &call)(void) : calls)
			sum += quiet(call);
		note(0);
	}
	std::thread thread(keeps);
	thread.join();
	takes();
	// The constructor's handler ends in a rethrow of its own.
	return sum != 50 * (2 + 2 + 0 + 1 + 2);
}

// want: keeps 1
// want: keeps;bare 1
// want: keeps;bare;bare 1
// want: keeps;bare;bare;bare 1
// want: main 1
// want: main;note 50
// want: main;quiet 250
// want: main;quiet;nested 50
// want: main;quiet;nested;bare 100
// want: main;quiet;nested;bare;bare 50
// want: main;quiet;nested;note 100
// want: main;quiet;other 50
// want: main;quiet;other;again 50
// want: main;quiet;other;again;note 50
// want: main;quiet;other;again;passes 50
// want: main;quiet;other;again;passes;guarded 50
// want: main;quiet;other;again;passes;guarded;bare 50
// want: main;quiet;other;again;passes;guarded;bare;bare 50
// want: main;quiet;other;again;passes;guarded;note 50
// want: main;quiet;out 50
// want: main;quiet;out;bare 50
// want: main;quiet;unwound 50
// want: main;quiet;unwound;guarded 50
// want: main;quiet;unwound;guarded;bare 50
// want: main;quiet;unwound;guarded;bare;bare 50
// want: main;quiet;unwound;guarded;bare;bare;bare 50
// want: main;quiet;unwound;guarded;note 50
// want: main;quiet;unwound;inside 50
// want: main;quiet;unwound;inside;bare 50
// want: main;quiet;unwound;inside;bare;bare 50
// want: main;quiet;unwound;inside;note 50
// want: main;quiet;whole 50
// want: main;quiet;whole;bare 50
// want: main;quiet;whole;note 50
// want: main;takes 1
// want: main;takes;gives 1
// want: main;takes;note 1
