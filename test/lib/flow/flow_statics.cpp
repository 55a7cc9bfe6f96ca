// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs before and behind main: constructors by priority, of static objects and their members;
// atexit handlers and destructors in reverse; destructors of thread-local objects, at the end of
// their thread.
#include <cstdlib>
#include <thread>

#include "flow.h"

KEEP void work(void)
{
	DONE;
}
KEEP __attribute__((constructor(101))) void earliest(void)
{
	work();
}
KEEP __attribute__((constructor)) void early(void)
{
	work();
}
KEEP __attribute__((destructor)) void late(void)
{
	work();
}
KEEP __attribute__((destructor(101))) void latest(void)
{
	work();
}
KEEP void opened(void)
{
	work();
}
KEEP void closed(void)
{
	work();
}
struct Object {
	Object()
	{
		opened();
	}
	~Object()
	{
		closed();
	}
};
static Object object;
static thread_local Object local;
KEEP void handler(void)
{
	work();
}
KEEP void uses(void)
{
	static Object first; // made at the first call
	Object *volatile used = &local;
	(void)used;
	(void)first;
	work();
}
KEEP void thread(void)
{
	uses();
}
int main()
{
	std::atexit(handler);
	uses();
	uses();
	for (int i = 0; i < 5; i++)
		std::thread(thread).join();
	return 0;
}

// want: closed 8
// want: closed;work 8
// want: early 1
// want: early;work 1
// want: earliest 1
// want: earliest;work 1
// want: handler 1
// want: handler;work 1
// want: late 1
// want: late;work 1
// want: latest 1
// want: latest;work 1
// want: main 1
// want: main;uses 2
// want: main;uses;opened 2
// want: main;uses;opened;work 2
// want: main;uses;work 2
// want: opened 1
// want: opened;work 1
// want: thread 5
// want: thread;uses 5
// want: thread;uses;opened 5
// want: thread;uses;opened;work 5
// want: thread;uses;work 5
